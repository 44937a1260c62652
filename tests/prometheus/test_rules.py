"""The alert rules and the dashboard: Prometheus takes them, and they name what there is."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyinfra_nvml.reports.textfile import write_textfile
from tests.installed import program
from tests.prometheus.fleet import NODES, audited, drifted, metrics
from tests.prometheus.monitoring import RULES, Monitoring, monitoring

ROOT = Path(__file__).parents[2]
UNIT_TESTS = Path(__file__).parent / "pyinfra_nvml.test.yml"
DASHBOARD = ROOT / "templates" / "grafana" / "pyinfra_nvml.json"

WAIVED = {"node": "trixie_exposed", "check": "engine-driver", "subject": "container engine"}
CHANGES = [
    {"node": "gpu-07", "kind": "vanished", "check": None, "subject": "node"},
    {"node": "gpu_good", "kind": "new node", "check": None, "subject": "node"},
]
TOLD = metrics(
    audited(*NODES, "trixie_exposed"),
    drifted(
        accepted="2020-11-29T00:00:00+00:00",
        changes=CHANGES,
        waived=[{**WAIVED, "owner": "kim", "reason": "x", "expires": "2020-12-01"}],
    ),
)
"""A fleet that has a series of every metric, and a reason for every alert but three."""

FIRING = {
    ("PyinfraNvmlGpuLost", "bookworm_lost"),
    ("PyinfraNvmlGpuWillBeLost", "trixie_exposed"),
    ("PyinfraNvmlBroken", "gpu_skew"),
    ("PyinfraNvmlUnknown", "trixie_no_root"),
    ("PyinfraNvmlNoAnswer", "gpu-09"),
    ("PyinfraNvmlNodeVanished", "gpu-07"),
    ("PyinfraNvmlRebootPending", "gpu_skew"),
    ("PyinfraNvmlAuditOverdue", ""),
    ("PyinfraNvmlWaiverExpires", "trixie_exposed"),
}


def names(text: str) -> set[str]:
    return set(re.findall(r"pyinfra_nvml_\w+", text))


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> list[str]:
    """Every query of the dashboard, for every node."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [
        target["expr"].replace("$node", ".*") for panel in panels for target in panel["targets"]
    ]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitoring]:
    """Prometheus, with the fleet scraped once."""
    with monitoring(tmp_path_factory.mktemp("prometheus")) as told:
        write_textfile(told.textfiles / "nvml.prom", TOLD)
        told.until(lambda: bool(told.query("pyinfra_nvml_node_answered")), "the fleet is scraped")
        yield told


@pytest.mark.parametrize(
    "words", [("check", "rules", str(RULES)), ("test", "rules", str(UNIT_TESTS))], ids=" ".join
)
def test_promtool_passes_the_rules_and_their_unit_tests(words: tuple[str, ...]) -> None:
    done = subprocess.run([program("promtool"), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


def test_every_alert_has_a_unit_test_that_fires_and_one_that_does_not() -> None:
    cases = [
        case
        for test in yaml.safe_load(UNIT_TESTS.read_text())["tests"]
        for case in test["alert_rule_test"]
    ]
    wanted = {alert["alert"] for alert in alerts()}
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == wanted
    assert {case["alertname"] for case in cases if not case["exp_alerts"]} == wanted


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: str(alert["alert"]))
def test_an_alert_says_how_bad_what_and_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    page, _, anchor = alert["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(), re.MULTILINE)
    assert anchor in [heading.lower().replace(" ", "-") for heading in headings]
    assert alert["annotations"]["summary"]
    assert alert["annotations"]["description"].count(".") >= 2
    assert names(alert["expr"]) <= names(TOLD)


def test_the_dashboard_names_only_metrics_that_there_are() -> None:
    assert expressions()
    asked = names("".join(expressions()))
    assert asked
    assert asked <= names(TOLD)


def test_prometheus_reads_the_file_and_answers_every_panel(running: Monitoring) -> None:
    scraped = {series["metric"]["__name__"] for series in running.query('{__name__=~"pyinfra.*"}')}
    assert scraped == names(TOLD)
    assert running.query("node_textfile_scrape_error")[0]["value"][1] == "0"
    silent = [expression for expression in expressions() if not running.query(expression)]
    assert silent == []


def test_the_dashboard_s_variable_lists_the_nodes(running: Monitoring) -> None:
    variables = json.loads(DASHBOARD.read_text())["templating"]["list"]
    asked = next(each["definition"] for each in variables if each["name"] == "node")
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", asked).groups()  # type: ignore[union-attr]
    listed = running.ask(f"label/{label}/values", **{"match[]": metric})
    assert set(listed) == {*NODES, "trixie_exposed", "gpu-09"}


def test_the_verdict_of_each_node_is_the_worst_that_there_is(running: Monitoring) -> None:
    """As a number, by which the dashboard colours them."""
    timeline = next(text for text in expressions() if text.startswith("max by"))
    said = {at["metric"]["node"]: at["value"][1] for at in running.query(timeline)}
    assert said["bookworm_lost"] == "4"
    assert said["trixie_exposed"] == "3"
    assert said["trixie_no_root"] == "2"
    assert said["gpu_good"] == "0"
    assert said["gpu-09"] == "5"


def test_the_alerts_of_the_fleet_fire(running: Monitoring) -> None:
    running.until(lambda: running.firing() >= FIRING, "every alert of the fleet fires")
    fired = {name for name, _ in running.firing()}
    assert fired == {alert["alert"] for alert in alerts()} - {
        "PyinfraNvmlAuditAbsent",
        "PyinfraNvmlAuditFails",
        "PyinfraNvmlAuditGone",
    }
    assert not {name for name, node in running.firing() if node == "gpu_good"}
