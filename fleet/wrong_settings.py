"""The wrong settings of a run: each once, whatever is wrong and on how many hosts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches

from pyinfra.api import Host, Inventory

from pyinfra_nvml.fleet.batches import absent_canary
from pyinfra_nvml.settings.models import every_setting
from pyinfra_nvml.settings.names import given_by
from pyinfra_nvml.settings.reading import alike, read_once
from pyinfra_nvml.settings.wrong import RefusedSettings, Wrong, unknown_setting

_OWN = "host"

Reader = Callable[[Host], object]

_NEAR = 0.85
"""An inventory's own names are its own business, but `batch_sise` is no name that anybody wants."""


def wrong_settings(
    inventory: Inventory, hosts: Collection[Host], readers: Collection[Reader] = (read_once,)
) -> Iterator[str]:
    """What is wrong with the settings of these hosts, and where it was given.

    .. code:: python

        "setting max_failures is 'lots' (--data); expected a number from 0"
        "setting batch_size is 0 (host gpu-02 and 1 more); expected a number from 1"
    """
    whose: dict[tuple[Wrong, str], dict[str, None]] = {}
    for host, wrong in (*_misspelt(inventory, hosts), *_refusals(hosts, readers)):
        whose.setdefault((wrong, _place(host, wrong.setting)), {})[host.name] = None
    for (wrong, place), names in whose.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield wrong.told(f"host {next(iter(names))}{more}" if place == _OWN else place)


def canary(host: Host) -> None:
    """Holds the canary of a change to the hosts that there are; an audit of others has none."""
    if wrong := absent_canary(read_once(host).canary, host.inventory.hosts):
        raise RefusedSettings(wrong)


def _refusals(hosts: Collection[Host], readers: Collection[Reader]) -> Iterator[tuple[Host, Wrong]]:
    read: dict[tuple[object, ...], list[Wrong]] = {}
    for host in hosts:
        if (same := alike(host)) not in read:
            read[same] = [wrong for reader in readers for wrong in _refused(reader, host)]
        for wrong in read[same]:
            yield host, wrong


def _refused(reader: Reader, host: Host) -> tuple[Wrong, ...]:
    try:
        reader(host)
    except RefusedSettings as refusal:
        return refusal.wrong
    return ()


def _misspelt(inventory: Inventory, hosts: Collection[Host]) -> Iterator[tuple[Host, Wrong]]:
    known = every_setting()
    for name in sorted(given_by(inventory) - known):
        if get_close_matches(name, known, n=1, cutoff=_NEAR):
            wrong = unknown_setting(name, known)
            yield from ((host, wrong) for host in hosts if _place(host, name))


def _place(host: Host, setting: str) -> str:
    """Where this host has the setting from, the first to count; nowhere: nobody gave it."""
    inventory = host.inventory
    if setting in inventory.override_data:
        return "--data"
    if setting in host.host_data:
        return _OWN
    for group in reversed(host.groups):
        if setting in inventory.get_group_data(group):
            return f"group {group}"
    return "group all" if setting in inventory.data else ""
