"""Who is measured: each makes its files for some hosts, and says the command that does the job."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.hosts import ROOT, Hosts
from pyinfra_nvml.facts.node import Node

PARALLEL = 50


@dataclass(frozen=True)
class Job:
    """A command line, what goes to its standard input, its environment.

    ``leaves`` is in the command line of what it leaves running behind it.
    """

    argv: list[str]
    stdin: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    leaves: str = ""


@dataclass(frozen=True)
class Rival:
    """A way to do the job; ``least`` and ``most`` are the fleets that it is asked to do it for."""

    name: str
    job: Callable[[Hosts, Path], Job]
    most: int = 500
    runs: int = 3
    least: int = 1


def _inventory(hosts: Hosts, home: Path) -> Path:
    data = {
        "ssh_port": hosts.port,
        "ssh_user": "root",
        "ssh_key": str(hosts.key),
        "ssh_known_hosts_file": str(hosts.known),
        "ssh_config_file": "/dev/null",
        "report_json": str(home / "audit.json"),
        "report_html": str(home / "audit.html"),
    }
    path = home / "inventory.py"
    named = [(name, data) for name in hosts.names]
    path.write_text(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nhosts = {named!r}\n")
    link = home / "group_data"
    link.unlink(missing_ok=True)
    link.symlink_to(ROOT / "inventories" / "group_data")
    return path


def _pyinfra(pyinfra: Path, hosts: Hosts, home: Path, *words: str) -> Job:
    argv = [
        str(pyinfra.absolute()),
        str(_inventory(hosts, home)),
        *words,
        "-y",
        "--parallel",
        str(PARALLEL),
    ]
    return Job(argv, env={"PYINFRA_PROGRESS": "off"})


def audit(hosts: Hosts, home: Path, pyinfra: Path) -> Job:
    """The audit as operators type it: start-up, judging and the reports included."""
    return _pyinfra(pyinfra, hosts, home, str(ROOT / "deploys/audit.py"), "--dry")


def audit_halves(hosts: Hosts, home: Path, pyinfra: Path) -> Job:
    """The inventory split over two processes, each with a report of its own."""
    middle = len(hosts.names) // 2
    lines = []
    for name, part in (("first", hosts.names[:middle]), ("second", hosts.names[middle:])):
        place = home / name
        place.mkdir(exist_ok=True)
        lines.append(shlex.join(audit(replace(hosts, names=part), place, pyinfra).argv))
    both = f"{lines[0]} & {lines[1]}; rc=$?; wait $! && exit $rc"
    return Job(["sh", "-c", both], env={"PYINFRA_PROGRESS": "off"})


def dry_fix(hosts: Hosts, home: Path, pyinfra: Path) -> Job:
    return _pyinfra(pyinfra, hosts, home, str(ROOT / "deploys/fix_cgroup.py"), "--dry")


def separate_facts(hosts: Hosts, home: Path, pyinfra: Path) -> Job:
    """pyinfra as it is usually written: a fact each for the kernel, the engine, the modules ..."""
    deploy = home / "facts.py"
    commands = [f"uname -r; : {number}" for number in range(8)]
    deploy.write_text(
        "from pyinfra import host\nfrom pyinfra.facts.server import Command\n"
        f"for command in {commands!r}:\n    host.get_fact(Command, command)\n"
    )
    return _pyinfra(pyinfra, hosts, home, str(deploy), "--dry")


def _script(home: Path) -> Path:
    path = home / "script.sh"
    path.write_text(str(Node().command()))
    return path


def _ssh(hosts: Hosts) -> list[str]:
    options = [f"UserKnownHostsFile={hosts.known}", "BatchMode=yes", f"Port={hosts.port}"]
    words = ["ssh", "-F", "/dev/null", "-i", str(hosts.key), "-l", "root"]
    return words + [word for option in options for word in ("-o", option)]


def xargs(hosts: Hosts, home: Path) -> Job:
    """One ssh a host, the script as its command, answers to a file each."""
    names = home / "names"
    names.write_text("\n".join(hosts.names) + "\n")
    script = shlex.quote(_script(home).read_text())
    one = home / "one.sh"
    one.write_text(f'exec {shlex.join(_ssh(hosts))} "$1" {shlex.quote(script)} > {home}/out."$1"\n')
    return Job(["xargs", "-P", str(PARALLEL), "-n", "1", "sh", str(one)], stdin=names)


_PSSH = """\
import json, sys
from pssh.clients import ParallelSSHClient
given = json.load(open(sys.argv[1]))
client = ParallelSSHClient(given["names"], user="root", port=given["port"], pkey=given["key"],
                           pool_size=given["parallel"], num_retries=1)
