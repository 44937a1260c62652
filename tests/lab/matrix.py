"""The audit's verdict on every kind of GPU container, against what the real triggers do to it.

.venv/bin/python -m tests.lab.matrix

A cell is a node, a cgroup driver, a way of asking for the GPU: two containers of their own, one
for each trigger. The verdict comes from the one exec of the audit, before and after.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.node import Node as NodeFact
from pyinfra_nvml.model.finding import Finding, Result, Status
from pyinfra_nvml.model.unknown import Unknown
from tests.lab import containers, matrix_page, rootfs, triggers
from tests.lab.catalogue import KINDS
from tests.lab.errors import CannotRun, LabError
from tests.lab.node import Node
from tests.lab.parallel import side_by_side
from tests.lab.session import Lab, kind_of, open_lab

ROUNDS = (("bullseye", "bookworm", "trixie"), ("forky", "legacy"))
"""The nodes that run at once: this machine carries few."""
CDI_SINCE = 25
"""The first Docker that reads CDI specs (docs.docker.com, release notes of 25.0)."""
WAYS = ("gpus", "device", "device_gpu_only", "cdi", "privileged")
# What `pyinfra_nvml.combiners.exposure.triggers` says where a daemon-reload alone takes nothing.
SPARED = "was seen to spare it"


class Setting(Enum):
    """Which driver made the containers' cgroups, and whether it was changed under them."""

    SYSTEMD = "systemd"
    SWITCHED = "systemd, then cgroupfs"
    CGROUPFS = "cgroupfs"

    @property
    def live_restore(self) -> bool:
        return self is Setting.SWITCHED


@dataclass(frozen=True)
class Versions:
    """What is on a node, in its own words."""

    systemd: str
    docker: str
    runc: str
    cgroup: str


@dataclass(frozen=True)
class Cell:
    """One container kind on one node: predicted, done to it, and what is wrong with the verdict.

    ``reload`` and ``change`` are what its device answered after a daemon-reload and after a
    set-property on its scope; ``change`` is empty where no scope has it.
    """

    node: str
    versions: Versions
    setting: Setting
    way: str
    predicted: str
    reload: str
    change: str
    wrong: str


def cells(lab: Lab, kind: str) -> list[Cell]:
    """Every cell of a node of this kind, and a line for each way that cannot start there."""
    node = lab.fresh(kind)
    try:
        versions = _versions(node)
        return [cell for setting in Setting for cell in _cells(node, versions, setting)]
    finally:
        lab.stop(node)


def _cells(node: Node, versions: Versions, setting: Setting) -> Iterator[Cell]:
    first = "cgroupfs" if setting is Setting.CGROUPFS else "systemd"
    _configure(node, versions, first, setting.live_restore)
    ways = {way: ids for way in _ways(versions) if (ids := _start(node, way))}
    if setting is Setting.SWITCHED:
        _configure(node, versions, "cgroupfs", live_restore=True)
    before = verdicts(node)
    changed = {way: _change(node, ids["change"], f"{way}-change") for way, ids in ways.items()}
    triggers.daemon_reload(node)
    reloaded = {way: _answer(node, f"{way}-reload") for way in ways}
    after = verdicts(node)
    for way in ways:
        predicted, why = before.of(way, "change")
        other = before.of(way, "reload")[0]
        answers = {"reload": reloaded[way], "change": changed[way]}
        wrong = _wrong(predicted, why, answers) or _unlike(predicted, other)
        wrong = wrong or _unseen(after, way, answers)
        yield Cell(node.name, versions, setting, way, predicted, reloaded[way], changed[way], wrong)
    if ways:
        names = [f"{way}-{each}" for way in ways for each in ("reload", "change")]
        containers.remove(node, *names)


def _wrong(predicted: str, why: str, answers: dict[str, str]) -> str:
    """Why the prediction does not hold, by what the triggers did; empty where it does."""
    lost = {trigger for trigger, answer in answers.items() if answer == "EPERM"}
    if odd := set(answers.values()) - {"ENXIO", "EPERM", ""}:
        return f"the device answered {', '.join(sorted(odd))}"
    if predicted == "safe":
        return f"lost by {', '.join(sorted(lost))}" if lost else ""
    if predicted != "exposed":
        return f"predicted {predicted}"
    named = {"change"} if SPARED in why else {"change", "reload"}
    return "" if lost == named else f"names {sorted(named)}, lost by {sorted(lost)}"


def _unlike(one: str, other: str) -> str:
    return "" if one == other else f"{one} and {other} of two containers alike"


