"""What a scheduler is told: the exit code and the first line, in the scheme that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from pyinfra_nvml.audit.standing import Standing
from pyinfra_nvml.model.finding import Level, Status
from pyinfra_nvml.model.printable import printable

CLEAN, FOUND, UNKNOWN, USAGE = 0, 1, 2, 3
"""The plain exit codes."""

_NPD_BYTES = 80


class Scheme(str, Enum):
    """``plain`` is this program's own.

    ``nagios``: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, and ``| label=value`` behind the text
    (Monitoring Plugins Development Guidelines). ``npd``: 0 ok, 1 problem, 2 unknown, and a message
    of at most 80 bytes (node-problem-detector, docs/custom_plugin_monitor.md,
    ``max_output_length``).
    """

    PLAIN = "plain"
    NAGIOS = "nagios"
    NPD = "npd"


def scheme_code(scheme: Scheme, plain: int, found: Sequence[Standing]) -> int:
    """The scheme's exit code for a plain one."""
    if scheme is Scheme.NAGIOS:
        critical = 2 if _worst(found) is Level.BROKEN else 1
        return {CLEAN: 0, FOUND: critical, UNKNOWN: 3, USAGE: 3}[plain]
    if scheme is Scheme.NPD:
        return {CLEAN: 0, FOUND: 1, UNKNOWN: 2, USAGE: 2}[plain]
    return plain


def status_line(scheme: Scheme, plain: int, found: Sequence[Standing], reason: str) -> str:
    """The line that goes with the code; ``reason`` says why nothing could be told of the run."""
    if scheme is Scheme.NPD:
        return _cut(_message(plain, found, reason) or "ok")
    if scheme is Scheme.NAGIOS:
        word = ("OK", "WARNING", "CRITICAL", "UNKNOWN")[scheme_code(scheme, plain, found)]
        text = _message(plain, found, reason) or _nodes(found)
        return f"NVML {word} - {_one_line(text)} | {_perfdata(found)}"
    return _one_line(_message(plain, found, reason)) or f"clean at this level: {_nodes(found)}"


def _message(plain: int, found: Sequence[Standing], reason: str) -> str:
    """The worst node first, and how many more are like it."""
    if plain == CLEAN:
        return ""
    if reason:
        return reason
    wanted = Status.FOUND if plain == FOUND else Status.UNKNOWN
    like = sorted((node for node in found if node.status is wanted), key=_urgency)
    if not like:
        return "no node was audited"
    more = f" (and {_nodes(like[1:])} more)" if len(like) > 1 else ""
    return f"{like[0].node}{more}: {like[0].summary}"


def _nodes(found: Sequence[Standing]) -> str:
    return "1 node" if len(found) == 1 else f"{len(found)} nodes"


def _urgency(standing: Standing) -> tuple[bool, int]:
    """A node that does not answer comes before one of which a part could not be told."""
    levels = list(Level)
    return not standing.silent, levels.index(standing.level) if standing.level else len(levels)


def _worst(found: Sequence[Standing]) -> Level | None:
    reached = {node.level for node in found if node.status is Status.FOUND}
    return next((level for level in Level if level in reached), None)


def _perfdata(found: Sequence[Standing]) -> str:
    counts = {level.value: sum(node.level is level for node in found) for level in Level}
    unknown = sum(node.status is Status.UNKNOWN for node in found)
    pairs = {"nodes": len(found), **counts, "unknown": unknown}
    return " ".join(f"{label.replace(' ', '_')}={count}" for label, count in pairs.items())


def _one_line(text: str) -> str:
    """Without what would end the text or steer a terminal: a new line, the bar before perfdata."""
    return printable(" ".join(text.replace("|", "/").split()))


def _cut(text: str) -> str:
    """At most 80 bytes, never in the middle of a character."""
    encoded = _one_line(text).encode()
    if len(encoded) <= _NPD_BYTES:
        return encoded.decode()
    return encoded[: _NPD_BYTES - 3].decode(errors="ignore") + "..."
