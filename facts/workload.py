"""What a Kubernetes workload is made of: who installed it, its containers, their environment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyinfra_nvml.facts.cluster import Release
from pyinfra_nvml.facts.json_values import mapping, mappings, text

_OWN = (
    "PASS_DEVICE_SPECS",
    "FAIL_ON_INIT_ERROR",
    "DEVICE_LIST_STRATEGY",
    "DEVICE_ID_STRATEGY",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_DRIVER_ROOT",
    "MIG_STRATEGY",
    "MPS_ROOT",
    "CONFIG_FILE",
    "DEFAULT_CONFIG",
    "FALLBACK_STRATEGIES",
)
HIDDEN = "..."
"""In place of a value that is not NVIDIA's own: it may be a secret."""


@dataclass(frozen=True)
class Pod:
    """A pod on a node: ``namespace/name``, its owner in the same form, whether it holds a GPU."""

    name: str
    owner: str
    gpu: bool


def environment(entries: object) -> tuple[str, ...]:
    """The variables of a container, in their order."""
    return tuple(
        f"{text(one.get('name'))}="
        + (text(one.get("value")) if one.get("name") in _OWN else HIDDEN)
        for one in mappings(entries)
    )


def installed_release(owned: dict[str, object]) -> Release:
    """Who installed this object, by Helm's and Kubernetes' recommended labels, and its version."""
    metadata = mapping(owned.get("metadata"))
    labels = mapping(metadata.get("labels"))
    images = [text(one.get("image")) for one in workload_containers(owned)]
    tags = [found[1] for image in images if (found := re.search(r":v?(\d+(?:\.\d+)+)", image))]
    # OLM (OpenShift) pulls by digest, and names the version in its owner.
    olm = re.search(r"\.v(\d+\.[\w.-]+)$", text(labels.get("olm.owner")))
    label = text(labels.get("app.kubernetes.io/version")).removeprefix("v")
    helm = labels.get("app.kubernetes.io/managed-by") == "Helm"
    # helm.sh, "Labels and Annotations": NAME-VERSION, a + written as _.
    chart = re.search(r"-(v?\d+\.[\w.-]+)$", text(labels.get("helm.sh/chart")))
    return Release(
        name=(text(labels.get("app.kubernetes.io/instance")) or None) if helm else None,
        namespace=text(metadata.get("namespace")),
        version=(tags[0] if tags else None) or label or (olm[1] if olm else None),
        chart=chart[1].replace("_", "+") if helm and chart else None,
    )


def pods_of(owned: dict[str, object]) -> dict[str, object]:
    """The pods' spec."""
    return mapping(mapping(mapping(owned.get("spec")).get("template")).get("spec"))


def workload_containers(owned: dict[str, object]) -> list[dict[str, object]]:
    """The containers of the pods' spec, without those that only prepare it."""
    return mappings(pods_of(owned).get("containers"))
