"""node-problem-detector's configuration, held to what its source reads."""
