"""nvidia-smi comes back on this node, and names every GPU.

If the driver or a GPU is stuck, every process that asks it is stuck too: it waits in the kernel
(state D), and neither a signal nor a restart of its container ends it. nvidia-smi shows that first.
A GPU that it cannot name ("Unable to determine the device handle", "GPU is lost", "No devices were
found") is gone for containers too. Where the kernel log says that another module would drive the
GPU, that is told. Versions that differ are driver-skew's.

Bad:

    nvidia-smi   still there after SIGKILL

Good:

    nvidia-smi   exit 0

Repair: by hand: look at the kernel log, which mostly has the reason. A reboot ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyinfra_nvml.combiners.guest import guest
from pyinfra_nvml.combiners.loaded_driver import loaded_driver
from pyinfra_nvml.combiners.unsupported_gpu import unsupported_gpu, why_ignored
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES

_LOST = re.compile(r"device handle|GPU is lost|No devices were found|Unknown Error")
"""nvidia-smi's words, exit codes 6, 15 and 255 (NVML_ERROR_NOT_FOUND, NVML_ERROR_GPU_IS_LOST)."""


def check(node: NodeState) -> Iterator[Outcome]:
    """What nvidia-smi answered on the node itself."""
    driver, work = loaded_driver(node), node.gpu_processes
    if not isinstance(driver, NvidiaDriverState):
        yield driver
    elif work is None:
        yield NotApplicable("no nvidia-smi on this node")
    elif _skewed(driver):
        yield NotApplicable("module and library differ (see driver-skew)")
    elif not isinstance(work, Unknown):
        return
    elif _given_away(driver):
        yield NotApplicable("every NVIDIA GPU is handed to a guest (vfio-pci)")
    else:
        refused, ignored = _refused(node, work.reason), unsupported_gpu(driver)
        ids = ("guest-devices",) if refused else ("other-module",) if ignored else ("power-cycle",)
        why = refused or (why_ignored(driver, ignored) if ignored else "")
        yield _judge(work.reason, why, ids)


def _skewed(driver: NvidiaDriverState) -> bool:
    loaded, library = driver.loaded, driver.library
    return isinstance(loaded, str) and isinstance(library, str) and not same(loaded, library)


def _given_away(driver: NvidiaDriverState) -> bool:
    gpus = () if isinstance(driver.devices, Unknown) else driver.devices.gpus
    return bool(gpus) and all(gpu.driver == "vfio-pci" for gpu in gpus)


def _refused(node: NodeState, reason: str) -> str:
    """In a system container NVML's Unknown Error is its host's device cgroup (lxc.container.conf,
    lxc.cgroup2.devices.allow): the GPU itself is well."""
    manager = guest(node)
    if not manager or "initialize NVML: Unknown Error" not in reason:
        return ""
    return f"this node is a container ({manager}) whose device cgroup refuses it the GPU's nodes"


def _judge(reason: str, left: str, ids: tuple[str, ...]) -> Outcome:
    hung = "hung" in reason
    if not hung and not _LOST.search(reason):
        return Undetermined("nvidia-smi", reason)
    why = "the driver does not reach a GPU; containers that have it do not either"
    if hung:
        why = "the driver or a GPU is stuck: processes that use it cannot be ended"
    elif left:
        why = left
    return Finding(
        level=Level.BROKEN,
        subject="nvidia-smi",
        saw=reason,
        want="an answer that names every GPU",
        why=why,
        fix=("power-cycle",) if hung else ids,
        avoid="docker restart, and a restart of docker: they may wait for good",
        evidence=(reason,),
    )
