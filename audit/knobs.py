"""The knobs of an inventory, read from host data and held to what they may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from pyinfra.api import Host, Inventory
from pyinfra.api.exceptions import DeployError

from audit.catalogue import entries
from audit.cluster.kubectl import Access
from audit.driver.holds import WAYS
from audit.engine.driver_entry import DRIVERS
from audit.engine.refusals import OVERRULABLE
from audit.finding import Level
from audit.knob_names import unknown_to
from audit.waivers import Waiver, waivers
from audit.wishes import Wishes

_REPORTS = ("report_json", "report_html", "report_junit", "report_markdown")


@dataclass(frozen=True)
class Knobs:
    """What an inventory asks for; inventories/group_data/all.py has each with its meaning."""

    audit_level: Level | None = Level.AT_RISK
    report_json: Path | None = None
    report_html: Path | None = None
    report_junit: Path | None = None
    report_markdown: Path | None = None
    cgroup_driver: str = "cgroupfs"
    only_exposed: bool = False
    overrule: tuple[str, ...] = ()
    mig_monitors: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    accept: bool = False
    state_directory: str = "/var/lib/pyinfra-nvml"
    reboot_sentinel: str = "/run/reboot-required"
    hold_driver: str = "packages"
    reboot: bool = False
    reboot_timeout: int = 900
    restart_exposed_containers: bool = False
    canary: int | tuple[str, ...] = 1
    batch_size: int = 10
    max_failures: int = 0
    max_unavailable: int | str | None = None
    kubeconfig: Path | None = None
    kubecontext: str | None = None
    kubernetes_node: str | None = None

    @property
    def access(self) -> Access | None:
        """The way into the host's cluster, where the inventory gives one."""
        return Access(self.kubeconfig, self.kubecontext) if self.kubeconfig else None

    @property
    def wishes(self) -> Wishes:
        """What the checks judge by."""
        return Wishes(mig_monitors=self.mig_monitors)


_READ: WeakKeyDictionary[Inventory, dict[str, Knobs]] = WeakKeyDictionary()


def knobs(host: Host) -> Knobs:
    """This host's knobs; a value that cannot be meant ends the run before anything is changed.

    They are read once a host: what an inventory says does not change while it is run.
    """
    if host.inventory not in _READ:
        if refusals := unknown_to(host.inventory):
            raise DeployError("\n".join(refusals))
        _READ[host.inventory] = {}
    # By name: what deploys call host is a stand-in for whichever host they run for.
    read = _READ[host.inventory]
    if host.name not in read:
        read[host.name] = _read(host)
    return read[host.name]


def _read(host: Host) -> Knobs:
    _patience(host.data.get("_timeout"))
    given = {name: host.data.get(name) for name in Knobs.__dataclass_fields__}
    reports = {name: _file(name, given) for name in _REPORTS}
    _apart(reports)
    return Knobs(
        audit_level=_level(given),
        **reports,
        cgroup_driver=_one_of("cgroup_driver", given, list(DRIVERS)),
        only_exposed=_flag("only_exposed", given),
        overrule=_overruled(given),
        mig_monitors=_names("mig_monitors", given),
        waivers=_waivers(given),
        accept=_accept(given),
        state_directory=_own_directory("state_directory", given),
        reboot_sentinel=_path("reboot_sentinel", given),
        hold_driver=_one_of("hold_driver", given, list(WAYS)),
        reboot=_flag("reboot", given),
        reboot_timeout=_count("reboot_timeout", given, least=30),
        restart_exposed_containers=_flag("restart_exposed_containers", given),
        canary=_canary(given),
        batch_size=_count("batch_size", given, least=1),
        max_failures=_count("max_failures", given, least=0),
        max_unavailable=_share(given),
        kubeconfig=_file_here(_word("kubeconfig", given)),
        kubecontext=_word("kubecontext", given),
        kubernetes_node=_word("kubernetes_node", given),
    )


