"""What of a daemon.json the running engine has in force, and what only a start can prove.

An edit that nobody has started the engine with may keep it down, and the file of before the
remedy is then the very file that does: there is nothing to go back to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pyinfra_nvml.combiners.daemon_document import Document, document
from pyinfra_nvml.combiners.engine import Start
from pyinfra_nvml.facts.daemon_json import ConfigFile
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.model.unknown import Unknown

_DEFAULT_ROOT = "/var/lib/docker"

_SWITCHES = ("debug", "experimental", "raw-logs", "no-new-privileges")
"""Keys of which nothing but true or false can be wrong (dockerd(8))."""

_LEVELS = ("debug", "info", "warn", "error", "fatal")


def unproven(file: ConfigFile, info: EngineInfo, start: Start) -> tuple[str, ...]:
    """Why nothing proves that the engine starts with this file; empty where it is proven."""
    config = _config(file)
    # A data-root has a refusal of its own: the engine starts, without its containers.
    differing = [found for found in _differing(config, info, start) if found[0] != "data-root"]
    if differing:
        return tuple(_difference(key, config, live) for key, live in differing)
    if file.edited is False:
        return ()
    left = [key for key, value in config.items() if not _sure(key, value, info)]
    if not left:
        return ()
    named = ", ".join(left)
    if isinstance(file.edited, Unknown):
        why = f"whether the engine has read it is not known ({file.edited.reason})"
    else:
        why = "it was edited after the engine's start"
    return (f"{why}, and only a start proves {named}",)


def not_followed(config: Mapping[str, object], info: EngineInfo, start: Start) -> tuple[str, ...]:
    """Settings that docker info shows otherwise than this file has them."""
    return tuple(_difference(key, config, live) for key, live in _differing(config, info, start))


def moved_root(config: Mapping[str, object], info: EngineInfo, start: Start) -> str:
    """The data-root of the next start, where the engine's containers are elsewhere."""
    flag = start.value("data-root", config) or start.value("graph", config)
    root = flag if isinstance(flag, str) else _DEFAULT_ROOT
    # With userns-remap the engine's own directory is one below data-root (dockerd(8)).
    inside = f"{info.root_directory}/".startswith(f"{root.rstrip('/')}/")
    return "" if inside or not info.root_directory else root


def _difference(key: str, config: Mapping[str, object], live: object) -> str:
    return f"{key} is {_shown(config[key])} in the file and {_shown(live)} in docker info"


def _differing(
    config: Mapping[str, object], info: EngineInfo, start: Start
) -> Iterator[tuple[str, object]]:
    for key, live in _VISIBLE.items():
        if key in config and (known := live(info)) and not _same(key, config[key], known):
            yield key, known
    on = start.keeps_containers(config)
    if config.get("live-restore") is not None and on != info.live_restore:
        yield "live-restore", info.live_restore
    if "data-root" in config and moved_root(config, info, start):
        yield "data-root", info.root_directory


_VISIBLE: dict[str, Callable[[EngineInfo], object]] = {
    "default-runtime": lambda info: info.default_runtime,
    "runtimes": lambda info: info.runtimes,
    "storage-driver": lambda info: info.storage_driver,
    "log-driver": lambda info: info.log_driver,
}
"""Keys whose value docker info shows (moby api/types/system/info.go)."""


def _same(key: str, named: object, live: object) -> bool:
    if key == "runtimes":
        wanted = set(named) if isinstance(named, dict) else set()
        return isinstance(live, tuple) and wanted <= set(live)
    return not isinstance(named, str) or not named or named == live


def _sure(key: str, value: object, info: EngineInfo) -> bool:
    """Whether a key is in force, as docker info shows it, or cannot be wrong."""
    if key == "runtimes" and not _are_runtimes(value):
        return False
    if key in _VISIBLE:
        kind = dict if key == "runtimes" else str
        return bool(_VISIBLE[key](info)) and isinstance(value, kind)
    if key in ("live-restore", *_SWITCHES):
        return isinstance(value, bool)
    if key == "data-root":
        return isinstance(value, str)
    if key == "log-level":
        return value in _LEVELS
    if key == "features":
        return isinstance(value, dict) and all(isinstance(one, bool) for one in value.values())
    # Its values are looked at by combiners/engine_config.py.
    return key == "exec-opts"


def _are_runtimes(value: object) -> bool:
    """Whether each is an object, its arguments words (moby api/types/system/runtime.go)."""
    each = value.values() if isinstance(value, dict) else [None]
    return all(
        isinstance(one, dict)
        and isinstance(one.get("path", ""), str)
        and isinstance(one.get("args") or [], list)
        and all(isinstance(word, str) for word in one.get("args") or [])
        and set(one) <= {"path", "args", "runtimeArgs"}
        for one in each
    )


def _config(file: ConfigFile) -> dict[str, object]:
    read = document(file.content if isinstance(file.content, bytes) else None, file.path)
    return read.value if isinstance(read, Document) else {}


def _shown(value: object) -> str:
    if isinstance(value, (dict, tuple, list)):
        return ", ".join(sorted(str(one) for one in value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
