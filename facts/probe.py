"""How a node is asked: named commands, all in one POSIX sh script, and the answers told apart.

The script runs every command in the background with a time limit, so that the whole takes as long
as the slowest one. Commands of one limit are subshells of one shell under one timeout(1): a fork
each, and a command that ends or exits its shell takes no other with it. Each command's output goes
to a file of a private directory; it is printed behind a ``|`` on every line (standard error behind
a ``!``), so that nothing a command prints can be taken for the frame. One newline is added to each,
so that the frame holds where a command's last line has none:

.. code:: text

    @node 1
    @docker.info rc=1 cut=0
    |
    !permission denied while trying to connect to the Docker daemon socket
    @nvidia.smi rc=hung cut=0
    @end 2

What is stuck in the kernel (state D, seen with nvidia-smi after Xid 79) survives SIGKILL: it is
reported as ``hung`` and left behind in the background. Runs in dash, bash and busybox ash, with
or without root, and writes nothing outside its private directory, which it removes.
"""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from facts.unknown import Unknown

PROTOCOL = 1

GRACE = 3
"""Seconds between the longest limit and giving up on a command that SIGKILL did not end."""

_HEADER = re.compile(r"^@([a-z0-9_.]+) rc=(\d{1,3}|hung) cut=([01])$")
# What grep prints of a file with NUL bytes (GNU grep from 3.5 on; before that, and busybox).
_BINARY = re.compile(r"^(?:grep: (/.*): binary file matches|Binary file (/.*) matches)$")
_TIMED_OUT = {124, 137, 143}
"""Exit codes of timeout(1): 124 limit reached, 137 killed (coreutils), 143 (busybox)."""


@dataclass(frozen=True)
class Probe:
    """One command of the script. ``limit`` in seconds; ``cap`` in KiB of output kept.

    ``lines`` is a pattern that the start of every line of its output matches, where that is sure.
    """

    name: str
    command: str
    limit: int = 10
    cap: int = 256
    lines: str = ""


@dataclass(frozen=True)
class Section:
    """What one command answered: exit code (``None``: hung, or never came), output, standard error.

    .. code:: python

        Section("docker.info", rc=1, out="", err="permission denied while trying to connect")
    """

    name: str
    rc: int | None
    out: str = ""
    err: str = ""
    cut: bool = False
    lost: str = ""

    @property
    def said(self) -> str:
        """The last line of standard error, without the address that Docker's client adds."""
        lines = self.err.strip().splitlines() or [""]
        return lines[-1].partition(': Get "http')[0][:300]

    @property
    def trouble(self) -> Unknown | None:
        """Why this answer cannot be taken as complete, or ``None`` where it can."""
        if self.lost:
            return Unknown(f"{self.name}: {self.lost}")
        if self.rc is None:
            return Unknown(f"{self.name}: hung, SIGKILL did not end it")
        if self.rc in _TIMED_OUT:
            return Unknown(f"{self.name}: timed out")
        if self.cut:
            return Unknown(f"{self.name}: output longer than its limit")
        if self.rc == 127:
            return Unknown(f"{self.name}: command not found")
        if self.rc != 0:
            return Unknown(f"{self.name}: exit {self.rc}: {self.said or 'said nothing'}")
        return None


Sections = dict[str, Section]


def section(sections: Sections, name: str) -> Section:
    """The named section, or one that says that it never came."""
    return sections.get(name) or Section(name, None, lost="no answer in the node's output")


def understood(probes: Sequence[Probe], sections: Sections) -> Sections:
    """The sections, with those lost whose lines are not such as their probe prints."""
    lost = {
        probe.name: answer
        for probe in probes
        if probe.lines
        and (given := sections.get(probe.name))
        and (answer := _understood(given, probe.lines)) is not given
    }
    return {**sections, **lost} if lost else sections


def _understood(answer: Section, lines: str) -> Section:
    if answer.trouble:
        return answer
    for line in answer.out.splitlines():
        if line.strip() and not re.match(lines, line):
            return replace(answer, lost=f"not understood: {line[:80]!r}")
    return answer


def script(probes: Sequence[Probe]) -> str:
    """The sh script that runs these probes at once and prints their framed answers."""
    limits = sorted({probe.limit for probe in probes})
    lines = [_HEAD.replace("@PROTOCOL@", str(PROTOCOL)).replace("@EACH@", shlex.quote(_EACH))]
    lines += [_start(limit, [one for one in probes if one.limit == limit]) for limit in limits]
    lines += [f"collect {len(limits)} {max(limits, default=0) + GRACE}"]
    lines += ["show " + " ".join(f"{probe.name}:{probe.cap * 1024}" for probe in probes)]
    lines += [f"echo '@end {len(probes)}'"]
    return "\n".join(lines) + "\n"