@dataclass(frozen=True)
class Verdicts:
    """What the audit says of the node's containers."""

    results: tuple[Result, ...]

    def of(self, way: str, trigger: str) -> tuple[str, str]:
        """``exposed``, ``lost``, ``safe`` or ``unknown``, and the finding's words."""
        subject = f"container {way}-{trigger}"
        for check, word in (("device-loss", "lost"), ("device-exposure", "exposed")):
            result = next(result for result in self.results if result.check == check)
            if found := _about(result, subject):
                return word, found.why
            if result.status in (Status.UNKNOWN, Status.NOT_APPLICABLE):
                return "unknown", result.reason
            if any(doubt.subject.startswith(subject) for doubt in result.doubts):
                return "unknown", result.doubts[0].reason
        return "safe", ""


def _about(result: Result, subject: str) -> Finding | None:
    return next((found for found in result.findings if found.subject == subject), None)


def _unseen(after: Verdicts, way: str, answers: dict[str, str]) -> str:
    """Where the audit after the triggers does not say what the device answers now."""
    for trigger, answer in answers.items():
        said = after.of(way, trigger)[0]
        if (said == "lost") != (answer == "EPERM"):
            return f"after {trigger}: {answer}, the audit says {said}"
    return ""


def verdicts(node: Node) -> Verdicts:
    """What the audit says of this node now."""
    lines = node.run("sh -s", stdin=NodeFact().command()).stdout.splitlines()
    state = NodeFact().process(lines)
    if isinstance(state, Unknown):
        raise LabError(f"{node.name}: {state.reason}, want the audit's answer")
    return Verdicts(judge(state))


def _configure(node: Node, versions: Versions, driver: str, live_restore: bool) -> None:
    """This daemon.json, and an engine that has read it."""
    document: dict[str, object] = {"exec-opts": [f"native.cgroupdriver={driver}"]}
    if live_restore:
        document["live-restore"] = True
    if "cdi" in _ways(versions):
        document["features"] = {"cdi": True}
    files = {"/etc/docker/daemon.json": json.dumps(document)}
    node.write(files | {"/etc/cdi/nvidia.yaml": containers.CDI_SPEC})
    node.sh("systemctl reset-failed docker.service docker.socket; systemctl restart docker.service")
    said = node.sh("docker info --format '{{.CgroupDriver}}'")
    if said != driver:
        raise LabError(f"{node.name}: docker info says {said}, want {driver}")


def _start(node: Node, way: str) -> dict[str, str]:
    """Two containers that ask in this way, by trigger; none where the node starts none."""
    try:
        return {each: containers.start(node, f"{way}-{each}", way) for each in ("reload", "change")}
    except LabError as reason:
        if way != "privileged":
            raise
        # Docker 20.10 cannot make a privileged container within systemd-nspawn (docs/lab.md).
        node.run(f"docker rm --force {way}-reload {way}-change")
        print(f"{node.name}: no privileged container: {str(reason).splitlines()[-1][-160:]}")
        return {}


def _change(node: Node, container: str, name: str) -> str:
    if node.run(f"systemctl is-active {containers.scope(container)}").code:
        return ""
    triggers.set_property(node, container)
    return _answer(node, name)


def _answer(node: Node, name: str) -> str:
    only = name.startswith("device_gpu_only-")
    return containers.answer(node, name, containers.GPU if only else containers.CONTROL)


def _ways(versions: Versions) -> list[str]:
    modern = int(versions.docker.partition(".")[0]) >= CDI_SINCE
    return [way for way in WAYS if way != "cdi" or modern]


def _versions(node: Node) -> Versions:
    return Versions(
        systemd=node.sh("systemctl --version | sed -n 's/^systemd \\([0-9]*\\).*/\\1/p'"),
        docker=node.sh("docker version --format '{{.Server.Version}}' | cut -d+ -f1"),
        runc=node.sh("runc --version | sed -n 's/^runc version //p' | cut -d+ -f1"),
        cgroup="v" + node.sh("docker info --format '{{.CgroupVersion}}'"),
    )


def available(kind: str) -> bool:
    """Whether this machine can carry a node of this kind, its suite being on the mirror still."""
    try:
        kind_of(kind)
        rootfs.root_of(KINDS[kind])
    except CannotRun:
        return False
    except LabError:
        return kind != "bullseye"
    return True


def main() -> int:
    """Measure every node and write docs/matrix.md; exit code 1 where a verdict is wrong."""
    measured: list[Cell] = []
    with open_lab() as lab:
        for kinds in ROUNDS:
            here = [kind for kind in kinds if available(kind)]
            for found in side_by_side([partial(cells, lab, kind) for kind in here]):
                measured += found
    print(matrix_page.write(measured))
    return 1 if any(cell.wrong for cell in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
