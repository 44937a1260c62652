"""The two operations of the remedy on one node, as an operator's pyinfra runs them."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pyinfra_nvml.operations.restart_result import Restarted, parse_restart
from tests.lab import containers, inventory
from tests.lab.node import Node

ROOT = Path(__file__).resolve().parents[2]
STATE = "/var/lib/pyinfra-nvml"
PATH = "/etc/docker/daemon.json"
SLOW = "/etc/systemd/system/docker.service.d/slow.conf"
DRIVER = "docker info --format '{{.CgroupDriver}}'"

WRITE = 'daemon_json.configured_driver(name="write", driver=host.data.get("driver", "cgroupfs"))\n'
RESTART = (
    'docker_engine.running_driver(name="restart", driver=host.data.get("driver", "cgroupfs"))\n'
)
_HEAD = "from pyinfra import host\nfrom operations import daemon_json, docker_engine\n"


@dataclass(frozen=True)
class Done:
    """One run of pyinfra: exit code and all it printed."""

    code: int
    text: str


@dataclass(frozen=True)
class Remedy:
    """A node, and the files with which pyinfra reaches and changes it."""

    node: Node
    place: Path
    user: str = "root"

    def start(self, deploy: str = WRITE + RESTART, *words: str) -> "subprocess.Popen[str]":
        """pyinfra at work, not waited for."""
        hosts = inventory.write(self.place / "inventory.py", [self.node], self.user)
        path = self.place / "deploy.py"
        path.write_text(_HEAD + deploy)
        program = str(Path(sys.executable).parent / "pyinfra")
        return subprocess.Popen(
            [program, str(hosts), str(path), *(words or ("-y",))],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYINFRA_PROGRESS": "off", "COLUMNS": "200"},
        )

    def run(self, deploy: str = WRITE + RESTART, *words: str, limit: float = 240) -> Done:
        """pyinfra from its start to its end."""
        process = self.start(deploy, *words)
        text, _ = process.communicate(timeout=limit)
        return Done(process.returncode, text)

    def driver(self) -> str:
        """The engine's live driver."""
        return self.node.sh(DRIVER)

    def running(self) -> set[str]:
        """The names of the containers that run now."""
        return set(self.node.sh("docker ps --format '{{.Names}}'").split())

    def last(self) -> Restarted:
        """The result of the last restart."""
        return parse_restart(self.node.sh(f"cat $(ls {STATE}/results/* | tail -n 1)").splitlines())

    def left_over(self) -> list[str]:
        """Temporary files where none should be, and open ends."""
        look = f"ls -A /etc/docker {STATE} | grep -e '^[.]' -e '[.]new$' -e '^ran$' -e '^back$'"
        return self.node.run(look).stdout.split()

    def reset(self, content: bytes | None = None) -> None:
        """The node as before any remedy: this daemon.json, no state, no containers."""
        self.node.sh(
            "systemctl stop pyinfra-nvml-restart 2>/dev/null;"
            f"umount /etc/docker 2>/dev/null; rm -rf {STATE} {PATH};"
            "[ ! -e /usr/sbin/dockerd.real ] || mv -f /usr/sbin/dockerd.real /usr/sbin/dockerd;"
            f"[ ! -e {SLOW} ] || {{ rm {SLOW}; systemctl daemon-reload; }}; mkdir -p /etc/docker"
        )
        if content is not None:
            self.node.sh(f"cat >{PATH}", stdin=content)
        self.node.sh(
            "systemctl reset-failed docker docker.socket;"
            "systemctl restart docker; docker ps -aq | xargs -r docker rm -f",
            limit=120,
        )

    def fill(self) -> None:
        """Three containers: one with a policy, one without, one that goes when it stops."""
        containers.start(self.node, "policy", "none", "--restart", "always")
        containers.start(self.node, "plain", "none")
        containers.start(self.node, "brief", "none", "--rm")

    def slow_down(self, seconds: int) -> None:
        """From now on the engine takes this long to stop."""
        text = f"[Service]\nExecStop=/bin/sleep {seconds}\n"
        self.node.sh(
            f"mkdir -p $(dirname {SLOW}); cat >{SLOW}; systemctl daemon-reload", stdin=text
        )

    def replace_dockerd(self, script: str) -> None:
        """This sh script in dockerd's place; the real one is /usr/sbin/dockerd.real."""
        self.node.sh("mv /usr/sbin/dockerd /usr/sbin/dockerd.real")
        self.node.sh("cat >/usr/sbin/dockerd && chmod 755 /usr/sbin/dockerd", stdin=script)
