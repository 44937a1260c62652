"""Nodes with a real systemd, dockerd and sshd on this machine: the real fault, without a GPU."""
