"""How a node is changed: convergent operations in pyinfra's form."""
