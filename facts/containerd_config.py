"""The cgroup drivers of containerd's runtime handlers: config.toml and the files it imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import dirname, join

from pyinfra_nvml.facts.runtime_versions import RuntimeVersionsState
from pyinfra_nvml.facts.toml_keys import keys
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
    loaded = [path, *_imported(path, texts)]
    if unread := next((t for p in loaded if isinstance(t := texts.get(p), Unknown)), None):
        return unread
    read = [str(texts.get(file, "")) for file in loaded]
    if any(_imports(text) for text in read[1:]):
        return Unknown(f"{path}: what it imports has imports of its own, which were not read")
    merged, replaced = _handlers(read), _handlers(_from_last_plugin(read))
    if merged == replaced:
        return merged
    version = versions if isinstance(versions, Unknown) else versions.containerd
    if not isinstance(version, str):
        return version or Unknown(f"{path}: how its imports count depends on containerd's version")
    return replaced if version.startswith(("0.", "1.")) else merged


def _imports(text: str) -> list[str]:
    found = re.search(r"^\s*imports\s*=\s*\[([^\]]*)", text, re.MULTILINE)
    return re.findall(r"[\"']([^\"']+)[\"']", found[1]) if found else []


def _imported(path: str, texts: dict[str, str | Unknown]) -> Iterator[str]:
    main = texts.get(path, "")
    for wanted in _imports(main) if isinstance(main, str) else ():
        pattern = join(dirname(path), wanted)
        yield from sorted(file for file in texts if file != path and fnmatchcase(file, pattern))


_CRI_TABLE = re.compile(
    r"^\s*\[\s*plugins\.(cri\b|['\"]?io\.containerd\.(grpc\.v1\.cri|cri\.v1\.runtime)\b)",
    re.MULTILINE,
)


def _from_last_plugin(read: list[str]) -> list[str]:
    """The texts from the last on that has a table of the CRI plugin."""
    places = [place for place, text in enumerate(read) if _CRI_TABLE.search(text)]
    return read[places[-1] if places else 0 :]


def _handlers(read: list[str]) -> tuple[Handler, ...]:
    found = {"runc": "cgroupfs"}  # the default (containerd, docs/cri/config.md)
    default = ""
    for text in read:
        for name in re.findall(r"^\s*\[.*\bruntimes\.[\"']?([\w-]+)", text, re.MULTILINE):
            found.setdefault(name, "cgroupfs")
        pairs = [(key, value) for _, key, value in keys(text)]
        default = dict(pairs).get("default_runtime_name", default)
        if ("systemd_cgroup", "true") in pairs:  # config version 1, all handlers
            found = dict.fromkeys(found, "systemd")
        for name, value in _systemd_cgroup(text):
            found[name] = "systemd" if value == "true" else "cgroupfs"
    chosen = [n for n in found if n in ("runc", default) or n.startswith("nvidia")]
    ordered = sorted(chosen, key=lambda name: (name != (default or "runc"), name))
    return tuple(Handler(name, found[name]) for name in ordered)


def _systemd_cgroup(text: str) -> Iterator[tuple[str, str]]:
    """Handler and value; the handler is in the table's name or, dotted, in the line itself."""
    table = ""
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            table = line
            continue
        pair = re.search(r"SystemdCgroup\s*=\s*(\w+)", line)
        name = re.search(r"\bruntimes\.[\"']?([\w-]+)", f"{table}.{line}")
        if pair and name:
            yield name[1], pair[1]
