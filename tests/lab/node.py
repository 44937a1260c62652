"""A running node in a test's hands: run a command on it, change a file, reboot it, cut its wire."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tests.lab import furniture
from tests.lab import machine as machines
from tests.lab.catalogue import Kind
from tests.lab.command import tool
from tests.lab.errors import LabError
from tests.lab.machine import Machine
from tests.lab.ssh import Door, Ran

# The slowest boot seen was 20 s, six at a time on two cores.
BOOT_LIMIT = 120
READY = """\
until docker version >/dev/null 2>&1; do sleep 0.1; done
systemctl is-system-running --wait >/dev/null 2>&1
true
"""


@dataclass(frozen=True)
class Node:
    """A node that answers ssh and whose dockerd is up."""

    name: str
    kind: Kind
    machine: Machine
    door: Door

    @property
    def address(self) -> str:
        """Its address on the lab's bridge."""
        return self.door.address

    def booted(self, bridge: str) -> "Node":
        """The same node, started; `wait_until_up` before use."""
        return replace(
            self, machine=machines.boot(self.machine, self.name, bridge, self.kind.unified)
        )

    def run(
        self, command: str, *, user: str = "root", stdin: str | bytes = "", limit: float = 60
    ) -> Ran:
        """Run a shell command on the node, over ssh, whatever its exit status."""
        return self.door.run(command, user=user, stdin=stdin, limit=limit)

    def sh(
        self, command: str, *, user: str = "root", stdin: str | bytes = "", limit: float = 60
    ) -> str:
        """Standard output, without blanks around it, of a shell command that has to succeed."""
        ran = self.run(command, user=user, stdin=stdin, limit=limit)
        if ran.code:
            said = (ran.stderr or ran.stdout).strip()[-2000:]
            raise LabError(f"{self.name}: `{command}` exit {ran.code}, want 0: {said}")
        return ran.stdout.strip()

    def write(self, files: Mapping[str, str]) -> None:
        """Write files on the running node, given by their path there."""
        furniture.write(self.machine.root, files)

    def read(self, path: str) -> bytes:
        """The bytes of a file on the node."""
        return (self.machine.root / path.lstrip("/")).read_bytes()

    def wait_until_up(self, limit: float = BOOT_LIMIT) -> None:
        """Wait until the node answers ssh, its dockerd is up, and its boot is over."""
        end = time.monotonic() + limit
        self._until(end, "ssh to answer", self.door.answers)
        left = max(end - time.monotonic(), 1)
        if self.run(f"timeout {left:.0f} sh -c '{READY}'", limit=left + 15).code:
            failed = self.run("systemctl --failed --no-legend --plain").stdout.strip()
            raise LabError(f"{self.name}: failed units [{failed}], want docker up in {limit:g} s")

    def reboot(self) -> None:
        """Reboot the node and wait until it is up again; its files, Docker's too, outlive it."""
        before = self.sh("stat -c %Y /proc/1")
        self.run("systemctl reboot")

        def again() -> bool:
            if not self.door.answers():
                return False
            ran = self.run("stat -c %Y /proc/1")
            return ran.code == 0 and ran.stdout.strip() != before

        self._until(time.monotonic() + BOOT_LIMIT, "another boot", again)
        self.wait_until_up()

    def cut_wire(self) -> None:
        """Take the network away from under whatever talks to the node; nothing on it is told."""
        tool("ip", "link", "set", self.machine.link, "down")

    def mend_wire(self) -> None:
        """Give the network back."""
        tool("ip", "link", "set", self.machine.link, "up")

    def _until(self, end: float, want: str, holds: Callable[[], bool]) -> None:
        while not holds():
            alive = self.machine.alive()
            if time.monotonic() > end or not alive:
                saw = "no answer in time" if alive else "systemd-nspawn has ended"
                text = self.machine.console()
                raise LabError(f"{self.name}: {saw}, want {want}; its console ends:\n{text}")
            time.sleep(0.1)
