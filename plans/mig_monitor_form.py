"""The form that a MIG monitor needs on a node, by how its container toolkit gives GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pyinfra_nvml.combiners.gpu_injection import gpus_by_hook, runtime_is_cdi
from pyinfra_nvml.combiners.mig_rights import MONITOR, runtime_reads
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.mig import MONITOR_NODE
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.unknown import Unknown


class Form(str, Enum):
    """How the monitor gets the GPUs, and whether whoever gives them reads its variable."""

    HOOK = "hook"
    RUNTIME = "runtime"
    RUNTIME_NODE = "runtime-node"
    CDI_NODE = "cdi-node"

    @property
    def means(self) -> str:
        """What a monitor of this form asks for, in a few words."""
        return _MEANS[self]

    @property
    def passes_node(self) -> bool:
        """Whether the right's device node is passed, for want of anybody who reads the variable."""
        return self in (Form.RUNTIME_NODE, Form.CDI_NODE)


_MEANS = {
    Form.HOOK: f"a GPU request of Docker's own; NVIDIA's hook reads {MONITOR}",
    Form.RUNTIME: f"the runtime nvidia, which reads {MONITOR}",
    Form.RUNTIME_NODE: (
        f"the runtime nvidia, which does not read {MONITOR}, and {MONITOR_NODE} beside it"
    ),
    Form.CDI_NODE: (
        f"CDI by Docker itself, where nothing reads {MONITOR}, and {MONITOR_NODE} beside it"
    ),
}


@dataclass(frozen=True)
class Choice:
    """The form for a node, whether Kubernetes starts it there, why, and what else to know.

    .. code:: python

        Choice(Form.RUNTIME, kubernetes=True, why="toolkit 1.20.1, mode auto", remarks=())
    """

    form: Form
    kubernetes: bool
    why: str
    remarks: tuple[str, ...] = ()


def choose(node: NodeState) -> Choice | tuple[Refusal, ...]:
    """The form for this node, or every reason why none is right."""
    against = [*_mig(node)]
    kubelet = node.kubelet
    if isinstance(kubelet, Unknown):
        found: Choice | Refusal = Refusal("kubelet", kubelet.reason, "it readable, as root")
    else:
        found = _by_docker(node) if kubelet is None else _by_runtime(node, kubernetes=True)
    if isinstance(found, Refusal):
        against.append(found)
    elif found.form.passes_node:
        against += _node(node)
    return tuple(against) if against or isinstance(found, Refusal) else found


def _mig(node: NodeState) -> Iterator[Refusal]:
    mig = node.mig
    on = mig if mig is None or isinstance(mig, Unknown) else mig.on
    want = "MIG on: a monitor needs no right where no GPU is split"
    if on is None:
        yield Refusal("MIG", "no nvidia module loaded", want)
    elif isinstance(on, Unknown):
        yield Refusal("MIG", on.reason, "its modes readable")
    elif not on:
        yield Refusal("MIG", "it off on every GPU", want)


def _by_docker(node: NodeState) -> Choice | Refusal:
    info, toolkit = node.engine_info, node.container_toolkit
    if info is None:
        return Refusal("engine", "neither kubelet nor Docker", "one of them")
    if isinstance(info, Unknown):
        return Refusal("Docker engine", info.reason, "it readable, as root")
    if info.rootless:
        return Refusal(
            "Docker engine", "it rootless", "an engine of root: CAP_SYS_ADMIN within a user"
            " namespace is none for the driver"
        )  # fmt: skip
    if isinstance(toolkit, Unknown):
        return Refusal("container toolkit", toolkit.reason, "it readable")
    if toolkit is not None and any("nvidia" in name for name in info.runtimes):
        return _by_runtime(node, kubernetes=False)
    hook = False if toolkit is None else gpus_by_hook(toolkit, info)
    if isinstance(hook, Unknown):
        return Refusal("container toolkit", hook.reason, "it readable")
    if hook:
        return Choice(Form.HOOK, False, "the legacy hook, no runtime nvidia", _exposed(info))
    if info.cdi_directories and _spec(toolkit):
        return Choice(Form.CDI_NODE, False, "CDI, neither the legacy hook nor a runtime nvidia")
    return Refusal(
        "Docker engine",
        "no way to give a GPU",
        "the container toolkit (nvidia-ctk runtime configure --runtime=docker), or CDI with a spec",
    )


def _by_runtime(node: NodeState, kubernetes: bool) -> Choice | Refusal:
    toolkit = node.container_toolkit
    if toolkit is None:
        return Refusal("container toolkit", "none", "it on the node, for the runtime nvidia")
    if isinstance(toolkit, Unknown):
        return Refusal("container toolkit", toolkit.reason, "it readable")
    cdi, reads = runtime_is_cdi(toolkit), runtime_reads(toolkit)
    for part in (cdi, reads):
        if isinstance(part, Unknown):
            return Refusal("container toolkit", part.reason, "its version and mode readable")
    form = Form.RUNTIME if reads else Form.RUNTIME_NODE
    info = node.engine_info
    exposed = () if cdi or kubernetes or not isinstance(info, EngineInfo) else _exposed(info)
    return Choice(form, kubernetes, _toolkit(toolkit), exposed)


def _toolkit(toolkit: ContainerToolkitState) -> str:
    config = toolkit.config
    mode = None if config is None or isinstance(config, Unknown) else config.mode
    version = toolkit.version if isinstance(toolkit.version, str) else "of unknown version"
    return f"toolkit {version}, mode {mode or 'auto'}"


def _spec(toolkit: ContainerToolkitState | None) -> bool:
    specs = () if toolkit is None or isinstance(toolkit.specs, Unknown) else toolkit.specs
    return any(spec.kind == "nvidia.com/gpu" for spec in specs)


def _exposed(info: EngineInfo) -> tuple[str, ...]:
    if info.cgroup_driver != "systemd":
        return ()
    return (
        "with Docker's cgroup driver systemd the monitor loses its GPUs at the next daemon-reload:"
        " deploys/fix_cgroup.py first",
    )


def _node(node: NodeState) -> Iterator[Refusal]:
    mig = node.mig
    nodes = () if mig is None or isinstance(mig, Unknown) else mig.nodes
    if not isinstance(nodes, Unknown) and MONITOR_NODE not in [one.path for one in nodes]:
        yield Refusal(
            MONITOR_NODE,
            "it not there",
            "it made: nvidia-modprobe -f /proc/driver/nvidia/capabilities/mig/monitor",
        )
