"""What a pasted text shows."""
