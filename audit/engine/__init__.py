"""The container engine of a node: its daemon.json, its cgroup driver, and the change of it."""
