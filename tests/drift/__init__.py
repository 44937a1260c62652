"""The scheduled check: its command, its results."""
