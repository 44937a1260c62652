"""The knobs of an inventory, read from host data and held to what they may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from pyinfra.api import Host, Inventory
from pyinfra.api.exceptions import DeployError

from pyinfra_nvml.model.finding import Level
from pyinfra_nvml.settings import knob_values as values
from pyinfra_nvml.settings.choices import DRIVERS, WAYS
from pyinfra_nvml.settings.cluster_access import Access
from pyinfra_nvml.settings.knob_names import every_knob, unknown_to
from pyinfra_nvml.settings.policy import Wishes
from pyinfra_nvml.settings.refused_knobs import Reading, RefusedKnobs
from pyinfra_nvml.settings.waivers import Waiver

_DEPLOYS = Path(__file__).resolve().parent.parent / "deploys"
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
    enforce: bool = False
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
        return Wishes(mig_monitors=self.mig_monitors, overrule=self.overrule)


@dataclass
class _Read:
    by_name: dict[str, Knobs] = field(default_factory=dict)
    alike: dict[tuple[object, ...], Knobs] = field(default_factory=dict)


_READ: WeakKeyDictionary[Inventory, _Read] = WeakKeyDictionary()


def knobs(host: Host) -> Knobs:
    """This host's knobs; a value that makes no sense ends the run before anything is changed.

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


def read_once(host: Host) -> Knobs:
    """This host's knobs, read once for all hosts alike: what an inventory says does not change."""
    read = _READ.setdefault(host.inventory, _Read())
    # By name: what deploys call host is a stand-in for whichever host they run for.
    if host.name not in read.by_name:
        same = alike(host)
        if same not in read.alike:
            read.alike[same] = _read(host)
        read.by_name[host.name] = read.alike[same]
    return read.by_name[host.name]


def alike(host: Host) -> tuple[object, ...]:
    """What two hosts of an inventory share that have the same knobs: groups, and data of their own.

    All that a host of a fleet usually has of its own is where it is reached.
    """
    own, known = {**host.host_data, **host.data.override_datas}, every_knob()
    return (*host.groups, repr({name: own[name] for name in own if name in known}))


def _read(host: Host) -> Knobs:
    reading = Reading(lambda name: _given(host, name))
    of = reading.knob
    of("_timeout", values.seconds)
    reports = {name: of(name, values.file) for name in _REPORTS}
    reading.attempt(lambda: values.apart(reports))
    read = Knobs(
        audit_level=of("audit_level", values.level),
        **reports,
        cgroup_driver=of("cgroup_driver", values.one_of(*DRIVERS)),
        only_exposed=of("only_exposed", values.flag),
        enforce=of("enforce", values.flag),
        overrule=of("overrule", values.overruled),
        mig_monitors=of("mig_monitors", values.names),
        waivers=of("waivers", values.waived),
        accept=of("accept", values.flag),
        state_directory=of("state_directory", values.own_directory),
        reboot_sentinel=of("reboot_sentinel", values.path),
        hold_driver=of("hold_driver", values.one_of(*WAYS)),
        reboot=of("reboot", values.flag),
        reboot_timeout=of("reboot_timeout", values.count(least=30)),
        restart_exposed_containers=of("restart_exposed_containers", values.flag),
        canary=of("canary", values.canary),
        batch_size=of("batch_size", values.count(least=1)),
        max_failures=of("max_failures", values.count(least=0)),
        max_unavailable=of("max_unavailable", values.share),
        kubeconfig=of("kubeconfig", values.file_here),
        kubecontext=of("kubecontext", values.word),
        kubernetes_node=of("kubernetes_node", values.word),
    )
    reading.attempt(lambda: _beside_a_report(read, _given(host, "report_json")))
    reading.end()
    return read


def _given(host: Host, name: str) -> object:
    value = host.data.get(name)
    if value is not None or name not in Knobs.__dataclass_fields__:
        return value
    return Knobs.__dataclass_fields__[name].default


def _beside_a_report(read: Knobs, report: object) -> None:
    if read.accept and not report:
        line = "knob accept: saw no report_json, want one: accepted.json lies beside it"
        raise RefusedKnobs(("accept", line))
