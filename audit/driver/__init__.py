"""NVIDIA's driver on a node: its versions, its packages, its reboot."""
