"""How a node is asked: named commands, and their answers told apart again.

One script runs them all (facts/node_script.py). What a command printed is behind a ``|`` on every
line (standard error behind a ``!``), so that nothing it prints can be taken for the frame. One
newline is added to each, so that the frame holds where a command's last line has none:

.. code:: text

    @node 1
    @docker.info rc=1 cut=0
    |
    !permission denied while trying to connect to the Docker daemon socket
    @nvidia.smi rc=hung cut=0
    @end 2
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from pyinfra_nvml.model.unknown import Unknown

PROTOCOL = 1

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
        probe.name: replace(given, lost=f"not understood: {line[:80]!r}")
        for probe in probes
        if probe.lines
        and (given := sections.get(probe.name))
        and (line := _strange(given, re.compile(probe.lines)))
    }
    return {**sections, **lost} if lost else sections


def _strange(answer: Section, lines: re.Pattern[str]) -> str | None:
    """The first line that its probe does not print, of an answer that is complete."""
    if not answer.out or answer.trouble:
        return None
    strange = (line for line in answer.out.splitlines() if not lines.match(line) and line.strip())
    return next(strange, None)


def read_frame(output: Iterable[str]) -> Sections:
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


def framed_files(name: str, *paths: str) -> Probe:
    """A probe that reads small files at once; globs are allowed. Its answer goes to ``file_texts``.

    ``grep -H`` puts the path before every line, so that no content can pose as another file.
    """
    return Probe(name, f"grep -H '' {' '.join(paths)} /dev/null", cap=512)


def file_texts(answer: Section) -> dict[str, str | Unknown] | Unknown:
    """Path to text, of the files that a ``framed_files`` probe found; unreadable ones are ``Unknown``.

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
