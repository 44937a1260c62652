"""An ssh configuration, a cluster, and a machine without Ansible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inventories.readers import ansible
from tests import clusters
from tests.api_server import kubeconfig, serving
from tests.installed import program

SSH = """\
Include more.d/*
Host bastion bastion.example
  HostName 192.0.2.1
Host gpu-10 gpu-2
  ProxyJump bastion
Host gpu-* !gpu-09
  User admin
Match host gpu-match
  User other
Host *
  ServerAliveInterval 5
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    (tmp_path / "more.d").mkdir()
    (tmp_path / "more.d" / "lab").write_text("Host gpu-1\n  HostName 10.0.0.1\n")
    path = tmp_path / "config"
    path.write_text(SSH)
    return str(path)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    program("kubectl")
    monkeypatch.setenv("HOME", str(tmp_path))
    objects = clusters.objects("operator_25_10")
    objects["nodes"][0]["status"]["addresses"] = [
        {"type": "InternalIP", "address": "10.0.0.7"},
        {"type": "Hostname", "address": "gpu-01"},
    ]
    with serving(objects) as server:
        yield kubeconfig(tmp_path / "config", f"http://127.0.0.1:{server.server_port}")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Ansible."""
    monkeypatch.setattr(ansible, "_program", lambda: None)
