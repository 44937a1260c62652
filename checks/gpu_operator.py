"""The GPU Operator is one that keeps the GPUs of pods reachable: 22.9.2 or newer, with CDI on.

GPU Operator 22.9.2 is the first whose validator makes the /dev/char links that runc 1.1.3 to 1.1.6
needs with systemd. From 25.10 it gives GPUs by CDI unless that is switched off: then a pod that
names NVIDIA_VISIBLE_DEVICES itself still gets its GPU behind systemd, by the legacy hook.

Bad:

    gpu-operator-validator v22.9.1
    gpu-operator v25.10.0   ClusterPolicy cdi.enabled: false

Good:

    gpu-operator-validator v25.10.0   ClusterPolicy cdi.enabled: true

Repair: by hand: upgrade the Operator, or set the value of its chart, and recreate the pods. Never
the Docker cure.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import device_links, gpu_delivery, helm
from pyinfra_nvml.facts.cluster import Release
from pyinfra_nvml.facts.gpu_operator import GpuOperatorState, Operand
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES

_LINKS = (22, 9, 2)
"""GPU Operator, release notes 22.9.2: the validator makes symlinks under /dev/char."""

_CDI = (25, 10)
"""docs.nvidia.com, "CDI Support in the GPU Operator": on by default, also in an upgrade."""

_BY_OPERATOR = ("gpu-operator", "gpu-operator-validator")
"""The images whose tag is the Operator's own version; others have versions of their own."""

_NOTES = "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/release-notes.html"


def check(node: NodeState) -> Iterator[Outcome]:
    """An Operator older than 22.9.2, and one from 25.10 whose CDI is off."""
    traces, view = node.gpu_operator, node.cluster
    if isinstance(view, Unknown):
        yield Undetermined("cluster", view.reason)
    operands = traces.operands if isinstance(traces, GpuOperatorState) else traces
    listed = () if operands is None or isinstance(operands, Unknown) else operands
    mine = [one for one in listed if one.image in _BY_OPERATOR]
    told = _told(node)
    if mine:
        for image, version, pod in sorted({(o.image, o.version, o.pod) for o in mine}, key=str):
            space = Release(None, pod.rpartition("/")[0], None)
            known = told if isinstance(told, Release) else space
            yield from _version(node, image, version, f"pod {pod}", known)
    elif isinstance(told, Release):
        where = f"Deployment {told.namespace}/gpu-operator"
        yield from _version(node, "gpu-operator", told.version, where, told)
    else:
        yield from _unseen(node, operands, told)
    yield from _cdi(node, mine, told)


def _told(node: NodeState) -> Release | Unknown | None:
    """The cluster's word on its Operator; ``Unknown`` too where no cluster was asked."""
    view = node.cluster
    if view is None or isinstance(view, Unknown):
        return Unknown("no cluster was asked")
    return view.operator


def _unseen(
    node: NodeState,
    operands: tuple[Operand, ...] | Unknown | None,
    told: Unknown | None,
) -> Iterator[Outcome]:
    """Nothing on this node tells the version, nor does the cluster."""
    traces, asked = node.gpu_operator, gpu_delivery.cluster(node) is not None
    if isinstance(told, Unknown) and asked:
        yield Undetermined("GPU Operator", told.reason)
    elif told is None:
        yield NotApplicable("no GPU Operator in its cluster")
    elif isinstance(operands, Unknown) and node.kubelet is not None:
        yield Undetermined("GPU Operator", operands.reason)
    elif isinstance(operands, Unknown):
        yield NotApplicable("no kubelet on this node")
    elif isinstance(traces, GpuOperatorState) and _validated(traces):
        yield Undetermined(
            "GPU Operator", "its validations are there, but no pod shows its version"
        )
    elif operands is None:
        yield NotApplicable("no trace of the GPU Operator")


def _validated(traces: GpuOperatorState) -> bool:
    return not isinstance(traces.validations, Unknown) and bool(traces.validations)


def _version(
    node: NodeState, image: str, version: str | None, where: str, known: Release
) -> Iterator[Outcome]:
    number = release(version) if version else None
    if number is None:
        yield Undetermined("GPU Operator", f"{image}: no version in its image's tag")
    elif number < _LINKS:
        linked, wanted = device_links.there(node), device_links.wanted(node)
        needless = linked is True or wanted is False
        yield Finding(
            level=Level.ADVICE if needless else Level.AT_RISK,
            subject="GPU Operator",
            saw=f"{image} {version}",
            want="22.9.2 or newer",
            why="older ones make no /dev/char links, and pods lose their GPUs at a daemon-reload"
            + ("; this node's runc needs none, or has them" if needless else ""),
            repair=Repair.MANUAL,
            do=f"upgrade it, `{helm.operator_newer(known, 'v25.10.0')}` (CDI from there on), then"
            " recreate the GPU pods",
            avoid="the Docker cure on this node",
            evidence=(where,),
            reference=_NOTES,
        )


def _cdi(node: NodeState, mine: list[Operand], told: Release | Unknown | None) -> Iterator[Outcome]:
    seen = gpu_delivery.cluster(node)
    if seen is None or isinstance(seen.policy, Unknown):
        if seen and isinstance(seen.policy, Unknown):
            yield Undetermined("ClusterPolicy", seen.policy.reason)
        return
    version = next((one.version for one in mine if one.version), None)
    if isinstance(told, Release) and not version:
        version = told.version
    number = release(version) if version else None
    if seen.policy is None or seen.policy.cdi is not False or (number or ()) < _CDI:
        return
    known = told if isinstance(told, Release) else Release(None, "", version)
    yield Finding(
        level=Level.ADVICE,
        subject="GPU Operator",
        saw=f"gpu-operator {version}, ClusterPolicy {seen.policy.name} with cdi.enabled false",
        want="cdi.enabled true, the default from 25.10",
        why="a pod that names NVIDIA_VISIBLE_DEVICES itself gets its GPU by the legacy hook, behind"
        " systemd",
        repair=Repair.MANUAL,
        do=f"`{helm.operator_cdi(known)}`, then recreate the GPU pods",
        avoid="the Docker cure on this node",
        evidence=(f"ClusterPolicy {seen.policy.name}: cdi.enabled: false",),
        reference="https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/cdi.html",
    )