for answer in client.run_command(given["script"]):
    if answer.exception is not None:
        raise answer.exception
    text = "\\n".join(answer.stdout)
    assert text.endswith("@end " + text.rpartition("@end ")[2]) and "@end" in text
"""


def parallel_ssh(hosts: Hosts, home: Path, python: str) -> Job:
    """The fastest fleet client of Python (libssh2): answers are read, nothing is judged."""
    given = {
        "names": hosts.names,
        "port": hosts.port,
        "key": str(hosts.key),
        "parallel": PARALLEL,
        "script": _script(home).read_text(),
    }
    (home / "pssh.json").write_text(json.dumps(given))
    (home / "pssh_run.py").write_text(_PSSH)
    return Job([python, str(home / "pssh_run.py"), str(home / "pssh.json")])


def _ansible(hosts: Hosts, home: Path, bin_directory: Path, tasks: list[str]) -> Job:
    lines = [
        f"h{number} ansible_host={name} ansible_port={hosts.port} ansible_user=root"
        f" ansible_ssh_private_key_file={hosts.key} ansible_python_interpreter=/usr/bin/python3"
        for number, name in enumerate(hosts.names)
    ]
    (home / "ansible.ini").write_text("[all]\n" + "\n".join(lines) + "\n")
    play = {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {"ansible.builtin.shell": task, "check_mode": False, "changed_when": False}
            for task in tasks
        ],
    }
    # YAML holds JSON.
    (home / "play.yml").write_text(json.dumps([play]))
    masters = f"{home}/cp{len(hosts.names)}-{hosts.port}"
    config = [
        "[defaults]",
        f"forks={PARALLEL}",
        f"local_tmp={home}/ansible",
        "[ssh_connection]",
        "pipelining=True",
        # As ansible-core itself has them (plugins/connection/ssh.py, ssh_args), but for the files.
        f"ssh_args=-F /dev/null -o UserKnownHostsFile={hosts.known} -C -o ControlMaster=auto"
        " -o ControlPersist=60s",
        # Of each fleet its own: the connections of the one before may still be there.
        f"control_path_dir={masters}",
    ]
    (home / "ansible.cfg").write_text("\n".join(config) + "\n")
    argv = [str(bin_directory / "ansible-playbook"), "-i", str(home / "ansible.ini")]
    environment = {"ANSIBLE_CONFIG": str(home / "ansible.cfg")}
    return Job([*argv, str(home / "play.yml")], env=environment, leaves=masters)


def ansible_one_task(hosts: Hosts, home: Path, bin_directory: Path) -> Job:
    """Ansible's best shape: the whole script in one task, pipelined."""
    recording = ROOT / "tests/nodes/gpu_good/recording.txt"
    return _ansible(hosts, home, bin_directory, [f"cat {shlex.quote(str(recording))}"])


def ansible_tasks(hosts: Hosts, home: Path, bin_directory: Path) -> Job:
    """Ansible as it is usually written: a task for each of eight questions."""
    return _ansible(hosts, home, bin_directory, [f"uname -r; : {n}" for n in range(8)])
