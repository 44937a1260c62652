"""Whether a node came back right from a reboot for its driver: module, libraries and containers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pyinfra_nvml.facts.container_libraries import ContainerLibrariesState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT, NvidiaDriverState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.finding import Level, Result
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.reboot_refusals import SKEW

_OF_A_BOOT = (
    SKEW,
    "cdi-spec",
    "device-loss",
    "device-nodes",
    "fabric-manager",
    "fallen-gpu",
    "gpu-binding",
)
"""The checks whose subject a boot makes again."""


def boot_shortcomings(
    node: NodeState,
    results: Collection[Result],
    libraries: ContainerLibrariesState | Unknown,
    before: Collection[Result] = (),
) -> Iterator[str]:
    """What is not right after the boot; ``before`` are the results from before it.

    Nothing here is taken on trust: what cannot be told is a shortcoming. What was found before and
    is no matter of the driver's versions is none of this reboot's.
    """
    loaded = _loaded(node)
    if isinstance(loaded, Unknown):
        yield f"driver: saw {loaded.reason}, want its module loaded"
        return
    old = {(r.check, f.subject, f.saw) for r in before for f in r.findings if r.check != SKEW}
    for result in results:
        if result.check not in _OF_A_BOOT:
            continue
        for finding in result.findings:
            known = (result.check, finding.subject, finding.saw) in old
            if finding.level is not Level.ADVICE and not known:
                yield f"{finding.subject}: saw {finding.saw}, want {finding.want}; {finding.do}"
        if result.check == SKEW:
            for doubt in result.doubts:
                yield f"{doubt.subject}: saw {doubt.reason}, want to know it"
    yield from _containers(libraries, loaded)


def _loaded(node: NodeState) -> str | Unknown:
    driver = node.nvidia_driver
    if not isinstance(driver, NvidiaDriverState):
        return driver or Unknown(ABSENT)
    return driver.loaded or Unknown("no nvidia module in memory")


def _containers(libraries: ContainerLibrariesState | Unknown, loaded: str) -> Iterator[str]:
    if isinstance(libraries, Unknown):
        yield f"libraries in containers: saw {libraries.reason}, want {loaded}"
        return
    for one in libraries.libraries:
        if not same(one.version, loaded):
            where = "mounted" if one.mounted else "in its image"
            subject = f"container {one.container[:12]}"
            yield f"{subject}: saw libnvidia-ml {one.version} {where}, want {loaded}; recreate it"
