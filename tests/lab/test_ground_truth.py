"""Which container keeps its GPU, asked for how, after which trigger: measured on real nodes.

The verdicts of the whole project stand on this table. A node's versions are in `catalogue.py`.
"""

from collections.abc import Iterator

import pytest

from tests.lab import containers, rootfs, triggers
from tests.lab.catalogue import KINDS, USUAL
from tests.lab.errors import LabError
from tests.lab.node import Node
from tests.lab.session import Lab

UNIFIED = ("bookworm", "trixie", "forky")
KEPT, LOST = "ENXIO", "EPERM"
# node, way, after daemon-reload, after set-property, DevicePolicy, rules for major 195
SYSTEMD_DRIVER = [
    ("bookworm", "gpus", LOST, LOST, "strict", 0),
    # runc 1.1.5 drops a rule whose /dev/char link is missing.
    ("bookworm", "device", LOST, LOST, "strict", 0),
    ("bookworm", "device_gpu_only", LOST, LOST, "strict", 0),
    ("trixie", "gpus", KEPT, LOST, "strict", 0),
    ("trixie", "device", KEPT, KEPT, "strict", 2),
    ("trixie", "device_gpu_only", KEPT, KEPT, "strict", 1),
    ("trixie", "cdi", KEPT, KEPT, "strict", 2),
    ("trixie", "privileged", KEPT, KEPT, "auto", 0),
    ("forky", "gpus", LOST, LOST, "strict", 0),
    ("forky", "device", KEPT, KEPT, "strict", 2),
    ("forky", "device_gpu_only", KEPT, KEPT, "strict", 1),
    ("forky", "cdi", KEPT, KEPT, "strict", 2),
    ("forky", "privileged", KEPT, KEPT, "auto", 0),
    ("bullseye", "gpus", LOST, LOST, "strict", 0),
    ("bullseye", "device", KEPT, KEPT, "strict", 2),
    ("bullseye", "device_gpu_only", KEPT, KEPT, "strict", 1),
    # cgroup v1: the same fault, as rules in devices.list.
    ("legacy", "gpus", LOST, LOST, "strict", 0),
]
CGROUPFS_DRIVER = [
    ("bookworm", "gpus"),
    ("bookworm", "device"),
    ("forky", "gpus"),
    ("forky", "device"),
    ("forky", "cdi"),
    ("forky", "privileged"),
    ("legacy", "gpus"),
]


@pytest.fixture(scope="module", autouse=True)
def booted(lab: Lab) -> Iterator[None]:
    """All of the usual nodes, side by side; those with files of their own go with the module."""
    lab.nodes(USUAL)
    yield
    while VARIANTS:
        lab.stop(VARIANTS.popitem()[1])


VARIANTS: dict[tuple[str, str], Node] = {}


def variant(lab: Lab, name: str, files: dict[str, str]) -> Node:
    """A node of this kind that has these files, booted once for this module."""
    key = (name, repr(sorted(files.items())))
    if key not in VARIANTS:
        VARIANTS[key] = lab.fresh(name, files=files)
    return VARIANTS[key]


def systemd_node(lab: Lab, name: str, way: str) -> Node:
    """A node of this kind whose Docker leaves cgroups to systemd, and knows CDI if asked to."""
    if name == "legacy":  # its Docker picks cgroupfs by itself
        return variant(lab, name, containers.SYSTEMD_FILES)
    if name == "bullseye":
        skip_unless_built(name)
    return variant(lab, name, containers.CDI_FILES) if way == "cdi" else lab.node(name)


def skip_unless_built(name: str) -> None:
    """A suite that has left the mirror cannot be built any more; that is nobody's fault."""
    try:
        rootfs.root_of(KINDS[name])
    except LabError as reason:
        pytest.skip(str(reason))


def device_of(way: str) -> str:
    """The device that a container asked for in this way has."""
    return containers.GPU if way == "device_gpu_only" else containers.CONTROL


