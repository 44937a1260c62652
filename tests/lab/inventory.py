"""A pyinfra inventory of the running nodes, which pyinfra reaches as it would a fleet."""

from collections.abc import Iterable
from pathlib import Path
from pprint import pformat

from tests.lab.node import Node

HEAD = '"""The nodes of the lab that run now."""\n\n'


def host_data(node: Node, user: str = "root") -> dict[str, object]:
    """How pyinfra's SSH connector reaches a node."""
    return {
        "ssh_hostname": node.address,
        "ssh_user": user,
        "ssh_key": str(node.door.key),
        "ssh_known_hosts_file": str(node.door.known_hosts),
        "ssh_strict_host_key_checking": "yes",
        "ssh_look_for_keys": False,
        "ssh_allow_agent": False,
    }


def write(path: Path, nodes: Iterable[Node], user: str = "root") -> Path:
    """Write an inventory file of these nodes; the group is `lab`."""
    hosts = [(node.name, host_data(node, user)) for node in nodes]
    path.write_text(f"{HEAD}lab = {pformat(hosts, sort_dicts=False)}\n")
    return path