def limit(probes: Sequence[Probe]) -> int:
    """Seconds after which the script has ended whatever its commands do."""
    return max((probe.limit for probe in probes), default=0) + GRACE


def read(output: Iterable[str]) -> Sections:
    """The sections of a script's output; what a login file printed before is skipped."""
    answers: dict[str, Section] = {}
    out: list[str] = []
    err: list[str] = []
    header: re.Match[str] | None = None
    ended = False

    def close() -> None:
        if header is not None:
            name, rc, cut = header.groups()
            code = None if rc == "hung" else int(rc)
            answers[name] = Section(name, code, "\n".join(out), "\n".join(err), cut == "1")
        out.clear()
        err.clear()

    for line in dropwhile(f"@node {PROTOCOL}".__ne__, output):
        mark = line[:1]
        if mark == "|":
            out.append(line[1:])
        elif mark == "!":
            err.append(line[1:])
        elif mark == "@":
            close()
            header = _HEADER.match(line)
            ended = line.startswith("@end ")
            if ended:
                break
    if not ended and header is not None:
        # The last section has no frame line behind it: nobody knows whether it is whole.
        name = header.group(1)
        answers[name] = Section(name, None, lost="the node's output ends in the middle")
    return answers


def files(name: str, *paths: str) -> Probe:
    """A probe that reads small files at once; globs are allowed. Its answer goes to ``file_texts``.

    ``grep -H`` puts the path before every line, so that no content can pose as another file.
    """
    return Probe(name, f"grep -H '' {' '.join(paths)} /dev/null", cap=512)


def file_texts(answer: Section) -> dict[str, str | Unknown] | Unknown:
    """Path to text, of the files that a ``files`` probe found; unreadable ones are ``Unknown``.

    An absent file has no key. An existing empty file has none either (grep prints no line for it).
    """
    # grep: 0 lines found, 1 none, 2 a file was absent or unreadable (POSIX grep, EXIT STATUS).
    if answer.rc is None or answer.rc > 2 or answer.cut or answer.lost:
        return answer.trouble or Unknown(f"{answer.name}: exit {answer.rc}")
    texts: dict[str, list[str]] = {}
    binary: list[str] = []
    for line in answer.out.splitlines():
        path, colon, text = line.partition(":")
        if colon and path.startswith("/"):
            texts.setdefault(path, []).append(text)
        elif other := _BINARY.match(line):
            binary.append(other[1] or other[2])
        elif line.strip():
            return Unknown(f"{answer.name}: not understood: {line[:80]!r}")
    found: dict[str, str | Unknown] = {path: "\n".join(lines) for path, lines in texts.items()}
    for line in answer.err.splitlines():
        complaint = re.match(r"^grep: (/.*): ([^:]+)$", line)
        if complaint and complaint[2] not in ("No such file or directory", "Is a directory"):
            found[complaint[1]] = Unknown(f"{complaint[1]}: {complaint[2]}")
    return found | {path: Unknown(f"{path}: not a text") for path in binary}


