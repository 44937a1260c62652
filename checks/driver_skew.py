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
and reboots it if you ask for it). Else by hand: build or install what is missing first, by what
brings the module on this node (dkms, ready-made packages, akmods, an image). A node that is a
container itself (LXC, LXD) takes the version of its host and never builds a module. On WSL2
Windows brings the driver and this check does not apply.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import driver_state as skew
from pyinfra_nvml.combiners.driver_evidence import evidence, mismatch_line, told
from pyinfra_nvml.combiners.guest import guest, hosts_module, in_guest
from pyinfra_nvml.combiners.unsupported_gpu import unsupported_gpu, why_ignored
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT, NvidiaDriverState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.driver_versions import newer, same
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
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
        yield from _no_library(node, driver, driver.loaded)
    elif hosts_module(node):
        yield from in_guest(driver, driver.loaded, driver.library, guest(node))
        if same(driver.loaded, driver.library):
            yield from _refused_clients(node, driver, driver.loaded)
    elif same(driver.loaded, driver.library):
        yield from _in_step(node, driver, driver.loaded)
    else:
        yield from _skewed(driver, driver.loaded, driver.library)


def _skewed(driver: NvidiaDriverState, loaded: str, library: str) -> Iterator[Outcome]:
    boot = skew.next_boot(driver)
    yield Finding(
        level=Level.BROKEN,
        subject="driver",
        saw=skew.saw(driver),
        want=_WANT,
        why="NVML refuses a module of another version: new processes and containers fail, those"
        " that run already go on until they end",
        fix=_fix(driver, loaded, library, boot),
        target=boot.kernel,
        avoid="installing the library or the container toolkit again, adding privileges or"
        " devices: the module in memory stays what it is",
        evidence=evidence(driver),
        reference="https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
    )
    if isinstance(boot.version, Unknown):
        yield Undetermined("module on disk", boot.version.reason)


def _fix(
    driver: NvidiaDriverState, loaded: str, library: str, boot: skew.NextBoot
) -> tuple[str, ...]:
    """The module follows a library that is newer; a library that is older follows the module."""
    if skew.contained(driver):
        return ("driver-container",)
    if not newer(library, loaded):
        return ("match-library",)
    if isinstance(boot.version, Unknown):
        return ("confirm-module",)
    if boot.version is not None and same(boot.version, library):
        return ("reboot", "reboot-by-hand")
    return ("bring-module",)


def _no_library(node: NodeState, driver: NvidiaDriverState, loaded: str) -> Iterator[Outcome]:
    """Broken where containers are meant to get the GPU: the toolkit takes the library from here."""
    libraries = driver.libraries
    copies = isinstance(libraries, Unknown) or bool(libraries.files) or bool(libraries.root)
    if copies or not _gives_gpus(node):
        yield Undetermined(
            "driver library", "no libnvidia-ml where the loader looks; module is loaded"
        )
        return
    yield Finding(
        level=Level.BROKEN,
        subject="driver",
        saw=f"module {loaded}, no libnvidia-ml on this node, and the container toolkit",
        want=f"libnvidia-ml {loaded}",
        why="no container that asks for a GPU starts (libnvidia-ml.so.1 cannot be opened), and one"
        " that stops does not start again",
        fix=("guest-libraries", "match-library"),
        avoid="a restart of the container engine, or libraries in the image",
        evidence=evidence(driver),
    )


def _in_step(node: NodeState, driver: NvidiaDriverState, loaded: str) -> Iterator[Outcome]:
    yield from _refused_clients(node, driver, loaded)
    if skew.contained(driver):
        return
    boot = skew.next_boot(driver)
    if isinstance(boot.version, Unknown):
        yield Undetermined("module on disk", boot.version.reason)
    elif boot.version is None and skew.unmanaged(driver):
        reason = f"none for {boot.kernel}, yet one is loaded, and no package manager to ask"
        yield Undetermined("module on disk", reason)
    elif boot.version is None:
        why = (
            f"kernel {boot.kernel} boots next and has no nvidia module: the GPUs are gone after it"
        )
        yield _pending(driver, boot.kernel, why, "bring-module")
    elif not same(boot.version, loaded):
        why = (
            f"the next boot, or a reload of the module, loads {boot.version}, which refuses the"
            f" library {loaded}"
        )
        yield _pending(driver, boot.kernel, why, "match-library")


