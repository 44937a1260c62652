"""What stops dockerd at its start although ``dockerd --validate`` passed the file.

``--validate`` was seen on Docker 26.1.5 to accept an unknown cgroup driver and ``hosts`` beside
``-H fd://``; both stop the daemon at its next start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pyinfra_nvml.combiners.daemon_document import Refused
from pyinfra_nvml.combiners.daemon_keys import unknown_keys
from pyinfra_nvml.combiners.driver_entry import KEY, OPTION, entry_driver
from pyinfra_nvml.model.release import release
from pyinfra_nvml.settings.choices import DRIVERS

# The flags of dockerd whose key in the file has another name: lists have a plural there
# (moby cmd/dockerd/config.go, the opts.NewNamed... flags; dockerd(8)).
_LIST_KEYS = {
    "exec-opt": KEY,
    "host": "hosts",
    "label": "labels",
    "dns-opt": "dns-opts",
    "storage-opt": "storage-opts",
    "log-opt": "log-opts",
    "authorization-plugin": "authorization-plugins",
    "insecure-registry": "insecure-registries",
    "registry-mirror": "registry-mirrors",
    "default-ulimit": "default-ulimits",
    "default-address-pool": "default-address-pools",
    "default-network-opt": "default-network-opts",
    "node-generic-resource": "node-generic-resources",
    "cdi-spec-dir": "cdi-spec-dirs",
    "feature": "features",
    "add-runtime": "runtimes",
}
_SHORT = {
    "H": "hosts",
    "D": "debug",
    "l": "log-level",
    "G": "group",
    "g": "graph",
    "p": "pidfile",
    "s": "storage-driver",
    "b": "bridge",
}
_SHORT_SWITCHES = "Dv"
_BOTH_ALLOWED = ("runtimes",)
"""dockerd adds these up instead of refusing (moby daemon/config/config.go, skipDuplicates)."""

_ADDS_UP = (18, 9)
"""The first Docker that does (moby/moby#37871, and its backport)."""
_NOT_IN_FILE = ("config-file", "validate", "version", "help")

_BUILT_IN = ("runc", "io.containerd.runc.v2")
"""Runtimes that need no entry; other shims of containerd are named ``io.containerd.*``."""


def obstacles(
    config: Mapping[str, object],
    arguments: Sequence[str] = (),
    version: str = "",
    swarm: bool = False,
    driver: str = "",
) -> tuple[Refused, ...]:
    """Everything in this configuration that this engine would not start with.

    ``arguments`` is dockerd's real command line, ``version`` the engine's (unknown: empty),
    ``driver`` the cgroup driver that it takes where nothing names one.
    """
    found = [
        *_drivers(config),
        *_given_twice(config, arguments, version),
        *_runtime(config, arguments),
        *_parent(config, arguments, driver),
    ]
    if swarm and live_restore(config, arguments):
        # moby asks for state of a swarm, whatever it is in: active, locked, pending, error
        # (daemon/daemon.go, "incompatible with swarm mode").
        found.append(
            Refused("live-restore", "true on a node of a swarm", "false, or the node out of swarm")
        )
    found += _other_options(config, version)
    for key in unknown_keys(config, version):
        found.append(Refused(key, f"a key that Docker {version} does not know", "one that it does"))
    return tuple(found)


def live_restore(config: Mapping[str, object], arguments: Sequence[str]) -> bool:
    """Whether containers outlive the engine: by the file, or by a flag of its command line."""
    flags = [word for word in arguments if word.partition("=")[0] == "--live-restore"]
    values = [word.partition("=")[2].lower() for word in flags]
    # strconv.ParseBool of Go, which pflag asks.
    on = bool(values) and values[-1] in ("", "1", "t", "true")
    return on or config.get("live-restore") is True


def given_flags(arguments: Sequence[str]) -> dict[str, str]:
    """Key of the file to the flag that gives it on this command line (without its value)."""
    keys: dict[str, str] = {}
    for argument in arguments[1:]:
        if argument == "--":
            break
        if argument.startswith("--"):
            name = argument[2:].partition("=")[0]
            if name not in _NOT_IN_FILE:
                keys[_LIST_KEYS.get(name, name)] = f"--{name}"
        elif argument.startswith("-") and len(argument) > 1:
            keys.update(_short(argument[1:]))
    return keys


def _short(letters: str) -> dict[str, str]:
    """The short flags in one argument: switches may stand before one that takes a value."""
    keys = {}
    for letter in letters:
        if letter in _SHORT:
            keys[_SHORT[letter]] = f"-{letter}"
        if letter not in _SHORT_SWITCHES:
            break
    return keys


def _options(config: Mapping[str, object]) -> list[str]:
    options = config.get(KEY)
    return [item for item in options if isinstance(item, str)] if isinstance(options, list) else []


def _drivers(config: Mapping[str, object]) -> Iterator[Refused]:
    for option in _options(config):
        driver = entry_driver(option)
        if driver is not None and driver not in DRIVERS:
            yield Refused(f"{KEY} {OPTION}", driver or "no value", " or ".join(DRIVERS))


def _given_twice(
    config: Mapping[str, object], arguments: Sequence[str], version: str
) -> Iterator[Refused]:
    allowed = () if (release(version) or _ADDS_UP) < _ADDS_UP else _BOTH_ALLOWED
    for key, flag in given_flags(arguments).items():
        if key in config and key not in allowed:
            saw = f"it in the file and as {flag} on dockerd's command line, even if both agree"
            yield Refused(key, saw, "one of the two")


def _runtime(config: Mapping[str, object], arguments: Sequence[str]) -> Iterator[Refused]:
    name = config.get("default-runtime")
    runtimes = config.get("runtimes")
    known = set(runtimes) if isinstance(runtimes, dict) else set()
    # --add-runtime NAME=PATH, in one argument or two.
    for flag, value in zip(arguments, [*arguments, ""][1:], strict=True):
        added = value if flag == "--add-runtime" else flag.removeprefix("--add-runtime=")
        if flag.startswith("--add-runtime") and not added.startswith("-"):
            known.add(added.partition("=")[0])
    if not isinstance(name, str) or name in known or name in _BUILT_IN:
        return
    if not name.startswith(("io.containerd.", "/")):
        there = ", ".join(sorted(known)) or "none"
        yield Refused("default-runtime", name, f"one of runtimes (there: {there}) or runc")


def _parent(
    config: Mapping[str, object], arguments: Sequence[str], driver: str
) -> Iterator[Refused]:
    """The systemd driver starts with no parent but a slice (moby daemon/daemon_unix.go)."""
    given = zip(arguments, [*arguments, ""][1:], strict=True)
    flags = [value for flag, value in given if flag == "--cgroup-parent"]
    flags += [word.partition("=")[2] for word in arguments if word.startswith("--cgroup-parent=")]
    named = {entry_driver(word) for word in (*_options(config), *arguments)} - {None}
    if "systemd" not in (named or {driver}):
        return
    for parent in (config.get("cgroup-parent"), *flags):
        if isinstance(parent, str) and parent and not re.fullmatch(r".+\.slice", parent):
            yield Refused("cgroup-parent", parent, "a slice (NAME.slice) under the driver systemd")


def _other_options(config: Mapping[str, object], version: str) -> Iterator[Refused]:
    major = version.partition(".")[0]
    if not major.isdecimal() or int(major) < 28:
        return
    for option in _options(config):
        if entry_driver(option) is None:
            # moby daemon/config/config_linux.go from 28.0: "unknown option".
            yield Refused(KEY, option, f"only {OPTION} from Docker 28 on")
