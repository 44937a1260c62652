"""The life of one node: systemd-nspawn boots a root, in its own cgroups, on the bridge.

No daemon of the lab's own watches it. All that is needed to end it stands in `machine.json`,
written before anything is made, so that another process can end it too.
"""

import json
import os
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.lab import cgroups, mounts, network
from tests.lab.command import tool
from tests.lab.errors import LabError
from tests.lab.furniture import INIT
from tests.lab.process import Process, process

RECORD = "machine.json"
# Where systemd-nspawn keeps its own traces of a machine.
NSPAWN = Path("/run/systemd/nspawn")
# With --keep-unit nspawn ends with 133 when the node reboots, for its unit to start it again
# (RestartForceExitStatus=133 in systemd's systemd-nspawn@.service).
KEEPER = """\
for group in {groups}; do echo $$ >"$group/cgroup.procs" || exit 1; done
while :; do
    {nspawn}
    [ $? = 133 ] || exit 0
done
"""
# A session of its own: neither Ctrl-C nor the end of this process reaches the keeper.
START = 'cd /; setsid sh -c "$1" "$0" </dev/null >"$2" 2>&1 & echo $!'


@dataclass(frozen=True)
class Machine:
    """A booted node, or what is left of one: its directory, cgroups, and keeping process."""

    place: Path
    groups: list[Path]
    keeper: Process | None = None

    @property
    def name(self) -> str:
        """The machine's name for systemd-nspawn, unique on this machine."""
        return self.place.name

    @property
    def link(self) -> str:
        """This machine's end of the node's wire, as systemd-nspawn names it (--network-bridge)."""
        return f"vb-{self.name}"

    @property
    def root(self) -> Path:
        """The node's root as this machine sees it."""
        return self.place / "root"

    def alive(self) -> bool:
        """Whether the node's PID 1 has something that keeps it."""
        return self.keeper is not None and self.keeper.alive()

    def console(self, lines: int = 25) -> str:
        """The end of what the node wrote to its console."""
        log = self.place / "console.log"
        text = log.read_text(errors="replace") if log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])


def prepare(place: Path, lower: Path) -> Machine:
    """Mount a root for a node that does not run yet."""
    machine = Machine(place, cgroups.groups_for(place.name))
    place.mkdir()
    _record(machine)
    mounts.lay(place, lower)
    return machine


def boot(machine: Machine, hostname: str, bridge: str, unified: bool) -> Machine:
    """Start the node, on cgroup v2 or v1; it is not up yet when this returns."""
    joined = machine.groups[:1] if unified else machine.groups
    cgroups.make(joined)
    script = KEEPER.format(
        groups=" ".join(shlex.quote(str(group)) for group in joined),
        nspawn=shlex.join(_nspawn(machine, hostname, bridge)),
    )
    log = str(machine.place / "console.log")
    hierarchy = "1" if unified else "0"
    env = {**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": hierarchy}
    pid = int(tool("sh", "-c", START, machine.name, script, log, env=env))
    booted = Machine(machine.place, machine.groups, process(pid))
    _record(booted)
    return booted


def read(place: Path) -> Machine:
    """The node that an earlier process made here."""
    text = (place / RECORD).read_text()
    record = json.loads(text)
    keeper = record["keeper"]
    groups = [Path(group) for group in record["groups"]]
    return Machine(place, groups, Process(**keeper) if keeper else None)


def end(machine: Machine) -> None:
    """Pull the node's plug and remove every trace of it; may be done twice."""
    if machine.keeper is not None:
        machine.keeper.kill()
    cgroups.kill(machine.groups)
    network.remove(machine.link)
    _remove_nspawn_traces(machine)
    mounts.lift(machine.place)
    cgroups.remove(machine.groups)
    if machine.place.exists():
        raise LabError(f"{machine.place}: still there, want it removed")


def _nspawn(machine: Machine, hostname: str, bridge: str) -> list[str]:
    return [
        "systemd-nspawn",
        "--quiet",
        "--register=no",
        "--keep-unit",
        f"--machine={machine.name}",
        f"--hostname={hostname}",
        f"--directory={machine.root}",
        "--capability=all",
        # bpf(2) for the device filters, keyrings for runc.
        "--system-call-filter=bpf @keyring",
        f"--network-bridge={bridge}",
        f"--bind={machine.place / 'disk/docker'}:/var/lib/docker",
        "--console=read-only",
        INIT,
    ]


def _record(machine: Machine) -> None:
    record = {
        "groups": [str(group) for group in machine.groups],
        "keeper": asdict(machine.keeper) if machine.keeper else None,
    }
    half = machine.place / f".{RECORD}"
    half.write_text(json.dumps(record))
    half.rename(machine.place / RECORD)


def _remove_nspawn_traces(machine: Machine) -> None:
    if machine.root.exists():
        seen = machine.root.stat()
        lock = NSPAWN / "locks" / f"inode-{seen.st_dev}:{seen.st_ino}"
        lock.unlink(missing_ok=True)
    propagate = NSPAWN / "propagate" / machine.name
    if propagate.is_dir():
        propagate.rmdir()
