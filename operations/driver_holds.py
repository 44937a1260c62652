"""The packages of the driver: held with the node's own tool, or let go again."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host

from pyinfra_nvml.facts.hold_tools import HoldTools
from pyinfra_nvml.facts.package_holds import PackageHolds
from pyinfra_nvml.facts.state_directory import STATE_DIR
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import node

_LIMIT = 180
"""Seconds: half a minute for another run to end, and a package manager that starts slowly."""


@operation()
def held(
    packages: Sequence[tuple[str, str]], state_dir: str = STATE_DIR
) -> Generator[StringCommand, None, None]:
    """
    These packages are held, and it is on record that this project holds them.

    + packages: pairs of a tool (apt-mark, dnf, dnf5, yum, zypper) and a package's name
    + state_dir: where the node keeps the record, for root alone

    A package that something holds already stays as it is, and off the record. Needs root.

    **Example:**

    .. code:: python

        driver_packages.held(packages=[("apt-mark", "libnvidia-compute-550")])
    """
    now = host.get_fact(PackageHolds) if packages else None
    if isinstance(now, Unknown):
        yield node.refuse(f"package holds: saw {now.reason}, want to know them")
        return
    free = [(by, name) for by, name in packages if now is None or not now.on(name)]
    for tool in dict.fromkeys(by for by, _ in free):
        yield _run("hold", tool, [name for by, name in free if by == tool], state_dir)
    if not free:
        host.noop("every package of the driver is held" if packages else "nothing is to be held")


@operation()
def released(
    packages: Sequence[tuple[str, str]], state_dir: str = STATE_DIR
) -> Generator[StringCommand, None, None]:
    """
    These packages, which this project held, may change again.

    + packages: pairs of a tool and a package's name, as the record has them
    + state_dir: where the node keeps the record, for root alone

    Only what is on the record is let go: the holds of others stay. Needs root.

    **Example:**

    .. code:: python

        driver_packages.released(packages=[("apt-mark", "libnvidia-compute-550")])
    """
    means = host.get_fact(HoldTools, state_dir=state_dir) if packages else None
    if isinstance(means, Unknown):
        yield node.refuse(f"record of holds: saw {means.reason}, want it readable")
        return
    ours = [pair for pair in packages if means and pair in means.held]
    for tool in dict.fromkeys(by for by, _ in ours):
        yield _run("release", tool, [name for by, name in ours if by == tool], state_dir)
    if not ours:
        host.noop("nothing is held that is to be let go")


def _run(what: str, tool: str, names: Sequence[str], state_dir: str) -> StringCommand:
    source = node.script("say", "state", "lock", "hold_packages")
    listed = "".join(f"{name}\n" for name in names)
    return node.run(source, state_dir, what, tool, stdin=listed, limit=_LIMIT)
