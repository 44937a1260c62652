"""What NVIDIA's device plugin is told to do on a node: by flag, environment, or its ConfigMap.

Sources: NVIDIA/k8s-device-plugin, README ("Configuration Option Details": a flag beats the
environment, that the file) and its chart; NVIDIA/gpu-operator, assets/state-device-plugin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml

from pyinfra_nvml.facts.cluster import Plugin
from pyinfra_nvml.facts.json_values import (
    mapping,
    mappings,
    text,
    texts,
)
from pyinfra_nvml.facts.workload import (
    Pod,
    environment,
    installed_release,
    pods_of,
    workload_containers,
)
from pyinfra_nvml.model.unknown import Unknown

IMAGE = re.compile(r"(?:^|/)k8s-device-plugin(?::v?(?P<version>\d[\w.]*)[\w.-]*)?(?:@|$)")
_CONTAINERS = ("nvidia-device-plugin", "nvidia-device-plugin-ctr")
"""The Operator's name, and that of the chart and of the plain manifests; beside them run
containers of the same image: config-manager, gpu-feature-discovery, the MPS daemon."""


def plugins(
    daemonsets: list[dict[str, object]] | Unknown,
    configs: Mapping[str, dict[str, object] | Unknown],
    pods: list[Pod] | Unknown,
    chosen: str,
) -> Plugin | Unknown | None:
    """The plugin of the node whose pods these are; ``chosen`` is the node's label for its config.

    Where the pods could not be read, the only plugin of the cluster is meant.
    """
    if isinstance(daemonsets, Unknown):
        return daemonsets
    found = [(_name(one), one) for one in daemonsets if _container(one)]
    if not isinstance(pods, Unknown):
        owners = {pod.owner for pod in pods}
        found = [(name, one) for name, one in found if name in owners]
    if not found:
        return None
    if len(found) > 1:
        names = ", ".join(name for name, _ in found)
        why = f"; {pods.reason}" if isinstance(pods, Unknown) else ""
        return Unknown(f"device plugin: {names} on one node{why}")
    return _plugin(*found[0], configs, chosen)


def _plugin(
    name: str,
    one: dict[str, object],
    configs: Mapping[str, dict[str, object] | Unknown],
    chosen: str,
) -> Plugin:
    container = _container(one)
    said = dict(text.partition("=")[::2] for text in environment(container.get("env")))
    flags = " ".join(texts(container.get("command")) + texts(container.get("args")))
    config: dict[str, object] | Unknown = {}
    if "CONFIG_FILE" in said or "--config-file" in flags:
        config = _config(one, configs, chosen)
    owners = mappings(mapping(one.get("metadata")).get("ownerReferences"))
    return Plugin(
        name=name,
        release=installed_release(one),
        operated=any(owner.get("kind") == "ClusterPolicy" for owner in owners),
        passes=_passes(flags, said, config),
        strategy=_strategy(flags, said, config),
    )


def _passes(
    flags: str, said: dict[str, str], config: dict[str, object] | Unknown
) -> bool | Unknown:
    if flag := re.search(r"--pass-device-specs(?:=(\w+))?(?:\s|$)", flags):
        return _true(flag[1] or "true")
    if "PASS_DEVICE_SPECS" in said:
        return _true(said["PASS_DEVICE_SPECS"])
    return config if isinstance(config, Unknown) else config.get("passDeviceSpecs") is True


def _strategy(
    flags: str, said: dict[str, str], config: dict[str, object] | Unknown
) -> tuple[str, ...] | Unknown:
    if flag := re.search(r"--device-list-strategy[= ](\S+)", flags):
        return tuple(flag[1].split(","))
    if "DEVICE_LIST_STRATEGY" in said:
        return tuple(said["DEVICE_LIST_STRATEGY"].split(","))
    if isinstance(config, Unknown):
        return config
    listed = config.get("deviceListStrategy")
    return texts(listed) or tuple((text(listed) or "envvar").split(","))


def _config(
    one: dict[str, object], configs: Mapping[str, dict[str, object] | Unknown], chosen: str
) -> dict[str, object] | Unknown:
    """The ``flags.plugin`` of the file that config-manager picks for the node."""
    name = config_map(one)
    data = configs.get(name) or Unknown(f"device plugin: its ConfigMap {name} was not read")
    if isinstance(data, Unknown):
        return data
    inits = mappings(pods_of(one).get("initContainers"))
    said = dict(e.partition("=")[::2] for init in inits for e in environment(init.get("env")))
    only = next(iter(data)) if len(data) == 1 else ""
    key = next((k for k in (chosen, said.get("DEFAULT_CONFIG"), "default", only) if k in data), "")
    try:
        read = yaml.safe_load(text(data.get(key)))
    except (yaml.YAMLError, ValueError, RecursionError):
        return Unknown(f"device plugin: ConfigMap {name}, {key}: not YAML")
    return mapping(mapping(mapping(read).get("flags")).get("plugin"))


def config_map(one: dict[str, object]) -> str:
    """``namespace/name`` of the ConfigMap with the plugin's configs, empty where there is none."""
    for volume in mappings(pods_of(one).get("volumes")):
        if volume.get("name") in ("available-configs", "device-plugin-config"):
            return f"{_space(one)}/{text(mapping(volume.get('configMap')).get('name'))}"
    return ""


def _true(value: str) -> bool:
    return value.lower() in ("true", "1", "t")


def _container(one: dict[str, object]) -> dict[str, object]:
    """The plugin's container of a DaemonSet, empty where it has none."""
    for container in workload_containers(one):
        if container.get("name") in _CONTAINERS and IMAGE.search(text(container.get("image"))):
            return container
    return {}


def _space(one: dict[str, object]) -> str:
    return text(mapping(one.get("metadata")).get("namespace"))


def _bare(one: dict[str, object]) -> str:
    return text(mapping(one.get("metadata")).get("name"))


def _name(one: dict[str, object]) -> str:
    return f"{_space(one)}/{_bare(one)}"
