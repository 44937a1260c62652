"""The unit tests on every Python that is promised, with the newest and the oldest dependencies."""
