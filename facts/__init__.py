"""What a node says: one module per source of bytes, one class per noun."""
