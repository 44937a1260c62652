"""Where another cgroup driver cures nothing: the device is never opened, or systemd knows of it."""

from __future__ import annotations

from collections.abc import Collection

from pyinfra_nvml.combiners.exposure import exposed, missing_rules
from pyinfra_nvml.combiners.gpu_injection import gpus_by_hook
from pyinfra_nvml.combiners.guest import UNFILTERED, unfiltered
from pyinfra_nvml.combiners.no_cgroups import CURE, refuses, switched_off
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Overrule, Refusal
from pyinfra_nvml.model.unknown import Unknown

SHUT, HARMLESS = Overrule.NO_CGROUPS, Overrule.HARMLESS
"""A node whose toolkit opens no device, and one whose GPUs systemd leaves alone."""


def why_no_cure(
    node: NodeState, info: EngineInfo | Unknown, driver: str, overrule: Collection[str]
) -> str | Refusal:
    """Why the wanted driver cures nothing on this node, and nothing is done; empty where it does.

    A refusal where it could not be told.
    """
    shut = "" if SHUT in overrule else _never_opened(node)
    return shut or ("" if HARMLESS in overrule else _harmless(node, info, driver))


def _never_opened(node: NodeState) -> str | Refusal:
    config, refused = switched_off(node), refuses(node)
    if not config or refused is False:
        return ""
    if isinstance(refused, Unknown):
        saw, want = f"no-cgroups = true in {config.path}, and {refused.reason}", "no such line"
        return Refusal("container toolkit", saw, want, f"{CURE}, then run this again", SHUT)
    return (
        f"no-cgroups = true in {config.path}: containers start without their GPU on either driver;"
        f" {CURE}, then run this again (overrule = {SHUT.value!r} goes on all the same)"
    )


def _harmless(node: NodeState, info: EngineInfo | Unknown, driver: str) -> str:
    if driver != "cgroupfs" or isinstance(info, Unknown) or info.cgroup_driver != "systemd":
        return ""
    if not (unfiltered(node) or _by_cdi(node, info)):
        return ""
    why = UNFILTERED if unfiltered(node) else "no GPU comes by the legacy hook here"
    more = f"cgroupfs would cure nothing (overrule = {HARMLESS.value!r} goes on all the same)"
    return f"the engine is on systemd; {why}: {more}"


def _by_cdi(node: NodeState, info: EngineInfo) -> bool:
    """Whether systemd knows of every GPU that a container has, or would have from now on."""
    toolkit, found = node.container_toolkit, node.gpu_containers
    if not isinstance(toolkit, ContainerToolkitState) or gpus_by_hook(toolkit, info) is not False:
        return False
    if isinstance(found, Unknown) or found.unseen:
        return False
    return not any(
        exposed(one) or isinstance(missing_rules(one), Unknown) for one in found.containers
    )
