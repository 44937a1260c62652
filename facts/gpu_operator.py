"""What NVIDIA's GPU Operator and device plugin leave on a Kubernetes node."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts import docker_inspect
from pyinfra_nvml.facts.docker_inspect import Inspected
from pyinfra_nvml.facts.oci_specs import PROBE as SPECS
from pyinfra_nvml.facts.oci_specs import OciSpecs, OciSpecsState
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# The validator's files (NVIDIA/gpu-operator, cmd/nvidia-validator); static pods that name NVIDIA.
_LIST = """
for file in /run/nvidia/validations/* /run/nvidia/validations/.[a-z]*; do
  [ -e "$file" ] && echo "validation ${file##*/}"
done
[ -e /usr/local/nvidia/toolkit/nvidia-container-runtime ] && echo toolkit
if [ -d /etc/kubernetes/manifests ]; then
  cd /etc/kubernetes/manifests && [ -r . ] || { echo "$PWD: not readable" >&2; exit 1; }
  grep -l nvidia ./* 2>/dev/null | sed 's/^[.]./manifest /'
fi
true
"""

_IMAGE = re.compile(r"(?:^|/)(?:[\w.-]+/)*(?P<name>[\w.-]+):v?(?P<version>\d+(?:\.\d+)+)[\w.+-]*$")


@dataclass(frozen=True)
class Operand(Value):
    """A running container whose image is of NVIDIA's Kubernetes stack.

    ``image`` is its last part, ``version`` the number in its tag (``None``: pulled by digest).

    .. code:: python

        Operand("k8s-device-plugin", "0.14.1", pod="kube-system/nvidia-device-plugin-x7",
                environment=("PASS_DEVICE_SPECS=false",))
    """

    image: str
    version: str | None
    pod: str
    environment: tuple[str, ...] | Unknown = ()

    def variable(self, name: str) -> str | Unknown | None:
        """The value of an environment variable; the last one counts."""
        if isinstance(self.environment, Unknown):
            return self.environment
        found = [text.partition("=")[2] for text in self.environment if text.startswith(f"{name}=")]
        return found[-1] if found else None


@dataclass(frozen=True)
class GpuOperatorState(Value):
    """The validator's files, whether the Operator's toolkit is there, manifests, operands.

    .. code:: python

        GpuOperatorState(validations=("driver-ready", "toolkit-ready"), toolkit=True, manifests=(),
                         operands=(Operand("gpu-operator-validator", "22.9.1", ...),))
    """

    validations: tuple[str, ...] | Unknown
    toolkit: bool | Unknown
    manifests: tuple[str, ...] | Unknown
    operands: tuple[Operand, ...] | Unknown


OPERANDS = (
    "gpu-operator",
    "gpu-operator-validator",
    "k8s-device-plugin",
    "gpu-feature-discovery",
    "dcgm",
    "dcgm-exporter",
    "container-toolkit",
    "driver",
    "driver-manager",
    "k8s-driver-manager",
    "k8s-mig-manager",
    "vgpu-manager",
    "vgpu-device-manager",
)
"""NVIDIA/gpu-operator, deployments/gpu-operator/values.yaml: the names of its images."""


class GpuOperator(Source[GpuOperatorState | None]):
    """The traces of GPU Operator and device plugin, or ``None`` where there are none.

    Sources: /run/nvidia/validations, /usr/local/nvidia/toolkit, /etc/kubernetes/manifests, the
    images of running containers (``docker inspect``, OCI specs). The containers need root.
    """

    probes = (
        Probe("operator_traces.list", _LIST, lines=r"(validation|manifest) |toolkit$"),
        docker_inspect.PROBE,
        SPECS,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> GpuOperatorState | Unknown | None:
        answer = section(sections, "operator_traces.list")
        rows = docker_inspect.containers(section(sections, docker_inspect.PROBE.name))
        operands = _operands(rows, OciSpecs.judged(sections))
        lines = [line.partition(" ") for line in answer.out.splitlines()]
        trouble = answer.trouble
        # The manifests come last: that they are not readable says nothing of the others.
        first = None if answer.rc == 1 and "not readable" in answer.err else trouble
        traces = GpuOperatorState(
            validations=first or tuple(rest for key, _, rest in lines if key == "validation"),
            toolkit=first or "toolkit" in answer.out.splitlines(),
            manifests=trouble or tuple(rest for key, _, rest in lines if key == "manifest"),
            operands=operands,
        )
        if traces.validations or traces.toolkit or traces.manifests or operands:
            return trouble if trouble and not operands else traces
        return None


def _operands(
    rows: dict[str, Inspected] | Unknown, specs: OciSpecsState | Unknown
) -> tuple[Operand, ...] | Unknown:
    listed = () if isinstance(specs, Unknown) else specs.containers
    environments = {spec.id: spec.environment for spec in listed}
    found = [_operand(spec.image, spec.pod, spec.environment) for spec in listed if spec.pod]
    for row in () if isinstance(rows, Unknown) else rows.values():
        # Of the environment, Docker is asked for the NVIDIA_ variables only.
        said = environments.get(row.id, _UNSEEN)
        found += [_operand(row.image, row.pod, said)] if row.pod else []
    operands = tuple(operand for operand in found if operand)
    if operands:
        return operands
    # Docker's answer says nothing of containerd's pods, and moby's specs nothing of images.
    if isinstance(rows, Unknown) and any(spec.namespace == "moby" for spec in listed):
        return rows
    return specs if isinstance(specs, Unknown) else ()


_UNSEEN = Unknown("environment: want root to read its OCI spec")


def _operand(image: str, pod: str, environment: tuple[str, ...] | Unknown) -> Operand | None:
    plain, _, _ = image.partition("@")
    found = _IMAGE.search(plain)
    name = found["name"] if found else plain.rpartition("/")[2].partition(":")[0]
    if name not in OPERANDS or "nvidia" not in image:
        return None
    return Operand(name, found["version"] if found else None, pod, environment)
