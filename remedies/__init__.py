"""What mends a node: plans with their cost, every reason against them, exact commands."""
