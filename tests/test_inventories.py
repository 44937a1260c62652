"""The inventories that come from elsewhere: what pyinfra gets of them, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyinfra.api import State
from pyinfra.api.exceptions import InventoryError
from pyinfra.context import ctx_state
from pyinfra_cli.inventory import make_inventory

from inventories.readers import ansible, nodes, ssh
from inventories.readers.ansible_tree import expanded
from tests import clusters
from tests.api_server import kubeconfig, serving
from tests.installed import program

ROOT = Path(__file__).parents[1]
ANSIBLE = Path(__file__).parent / "ansible"

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


def test_hosts_of_an_ssh_config(config: str) -> None:
    told = ssh.hosts(config, ["gpu-*"])
    data = {"ssh_config_file": config}
    assert told == [("gpu-1", data), ("gpu-10", data), ("gpu-2", data)]
    assert ssh.hosts(config, ["*", "!bastion*"]) == told


def test_the_usual_ssh_config_is_not_named_twice(
    config: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    shutil.copy(config, tmp_path / ".ssh" / "config")
    assert ssh.hosts(ssh.DEFAULT, ["bastion"]) == ["bastion"]


@pytest.mark.parametrize(
    ("text", "patterns", "message"),
    [
        (SSH, [], "saw no pattern"),
        (SSH, ["db-*"], r"saw no host for db-\*, want one of 5 .*bastion"),
        ("Host *\n", ["*"], "there is none"),
        ("Host a\n  nonsense\n", ["*"], "want the form of ssh_config"),
        (None, ["*"], "No such file"),
    ],
)
def test_an_ssh_config_that_gives_none(
    tmp_path: Path, config: str, text: str | None, patterns: list[str], message: str
) -> None:
    path = Path(config) if text == SSH else tmp_path / "other"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InventoryError, match=message):
        ssh.hosts(str(path), patterns)


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


def test_nodes_of_a_cluster(cluster: Path) -> None:
    known = {"kubeconfig": str(cluster), "kubernetes_node": "gpu-01"}
    told = nodes.hosts(str(cluster), None, "gpu", "InternalIP")
    assert told == [("gpu-01", {"ssh_hostname": "10.0.0.7", **known})]
    told = nodes.hosts(str(cluster), "lab", "all", "name")
    assert [name for name, _ in told] == ["gpu-01", "cpu-01"]
    assert told[0][1] == {"ssh_hostname": "gpu-01", **known, "kubecontext": "lab"}
    with pytest.raises(
        InventoryError, match="node gpu-01: saw addresses InternalIP, Hostname, want"
    ):
        nodes.hosts(str(cluster), None, "gpu", "ExternalIP")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, None, "gpu", "name"), "saw no kubeconfig, want NVML_KUBECONFIG"),
        (("/nonexistent", None, "gpu", "name"), "kubeconfig /nonexistent: not there"),
        ((__file__, None, "some", "name"), "saw nodes 'some', want gpu or all"),
        ((__file__, None, "gpu", "IP"), "saw address 'IP', want InternalIP"),
        ((__file__, None, "gpu", "name"), "kubernetes: kubectl.nodes: exit 1"),
    ],
)
def test_a_cluster_that_gives_none(given: Any, message: str) -> None:
    if "exit" in message:
        program("kubectl")
    with pytest.raises(InventoryError, match=message):
        nodes.hosts(*given)


def test_a_cluster_without_gpus(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_has_gpu", lambda _: False)
    with pytest.raises(InventoryError, match="saw 2 nodes, none with a GPU"):
        nodes.hosts(str(cluster), None, "gpu", "name")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Ansible."""
    monkeypatch.setattr(ansible, "_program", lambda: None)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["fleet.ini", "fleet.yaml"])
def test_a_file_reads_as_ansible_reads_it(name: str) -> None:
    """Recorded: ansible-inventory -i FILE --list."""
    said = json.loads((ANSIBLE / f"{name}.json").read_text())
    asked, read = ansible._listed(said), ansible._read(ANSIBLE / name)
    assert sorted(read.hosts) == sorted(asked.hosts)
    for group in asked.groups:
        if group not in ("all", "ungrouped"):
            assert sorted(read.members(group)) == sorted(asked.members(group)), group
    for host in asked.hosts:
        ours = {key: value for key, value in read.said(host).items() if key != "secret"}
        theirs = {key: value for key, value in asked.said(host).items() if key != "secret"}
        assert ours == theirs, host