@pytest.mark.parametrize("trigger", ["daemon_reload", "set_property"])
@pytest.mark.parametrize(
    ("name", "way", "after_reload", "after_property", "policy", "rules"), SYSTEMD_DRIVER
)
def test_systemd_driver(
    lab: Lab,
    name: str,
    way: str,
    after_reload: str,
    after_property: str,
    policy: str,
    rules: int,
    trigger: str,
) -> None:
    """Readable at first; lost or kept after the trigger; the scope's own words predict which."""
    node = systemd_node(lab, name, way)
    container = containers.start(node, "gpu-app", way)
    try:
        assert containers.answer(node, "gpu-app", device_of(way)) == KEPT
        assert containers.device_policy(node, container) == policy
        assert len(containers.nvidia_rules(node, container)) == rules
        if trigger == "daemon_reload":
            triggers.daemon_reload(node)
            want = after_reload
        else:
            triggers.set_property(node, container)
            want = after_property
        assert containers.answer(node, "gpu-app", device_of(way)) == want
    finally:
        containers.remove(node, "gpu-app")


@pytest.mark.parametrize(("name", "way"), CGROUPFS_DRIVER)
def test_cgroupfs_driver(lab: Lab, name: str, way: str) -> None:
    """Kept whatever systemd does: the container's cgroup is none of its units."""
    files = containers.CGROUPFS_FILES | {"/etc/cdi/nvidia.yaml": containers.CDI_SPEC}
    node = variant(lab, name, files)
    containers.start(node, "gpu-app", way)
    try:
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "cgroupfs"
        triggers.daemon_reload(node)
        assert containers.answer(node, "gpu-app", device_of(way)) == KEPT
    finally:
        containers.remove(node, "gpu-app")


@pytest.mark.parametrize("name", ["bookworm", "forky", "trixie"])
def test_restart_gives_the_gpu_back(lab: Lab, name: str) -> None:
    """`docker restart` runs the hook again; the next trigger takes the device away again."""
    node = lab.node(name)
    container = containers.start(node, "gpu-app", "gpus")
    try:
        triggers.set_property(node, container)
        assert containers.answer(node, "gpu-app") == LOST
        node.sh("docker restart gpu-app")
        assert containers.answer(node, "gpu-app") == KEPT
        triggers.set_property(node, container)
        assert containers.answer(node, "gpu-app") == LOST
    finally:
        containers.remove(node, "gpu-app")


@pytest.mark.parametrize("value", ["void", "none"])
def test_hook_gives_no_gpu_to_who_asks_for_none(lab: Lab, value: str) -> None:
    """The last NVIDIA_VISIBLE_DEVICES counts, as it does for the real hook."""
    node = lab.node("trixie")
    containers.start(node, "gpu-app", "none", "--env", f"NVIDIA_VISIBLE_DEVICES={value}")
    try:
        assert containers.answer(node, "gpu-app") == "ENOENT"
    finally:
        containers.remove(node, "gpu-app")


@pytest.mark.parametrize("name", UNIFIED)
def test_unified_node(lab: Lab, name: str) -> None:
    """cgroup v2, the driver systemd, and a boot without a failed unit."""
    node = lab.node(name)
    said = node.sh("docker info --format '{{.CgroupVersion}} {{.CgroupDriver}} {{.Driver}}'")
    assert said == "2 systemd overlay2"
    assert node.sh("systemctl is-system-running") == "running"


def test_legacy_node(lab: Lab) -> None:
    """cgroup v1: systemd says that it is tainted by it, and Docker picks cgroupfs."""
    node = lab.node("legacy")
    said = node.sh("docker info --format '{{.CgroupVersion}} {{.CgroupDriver}} {{.Driver}}'")
    assert said == "1 cgroupfs overlay2"
    assert node.sh("systemctl show --property=Tainted") == "Tainted=cgroupsv1"


def test_users(lab: Lab) -> None:
    """`operator` may not ask Docker and has no sudo; `admin` is root by sudo."""
    node = lab.node("trixie")
    assert node.run("docker info", user="operator").code != 0
    assert node.run("sudo --non-interactive true", user="operator").code != 0
    assert node.sh("sudo --non-interactive id --user", user="admin") == "0"
