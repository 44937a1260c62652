"""The lab as a test sees it: nodes that boot when they are asked for and go with the session."""

import itertools
import json
import threading
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType

from tests.lab import furniture, hook, image, requirements, rootfs
from tests.lab import machine as machines
from tests.lab import run as runs
from tests.lab.catalogue import KINDS, Kind
from tests.lab.errors import CannotRun, LabError
from tests.lab.node import Node
from tests.lab.parallel import side_by_side
from tests.lab.run import Run
from tests.lab.ssh import Door, make_key

# A node's name, kind and address, beside the record of its machine.
RECORD = "node.json"


class Lab:
    """Nodes on this machine that share a bridge and a key."""

    def __init__(self, run: Run) -> None:
        """Nodes in this run's share of the machine; those it has already keep their numbers."""
        self.run = run
        taken = [int(place.name.rpartition("-")[2]) for place in run.machines()]
        self._numbers = itertools.count(max(taken, default=-1) + 1)
        self._shared = {node.name: node for node in self.running()}
        self._booting: dict[str, threading.Lock] = {name: threading.Lock() for name in KINDS}
        self._counting = threading.Lock()

    def __enter__(self) -> "Lab":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def node(self, name: str) -> Node:
        """The session's node of this kind, booted when first asked for; leave it as it was."""
        with self._booting[kind_of(name).name]:
            if name not in self._shared:
                self._shared[name] = self.fresh(name)
            return self._shared[name]

    def nodes(self, names: Iterable[str]) -> list[Node]:
        """Several of the session's nodes, booted side by side."""
        return side_by_side([partial(self.node, name) for name in names])

    def fresh(
        self,
        name: str,
        *,
        hostname: str | None = None,
        files: Mapping[str, str] | None = None,
        legacy_hook: bool = True,
    ) -> Node:
        """A node of one test's own, to break; `files` are there before its first boot."""
        kind = kind_of(name)
        lower = rootfs.root_of(kind)
        node = self._prepared(kind, hostname or name, lower)
        try:
            furniture.write(node.machine.root, files or {})
            if legacy_hook:
                furniture.put_hook_in(node.machine.root, hook.compiled())
            node = node.booted(self.run.bridge.name)
            node.wait_until_up()
            image.put_on(node, lower)
        except BaseException:
            machines.end(machines.read(node.machine.place))
            raise
        return node

    def stop(self, node: Node) -> None:
        """End a node before the session does."""
        machines.end(node.machine)
        self.run.bridge.forget(node.address)
        self._shared = {name: each for name, each in self._shared.items() if each is not node}

    def close(self) -> None:
        """End the run: every node, the bridge, the state."""
        runs.end(self.run.place)
        self._shared.clear()

    def _prepared(self, kind: Kind, hostname: str, lower: Path) -> Node:
        number = self._free_number()
        address = self.run.bridge.address(number)
        machine = machines.prepare(runs.machine_place(self.run, number), lower)
        try:
            host_key = machine.place / "host_key"
            known = machine.place / "known_hosts"
            known.write_text(f"{address} {make_key(host_key)}")
            public = self.run.key.with_name("key.pub").read_text()
            furniture.put_in(machine.root, hostname, address, public, host_key)
            (machine.place / RECORD).write_text(json.dumps([hostname, kind.name, address]))
        except BaseException:
            machines.end(machine)
            raise
        return Node(hostname, kind, machine, Door(address, self.run.key, known))

    def running(self) -> list[Node]:
        """The nodes that an earlier process booted in this run."""
        found = []
        for place in self.run.machines():
            machine = machines.read(place)
            if machine.alive() and (place / RECORD).exists():
                name, kind, address = json.loads((place / RECORD).read_text())
                door = Door(address, self.run.key, place / "known_hosts")
                found.append(Node(name, KINDS[kind], machine, door))
        return found

    def _free_number(self) -> int:
        with self._counting:
            for number in itertools.islice(self._numbers, runs.NUMBERS):
                wrapped = number % runs.NUMBERS
                if not runs.machine_place(self.run, wrapped).exists():
                    return wrapped
        raise LabError(f"lab: {runs.NUMBERS} nodes run already, want fewer")


def open_lab() -> Lab:
    """A lab that belongs to this process; the leftovers of those that were killed go first."""
    lacking = requirements.missing()
    if lacking:
        raise CannotRun(lacking)
    runs.clear_leftovers()
    return Lab(runs.begin())


def kind_of(name: str) -> Kind:
    """The kind of node of this name, if this machine can carry it."""
    if name not in KINDS:
        raise LabError(f"lab: node {name}, want one of {', '.join(KINDS)}")
    kind = KINDS[name]
    lacking = None if kind.unified else requirements.missing_for_legacy()
    if lacking:
        raise CannotRun(lacking)
    return kind