def test_ansible_itself_is_asked_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "ansible-inventory"
    fake.write_text(f'#!/bin/sh\n[ "$*" = "-i here --list" ] && cat {ANSIBLE}/fleet.ini.json\n')
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    told = ansible.groups("here")
    assert told["mig"] == ["mig-a", "mig-b"]
    fake.write_text("#!/bin/sh\necho 'no vault password' >&2; exit 4\n")
    with pytest.raises(InventoryError, match="here: ansible-inventory: exit 4: no vault password"):
        ansible.groups("here")
    fake.write_text("#!/bin/sh\necho 'Unable to parse here' >&2; echo '{\"_meta\": {}}'\n")
    with pytest.raises(InventoryError, match="here: ansible-inventory: Unable to parse here"):
        ansible.groups("here")


@pytest.mark.usefixtures("alone")
def test_what_pyinfra_is_told_of_ansible_hosts() -> None:
    told = ansible.groups(str(ANSIBLE / "fleet.ini"))
    hosts = dict(told["all"])  # type: ignore[arg-type]
    sudo = {"_sudo": True}
    assert hosts["bastion.example"] == {"ssh_user": "root", "ssh_port": 2222}
    assert hosts["gpu02"] == {"ssh_user": "admin", "ssh_port": 22, **sudo}
    assert hosts["gpu-a.example"] == {
        "ssh_hostname": "10.0.0.7",
        "ssh_user": "ops",
        "ssh_port": 2200,
        **sudo,
    }
    assert hosts["gpu-b"] == {
        "ssh_user": "ops",
        "ssh_key": "~/.ssh/gpu key",
        "ssh_port": 22,
        **sudo,
    }
    assert hosts["mig-b"] == {"ssh_user": "mig", "ssh_port": 22, **sudo}
    assert told["fleet"] == ["gpu01", "gpu02", "gpu03", "gpu-a.example", "gpu-b", "mig-a", "mig-b"]
    hosts = dict(ansible.groups(str(ANSIBLE / "fleet.yaml"))["all"])  # type: ignore[arg-type]
    assert hosts["@local"] == {"_sudo": True, "_sudo_user": "ops"}


REFUSED = {
    "hosts.ini": [
        ("[gpu\na\n", r"hosts.ini:1: saw \[gpu, want \[group\]"),
        ("[gpu:hosts2]\n", r"hosts.ini:1: saw \[gpu:hosts2\]"),
        ("\n[gpu]\na b\n", "hosts.ini:3: saw 'b', want KEY=VALUE"),
        ("gpu[03:01]\n", r"hosts.ini:1: saw \[03:01\], want HOST"),
        ("gpu[01:100]\n", r"hosts.ini:1: saw \[01:100\]"),
        ("a x='1\n", "hosts.ini:1: saw No closing quotation"),
        ("[a:children]\nb c\n", "hosts.ini:2: saw 'b c', want the name of a group"),
        ("[a:children]\nb\n[b:children]\na\n", "saw group a below itself"),
        ("# none\n", "saw no host"),
        ("a ansible_host='{{ ip }}'\n", "host a: saw ansible_host '{{ ip }}', want it without"),
        ("a ansible_connection=docker\n", "host a: saw ansible_connection docker"),
        ("a ansible_port=ssh\n", "host a: saw ansible_port ssh, want a number"),
        ("a ansible_ssh_common_args='-J b'\n", "host a: saw ansible_ssh_common_args, want"),
        ("a ansible_become=maybe\n", "host a: saw ansible_become 'maybe', want true or false"),
        ("a ansible_become=1 ansible_become_method=runas\n", "saw ansible_become_method runas"),
        ("$ANSIBLE_VAULT;1.1;AES256\n6162\n", "hosts.ini:1: saw a vault; it takes Ansible"),
    ],
    "hosts.yaml": [
        ("all:\n  hosts: [a, b]\n", "hosts.yaml:2: saw a list, want a mapping of hosts"),
        ("all:\n  machines: {}\n", "hosts.yaml:2: saw machines, want hosts, vars or children"),
        ("all: {\n", "hosts.yaml:2: saw .*, want YAML"),
        ("all:\n  hosts:\n    a: text\n", "hosts.yaml:3: saw 'text', want a mapping of variables"),
        ("all:\n  hosts:\n    gpu[1:x]:\n", r"hosts.yaml:3: saw \[1:x\]"),
        (
            "all:\n  hosts:\n    a:\n      ansible_password: !vault |\n        x\n",
            "host a: saw ansible_password in a vault",
        ),
    ],
}


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [(name, *row) for name, rows in REFUSED.items() for row in rows],
)
def test_what_ansible_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InventoryError, match=message):
        ansible.groups(str(tmp_path / name))


