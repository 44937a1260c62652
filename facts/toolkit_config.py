"""The settings of NVIDIA's container toolkit on this node: config.toml."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.facts.toml_keys import keys
from pyinfra_nvml.model.unknown import Unknown, Value

CONFIGS = (
    "/etc/nvidia-container-runtime/config.toml",
    "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml",
)
"""The packages' file, and the one that the GPU Operator's toolkit container writes."""


@dataclass(frozen=True)
class ToolkitConfig(Value):
    """config.toml: the text, and the two keys that decide; ``None`` where a key is not set.

    ``mode`` is that of ``[nvidia-container-runtime]`` (the default is auto), ``no_cgroups`` that of
    ``[nvidia-container-cli]``.

    .. code:: python

        ToolkitConfig("/etc/nvidia-container-runtime/config.toml", "...", mode="auto",
                      no_cgroups=None)
    """

    path: str
    text: str
    mode: str | None
    no_cgroups: bool | None


def config(texts: dict[str, str | Unknown] | Unknown) -> ToolkitConfig | Unknown | None:
    """The settings in the first of these files that is there."""
    if isinstance(texts, Unknown):
        return texts
    for path in CONFIGS:
        text = texts.get(path)
        if isinstance(text, Unknown):
            return text
        if text is not None:
            mode = _setting(text, "nvidia-container-runtime", "mode")
            off = _setting(text, "nvidia-container-cli", "no-cgroups")
            return ToolkitConfig(path, text, mode, None if off is None else off == "true")
    return None


def _setting(text: str, table: str, key: str) -> str | None:
    """What this key of this table is set to; the last one counts."""
    found = None
    for within, name, value in keys(text):
        if (within, name) == (table, key):
            found = value
    return found
