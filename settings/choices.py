"""The words that a knob takes one of."""

from __future__ import annotations

DRIVERS = ("cgroupfs", "systemd")
"""The cgroup drivers that Docker knows (dockerd(8), native.cgroupdriver)."""

WAYS = ("packages", "blacklist", "release", "leave")
"""What the knob ``hold_driver`` takes."""
