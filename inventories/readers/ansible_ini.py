"""Ansible's INI form of an inventory (docs.ansible.com, ansible.builtin.ini)."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

from pyinfra.api.exceptions import InventoryError

from pyinfra_nvml.inventories.readers.ansible_tree import Tree, expanded

_SECTION = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:[#;].*)?$")


def read_ini(path: Path, text: str) -> Tree:
    """The hosts and groups of the file; the first line that is none is refused."""
    tree = Tree()
    group, kind = "ungrouped", "hosts"
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        where = f"{path}:{number}"
        if stripped.startswith("["):
            group, kind = _section(where, stripped, tree)
        elif kind == "vars":
            key, value = _assigned(where, stripped)
            tree.set_group(group, key, value)
        elif kind == "children":
            tree.child(group, _word(where, stripped))
        else:
            _host(where, stripped, group, tree)
    if circle := tree.circle():
        raise InventoryError(f"{path}: saw group {circle} below itself, want no circle")
    return tree


def _section(where: str, line: str, tree: Tree) -> tuple[str, str]:
    found = _SECTION.match(line)
    kind = found[2] or "hosts" if found else ""
    if not found or kind not in ("hosts", "children", "vars"):
        raise InventoryError(f"{where}: saw {line}, want [group], [group:children] or [group:vars]")
    tree.group(found[1])
    return found[1], kind


def _host(where: str, line: str, group: str, tree: Tree) -> None:
    try:
        first, *rest = shlex.split(line, comments=True)
        pattern, port = _port(first)
        names = list(expanded(pattern))
    except ValueError as fault:
        raise InventoryError(
            f"{where}: saw {fault}, want HOST or HOST[01:20] KEY=VALUE ..."
        ) from fault
    pairs = [_assigned(where, text) for text in rest]
    for name in names:
        tree.member(group, name)
        for key, value in ([("ansible_port", port)] if port else []) + pairs:
            tree.set_host(name, key, value)


def _port(first: str) -> tuple[str, object]:
    """``host:2222``; not the colon of a range, nor one of many in an IPv6 address."""
    found = re.fullmatch(r"((?:[^:\[\]]|\[[^\]]*\])+):(\d+)", first)
    return (found[1], int(found[2])) if found else (first, None)


def _assigned(where: str, text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InventoryError(f"{where}: saw {text!r}, want KEY=VALUE")
    return key.strip(), _literal(value.strip())


def _literal(value: str) -> object:
    """Ansible takes what reads as a Python literal for one, else text."""
    try:
        read: object = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    return read


def _word(where: str, line: str) -> str:
    words = shlex.split(line, comments=True)
    if len(words) != 1:
        raise InventoryError(f"{where}: saw {line!r}, want the name of a group")
    return words[0]
