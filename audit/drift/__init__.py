"""The scheduled check: what changed since the accepted state, and the exit code for it."""
