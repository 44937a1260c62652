"""The settings of a host, read from pyinfra's host data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from pyinfra.api import Host, Inventory
from pyinfra.api.exceptions import DeployError

from pyinfra_nvml.settings.host_data import given
from pyinfra_nvml.settings.models import Settings, every_setting
from pyinfra_nvml.settings.names import unknown_to

_DEPLOYS = Path(__file__).resolve().parent.parent / "deploys"


@dataclass
class _Read:
    by_name: dict[str, Settings] = field(default_factory=dict)
    alike: dict[tuple[object, ...], Settings] = field(default_factory=dict)


_READ: WeakKeyDictionary[Inventory, _Read] = WeakKeyDictionary()


def read_settings(host: Host) -> Settings:
    """This host's settings; a wrong value ends the run before anything is changed.

    So does a name on the command line that nobody reads.
    """
    read = host.inventory in _READ or _deployed_by_another(host)
    if not read and (refusals := unknown_to(host.inventory)):
        raise DeployError("\n".join(refusals))
    return read_once(host)


def _deployed_by_another(host: Host) -> bool:
    """Whether the deploy file of this run is somebody else's, who may have data of their own."""
    # pyinfra gives a host its state when the run begins (3.10.0, api/host.py, init).
    state = getattr(host, "state", None)
    file = state.current_deploy_filename if state else None
    return file is not None and Path(file).resolve().parent != _DEPLOYS


def read_once(host: Host) -> Settings:
    """This host's settings, read once for all hosts alike: an inventory does not change."""
    read = _READ.setdefault(host.inventory, _Read())
    # By name: what deploys call host is a stand-in for whichever host they run for.
    if host.name not in read.by_name:
        same = alike(host)
        if same not in read.alike:
            read.alike[same] = Settings.read(given(host, Settings))
        read.by_name[host.name] = read.alike[same]
    return read.by_name[host.name]


def alike(host: Host) -> tuple[object, ...]:
    """What two hosts of an inventory share that have the same settings: groups, and own data.

    All that a host of a fleet usually has of its own is where it is reached.
    """
    own, known = {**host.host_data, **host.data.override_datas}, every_setting()
    return (*host.groups, repr({name: own[name] for name in own if name in known}))
