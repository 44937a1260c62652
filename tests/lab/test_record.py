"""A real node recorded over ssh: as root by sudo, replayed, and without its secrets."""

from __future__ import annotations

import json
from pathlib import Path

from pyinfra_nvml.facts.node import Node as NodeFact
from pyinfra_nvml.model.unknown import Unknown
from tests.lab import containers
from tests.lab.session import Lab
from tests.private import private
from tests.record import answer, save

SECRET = "nvapi-7f3k"  # noqa: S105 - as NIM containers have one
DAEMON = json.dumps(
    {
        "proxies": {"http-proxy": "http://bob:hunter2@proxy.acme.example:3128"},
        "registry-mirrors": ["https://mirror.acme.example"],
        "labels": ["rack=acme"],
    }
)


def test_a_node_is_recorded_and_replayed(lab: Lab, tmp_path: Path) -> None:
    node = lab.fresh("trixie", hostname="gpu7", files={"/etc/docker/daemon.json": DAEMON})
    try:
        containers.start(node, "acme-train", "gpus", "--env", f"NVIDIA_API_KEY={SECRET}")
        lines = answer(node.door.argv("admin"))
        assert SECRET not in "\n".join(lines), "the node itself must not tell it"
        path = save(lines, "gpu", "Debian 13", hosts=["gpu7", node.address], place=tmp_path)
        text = path.read_text()
        for secret in ("acme", "hunter2", "gpu7", node.address, SECRET):
            assert secret not in text
        assert private(text) == set()
        state = NodeFact().process(text.splitlines())
        assert not isinstance(state, Unknown)
        assert not isinstance(state.machine, Unknown)
        assert state.machine.uid == 0
        assert not isinstance(state.gpu_containers, Unknown)
        (container,) = state.gpu_containers.containers
        assert container.name == "container-1"
        assert container.inspected is not None
        assert container.inspected.environment == ()
        assert not isinstance(state.daemon_json, Unknown)
        assert isinstance(state.daemon_json.files[0].content, bytes)
    finally:
        lab.stop(node)
