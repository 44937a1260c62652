"""The knobs of deploys/mig_monitor.py, read from host data and held to what they may be."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pyinfra.api import Host

from pyinfra_nvml.settings.refused_knobs import refused_knob

# Kubernetes, "Object Names and IDs": a label of RFC 1123; the form's name goes behind it.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?")

# distribution/reference: no blanks, no quotes; what exactly is left to the engine.
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@+-]{0,500}")


@dataclass(frozen=True)
class Monitor:
    """The monitor that an inventory asks for.

    .. code:: python

        Monitor(image="registry.example/dcgm-exporter:4.2.0", name="mig-monitor",
                namespace="monitoring")
    """

    image: str
    name: str
    namespace: str


def monitor(host: Host) -> tuple[Monitor, Path]:
    """The monitor asked for and the directory for its files; ends the run where it is not clear."""
    image = host.data.get("mig_monitor_image")
    if not isinstance(image, str) or not _IMAGE.fullmatch(image):
        raise refused_knob("mig_monitor_image", image, "the monitor's image")
    name = _name(host, "mig_monitor_name", "mig-monitor")
    namespace = _name(host, "mig_monitor_namespace", "monitoring")
    return Monitor(image, name, namespace), _directory(host)


def _directory(host: Host) -> Path:
    given = host.data.get("mig_monitor_out") or "rendered"
    place = Path(str(given))
    there = next(path for path in (place, *place.absolute().parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise refused_knob("mig_monitor_out", given, "a directory to write to on this machine")
    return place


def _name(host: Host, knob: str, usual: str) -> str:
    value = host.data.get(knob)
    value = usual if value is None else value
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise refused_knob(knob, value, "up to 50 small letters, digits and dashes")
    return value
