"""The knobs of a run that make no sense: each once, whatever is wrong and on how many hosts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches

from pyinfra.api import Host, Inventory

from pyinfra_nvml.fleet.batches import absent_canary
from pyinfra_nvml.settings.knob_names import every_knob, given_by
from pyinfra_nvml.settings.knobs import alike, read_once
from pyinfra_nvml.settings.refused_knobs import RefusedKnobs

_OWN = "host"

Reader = Callable[[Host], object]

_NEAR = 0.85
"""An inventory's own names are its own business, but `batch_sise` is no name that anybody wants."""


def wrong_knobs(
    inventory: Inventory, hosts: Collection[Host], readers: Collection[Reader] = (read_once,)
) -> Iterator[str]:
    """What makes no sense for these hosts, and where it was said.

    .. code:: python

        "knob max_failures: saw 'lots', want a number from 0 (--data)"
        "knob batch_size: saw 0, want a number from 1 (host gpu-02 and 1 more)"
    """
    whose: dict[tuple[str, str], dict[str, None]] = {}
    for host, knob, line in (*_misspelt(inventory, hosts), *_refusals(hosts, readers)):
        whose.setdefault((line, _place(host, knob)), {})[host.name] = None
    for (line, place), names in whose.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        where = f"host {next(iter(names))}{more}" if place == _OWN else place
        yield f"{line} ({where})" if where else line


def canary(host: Host) -> None:
    """Holds the canary of a change to the hosts that there are; an audit of others has none."""
    if told := absent_canary(read_once(host).canary, host.inventory.hosts):
        raise RefusedKnobs(("canary", told))


def _refusals(
    hosts: Collection[Host], readers: Collection[Reader]
) -> Iterator[tuple[Host, str, str]]:
    read: dict[tuple[object, ...], list[tuple[str, str]]] = {}
    for host in hosts:
        if (same := alike(host)) not in read:
            read[same] = [line for reader in readers for line in _refused(reader, host)]
        for knob, line in read[same]:
            yield host, knob, line


def _refused(reader: Reader, host: Host) -> tuple[tuple[str, str], ...]:
    try:
        reader(host)
    except RefusedKnobs as refusal:
        return refusal.lines
    return ()


def _misspelt(inventory: Inventory, hosts: Collection[Host]) -> Iterator[tuple[Host, str, str]]:
    for name in sorted(given_by(inventory) - every_knob()):
        if near := get_close_matches(name, every_knob(), n=1, cutoff=_NEAR):
            line = f"knob {name}: saw no such knob, want {near[0]}"
            yield from ((host, name, line) for host in hosts if _place(host, name))


def _place(host: Host, knob: str) -> str:
    """Where this host has the knob from, the first to count; nowhere: nobody said it."""
    inventory = host.inventory
    if knob in inventory.override_data:
        return "--data"
    if knob in host.host_data:
        return _OWN
    for group in reversed(host.groups):
        if knob in inventory.get_group_data(group):
            return f"group {group}"
    return "group all" if knob in inventory.data else ""
