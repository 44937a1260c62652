"""What we think of a node: one module per check, named by its id; pure functions of the facts."""
