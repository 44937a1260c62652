"""The daemon.json that the engine really reads, raw: which file, whose, and its bytes."""

from __future__ import annotations

import hashlib
import re
import stat
from dataclasses import dataclass, fields
from enum import Enum
from typing import ClassVar

from typing_extensions import override

from pyinfra_nvml.facts.command_line import JOINED, values
from pyinfra_nvml.facts.engine_start import OLDER, EngineStart, edited, engine_starts
from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    decode,
    number,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value, plain

DEFAULT = "/etc/docker/daemon.json"
"""Where dockerd looks when no ``--config-file`` names another (dockerd(8))."""

LIMIT = 1 << 20
"""Bytes of one file that are read; what people write there is a few hundred bytes long."""

# stat: %f is the raw mode in hex, type and permissions (stat(1): GNU and busybox know it), first
# of the path itself, then, with -L, of what it leads to. The engines of containers (docker in
# docker, kind) have more than one number in NSpid; their files are not this node's.
# A new file takes the old one's place by a rename, so its directory decides: `test -w` tells of
# read-only mounts and of immutable ones to root too (access(2), EROFS; chattr(1)).
# A rename and a chmod change the time of status alone (stat(1), %Z); a switched link has its own.
# An engine starts at the time of its pid file, or at field 22 of its stat (proc(5)), in ticks.
_FETCH = rf"""
kept() {{
  [ -O / ] || return 0
  directory=${{1%/*}}
  while [ ! -d "$directory/" ]; do directory=${{directory%/*}}; done
  if [ ! -w "$directory/" ]; then echo "kept $directory/ takes no new file: read-only or immutable"
  elif [ -e "$1" ] && [ ! -w "$1" ]; then echo 'kept it is read-only or immutable'
  elif grep -qF " $1 " /proc/self/mountinfo; then echo 'kept it is a mount of its own'
  fi
}}
starts() {{
  for process in $(sed -n 's,/comm:dockerd$,,p' "$COMMS"); do
    while read -r key one more; do [ "$key" != NSpid: ] || break; done <"$process/status"
    [ -z "$more" ] || continue
    {JOINED}
    named={DEFAULT}
    case $words in
      *--config-file*)
        named=$(tr '\n\0' ' \n' <"$process/cmdline" | {values("--config-file")} | tail -n 1) ;;
    esac
    echo "dockerd ${{process#/proc/}} $(sed 's/.*) //' "$process/stat" | cut -d ' ' -f 20) $named"
  done 2>/dev/null
}}
planned() {{
  [ -d /run/systemd/system ] || return 0
  # To a file: what a systemctl that hangs has started would hold a pipe open.
  unit=$ANSWERS/daemon_json.unit
  timeout -s KILL 5 systemctl show docker.service -p ExecStart >"$unit" 2>/dev/null
  tr ' ' '\n' <"$unit" | {values("--config-file")}
}}
if [ -f /run/docker.pid ]; then
  echo "pidfile $(head -c 20 /run/docker.pid) $(stat -c '%Y %.Y' /run/docker.pid)"
fi 2>/dev/null
read -r uptime idle </proc/uptime
echo "clock $(date +%s) $uptime"
engines=$(starts)
[ -z "$engines" ] || printf '%s\n' "$engines"
paths={DEFAULT}
others=$(printf '%s\n' "$engines" | sed -n 's/^dockerd [0-9]* [0-9]* //p'; planned)
[ -z "$others" ] || paths=$(printf '%s\n' "$paths" "$others" | sort -u)
while IFS= read -r path; do
  case $path in /*) ;; *) continue ;; esac
  printf 'file %s\n' "$path"
  if [ -L "$path" ]; then
    stat -c 'link %f' "$path" 2>/dev/null
    echo "stat $(stat -L -c '%f %u %g %s' "$path" 2>&1)"
  elif told=$(stat -c 'link %f
stat %f %u %g %s' "$path" 2>&1); then printf '%s\n' "$told"
  else printf 'stat %s\n' "$told"
  fi
  [ ! -e "$path" ] || printf 'times %s\n' "$(
    {{ stat -L -c '%Y %Z %.Y %.Z' "$path"; stat -c '%Z %.Z' "$path"; }} | tr '\n' ' '
  )"
  target=$(readlink -f "$path") && printf 'target %s\n' "$target"
  kept "${{target:-$path}}"
  [ -f "$path" ] || continue
  {{ head -c {LIMIT + 1} "$path" | base64; }} 2>&1 | sed 's/^/data /'
done <<END
$paths
END
"""


