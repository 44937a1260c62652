"""What makes systemd rewrite a container's device filter, without what came behind its back."""

from tests.lab.containers import scope
from tests.lab.node import Node


def daemon_reload(node: Node) -> None:
    """`systemctl daemon-reload`, as every package with a unit does it."""
    node.sh("systemctl daemon-reload")


def set_property(node: Node, container_id: str) -> None:
    """Change a property of the container's scope, as a resource manager does."""
    node.sh(f"systemctl set-property --runtime {scope(container_id)} CPUWeight=50")
