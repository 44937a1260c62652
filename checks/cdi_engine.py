"""Every engine takes the node's CDI specs, and finds every MIG device in them.

An engine that is older than a spec's `cdiVersion` refuses the whole file and says little:
`unresolvable CDI devices nvidia.com/gpu=all`. Toolkit 1.19.1 and newer write version 0.7.0 (with
`additionalGids`), which Docker takes from 26.1 on, containerd from 1.7.16, podman from 5.1, cri-o
from 1.30: Ubuntu 24.04's podman 4.9 does not. And `nvidia-cdi-refresh` does not see MIG devices
that are made after it ran: `--device` does not find them, and `--gpus` of Docker 29.2 and newer
gives the GPU without them, or falls back to the legacy hook.

Bad:

    podman 4.9.3                  /var/run/cdi/nvidia.yaml   cdiVersion: 0.7.0
    gpu0/mig/gi1/ci0, minor 13    /var/run/cdi/nvidia.yaml   no nvidia-cap13

Good:

    podman 5.4.2                  /var/run/cdi/nvidia.yaml   cdiVersion: 0.7.0
    gpu0/mig/gi1/ci0, minor 13    /var/run/cdi/nvidia.yaml   nvidia-cap13

Repair: by hand: generate the spec again, for an old engine without the groups
(`--feature-flag=no-additional-gids-for-device-nodes`). Nothing stops.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import cdi_readers as cdi
from pyinfra_nvml.facts.cdi_specs import CdiSpec
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.mig import MigState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.VERSIONS

_FLAG = "no-additional-gids-for-device-nodes"
_REFERENCE = (
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html"
)


def check(node: NodeState) -> Iterator[Outcome]:
    """Specs that an engine of the node refuses, and MIG devices that are in none."""
    toolkit = node.container_toolkit
    specs = toolkit.specs if isinstance(toolkit, ContainerToolkitState) else toolkit or ()
    if isinstance(specs, Unknown):
        yield Undetermined("CDI specs", specs.reason)
    elif not specs:
        yield NotApplicable("no CDI spec of NVIDIA's on this node")
    else:
        for spec in specs:
            yield from _engines(node, spec)
        yield from _mig(node, specs)


def _engines(node: NodeState, spec: CdiSpec) -> Iterator[Outcome]:
    if isinstance(spec.kind, Unknown):
        yield Undetermined(f"CDI spec {spec.path}", spec.kind.reason)
        return
    for engine, version in cdi.readers(node, spec):
        told = version if isinstance(version, Unknown) else cdi.spec_refusal(spec, engine, version)
        if isinstance(told, Unknown) and cdi.reader_groups(spec):
            yield Undetermined(f"CDI spec {spec.path}", told.reason)
        elif told is True:
            yield _refused(spec, engine, str(version))


def _refused(spec: CdiSpec, engine: str, version: str) -> Finding:
    first = ".".join(str(part) for part in cdi.TAKES[engine])
    return Finding(
        level=Level.AT_RISK,
        subject=f"CDI spec {spec.path}",
        saw=f"cdiVersion {spec.version}, {engine} {version}",
        want=f"{engine} {first} or newer, or a spec that it takes",
        why=f"{engine} refuses the whole file (unknown field additionalGids): no container gets a"
        f" device of {spec.kind} (unresolvable CDI devices)",
        repair=Repair.MANUAL,
        do=f"NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS={_FLAG} in"
        " /etc/nvidia-container-toolkit/nvidia-cdi-refresh.env, then systemctl restart"
        f" nvidia-cdi-refresh; or nvidia-ctk cdi generate --feature-flag={_FLAG}"
        f" --output={spec.path}"
        if spec.kind == cdi.GPU
        else f"update {engine}, then recreate the pods of the device plugin",
        evidence=(f"{spec.path}: cdiVersion: {spec.version}",),
        reference=_REFERENCE,
    )


def _mig(node: NodeState, specs: tuple[CdiSpec, ...]) -> Iterator[Outcome]:
    """On Kubernetes the device plugin writes specs of its own, with every MIG device."""
    mig = node.mig
    asked = any(spec.kind == cdi.GPU for spec in specs) and node.kubelet is None
    if not asked or not isinstance(mig, MigState):
        return
    missing = cdi.not_in(specs, mig)
    if isinstance(missing, Unknown):
        if mig.on is not False:
            yield Undetermined("MIG devices", missing.reason)
    elif missing:
        yield _unlisted(specs, missing)


def _unlisted(specs: tuple[CdiSpec, ...], missing: tuple[str, ...]) -> Finding:
    paths = [spec.path for spec in specs if spec.kind == cdi.GPU]
    shown = ", ".join(missing[:4]) + (f" and {len(missing) - 4} more" if missing[4:] else "")
    return Finding(
        level=Level.AT_RISK,
        subject="MIG devices",
        saw=f"in no CDI spec ({', '.join(paths)}): {shown}",
        want="every MIG device in the spec that the engines read",
        why="they were made after the spec: a container that asks for one by CDI does not start,"
        " and Docker 29.2 and newer give it the GPU without it, or turn to the legacy hook",
        repair=Repair.MANUAL,
        do="systemctl restart nvidia-cdi-refresh (toolkit 1.18 and newer), or nvidia-ctk cdi"
        f" generate --output={paths[-1]}; have what makes the MIG devices do so at every boot",
        evidence=tuple(f"{one}: no node of it under /dev/nvidia-caps in a spec" for one in missing)[
            :4
        ],
        reference="https://github.com/NVIDIA/nvidia-container-toolkit/issues/1828",
    )
