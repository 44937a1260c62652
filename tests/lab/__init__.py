"""Nodes with a real systemd, dockerd and sshd on this machine, in which the real fault occurs without a GPU."""
