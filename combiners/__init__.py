"""Facts put together: each module answers one question about a node."""
