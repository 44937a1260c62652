"""The cgroup drivers of containerd's runtime handlers: config.toml and the files it imports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import dirname, join

from pyinfra_nvml.facts.cut_headers import close_headers
from pyinfra_nvml.facts.runtime_versions import RuntimeVersionsState
from pyinfra_nvml.facts.toml_text import Table, parse_toml, value_at
from pyinfra_nvml.model.unknown import Unknown, Value


@dataclass(frozen=True)
class Handler(Value):
    """One runtime handler and its cgroup driver.

    .. code:: python

        Handler("nvidia", "systemd")
    """

    name: str
    driver: str


def handlers(
    path: str, texts: dict[str, str | Unknown] | Unknown, versions: RuntimeVersionsState | Unknown
) -> tuple[Handler, ...] | Unknown:
    """The drivers of the handlers in the file and what it imports.

    What is imported comes later and wins. Up to containerd 1.7 a plugin's table in it takes the
    place of the whole table before; from 2.0 on the two are merged (cmd/containerd/server/config).
    """
    if isinstance(texts, Unknown):
        return texts
    main = _tables(path, texts)
    if isinstance(main, Unknown):
        return main
    imported = [_tables(file, texts) for file in _imported(path, main, texts)]
    read = [main]
    for tables in imported:
        if isinstance(tables, Unknown):
            return tables
        if _imports(tables):
            return Unknown(f"{path}: what it imports has imports of its own, which were not read")
        read.append(tables)
    merged, replaced = _handlers(path, read), _handlers(path, _from_last_plugin(read))
    if merged == replaced:
        return merged
    version = versions if isinstance(versions, Unknown) else versions.containerd
    if not isinstance(version, str):
        return version or Unknown(f"{path}: how its imports count depends on containerd's version")
    return replaced if version.startswith(("0.", "1.")) else merged


def _tables(path: str, texts: dict[str, str | Unknown]) -> Table | Unknown:
    text = texts.get(path, "")
    return text if isinstance(text, Unknown) else parse_toml(path, close_headers(text))


def _imports(tables: Table) -> list[str]:
    found = tables.get("imports")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _imported(path: str, main: Table, texts: dict[str, str | Unknown]) -> Iterator[str]:
    for wanted in _imports(main):
        pattern = join(dirname(path), wanted)
        yield from sorted(file for file in texts if file != path and fnmatchcase(file, pattern))


_PLUGINS = ("cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime")
"""The CRI plugin in versions 1, 2 and 3 of the file (containerd, docs/cri/config.md)."""


def _plugins(tables: Table) -> list[Table]:
    found = (value_at(tables, "plugins", name) for name in _PLUGINS)
    return [one for one in found if isinstance(one, dict)]


def _from_last_plugin(read: list[Table]) -> list[Table]:
    """The files from the last on that has a table of the CRI plugin."""
    places = [place for place, tables in enumerate(read) if _plugins(tables)]
    return read[places[-1] if places else 0 :]


def _handlers(path: str, read: list[Table]) -> tuple[Handler, ...] | Unknown:
    found = {"runc": "cgroupfs"}  # the default (containerd, docs/cri/config.md)
    default = ""
    for plugin in (one for tables in read for one in _plugins(tables)):
        runtimes = value_at(plugin, "containerd", "runtimes") or {}
        named = value_at(plugin, "containerd", "default_runtime_name")
        default = named if isinstance(named, str) else default
        if not isinstance(runtimes, dict):
            return Unknown(f"{path}: containerd.runtimes is no table")
        found = dict.fromkeys(runtimes, "cgroupfs") | found
        if plugin.get("systemd_cgroup") is True:  # config version 1, all handlers
            found = dict.fromkeys(found, "systemd")
        for name, runtime in runtimes.items():
            on = value_at(runtime, "options", "SystemdCgroup")
            if on is not None and not isinstance(on, bool):
                return Unknown(f"{path}: SystemdCgroup of {name} is not true or false")
            if on is not None:
                found[name] = "systemd" if on else "cgroupfs"
    chosen = [n for n in found if n in ("runc", default) or n.startswith("nvidia")]
    ordered = sorted(chosen, key=lambda name: (name != (default or "runc"), name))
    return tuple(Handler(name, found[name]) for name in ordered)