def _pending(driver: NvidiaDriverState, kernel: str, why: str, remedy: str) -> Finding:
    return Finding(
        level=Level.AT_RISK,
        subject="driver",
        saw=skew.saw(driver),
        want=_WANT,
        why=why,
        fix=(remedy,),
        target=kernel,
        avoid="a reboot before that",
        evidence=evidence(driver),
    )


def _refused_clients(node: NodeState, driver: NvidiaDriverState, loaded: str) -> Iterator[Finding]:
    """Clients that the module of today refused: the node is in step, so they brought their own.

    Broken while the container of one runs; else the log of this boot is all that is left of it.
    """
    if isinstance(driver.log, Unknown):
        return
    refused = [m for m in driver.log.mismatches if m.module == loaded and m.library != loaded]
    found = node.gpu_containers
    running = {} if isinstance(found, Unknown) else {one.pid: one for one in found.containers}
    # Each by its name: by the last alone, it would be another finding at every audit.
    for name in sorted({mismatch.client or "" for mismatch in refused}):
        own = [mismatch for mismatch in refused if (mismatch.client or "") == name]
        here = [mismatch for mismatch in own if mismatch.pid and mismatch.pid in running]
        last = (here or own)[-1]
        container = running[last.pid] if here and last.pid else None
        client = f"client {name or 'of an unknown name'}"
        yield Finding(
            level=Level.BROKEN if container else Level.ADVICE,
            subject=f"{client} in container {container.name}" if container else client,
            saw=f"libnvidia-ml {last.library} refused by module {loaded}, since boot: {len(own)}",
            want=f"clients with libnvidia-ml {loaded}",
            why="the node's own library is in step: a container made before the driver changed"
            " still has the old library in it, or an image brings one",
            fix=("recreate-client",),
            target=container.id if container else "",
            evidence=tuple(mismatch_line(mismatch) for mismatch in (*own[-3:], *here[-1:])),
        )


def _gives_gpus(node: NodeState) -> bool:
    """Whether the container toolkit says that containers are meant to get this node's GPUs."""
    toolkit = node.container_toolkit
    if isinstance(toolkit, Unknown) or not toolkit:
        return False
    return toolkit.has("nvidia-container-cli") is True


def _not_installed(node: NodeState, gpus: int) -> Outcome:
    """The container toolkit on the node itself says that containers are meant to get its GPUs."""
    if isinstance(node.container_toolkit, Unknown):
        return Undetermined("container toolkit", node.container_toolkit.reason)
    if not _gives_gpus(node):
        return Finding(
            level=Level.ADVICE,
            subject="driver",
            saw=f"{gpus} GPU on the PCI bus, no part of a driver, no container toolkit",
            want="NVIDIA's driver, where programs of this node are to use the GPU",
            why="no program of this node can use the GPU",
            fix=("install-driver",),
        )
    return Finding(
        level=Level.BROKEN,
        subject="driver",
        saw=f"the container toolkit, {gpus} GPU on the PCI bus, no part of a driver",
        want="NVIDIA's driver",
        why="no container that asks for a GPU starts (libnvidia-ml.so.1 cannot be opened)",
        fix=("install-driver",),
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
        why, remedy = _why_not_loaded(node, driver, holders)
        yield Finding(
            level=Level.BROKEN,
            subject="driver",
            saw=f"{skew.saw(driver)}; {len(devices.gpus)} GPU on the PCI bus",
            want="the nvidia module loaded",
            why=why,
            fix=(remedy,),
            target=_running(driver) if remedy == "bring-module" else "",
            avoid="changing the containers or their engine: no program reaches the GPU now",
            evidence=evidence(driver),
        )


def _why_not_loaded(
    node: NodeState, driver: NvidiaDriverState, holders: set[str]
) -> tuple[str, str]:
    """Why the module of a node with a GPU is not in memory, and the remedy's id."""
    if "nouveau" in holders:
        return "nouveau holds the GPU", "load-module"
    if not guest(node) and driver.on_disk is None and not isinstance(driver.module, Unknown):
        kernel = _running(driver)
        return f"the running kernel {kernel} has no nvidia module on disk", "bring-module"
    if ignored := unsupported_gpu(driver):
        return why_ignored(driver, ignored), "other-module"
    return "no nvidia module is loaded", "load-module"


def _running(driver: NvidiaDriverState) -> str:
    return "" if isinstance(driver.module, Unknown) else told(driver.module.kernel)
