"""The NVIDIA module in memory, the module on disk and the library are one version.

NVML refuses to work with a kernel module of another version ("Driver/library version mismatch"). An
update replaces the files on disk and leaves the module in memory, so that every new process and
container fails until the node boots the new module. A reboot cures that only if the module of the
library's version is built for the kernel that boots next. Versions are read from /sys, modinfo and
the library's file name, never from NVML, which is what is broken then.

Bad:

    loaded 550.90.07   on disk 550.107.02   libnvidia-ml 550.107.02

Good:

    loaded 550.107.02   on disk 550.107.02   libnvidia-ml 550.107.02

Repair: a reboot, if the module on disk equals the library (`deploys/fix_driver.py` flags the node,
and reboots it if you ask for it). Else by hand: build or install what is missing first. A container
with a driver of its own inside (LXC, LXD) takes the version of its host. On WSL2 Windows brings the
driver and this check does not apply.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import driver_state as skew
from pyinfra_nvml.combiners.driver_evidence import evidence, mismatch_line
from pyinfra_nvml.combiners.guest import guest, hosts_module, in_guest
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT, NvidiaDriverState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.VERSIONS

_WANT = "one version: in memory, on disk for the kernel that boots next, and of libnvidia-ml"


def check(node: NodeState) -> Iterator[Outcome]:
    """The skew there is, the one that the next boot brings, and a module that is not loaded."""
    driver = node.nvidia_driver
    if isinstance(node.wsl, WslState):
        yield NotApplicable("WSL: Windows brings the driver, its two version numbers differ")
    elif driver is None:
        yield NotApplicable(ABSENT)
    elif isinstance(driver, Unknown):
        yield Undetermined("driver", driver.reason)
    elif isinstance(driver.loaded, Unknown):
        yield Undetermined("loaded module", driver.loaded.reason)
    elif driver.loaded is None:
        yield from _not_loaded(node, driver)
    elif isinstance(driver.library, Unknown):
        yield Undetermined("driver library", driver.library.reason)
    elif driver.library is None:
        yield Undetermined(
            "driver library", "no libnvidia-ml where the loader looks; module is loaded"
        )
    elif hosts_module(node):
        yield from in_guest(driver, driver.loaded, driver.library, guest(node))
    elif same(driver.loaded, driver.library):
        yield from _in_step(driver, driver.loaded)
    else:
        yield from _skewed(driver, driver.loaded, driver.library)


def _skewed(driver: NvidiaDriverState, loaded: str, library: str) -> Iterator[Outcome]:
    boot = skew.next_boot(driver)
    repair, do = skew.cure(driver, loaded, library, boot)
    yield Finding(
        level=Level.BROKEN,
        subject="driver",
        saw=skew.saw(driver),
        want=_WANT,
        why="NVML refuses a module of another version: new processes and containers fail, those"
        " that run already go on until they end",
        repair=repair,
        do=do,
        avoid="installing the library or the container toolkit again, adding privileges or"
        " devices: the module in memory stays what it is",
        evidence=evidence(driver),
        reference="https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
    )
    if isinstance(boot.version, Unknown):
        yield Undetermined("module on disk", boot.version.reason)


def _in_step(driver: NvidiaDriverState, loaded: str) -> Iterator[Outcome]:
    if skew.contained(driver):
        return
    boot = skew.next_boot(driver)
    if isinstance(boot.version, Unknown):
        yield Undetermined("module on disk", boot.version.reason)
    elif boot.version is None and skew.unmanaged(driver):
        reason = f"none for {boot.kernel}, yet one is loaded, and no package manager to ask"
        yield Undetermined("module on disk", reason)
    elif boot.version is None:
        yield _pending(driver, *skew.nothing_to_boot(boot))
    elif not same(boot.version, loaded):
        yield _pending(driver, *skew.another_to_boot(boot, loaded))
    yield from _refused_clients(driver, loaded)


def _pending(driver: NvidiaDriverState, why: str, do: str) -> Finding:
    return Finding(
        level=Level.AT_RISK,
        subject="driver",
        saw=skew.saw(driver),
        want=_WANT,
        why=why,
        repair=Repair.MANUAL,
        do=do,
        avoid="a reboot before that",
        evidence=evidence(driver),
    )


def _refused_clients(driver: NvidiaDriverState, loaded: str) -> Iterator[Finding]:
    """Clients that the module of today refused: the node is in step, so they brought their own."""
    if isinstance(driver.log, Unknown):
        return
    refused = [m for m in driver.log.mismatches if m.module == loaded and m.library != loaded]
    # Each by its name: by the last alone, it would be another finding at every audit.
    for name in sorted({mismatch.client or "" for mismatch in refused}):
        own = [mismatch for mismatch in refused if (mismatch.client or "") == name]
        yield Finding(
            level=Level.ADVICE,
            subject=f"client {name or 'of an unknown name'}",
            saw=f"libnvidia-ml {own[-1].library} refused by module {loaded}, since boot:"
            f" {len(own)}",
            want=f"clients with libnvidia-ml {loaded}",
            why="the node's own library is in step: a container made before the driver changed"
            " still has the old library in it, or an image brings one",
            repair=Repair.MANUAL,
            do="recreate that container; a restart keeps what CDI mounted when it was made",
            evidence=tuple(mismatch_line(mismatch) for mismatch in own[-3:]),
        )


def _not_installed(node: NodeState, gpus: int) -> Outcome:
    """The container toolkit on the node itself says that containers are meant to get its GPUs."""
    toolkit = node.container_toolkit
    if (
        isinstance(toolkit, Unknown)
        or not toolkit
        or toolkit.has("nvidia-container-cli") is not True
    ):
        return NotApplicable("an NVIDIA GPU, but no driver of NVIDIA's installed")
    return Finding(
        level=Level.BROKEN,
        subject="driver",
        saw=f"the container toolkit, {gpus} GPU on the PCI bus, no part of a driver",
        want="NVIDIA's driver",
        why="no container that asks for a GPU starts (libnvidia-ml.so.1 cannot be opened)",
        repair=Repair.MANUAL,
        do="install the driver (Ubuntu: ubuntu-drivers install --gpgpu), then reboot",
        avoid="installing the toolkit again, or libraries in the image",
    )


def _not_loaded(node: NodeState, driver: NvidiaDriverState) -> Iterator[Outcome]:
    devices = driver.devices
    if isinstance(devices, Unknown):
        yield Undetermined("GPUs", devices.reason)
    elif not devices.gpus and not devices.bus:
        yield Undetermined("GPUs", "this node shows no PCI bus to look on")
    elif not devices.gpus:
        yield NotApplicable("no NVIDIA GPU on the PCI bus, and no module loaded")
    elif all(gpu.driver == "vfio-pci" for gpu in devices.gpus):
        yield NotApplicable("every NVIDIA GPU is handed to a guest (vfio-pci)")
    elif not skew.driver_installed(driver):
        yield _not_installed(node, len(devices.gpus))
    else:
        holders = {gpu.driver for gpu in devices.gpus if gpu.driver}
        why, do = skew.why_not_loaded(driver, holders)
        yield Finding(
            level=Level.BROKEN,
            subject="driver",
            saw=f"{skew.saw(driver)}; {len(devices.gpus)} GPU on the PCI bus",
            want="the nvidia module loaded",
            why=why,
            repair=Repair.MANUAL,
            do=do,
            avoid="changing the containers or their engine: no program reaches the GPU now",
            evidence=evidence(driver),
        )
