"""Which faults a pasted message or log may show."""
