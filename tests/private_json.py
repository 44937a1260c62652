"""The JSON in a recording: only what decides a verdict stays, and its length stays true."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable

from pyinfra_nvml.facts.probe import decode

# docker info: everything else is made empty, in its own kind.
INFO = {
    "ServerVersion", "CgroupDriver", "CgroupVersion", "LiveRestoreEnabled", "SecurityOptions",
    "DefaultRuntime", "RuncCommit", "ContainerdCommit", "CDISpecDirs", "Warnings", "OSType",
    "OperatingSystem", "OSVersion", "Architecture", "Driver", "LoggingDriver", "DockerRootDir",
    "ServerErrors", "Containers", "ContainersRunning", "Runtimes", "KernelVersion",
}  # fmt: skip
# daemon.json: the strings of every other key are replaced.
DAEMON = {
    "exec-opts", "default-runtime", "runtimes", "features", "log-driver", "log-level",
    "storage-driver", "data-root", "exec-root", "cgroup-parent", "default-cgroupns-mode",
    "containerd", "init-path", "userns-remap", "cdi-spec-dirs",
}  # fmt: skip

Word = Callable[[str, str], str]
Text = Callable[[str], str]


def docker_info(block: list[str]) -> list[str]:
    """The answer of ``docker info`` with the keys that decide something."""
    return [_rewritten(line, _info) for line in block]


def docker_inspect(block: list[str], word: Word) -> list[str]:
    """The rows of containers with other names, images, pods and clusters."""

    def row(said: dict[str, object]) -> dict[str, object]:
        kinds = {"Name": "container", "Image": "image", "Pod": "pod"}
        kinds |= {"Service": "service", "Kind": "cluster", "Ecs": "cluster"}
        for key, kind in kinds.items():
            if isinstance(name := said.get(key), str) and name:
                slash = "/" if key == "Name" else ""
                said[key] = slash + word(kind, name.removeprefix("/") if slash else name)
        return said

    return [_rewritten(line, row) for line in block]


def daemon_json(block: list[str], text: Text) -> list[str]:
    """The files of dockerd, encoded again; ``stat`` gives the new length."""
    kept: list[str] = []
    data: list[str] = []
    for line in [*block, ""]:
        if line.startswith("|data "):
            data.append(line.removeprefix("|data "))
            continue
        if data:
            kept += _encoded(data, kept, text)
            data = []
        kept.append(text(line))
    return kept[:-1]


def _encoded(data: list[str], before: list[str], text: Text) -> list[str]:
    content = decode("".join(data))
    if content is None:
        return [f"|data {text(line)}" for line in data]
    clean = text(_strings(content.decode("utf-8", "surrogateescape")))
    replaced = clean.encode("utf-8", "surrogateescape")
    for place in range(len(before) - 1, -1, -1):
        if found := re.match(r"(\|stat [0-9a-f]+ \d+ \d+) \d+$", before[place]):
            before[place] = f"{found[1]} {len(replaced)}"
            break
    lines = base64.encodebytes(replaced).decode().splitlines()
    return [f"|data {line}" for line in lines]


def _strings(text: str) -> str:
    """The file with the strings of all but the known keys replaced; its form stays, broken or not.

    A top-level key is one that stands at the first brace's depth.
    """
    depth, secret, out = 0, False, []
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"(\s*:)?|[{\[]|[}\]]|[^"{}\[\]]+|.', text, re.S):
        word = token[0]
        if word in "{[":
            depth += 1
        elif word in "}]":
            depth -= 1
        elif token[1] and depth == 1:
            secret = word.partition('"')[2].partition('"')[0] not in DAEMON
        elif word.startswith('"') and secret:
            word = f'"x"{token[1] or ""}'
        out.append(word)
    return "".join(out)


def _info(said: dict[str, object]) -> dict[str, object]:
    kept = {key: value if key in INFO else _empty(value) for key, value in said.items()}
    swarm = said.get("Swarm")
    state = swarm.get("LocalNodeState") if isinstance(swarm, dict) else None
    if isinstance(state, str):
        kept["Swarm"] = {"LocalNodeState": state}
    return kept


def _empty(value: object) -> object:
    return None if value is None else type(value)()


def _rewritten(line: str, change: Callable[[dict[str, object]], dict[str, object]]) -> str:
    if not line.startswith("|{"):
        return line
    try:
        said = json.loads(line[1:])
    except ValueError:
        return line
    return "|" + json.dumps(change(said), separators=(",", ":")) if isinstance(said, dict) else line