@pytest.mark.usefixtures("alone")
def test_what_takes_ansible_itself(tmp_path: Path) -> None:
    for name in ("group_vars", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "hosts").write_text("a\n")
    (tmp_path / "here" / "program").write_text("#!/bin/sh\n")
    (tmp_path / "here" / "program").chmod(0o755)
    for path, seen in (
        ("here", "a directory"),
        ("here/program", "a program"),
        ("hosts", "group_vars"),
    ):
        with pytest.raises(InventoryError, match=f"{seen}.*pip install ansible-core"):
            ansible.groups(str(tmp_path / path))
    with pytest.raises(InventoryError, match="not there"):
        ansible.groups(str(tmp_path / "none"))
    with pytest.raises(InventoryError, match="want NVML_ANSIBLE_INVENTORY"):
        ansible.groups(None)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("gpu[08:10]", ["gpu08", "gpu09", "gpu10"]),
        ("gpu[1:5:2]-[a:b]", ["gpu1-a", "gpu1-b", "gpu3-a", "gpu3-b", "gpu5-a", "gpu5-b"]),
        ("gpu", ["gpu"]),
    ],
)
def test_ranges(pattern: str, names: list[str]) -> None:
    assert list(expanded(pattern)) == names


@pytest.mark.parametrize("name", ["ssh_config", "kubernetes", "ansible"])
@pytest.mark.usefixtures("alone")
def test_plain_pyinfra_takes_the_inventory(
    name: str, config: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """As ``pyinfra inventories/NAME.py`` loads it, with the knobs of group_data/all.py."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NVML_SSH_CONFIG", config)
    monkeypatch.setenv("NVML_SSH_HOSTS", "gpu-*")
    monkeypatch.setenv("NVML_ANSIBLE_INVENTORY", str(ANSIBLE / "fleet.ini"))
    if name == "kubernetes":
        monkeypatch.setenv("NVML_KUBECONFIG", str(request.getfixturevalue("cluster")))
    monkeypatch.setattr("pyinfra_cli.util.PYTHON_CODES", {})
    with ctx_state.use(State()):
        inventory = make_inventory(f"inventories/{name}.py", cwd=str(ROOT))
    hosts = {host.name: host.data for host in inventory}
    assert hosts
    assert {data.get("batch_size") for data in hosts.values()} == {10}
    if name == "ansible":
        assert [host.name for host in inventory.get_group("mig")] == ["mig-a", "mig-b"]
        assert hosts["gpu02"].get("ssh_user") == "admin"
    elif name == "kubernetes":
        assert hosts["gpu-01"].get("kubernetes_node") == "gpu-01"
    else:
        assert hosts["gpu-1"].get("ssh_config_file") == config


def test_a_refusal_is_one_line_for_who_runs_pyinfra() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pyinfra", "inventories/ssh_config.py", "deploys/audit.py", "--dry"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "NVML_SSH_HOSTS"},
        timeout=120,
        check=False,
    )
    said = re.sub(r"\x1b\[[0-9;]*m", "", ran.stderr + ran.stdout)
    assert ran.returncode == 1
    assert "ssh_config: saw no pattern, want some like 'gpu-*'" in said
    assert "Traceback" not in said
