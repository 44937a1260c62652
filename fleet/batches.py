"""The order in which a fleet is changed: the canary first, then batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyinfra_nvml.settings.wrong import Wrong


@dataclass(frozen=True)
class Batches:
    """The hosts of a run, in the groups that are changed one after the other.

    .. code:: python

        Batches((("gpu-01",), ("gpu-02", "gpu-03"), ("gpu-04",)), canaries=1)
    """

    groups: tuple[tuple[str, ...], ...]
    canaries: int

    def place(self, host: str) -> int:
        """The number of the group that a host is in, from 0."""
        return next(number for number, group in enumerate(self.groups) if host in group)

    def title(self, number: int) -> str:
        """What a group is called: ``canary``, ``batch 2 of 3``."""
        if number < self.canaries:
            return "canary"
        return f"batch {number - self.canaries + 1} of {len(self.groups) - self.canaries}"


def plan_batches(
    hosts: Sequence[str], canary: int | Collection[str], size: int, most: int | None = None
) -> Batches:
    """The groups of a run, in the order of its inventory.

    ``canary`` is how many of the first hosts, or which; ``size`` the hosts of a batch; ``most`` the
    cap on nodes out of service at once, which no group exceeds. A run of a single host has no
    canary.
    """
    limit = max(1, min(size, most) if most else size)
    named = hosts[:canary] if isinstance(canary, int) else [h for h in hosts if h in canary]
    first = tuple(named) if len(hosts) > 1 else ()
    rest = [host for host in hosts if host not in first]
    ahead = _cut(first, limit)
    return Batches((*ahead, *_cut(rest, limit)), canaries=len(ahead))


def _cut(hosts: Sequence[str], size: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(hosts[i : i + size]) for i in range(0, len(hosts), size))


def absent_canary(canary: int | Collection[str], hosts: Collection[str]) -> Wrong | None:
    """What is wrong with a canary that names hosts which are not in the inventory."""
    named = () if isinstance(canary, int) else canary
    if absent := sorted(set(named) - set(hosts)):
        found = f"setting canary names {', '.join(absent)}"
        return Wrong("canary", found, "; expected names of hosts in the inventory")
    return None


def unreached_canary(canary: int | Collection[str], order: Batches) -> str | None:
    """Why nothing is touched: hosts are named as the canary, and none of them was reached."""
    if isinstance(canary, int) or order.canaries or sum(map(len, order.groups)) < 2:
        return None
    return f"canary {', '.join(canary)}: saw none of them reached, want one that proves the cure"


def most_at_once(share: int | str | None, hosts: int) -> int | None:
    """The cap on nodes out of service as a number; ``25%`` of 10 hosts is 2, and never below 1."""
    if isinstance(share, str):
        return max(1, hosts * int(share.removesuffix("%")) // 100)
    return share


@dataclass(frozen=True)
class Progress:
    """Where the hosts of a run are: done with all their steps, failed, refused, out of order."""

    done: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()

    @property
    def ended(self) -> frozenset[str]:
        """Those that hold up nobody any more."""
        return self.done | self.failed | self.refused


def halt_reason(
    order: Batches, number: int, progress: Progress, max_failures: int, most: int | None = None
) -> str | None:
    """Why this group and those behind it are not touched, or ``None``.

    A canary has to be done: one that refused proves nothing, and one that has not had its turn
    (pyinfra's ``--serial`` and ``--no-wait`` know no order) proves nothing yet. Hosts that failed
    may be out of service.
    """
    for before, group in enumerate(order.groups[:number]):
        title = order.title(before)
        if waiting := [host for host in group if host not in progress.ended]:
            saw = f"saw {', '.join(waiting)} not done yet"
            return f"{title}: {saw}, want it done first; run without --serial and --no-wait"
        lost = [host for host in group if host in progress.failed]
        canary = before < order.canaries
        allowed = 0 if canary else max_failures
        if len(lost) > allowed:
            return f"{title}: saw {', '.join(lost)} fail, want at most {allowed}"
        if canary and not any(host in progress.done for host in group):
            saw = f"saw {', '.join(group)} refused"
            return f"{title}: {saw}, want one that proves the cure (setting canary)"
    failed = len(progress.failed)
    if most and failed and failed + len(order.groups[number]) > most:
        return f"nodes out of service: saw {failed} failed, want at most {most} with the next"
    return None
