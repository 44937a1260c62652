"""What a node's Kubernetes cluster says of it."""
