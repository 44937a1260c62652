"""The scheduled audit on a node or a controller."""
