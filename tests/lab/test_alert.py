"""From a container that lost its GPU to an alert in Prometheus, and from the cure to its end."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from audit import metrics
from tests.lab import containers, deployed, inventory, triggers
from tests.lab.deployed import Outcome
from tests.lab.session import Lab
from tests.prometheus.monitoring import Monitoring, monitoring

LOST = ("PyinfraNvmlGpuLost", "bookworm")


def drift(outcome: Outcome) -> dict[str, Any]:
    """What the command would write of this run."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    nodes = {
        node["node"]: {"status": "found" if node["level"] else "ok", "reboot": None}
        for node in outcome.report["nodes"]
    }
    return {"ended": now, "seconds": 3.0, "interval": 60, "exit": outcome.code, "nodes": nodes}


def tell(told: Monitoring, outcome: Outcome) -> None:
    """The audit's textfile, where node_exporter looks."""
    text = metrics.text(outcome.report, drift(outcome))
    metrics.write(told.textfiles / "pyinfra_nvml.prom", text)


def test_a_lost_gpu_fires_an_alert_and_the_cure_ends_it(lab: Lab, tmp_path: Path) -> None:
    node = lab.fresh("bookworm")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        containers.start(node, "trainer", "gpus")
        triggers.daemon_reload(node)
        assert containers.answer(node, "trainer") == "EPERM"
        with monitoring(tmp_path / "monitoring", hold="1s") as told:
            tell(told, deployed.run(hosts, "audit.py", "--dry", "-y"))
            told.until(lambda: LOST in told.firing(), "the loss is an alert")
            assert deployed.run(hosts, "fix_cgroup.py", "-y").code == 0
            assert LOST in told.firing(), "a verdict stands until the next audit"
            tell(told, deployed.run(hosts, "audit.py", "--dry", "-y"))
            told.until(lambda: LOST not in told.firing(), "the cure ends the alert")
            assert not [name for name, _ in told.firing() if name != "PyinfraNvmlAuditAbsent"]
    finally:
        lab.stop(node)
