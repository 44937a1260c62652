"""Many hosts on one machine: an sshd of our own, reached at as many loopback addresses.

Each host answers the node script with what a real node printed (tests/nodes/), so that a run
measures the controller: on a fleet, each node spends its own CPU. Every other command runs.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDING = ROOT / "tests" / "nodes" / "gpu_good" / "recording.txt"
PORT = 2290

_REPLAY = """\
#!/bin/sh
# One line a command in the log: connections and execs are counted there.
echo exec >> {log}
case $SSH_ORIGINAL_COMMAND in
*'@node '*) exec cat {recording} ;;
*) exec sh -c "$SSH_ORIGINAL_COMMAND" ;;
esac
"""

_SSHD = """\
Port {port}
ListenAddress 0.0.0.0
HostKey {home}/host_key
AuthorizedKeysFile {home}/key.pub
PidFile none
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
UseDNS no
MaxStartups 2000
ForceCommand {home}/replay
# A login shell's own files (bash reads ~/.bashrc for sshd) are not what is measured.
SetEnv HOME={home}
Subsystem sftp internal-sftp
LogLevel INFO
"""


@dataclass(frozen=True)
class Hosts:
    """The addresses, and what it takes to log in there."""

    home: Path
    names: tuple[str, ...]
    port: int = PORT
    daemon: int = 0
    """The process id of their sshd."""

    @property
    def key(self) -> Path:
        return self.home / "key"

    @property
    def known(self) -> Path:
        """A known_hosts with a line for each of them, as a fleet of this size has it."""
        path = self.home / f"known_hosts.{self.names[0]}.{len(self.names)}.{self.port}"
        if not path.exists():
            public = (self.home / "host_key.pub").read_text()
            path.write_text("".join(f"[{name}]:{self.port} {public}" for name in self.names))
        return path

    def count(self, what: str) -> int:
        """How many ``connections`` or ``execs`` there were since the last ``forget``."""
        if what == "execs":
            return len((self.home / "execs").read_text().splitlines())
        return (self.home / "sshd.log").read_text().count("Accepted publickey")

    def cpu(self) -> float:
        """Seconds of CPU that logins and commands have taken on all hosts until now."""
        # Of proc_pid_stat(5), behind the name in brackets: its own times and those of its children.
        fields = Path(f"/proc/{self.daemon}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def forget(self) -> None:
        (self.home / "execs").write_text("")
        (self.home / "sshd.log").write_text("")


@contextmanager
def hosts(home: Path, count: int) -> Iterator[Hosts]:
    """The hosts, until the block ends."""
    binary = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if binary is None:
        sys.exit("bench: no sshd here, want it: apt-get install openssh-server")
    Path("/run/sshd").mkdir(exist_ok=True)
    names = tuple(f"127.1.{number // 250}.{number % 250 + 1}" for number in range(count))
    made = Hosts(home, names)
    _furnish(made)
    with (home / "sshd.log").open("a") as log:
        argv = [binary, "-D", "-e", "-f", str(home / "sshd_config")]
        daemon = subprocess.Popen(argv, stderr=log, stdout=log)
    try:
        _wait(made, daemon)
        yield replace(made, daemon=daemon.pid)
    finally:
        daemon.terminate()
        daemon.wait()


def _furnish(made: Hosts) -> None:
    home = made.home
    for name in ("key", "host_key"):
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(home / name)]
        subprocess.run(argv, check=True)
    replay = home / "replay"
    replay.write_text(_REPLAY.format(log=home / "execs", recording=RECORDING))
    replay.chmod(0o755)
    (home / "sshd_config").write_text(_SSHD.format(port=made.port, home=home))
    made.forget()


def _wait(made: Hosts, daemon: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if daemon.poll() is not None:
            # Another one may listen there, with other keys.
            break
        with socket.socket() as probe:
            if probe.connect_ex((made.names[0], made.port)) == 0:
                return
        time.sleep(0.1)
    sys.exit(f"bench: sshd does not listen on {made.port}: {made.home / 'sshd.log'}")
