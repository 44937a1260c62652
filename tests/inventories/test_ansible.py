"""Ansible's inventories: by Ansible itself, and read without it; what is refused."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from pyinfra.api.exceptions import InventoryError

from inventories.readers import ansible
from pyinfra_nvml.inventories.readers.ansible_tree import expanded

ANSIBLE = Path(__file__).parents[1] / "ansible"


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
    # A run reads its inventory more than once, and asks for it once.
    assert ansible.groups("here") == told
    ansible._asked.cache_clear()
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
