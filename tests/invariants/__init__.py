"""What holds on every node: six rules over recorded nodes, cases and generated machines."""