class FileKind(str, Enum):
    """What is found at the end of a path, links followed."""

    REGULAR = "regular"
    DIRECTORY = "directory"
    ABSENT = "absent"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ConfigFile(Value):
    """One configuration file of a dockerd: its path, what it leads to, and its bytes.

    ``content`` is ``None`` where there is no file, ``Unknown`` where it could not be read or is
    longer than ``LIMIT``. ``mode`` holds the permission bits, ``kept`` why root cannot put
    another file in its place, ``edited`` whether it was changed after the start of the dockerd that
    reads it.

    .. code:: python

        ConfigFile("/etc/docker/daemon.json", "/etc/docker/daemon.json", Kind.REGULAR, link=False,
                   mode=0o644, uid=0, gid=0, content=b'{"log-driver": "local"}')
    """

    path: str
    target: str | None
    kind: FileKind
    link: bool
    mode: int | None
    uid: int | None
    gid: int | None
    content: bytes | Unknown | None
    kept: str = ""
    edited: bool | Unknown = OLDER

    private: ClassVar[bool] = True

    @override
    def to_json(self) -> object:
        """The content by its size and sum, since it may hold proxies' passwords and labels.

        Without ``edited``: it is of the engine's start, and no property of the file.
        """
        shown: object = self.content
        if isinstance(self.content, bytes):
            digest = hashlib.sha256(self.content).hexdigest()
            shown = {"bytes": len(self.content), "sha256": digest}
        return {
            **{f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name != "edited"},
            "content": plain(shown),
        }


@dataclass(frozen=True)
class DaemonJsonState(Value):
    """The default file, and each one named by ``--config-file`` of a dockerd or of its unit."""

    files: tuple[ConfigFile, ...]

    def at(self, path: str) -> ConfigFile | None:
        """The file with this path, if it was asked for."""
        return next((file for file in self.files if file.path == path), None)


class DaemonJson(Source[DaemonJsonState]):
    """The configuration files of this node's Docker engines, byte for byte.

    Sources: /proc/pid/{cmdline,stat} (proc(5)), ``systemctl show docker.service``, stat(1),
    /run/docker.pid. Needs root where a file is not world-readable.
    """

    probes = (Probe("daemon_json.files", _FETCH, cap=4096),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> DaemonJsonState | Unknown:
        answer = section(sections, "daemon_json.files")
        if answer.trouble and answer.rc != 1:
            return answer.trouble
        blocks: list[dict[str, list[str]]] = []
        for line in answer.out.splitlines():
            key, _, rest = line.partition(" ")
            if key == "file":
                blocks.append({"file": [rest]})
            elif blocks and key in ("link", "stat", "times", "target", "kept", "data"):
                blocks[-1].setdefault(key, []).append(rest)
        if not blocks:
            return answer.trouble or Unknown("daemon_json.files: its answer names no file")
        starts = engine_starts(answer.out)
        return DaemonJsonState(tuple(_file(block, starts) for block in blocks))


def _file(block: dict[str, list[str]], starts: tuple[EngineStart, ...] | Unknown) -> ConfigFile:
    path = block["file"][0]
    mode, uid, gid, size, trouble = _stat(block.get("stat", ["no answer"])[0])
    link = stat.S_ISLNK(_hex(block.get("link", [""])[0]) or 0)
    kind = _kind(mode, trouble)
    content: bytes | Unknown | None = None
    if "?" in path:
        # The frame shows bytes outside ASCII as a question mark: the path is not known exactly.
        content = Unknown(f"{path}: its name has bytes outside ASCII")
    elif kind is FileKind.REGULAR:
        content = _content(path, size, block.get("data", []))
    elif kind is FileKind.UNKNOWN:
        content = Unknown(f"{path}: {trouble}")
    elif kind is not FileKind.ABSENT:
        content = Unknown(f"{path}: is {kind.value}, not a regular file")
    return ConfigFile(
        path=path,
        target=block.get("target", [""])[0] or None,
        kind=kind,
        link=link,
        mode=None if mode is None else stat.S_IMODE(mode),
        uid=uid,
        gid=gid,
        content=content,
        kept=block.get("kept", [""])[0],
        edited=edited(path, block.get("times", [""])[0], starts),
    )


def _kind(mode: int | None, trouble: str) -> FileKind:
    if mode is None:
        absent = trouble in ("No such file or directory", "Not a directory")
        return FileKind.ABSENT if absent else FileKind.UNKNOWN
    if stat.S_ISREG(mode):
        return FileKind.REGULAR
    return FileKind.DIRECTORY if stat.S_ISDIR(mode) else FileKind.OTHER


def _content(path: str, size: int | None, lines: list[str]) -> bytes | Unknown:
    content = decode("".join(lines))
    if content is None:
        return Unknown(f"{path}: {lines[-1].rpartition(': ')[2][:200]}")
    if len(content) > LIMIT:
        return Unknown(f"{path}: {size} bytes long, want at most {LIMIT}")
    if size is not None and len(content) != size:
        return Unknown(f"{path}: {len(content)} of its {size} bytes came")
    return content


def _stat(answer: str) -> tuple[int | None, int | None, int | None, int | None, str]:
    """Mode, uid, gid, size and, where stat did not give them, its complaint."""
    words = answer.split()
    if len(words) == 4:
        mode, rest = _hex(words[0]), [number(word) for word in words[1:]]
        if mode is not None and None not in rest:
            return mode, rest[0], rest[1], rest[2], ""
    return None, None, None, None, answer.rpartition(": ")[2][:200]


def _hex(text: str) -> int | None:
    """A mode as stat prints it: 16 bits, without a sign."""
    return int(text, 16) if re.fullmatch(r"[0-9a-f]{1,4}", text) else None