def decode(text: str) -> bytes | None:
    """The bytes of base64 lines, or ``None`` where they are not base64."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def number(text: str) -> int | None:
    """The decimal number that this is, of at most 19 digits (64 bits), or ``None``."""
    return int(text) if re.fullmatch(r"[0-9]{1,19}", text) else None


def _start(limit: int, probes: Sequence[Probe]) -> str:
    words = [f"{probe.name} {probe.cap * 2} {shlex.quote(probe.command)}" for probe in probes]
    return " \\\n".join([f"start {limit}", *words])


# The commands of one limit, in a shell under one timeout(1): busybox's ends that shell alone,
# coreutils' its children too. ulimit -f counts 512-byte blocks (POSIX sh); what writes more gets
# SIGXFSZ and says no status of its own.
_EACH = r"""
started=
trap 'for late in $started; do [ -s "$ANSWERS/${late%:*}.rc" ] || kill "${late#*:}"; done' TERM
while [ $# -gt 0 ]; do
  (
    ANSWER=$ANSWERS/$1
    trap 'exit 124' TERM
    trap 'echo $? >"$ANSWER.rc"' EXIT
    ulimit -f "$2"
    asked=$3
    shift $#
    eval "$asked"
  ) >"$ANSWERS/$1.out" 2>"$ANSWERS/$1.err" </dev/null &
  started="$started $1:$!"
  shift 3
done
for one in $started; do
  wait "${one#*:}"
  rc=$?
  [ -s "$ANSWERS/${one%:*}.rc" ] || echo $rc >"$ANSWERS/${one%:*}.rc"
done
wait
"""

_HEAD = r"""
echo '@node @PROTOCOL@'
LC_ALL=C; export LC_ALL
PATH="${PATH:-/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin:/run/current-system/sw/bin"
export PATH
umask 077
dir=
for base in /run /dev/shm "${TMPDIR:-/tmp}" /var/tmp; do
  dir=$(mktemp -d "$base/pyinfra-nvml.XXXXXX" 2>/dev/null) && break
done
[ -d "$dir" ] || { echo 'temporary directory: none in /run /dev/shm /tmp /var/tmp' >&2; exit 73; }
ticker=
trap 'kill $ticker 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 129' HUP INT TERM PIPE
mkfifo "$dir/done" && exec 3<>"$dir/done" || exit 73
# Asked once for all: who asks, the machine, and "/proc/PID/comm:NAME".
ASKER=$(id -u) MACHINE=$(uname -m) COMMS=$dir/comms ANSWERS=$dir
# Less garbage collection: a fifth of the start of containerd and of Docker 20.10's client.
GOGC=400
export ASKER MACHINE COMMS ANSWERS GOGC
grep -H '' /proc/[0-9]*/comm >"$COMMS" 2>/dev/null
limited() { shift; "$@"; }
if timeout -k 2 5 true 2>/dev/null; then
  limited() { timeout -k 2 "$@"; }
fi
each=@EACH@
start() {
  (
    seconds=$1
    shift
    limited "$seconds" sh -c "$each" sh "$@" </dev/null 3>&-
    rc=$?
    case $rc in
      124 | 137 | 143)
        while [ $# -gt 0 ]; do
          [ -s "$dir/$1.rc" ] || echo $rc >"$dir/$1.rc"
          shift 3
        done ;;
    esac
    echo done >&3
  ) >/dev/null 2>&1 &
}
collect() {
  me=$$
  ( exec >/dev/null 2>&1; while kill -0 $me; do sleep 1; echo tick >&3; done ) &
  ticker=$!
  left=$1 seconds=0
  while [ "$left" -gt 0 ] && [ "$seconds" -lt "$2" ]; do
    read -r word <&3 || break
    case $word in
      done) left=$((left - 1)) ;;
      tick) seconds=$((seconds + 1)) ;;
    esac
  done
}
# All answers go through three processes together; wc's counts tell awk which line is whose.
show() {
  [ $# -gt 0 ] || return 0
  : >"$dir/list"
  echo >"$dir/newline"
  for probe; do
    name=${probe%:*} rc=hung
    [ ! -s "$dir/$name.rc" ] || read -r rc <"$dir/$name.rc"
    for file in "$dir/$name.out" "$dir/$name.err"; do
      # What is hung may still write: its answer as it is now.
      if [ ! -e "$file" ]; then : >"$file"
      elif [ "$rc" = hung ]; then cat "$file" >"$file.now"; mv -f "$file.now" "$file"
      fi
    done
    echo "$name $rc ${probe#*:}" >>"$dir/list"
  done
  cd "$dir" && for probe; do
    shift
    set -- "$@" "${probe%:*}.out" newline "${probe%:*}.err" newline
  done
  wc -c "$@" >sizes
  cat "$@" | tr -c '\11\12\40-\176' '?' | awk '
    step == 1 { size[$2] = $1 }
    step == 2 { name[++count] = $1; rc[count] = $2; cap[count] = $3 }
    step < 3 { next }
    left == 0 && mark == "|" { mark = "!"; left = size[name[at] ".err"] + 1; told = 0 }
    left == 0 {
      at++; mark = "|"; told = 0
      bytes = size[name[at] ".out"]; left = bytes + 1
      print "@" name[at] " rc=" rc[at] " cut=" (bytes > 0 && bytes >= cap[at] + 0)
    }
    { left -= length($0) + 1 }
    mark == "|" { print mark $0; next }
    told < 4096 { print mark substr($0, 1, 4096 - told) }
    { told += length($0) + 1 }
  ' step=1 sizes step=2 list step=3 -
}
"""
