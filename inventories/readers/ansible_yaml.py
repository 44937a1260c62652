"""Ansible's YAML form of an inventory (docs.ansible.com, ansible.builtin.yaml)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml
from pyinfra.api.exceptions import InventoryError

from pyinfra_nvml.inventories.readers.ansible_tree import Tree, expanded

Pairs = Iterator[tuple[str, yaml.Node]]


def read_yaml(path: Path, text: str) -> Tree:
    """The hosts and groups of the file; the first thing that is none of them is refused."""
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as fault:
        mark, problem = getattr(fault, "problem_mark", None), getattr(fault, "problem", fault)
        line = f":{mark.line + 1}" if mark else ""
        raise InventoryError(f"{path}{line}: saw {problem}, want YAML") from fault
    tree = Tree()
    if top is not None:
        for name, node in _pairs(path, top, "groups"):
            _group(path, name, node, tree)
    if circle := tree.circle():
        raise InventoryError(f"{path}: saw group {circle} below itself, want no circle")
    return tree


def _group(path: Path, name: str, node: yaml.Node, tree: Tree) -> None:
    tree.group(name)
    for key, value in _pairs(path, node, f"hosts, vars or children of {name}"):
        if key == "hosts":
            for pattern, variables in _pairs(path, value, "hosts"):
                _host(path, pattern, variables, name, tree)
        elif key == "vars":
            for variable, said in _pairs(path, value, "variables"):
                tree.set_group(name, variable, _value(said))
        elif key == "children":
            for child, below in _pairs(path, value, "groups"):
                tree.child(name, child)
                _group(path, child, below, tree)
        else:
            raise InventoryError(f"{_at(path, value)}: saw {key}, want hosts, vars or children")


def _host(path: Path, pattern: str, node: yaml.Node, group: str, tree: Tree) -> None:
    try:
        names = list(expanded(pattern))
    except ValueError as fault:
        raise InventoryError(f"{_at(path, node)}: saw {fault}, want HOST or HOST[01:20]") from fault
    pairs = [(key, _value(said)) for key, said in _pairs(path, node, f"variables of {pattern}")]
    for name in names:
        tree.member(group, name)
        for key, value in pairs:
            tree.set_host(name, key, value)


def _pairs(path: Path, node: yaml.Node, what: str) -> Pairs:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
        return
    if not isinstance(node, yaml.MappingNode):
        raise InventoryError(f"{_at(path, node)}: saw {_seen(node)}, want a mapping of {what}")
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise InventoryError(f"{_at(path, key)}: saw {_seen(key)}, want a name")
        yield key.value, value


def _value(node: yaml.Node) -> object:
    """The value; a vault, as ansible-inventory prints one, for a tag that is none of YAML's."""
    if not node.tag.startswith("tag:yaml.org,2002:"):
        return {"__ansible_vault": node.tag}
    loader = yaml.SafeLoader("")
    try:
        read: object = loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError):
        return {"__ansible_vault": "within"}
    return read


def _seen(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value)
    return "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"


def _at(path: Path, node: yaml.Node) -> str:
    return f"{path}:{node.start_mark.line + 1}"
