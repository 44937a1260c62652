"""The settings of deploys/mig_monitor.py: the monitor that it writes out, and where to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field
from pyinfra.api import Host

from pyinfra_nvml.settings.declaration import Declared, Expected
from pyinfra_nvml.settings.host_data import given
from pyinfra_nvml.settings.wrong import RefusedSettings, wrong_value

# Kubernetes, "Object Names and IDs": a label of RFC 1123; the form's name goes behind it.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?")

# distribution/reference: no blanks, no quotes; what exactly is left to the engine.
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@+-]{0,500}")

_AN_IMAGE = "the monitor's image"


def _image(value: object) -> object:
    if isinstance(value, str) and not _IMAGE.fullmatch(value):
        raise ValueError
    return value


def _name(value: object) -> object:
    if isinstance(value, str) and not _NAME.fullmatch(value):
        raise ValueError
    return value


def _directory(value: object) -> object:
    place = Path(value or "rendered") if isinstance(value, (str, Path)) else value
    if isinstance(place, Path):
        there = next(path for path in (place, *place.absolute().parents) if path.exists())
        if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
            raise ValueError
    return place


Name = Annotated[str, BeforeValidator(_name), Expected("up to 50 small letters, digits and dashes")]


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


class MonitorSettings(Declared):
    """The monitor of MIG nodes."""

    mig_monitor_image: Annotated[str | None, BeforeValidator(_image), Expected(_AN_IMAGE)] = Field(
        default=None,
        description="The image of the monitor that deploys/mig_monitor.py writes out; that deploy "
        "needs it.",
    )
    mig_monitor_name: Name = Field(default="mig-monitor", description="The name of that monitor.")
    mig_monitor_namespace: Name = Field(
        default="monitoring", description="The namespace of that monitor in Kubernetes."
    )
    mig_monitor_out: Annotated[
        Path,
        BeforeValidator(_directory),
        Expected("a directory on this machine that can be written to"),
    ] = Field(
        default=Path("rendered"),
        validate_default=True,
        description="The directory on this machine for the monitor's files.",
    )


def read_monitor(host: Host) -> tuple[Monitor, Path]:
    """The monitor asked for and the directory for its files; ends the run where it is not clear."""
    asked = MonitorSettings.read(given(host, MonitorSettings))
    if asked.mig_monitor_image is None:
        raise RefusedSettings(wrong_value("mig_monitor_image", None, _AN_IMAGE))
    monitor = Monitor(asked.mig_monitor_image, asked.mig_monitor_name, asked.mig_monitor_namespace)
    return monitor, asked.mig_monitor_out
