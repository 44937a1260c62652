"""The words of settings that facts and combiners know too."""

from __future__ import annotations

DRIVERS = ("cgroupfs", "systemd")
"""The cgroup drivers that Docker knows (dockerd(8), native.cgroupdriver)."""
