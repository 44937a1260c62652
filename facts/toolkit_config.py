"""The settings of NVIDIA's container toolkit on this node: config.toml."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.facts.toml_text import parse_toml, value_at
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
            return _settings(path, text)
    return None


def _settings(path: str, text: str) -> ToolkitConfig | Unknown:
    tables = parse_toml(path, text)
    if isinstance(tables, Unknown):
        return tables
    mode = value_at(tables, "nvidia-container-runtime", "mode")
    if mode is not None and not isinstance(mode, str):
        return Unknown(f"{path}: nvidia-container-runtime.mode is {mode!r}, not a word")
    off = value_at(tables, "nvidia-container-cli", "no-cgroups")
    if off is not None and not isinstance(off, bool):
        return Unknown(f"{path}: nvidia-container-cli.no-cgroups is {off!r}, not true or false")
    return ToolkitConfig(path, text, mode, off)
