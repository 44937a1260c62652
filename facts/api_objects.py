"""The objects that kubectl answers with: lists, and what stands at a path of one."""

from __future__ import annotations

import json
import re

from pyinfra_nvml.facts.json_values import mapping, mappings
from pyinfra_nvml.facts.probe import Section
from pyinfra_nvml.model.unknown import Unknown

NODES, PODS = "kubectl.nodes", "kubectl.pods"
POLICIES, OPERATOR = "kubectl.clusterpolicies", "kubectl.operator"
PLUGINS, CONFIG = "kubectl.daemonsets", "kubectl.configmap "

_ABSENT = re.compile(r"doesn't have a resource type|could not find the requested resource")


def items(answer: Section) -> list[dict[str, object]] | Unknown:
    """The objects of a list; none where the API server does not know ClusterPolicies."""
    if answer.name == POLICIES and answer.rc == 1 and _ABSENT.search(answer.err):
        return []
    read = api_json(answer)
    if isinstance(read, Unknown):
        return read
    listed = read.get("items")
    if not isinstance(listed, list):
        return Unknown(f"{answer.name}: want a list, saw {answer.out[:40]!r}")
    return mappings(listed)


def api_json(answer: Section) -> dict[str, object] | Unknown:
    """The object in an answer of kubectl (``-o json``), or why there is none."""
    if answer.trouble:
        return answer.trouble
    try:
        return mapping(json.loads(answer.out))
    except (ValueError, RecursionError):
        return Unknown(f"{answer.name}: want JSON, saw {answer.out[:40]!r}")


def part(value: object, *path: str) -> object:
    """What stands at this path of an object, ``None`` where there is no such path."""
    for name in path:
        value = mapping(value).get(name)
    return value
