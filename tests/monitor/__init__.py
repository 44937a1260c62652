"""The one monitor of a MIG node."""
