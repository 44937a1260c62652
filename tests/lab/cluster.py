"""Slurm on a lab node: controller and compute node in one, with real munge."""

from __future__ import annotations

import re
import shlex

from tests.lab.node import Node

CONF = """\
ClusterName=lab
SlurmctldHost={name}
AuthType=auth/munge
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
HealthCheckProgram=/usr/local/sbin/pyinfra-nvml-health
HealthCheckInterval={interval}
HealthCheckNodeState=ANY
NodeName={name} CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# The lab's kernel has v1 and v2 mounted, which slurmd refuses unless it is told one.
CGROUP = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"


def start(node: Node, interval: int) -> None:
    """Start Slurm; its health check runs every ``interval`` seconds."""
    conf = CONF.format(name=node.name, interval=interval)
    node.write({"/etc/slurm/slurm.conf": conf, "/etc/slurm/cgroup.conf": CGROUP})
    node.sh("install -d -o slurm /var/spool/slurmctld && install -d /var/spool/slurmd")
    node.sh("systemctl start munge slurmctld slurmd")
    wait(node, r"State=IDLE\b(?!\+)")


def shown(node: Node) -> str:
    """What scontrol says of the node now."""
    return node.sh(f"scontrol show node {node.name}")


def wait(node: Node, pattern: str, limit: int = 40) -> str:
    """What scontrol says once this pattern is found in it."""
    tries = f"for i in $(seq {limit * 2}); do scontrol show node {node.name} | grep -Pq"
    node.run(f"{tries} {shlex.quote(pattern)} && exit 0; sleep 0.5; done; exit 1", limit=limit * 4)
    said = shown(node)
    assert re.search(pattern, said), said
    return said
