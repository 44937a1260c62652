"""The nodes on which the invariants are tried: recorded ones, those of cases, generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from pyinfra_nvml.audit import deploy_plans
from pyinfra_nvml.audit.deploy_plans import cgroup_driver_plan
from pyinfra_nvml.audit.verdict import Verdict, verdict
from pyinfra_nvml.facts.container_libraries import ContainerLibrariesState
from pyinfra_nvml.facts.hold_tools import HoldToolsState
from pyinfra_nvml.facts.node import Node, NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState
from pyinfra_nvml.facts.probe import Sections
from pyinfra_nvml.facts.reboot_conditions import RebootConditionsState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans import driver_plan, engine_plan
from pyinfra_nvml.settings.policy import Policy
from tests import clusters, described, machines, recordings

_TESTS = Path(__file__).parent.parent
DRIVER = "cgroupfs"
"""The setting cgroup_driver as it comes."""


@dataclass(frozen=True)
class Subject:
    """One node; ``name`` finds it again (``machine el9 7``), ``family`` is its kind."""

    name: str
    family: str
    sections: Sections
    policy: Policy = field(default_factory=Policy)
    cluster: Any = None

    def other(self, sections: Sections) -> Subject:
        """The same node with other answers."""
        return replace(self, sections=sections)

    @cached_property
    def state(self) -> NodeState:
        """Its facts."""
        state = Node.judged(self.sections)
        assert not isinstance(state, Unknown), (self.name, state)
        if not self.cluster:
            return state
        return replace(state, cluster=clusters.node(self.cluster, state))

    @cached_property
    def verdict(self) -> Verdict:
        """What the audit says of it."""
        return verdict(self.name, self.state, policy=self.policy)

    @cached_property
    def cure(self) -> engine_plan.Plan:
        """What deploys/fix_cgroup.py would do, with the settings as they come."""
        return cgroup_driver_plan(self.verdict, DRIVER)

    def driver(self, reboot: bool) -> driver_plan.DriverPlan:
        """What deploys/fix_driver.py would do where nothing blocks a reboot."""
        asked = driver_plan.NodeAnswers(
            _means(self.state), RebootConditionsState(systemd=True), ContainerLibrariesState(())
        )
        return deploy_plans.driver_plan(self.verdict, asked, reboot=reboot)


def _means(node: NodeState) -> HoldToolsState:
    """The tools that a node of these packages has."""
    driver = node.nvidia_driver
    packages = driver.packages if isinstance(driver, NvidiaDriverState) else None
    tools: tuple[str, ...] = ()
    if isinstance(packages, NvidiaPackagesState) and packages.dpkg is not None:
        tools += ("apt-mark",)
    if isinstance(packages, NvidiaPackagesState) and packages.rpm is not None:
        system = "" if isinstance(node.machine, Unknown) else str(node.machine.os_id)
        tools += ("zypper",) if system in ("sles", "opensuse-leap") else ("dnf",)
    return HoldToolsState(tools, ("/usr/lib/python3.9/site-packages/dnf-plugins/versionlock.py",))


def recorded() -> Iterator[Subject]:
    """Every node of tests/nodes."""
    for path in sorted(recordings.NODES.glob("*/recording.txt")):
        yield Subject(f"node {path.parent.name}", "recorded", recordings.sections(path.parent.name))


def cases() -> Iterator[Subject]:
    """Every node of tests/cases and tests/checks."""
    paths = [*_TESTS.glob("cases/*.yaml"), *_TESTS.glob("checks/*/*.yaml")]
    for path in sorted(paths):
        said = yaml.safe_load(path.read_text())
        public = path.parent.name == "cases"
        node = said.get("node", {}) if public else said.get("described", {})
        base = said["base"] if public else said["node"]
        if base == recordings.BLANK:
            continue  # one fact alone: no node is so
        answers = described.answers(node) | said.get("answers", {})
        policy = {setting: tuple(value) for setting, value in said.get("policy", {}).items()}
        name = f"{'case' if public else 'check'} {path.relative_to(path.parents[1])}"
        sections = recordings.sections(base, answers)
        yield Subject(name, "case", sections, Policy(**policy), said.get("cluster"))


def generated(count: int) -> Iterator[Subject]:
    """So many generated machines."""
    for one in machines.machines(count):
        yield of_machine(one.family, one.seed)


def of_machine(family: str, seed: int) -> Subject:
    """One generated machine."""
    made = machines.machine(family, seed)
    return Subject(f"machine {family} {seed}", family, made.sections)


def named(name: str) -> Subject:
    """The subject of this name."""
    kind, _, rest = name.partition(" ")
    if kind == "machine":
        family, seed = rest.split()
        return of_machine(family, int(seed))
    known: Callable[[], Iterator[Subject]] = recorded if kind == "node" else cases
    return next(one for one in known() if one.name == name)
