"""The result of a restart of Docker: lines of a key and its value.

.. code:: text

    id 20261130T091400Z.4242
    reason failed to start daemon: exec-opt native.cgroupdriver: not supported
    undo /etc/docker/daemon.json put back from daemon.json.20261130T091359Z
    container 4f66d0ab12cd started no trainer -
    verdict undone
    want cgroupfs
    before systemd
    after systemd
    seconds 41
    end
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class RestartOutcome(str, Enum):
    """How it ended. The first three leave nothing to do on the node.

    ``ok``: the engine has the wanted driver, and what ran before is accounted for; ``unchanged``:
    it had the driver already; ``stopped``: it was stopped on purpose, and its next start reads the
    file; ``incomplete``: it has the driver, but a container did not come back; ``undone``: the new
    file did not work, so the old one is back and the engine is up; ``wrong``: it is up with another
    driver, and no write of ours was open to undo; ``down``: it is down, with the old file too;
    ``refused``: nothing was touched; ``unknown``: the result did not arrive whole.
    """

    OK = "ok"
    UNCHANGED = "unchanged"
    STOPPED = "stopped"
    INCOMPLETE = "incomplete"
    UNDONE = "undone"
    WRONG = "wrong"
    DOWN = "down"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Return(str, Enum):
    """How a container came through: still running (live-restore), back by policy or by us, ..."""

    KEPT = "kept"
    POLICY = "policy"
    STARTED = "started"
    PAUSED = "paused-again"
    REMOVED = "removed"
    RENEWED = "renewed"
    SWARM = "swarm"
    FAILED = "failed"
    NEW = "new"


@dataclass(frozen=True)
class ReturnedContainer:
    """One container after the restart: the first 12 digits of its id, how, policy, name, words.

    ``RENEWED``: a unit or a program beside Docker made another one of its name. ``NEW`` ran only
    afterwards: a policy ``always`` starts what was stopped by hand as well.
    """

    id: str
    how: Return
    policy: str
    name: str
    words: str = ""


@dataclass(frozen=True)
class Restarted:
    """A restart's result. ``before`` and ``after`` are drivers as docker info says them."""

    verdict: RestartOutcome
    id: str = ""
    want: str = ""
    before: str = ""
    after: str = ""
    seconds: int | None = None
    recovered: bool = False
    reasons: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    containers: tuple[ReturnedContainer, ...] = ()


def parse_restart(lines: Iterable[str]) -> Restarted:
    """The result in these lines; one without its ``end`` has the verdict ``UNKNOWN``."""
    values: dict[str, list[str]] = {}
    for line in lines:
        key, _, text = line.rstrip("\n").partition(" ")
        values.setdefault(key, []).append(text)
    seconds = _last(values, "seconds")
    return Restarted(
        verdict=_verdict(_last(values, "verdict")) if "end" in values else RestartOutcome.UNKNOWN,
        id=_last(values, "id"),
        want=_last(values, "want"),
        before=_last(values, "before"),
        after=_last(values, "after"),
        seconds=int(seconds) if seconds.isascii() and seconds.isdigit() else None,
        recovered="recovered" in values,
        reasons=tuple(values.get("reason", ())),
        undo=tuple(values.get("undo", ())),
        containers=tuple(
            found for text in values.get("container", ()) if (found := _returned(text))
        ),
    )


def _last(values: dict[str, list[str]], key: str) -> str:
    return values.get(key, [""])[-1]


def _verdict(word: str) -> RestartOutcome:
    return (
        RestartOutcome(word)
        if word in {verdict.value for verdict in RestartOutcome}
        else RestartOutcome.UNKNOWN
    )


def _returned(text: str) -> ReturnedContainer | None:
    words = text.split(" ", 4)
    if len(words) < 4 or words[1] not in {how.value for how in Return}:
        return None
    rest = words[4].strip() if len(words) > 4 else ""
    return ReturnedContainer(
        words[0], Return(words[1]), words[2], words[3], rest.strip("-").strip()
    )
