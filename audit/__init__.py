"""The small core: what a finding is, which checks there are, what to do, how to tell it."""
