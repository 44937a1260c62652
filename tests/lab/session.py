"""The lab as a test sees it: nodes that boot when they are asked for and go when the session does."""

import itertools
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from tests.lab import furniture, hook, image, requirements, rootfs
from tests.lab import machine as machines
from tests.lab import run as runs
from tests.lab.catalogue import KINDS, Kind
from tests.lab.errors import CannotRun, LabError
from tests.lab.node import Node
from tests.lab.run import Run
from tests.lab.ssh import Door, make_key


class Lab:
    """Nodes on this machine that share a bridge and a key."""

    def __init__(self, run: Run) -> None:
        """Nodes in this run's share of the machine; those it has already keep their numbers."""
        self.run = run
        taken = [int(place.name.rpartition("-")[2]) for place in run.machines()]
        self._numbers = itertools.count(max(taken, default=-1) + 1)
        self._shared: dict[str, Node] = {}
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
        """The session's node of this kind, booted when it is first asked for; leave it as you found it."""
        with self._booting[_kind(name).name]:
            if name not in self._shared:
                self._shared[name] = self.fresh(name)
            return self._shared[name]

    def nodes(self, names: Iterable[str]) -> list[Node]:
        """Several of the session's nodes, booted side by side."""
        wanted = list(names)
        with ThreadPoolExecutor(max_workers=max(len(wanted), 1)) as pool:
            return list(pool.map(self.node, wanted))

    def fresh(
        self, name: str, *, files: Mapping[str, str] | None = None, legacy_hook: bool = True
    ) -> Node:
        """A node of its own, for tests that break things; `files` are there before its first boot."""
        kind = _kind(name)
        lower = rootfs.root_of(kind)
        node = self._prepared(kind, lower)
        try:
            furniture.write(node.machine.root, files or {})
            if legacy_hook:
                furniture.put_hook_in(node.machine.root, hook.compiled())
            booted = machines.boot(node.machine, name, self.run.bridge.name)
            node = Node(name, kind, booted, node.door)
            node.wait_until_up()
            image.put_on(node, lower)
        except BaseException:
            machines.end(machines.read(node.machine.place))
            raise
        return node

    def stop(self, node: Node) -> None:
        """End a node before the session does."""
        node.end()
        self.run.bridge.forget(node.address)
        self._shared = {name: each for name, each in self._shared.items() if each is not node}

    def close(self) -> None:
        """End the run: every node, the bridge, the state."""
        runs.end(self.run.place)
        self._shared.clear()

    def _prepared(self, kind: Kind, lower: Path) -> Node:
        number = self._free_number()
        address = self.run.bridge.address(number)
        machine = machines.prepare(runs.machine_place(self.run, number), lower, kind.unified)
        try:
            host_key = machine.place / "host_key"
            known = machine.place / "known_hosts"
            known.write_text(f"{address} {make_key(host_key)}")
            public = self.run.key.with_name("key.pub").read_text()
            furniture.put_in(machine.root, kind.name, address, public, host_key)
        except BaseException:
            machines.end(machine)
            raise
        return Node(kind.name, kind, machine, Door(address, self.run.key, known))

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


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise LabError(f"lab: node {name}, want one of {', '.join(KINDS)}")
    kind = KINDS[name]
    lacking = None if kind.unified else requirements.missing_for_legacy()
    if lacking:
        raise CannotRun(lacking)
    return kind
