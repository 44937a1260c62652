"""What a deploy would do to a node: each step with its cost, or every reason against it."""
