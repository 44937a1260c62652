"""What the checks say will happen, beside what then happens on a real node."""

from __future__ import annotations

import pytest

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.node import Node as NodeFact
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.probe import read_frame
from pyinfra_nvml.model.finding import Level, Result
from tests.lab import containers, triggers
from tests.lab.node import Node
from tests.lab.session import Lab

PATH = "/etc/docker/daemon.json"

# Content of daemon.json, and whether a dockerd that is started with `-H fd://` starts with it.
CONFIGS = {
    "cgroupfs": ('{"exec-opts": ["native.cgroupdriver=cgroupfs"]}', True),
    "key_twice": ('{"debug": true, "debug": false}', True),
    "broken": ('{"debug": true,}', False),
    "unknown_driver": ('{"exec-opts": ["native.cgroupdriver=cgroups"]}', False),
    "default_runtime": ('{"default-runtime": "nvidia"}', False),
    "hosts_twice": ('{"hosts": ["unix:///run/docker.sock"]}', False),
}


def result(node: Node, check: str) -> Result:
    """The check's answer to what the node says now."""
    state = NodeFact.parse(
        read_frame(node.run("sh -s", stdin=NodeFact().command()).stdout.splitlines())
    )
    assert isinstance(state, NodeState)
    return next(result for result in judge(state) if result.check == check)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("kind", ["bookworm", "trixie"])
def test_a_start_of_the_engine(lab: Lab, kind: str, name: str) -> None:
    node = lab.node(kind)
    content, starts = CONFIGS[name]
    node.write({PATH: content})
    try:
        told = result(node, "engine-config")
        assert not told.doubts
        predicted = not any(finding.level is not Level.ADVICE for finding in told.findings)
        ran = node.run("systemctl restart docker")
        assert (ran.code == 0) is starts
        assert predicted is starts
    finally:
        node.sh(f"rm -f {PATH}; systemctl reset-failed docker; systemctl restart docker")


def test_links_under_dev_char_keep_an_explicit_device(lab: Lab) -> None:
    node = lab.node("bookworm")  # runc 1.1.5
    assert result(node, "dev-char-links").findings
    node.sh("ln -s ../nvidiactl /dev/char/195:255; ln -s ../nvidia0 /dev/char/195:0")
    try:
        assert not result(node, "dev-char-links").findings
        made = containers.start(node, "linked", "device")
        triggers.daemon_reload(node)
        triggers.set_property(node, made)
        assert containers.answer(node, "linked") == "ENXIO"
    finally:
        node.sh("rm -f /dev/char/195:*; docker rm --force linked")
