"""What pyinfra is given to ask: lists of hosts, and readers of the lists that others keep."""
