"""An Ansible inventory as groups of hosts.

``ansible-inventory`` reads it where it is installed: all that Ansible reads, Ansible reads best.
Without it, one plain file in INI or YAML is read here, and what needs Ansible is refused.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from pyinfra.api.exceptions import InventoryError

from inventories.readers import ansible_ini, ansible_yaml
from pyinfra_nvml.facts.json_values import mapping, texts
from pyinfra_nvml.inventories.readers.ansible_host import host
from pyinfra_nvml.inventories.readers.ansible_tree import Tree

Hosts = list[str] | list[tuple[str, dict[str, object]]]
_LIMIT = 60


def groups(path: str | None) -> dict[str, Hosts]:
    """Every group with its hosts, "all" with what pyinfra has to know of each.

    .. code:: python

        {"all": [("gpu-01", {"ssh_hostname": "10.0.0.7"})], "gpu": ["gpu-01"]}
    """
    if not path:
        raise InventoryError("ansible: saw no inventory, want NVML_ANSIBLE_INVENTORY=PATH")
    if not Path(path).exists():
        raise InventoryError(f"{path}: not there, want an Ansible inventory")
    program = _program()
    tree = _asked(program, path) if program else _read(Path(path))
    if not tree.hosts:
        raise InventoryError(f"{path}: saw no host, want some")
    described = [host(path, name, tree.said(name)) for name in tree.hosts]
    names = dict(zip(tree.hosts, (name for name, _ in described), strict=True))
    told: dict[str, Hosts] = {"all": described}
    for group in tree.groups:
        if group != "all":
            told[group] = [names[name] for name in tree.members(group)]
    return told


def _program() -> str | None:
    """``ansible-inventory`` on the PATH, or in the environment that pyinfra runs in."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("ansible-inventory") or shutil.which("ansible-inventory", path=beside)


@cache
def _asked(program: str, path: str) -> Tree:
    """The program's answer, asked once a process: a run reads its inventory more than once."""
    environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_DEPRECATION_WARNINGS": "0"}
    try:
        ran = subprocess.run(
            [program, "-i", path, "--list"],
            capture_output=True,
            text=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as fault:
        raise InventoryError(f"{path}: ansible-inventory took more than {_LIMIT} s") from fault
    # It ends well with a warning where it could parse nothing.
    lines = ran.stderr.strip().splitlines() or ["said nothing"]
    try:
        said = json.loads(ran.stdout) if ran.returncode == 0 else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise InventoryError(f"{path}: ansible-inventory: exit {ran.returncode}: {lines[-1]}")
    tree = _listed(said)
    if not tree.hosts and ran.stderr.strip():
        raise InventoryError(f"{path}: ansible-inventory: {lines[0]}, want hosts")
    return tree


def _listed(said: dict[str, object]) -> Tree:
    """The tree in the answer of ``--list`` (docs.ansible.com, "Developing dynamic inventory")."""
    tree = Tree()
    for name, group in said.items():
        if name != "_meta":
            tree.group(name)
            for one in texts(mapping(group).get("hosts")):
                tree.member(name, one)
            for child in texts(mapping(group).get("children")):
                tree.child(name, child)
    for name, variables in mapping(mapping(said.get("_meta")).get("hostvars")).items():
        for key, value in mapping(variables).items():
            tree.set_host(name, key, value)
    return tree


def _read(path: Path) -> Tree:
    """A single file, by its ending or its looks."""
    if path.is_dir() or os.access(path, os.X_OK):
        what = "a directory" if path.is_dir() else "a program"
        raise InventoryError(f"{path}: saw {what}, want a file; {NEEDS}")
    for beside in ("group_vars", "host_vars"):
        if (path.parent / beside).is_dir():
            raise InventoryError(
                f"{path.parent / beside}: saw variables in files of their own; {NEEDS}"
            )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InventoryError(f"{path}: {fault}, want a readable file") from fault
    if text.startswith("$ANSIBLE_VAULT"):
        raise InventoryError(f"{path}:1: saw a vault; {NEEDS}")
    yaml = path.suffix in (".yml", ".yaml", ".json")
    return ansible_yaml.read_yaml(path, text) if yaml else ansible_ini.read_ini(path, text)


NEEDS = "it takes Ansible itself: pip install ansible-core"