def _patience(value: object) -> None:
    """pyinfra hands it to gevent as it is, which ends the whole run for what is no number."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 1:
        raise DeployError(f"knob _timeout: saw {value!r}, want seconds from 1")


def _level(given: dict[str, object]) -> Level | None:
    text = _one_of("audit_level", given, [*(level.value for level in Level), "none"])
    return None if text == "none" else Level(text)


def _file(name: str, given: dict[str, object]) -> Path | None:
    value = given[name]
    if value is not None and not isinstance(value, (str, Path)):
        raise DeployError(f"knob {name}: saw {value!r}, want a file's path on this machine")
    if value and Path(value).is_dir():
        raise DeployError(f"knob {name}: saw {str(value)!r}, a directory, want a file in it")
    return Path(value) if value else None


def _apart(reports: Mapping[str, Path | None]) -> None:
    """Of two reports in one file the second would be all that is left."""
    whose: dict[Path, str] = {}
    for name, path in reports.items():
        if path is None:
            continue
        if first := whose.get(place := _resolved(path)):
            raise DeployError(f"knobs {first}, {name}: saw {str(path)!r} in both, want two files")
        whose[place] = name


@cache
def _resolved(path: Path) -> Path:
    return path.resolve()


def _default(name: str) -> object:
    return Knobs.__dataclass_fields__[name].default


def _one_of(name: str, given: dict[str, object], wanted: list[str]) -> str:
    value = given[name] if given[name] is not None else _default(name)
    text = value.value if isinstance(value, Level) else value
    if not isinstance(text, str) or text not in wanted:
        raise DeployError(f"knob {name}: saw {text!r}, want one of {', '.join(wanted)}")
    return text


def _flag(name: str, given: dict[str, object]) -> bool:
    value = given[name] if given[name] is not None else _default(name)
    if not isinstance(value, bool):
        raise DeployError(f"knob {name}: saw {value!r}, want true or false")
    return value


def _overruled(given: dict[str, object]) -> tuple[str, ...]:
    value = given["overrule"]
    names = value.split(",") if isinstance(value, str) else value or ()
    if not isinstance(names, (list, tuple)) or not set(names) <= set(OVERRULABLE):
        raise DeployError(f"knob overrule: saw {value!r}, want some of {', '.join(OVERRULABLE)}")
    return tuple(names)


def _names(name: str, given: dict[str, object]) -> tuple[str, ...]:
    value = given[name] if given[name] is not None else ()
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(text, str) for text in names):
        raise DeployError(f"knob {name}: saw {value!r}, want a list of names")
    return tuple(names)


def _waivers(given: dict[str, object]) -> tuple[Waiver, ...]:
    try:
        return waivers(given["waivers"], [entry.id for entry in entries()])
    except ValueError as refusal:
        lines = str(refusal).splitlines()
        raise DeployError("\n".join(f"knob waivers: {line}" for line in lines)) from None


def _accept(given: dict[str, object]) -> bool:
    if _flag("accept", given) and not given["report_json"]:
        raise DeployError("knob accept: saw no report_json, want one: accepted.json lies beside it")
    return _flag("accept", given)


def _count(name: str, given: dict[str, object], least: int) -> int:
    value = given[name] if given[name] is not None else _default(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise DeployError(f"knob {name}: saw {value!r}, want a number from {least}")
    return value


def _canary(given: dict[str, object]) -> int | tuple[str, ...]:
    value = given["canary"]
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    if isinstance(value, str) and value:
        return tuple(name.strip() for name in value.split(","))
    if isinstance(value, (list, tuple, str)):
        raise DeployError(f"knob canary: saw {value!r}, want a number or names of hosts")
    return _count("canary", given, least=0)


def _share(given: dict[str, object]) -> int | str | None:
    value = given["max_unavailable"]
    if isinstance(value, str):
        if not (value.endswith("%") and value[:-1].isdecimal() and 1 <= int(value[:-1]) <= 100):
            raise DeployError(f"knob max_unavailable: saw {value!r}, want a number or 1% to 100%")
        return value
    return None if value is None else _count("max_unavailable", given, least=1)


def _word(name: str, given: dict[str, object]) -> str | None:
    value = given[name]
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise DeployError(f"knob {name}: saw {value!r}, want a name, or None")
    return value


def _file_here(path: str | None) -> Path | None:
    """A file of this machine; whether it is there is told with the rest of what it is for."""
    return Path(path).expanduser() if path else None


def _own_directory(name: str, given: dict[str, object]) -> str:
    """A directory that may be given to root alone: none that the system shares."""
    path = _path(name, given)
    if path.count("/") < 2 or ".." in path.split("/"):
        raise DeployError(f"knob {name}: saw {path!r}, want a directory of its own below another")
    return path


def _path(name: str, given: dict[str, object]) -> str:
    value = given[name] if given[name] is not None else _default(name)
    if not isinstance(value, str) or not value.startswith("/"):
        raise DeployError(f"knob {name}: saw {value!r}, want an absolute path on the node")
    return value.rstrip("/") or "/"
