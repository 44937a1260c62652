"""Kubernetes gives GPUs to pods in a way that survives a daemon-reload.

GPU Operator 22.9.2 is the first whose validator makes the /dev/char links that runc 1.1.3 to 1.1.6
needs with systemd. The device plugin passes device nodes only with PASS_DEVICE_SPECS (helm
`compatWithCPUManager=true`), or by CDI: otherwise the legacy hook adds them behind systemd, and the
next `systemctl daemon-reload` on the node takes them away.

Bad:

    gpu-operator-validator v22.9.1
    k8s-device-plugin 0.14.1   PASS_DEVICE_SPECS=false, legacy runtime

Good:

    gpu-operator-validator v25.10.0
    k8s-device-plugin 0.17.0   PASS_DEVICE_SPECS=true

Repair: a human upgrades the Operator (CDI by default from 25.10), or sets the value in the plugin's
chart; pods are made anew. Never the Docker cure.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit import device_links
from audit.finding import Area, Doubt, Finding, Level, NotApplicable, Outcome, Repair
from audit.injection import runtime_is_cdi
from audit.release import release
from facts.node import NodeState
from facts.operator_traces import Operand, OperatorTraces
from facts.unknown import Unknown

AREA = Area.REST

_LINKS = (22, 9, 2)
"""GPU Operator, release notes 22.9.2: the validator makes symlinks under /dev/char."""

_BY_OPERATOR = ("gpu-operator", "gpu-operator-validator")
"""The images whose tag is the Operator's own version; others have versions of their own."""


def check(node: NodeState) -> Iterator[Outcome]:
    """An Operator older than 22.9.2, and a device plugin that passes no device nodes."""
    traces = node.operator
    if traces is None:
        yield NotApplicable("no trace of the GPU Operator or of NVIDIA's device plugin")
    elif isinstance(traces, Unknown):
        yield from _unseen(node, traces)
    elif isinstance(traces.operands, Unknown):
        yield from _unseen(node, traces.operands)
    else:
        if _silent(traces, traces.operands):
            yield Doubt(
                "GPU Operator", "its validations are there, but no pod that tells its version"
            )
        for operand in traces.operands:
            if operand.image in _BY_OPERATOR:
                yield from _operator(node, operand)
            elif operand.image == "k8s-device-plugin":
                yield from _plugin(node, traces, operand)


def _silent(traces: OperatorTraces, operands: tuple[Operand, ...]) -> bool:
    """Whether the Operator was here and none of the pods whose tag is its version runs."""
    validated = not isinstance(traces.validations, Unknown) and bool(traces.validations)
    return validated and not any(operand.image in _BY_OPERATOR for operand in operands)


def _unseen(node: NodeState, why: Unknown) -> Iterator[Outcome]:
    if node.kubelet is None:
        yield NotApplicable("no kubelet on this node")
    else:
        yield Doubt("GPU Operator", why.reason)


def _operator(node: NodeState, operand: Operand) -> Iterator[Outcome]:
    number = release(operand.version) if operand.version else None
    if number is None:
        yield Doubt("GPU Operator", f"{operand.image}: no version in its image's tag")
    elif number < _LINKS:
        linked, wanted = device_links.there(node), device_links.wanted(node)
        needless = linked is True or wanted is False
        yield Finding(
            level=Level.ADVICE if needless else Level.AT_RISK,
            subject="GPU Operator",
            saw=f"{operand.image} {operand.version}",
            want="22.9.2 or newer",
            why="older ones make no /dev/char links, and pods lose their GPUs at a daemon-reload"
            + ("; this node's runc needs none, or has them" if needless else ""),
            repair=Repair.HUMAN,
            do="upgrade the GPU Operator (helm upgrade), then make the GPU pods anew",
            avoid="the Docker cure on this node",
            evidence=(f"pod {operand.pod}",),
            reference="https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/release-notes.html",
        )


def _plugin(node: NodeState, traces: OperatorTraces, operand: Operand) -> Iterator[Outcome]:
    passes, strategy = (
        operand.variable("PASS_DEVICE_SPECS"),
        operand.variable("DEVICE_LIST_STRATEGY"),
    )
    if isinstance(passes, Unknown):
        yield Doubt("device plugin", passes.reason)
    elif (passes or "").lower() in ("true", "1", "t") or "cdi" in str(strategy or ""):
        return
    else:
        yield from _without_specs(node, traces, operand, str(passes or "not set"))


def _without_specs(
    node: NodeState, traces: OperatorTraces, operand: Operand, passes: str
) -> Iterator[Outcome]:
    held = device_links.pods_by_systemd(node)
    toolkit = node.toolkit
    cdi = toolkit if toolkit is None or isinstance(toolkit, Unknown) else runtime_is_cdi(toolkit)
    if held is False or cdi is True:
        return
    if isinstance(held, Unknown):
        yield Doubt("cgroup driver of the pods", held.reason)
    elif cdi is None or isinstance(cdi, Unknown):
        yield Doubt("container toolkit", cdi.reason if cdi else "not on this node")
    else:
        yield Finding(
            level=Level.AT_RISK,
            subject="device plugin",
            saw=f"{operand.image} {operand.version or ''}, PASS_DEVICE_SPECS {passes}, the legacy"
            " runtime, systemd",
            want="PASS_DEVICE_SPECS true, or CDI",
            why="pods get their GPUs behind systemd, which takes them at a daemon-reload",
            repair=Repair.HUMAN,
            do="helm upgrade with compatWithCPUManager=true"
            + (
                " (GPU Operator: devicePlugin.env, or cdi.enabled=true)"
                if traces.toolkit is True
                else ""
            )
            + ", then make the GPU pods anew",
            avoid="the Docker cure on this node",
            evidence=(f"pod {operand.pod}",),
            reference="https://github.com/NVIDIA/k8s-device-plugin",
        )
