"""The configurations: in the form that node-problem-detector reads, and their rules run."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.prometheus.fleet import drifted, metrics, read, recorded

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "templates"
CONFIGS = sorted((TEMPLATES / "node-problem-detector").glob("*.json"))
SCHEMA = json.loads((Path(__file__).parent / "custom_plugin.schema.json").read_text())

# types.go: what an exit code means for the condition.
STATUS = {0: "False", 1: "True", 2: "Unknown"}
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


def seconds(duration: str) -> float:
    parts = re.findall(r"([\d.]+)(ns|us|µs|ms|s|m|h)", duration)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def objections(config: dict[str, Any]) -> list[str]:
    """What keeps node-problem-detector from starting with it, or from doing what it says."""
    validator = jsonschema.Draft202012Validator(SCHEMA)
    told = [fault.message for fault in validator.iter_errors(config)]
    return told or [*_conditions(config), *_times(config)]


def _conditions(config: dict[str, Any]) -> list[str]:
    """Validate(): a permanent problem has its condition among the defaults."""
    there = {condition["type"] for condition in config["conditions"]}
    wanted = {rule.get("condition") for rule in config["rules"] if rule["type"] == "permanent"}
    return [f"{name}: no such condition" for name in wanted - there] + [
        f"{name}: no rule sets it" for name in there - wanted
    ]


def _times(config: dict[str, Any]) -> list[str]:
    """Validate(): no rule may take longer than all may; and all end before they come again."""
    whole = config.get("pluginConfig", {})
    limit, every = seconds(whole.get("timeout", "5s")), seconds(whole.get("invoke_interval", "30s"))
    longer = [rule for rule in config["rules"] if seconds(rule.get("timeout", "0s")) > limit]
    return [f"{rule['timeout']}: longer than {limit} s" for rule in longer] + (
        [f"{limit} s: longer than the interval of {every} s"] if limit > every else []
    )


def config(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text())
    return read


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_node_problem_detector_starts_with_it(path: Path) -> None:
    assert objections(config(path)) == []
    assert path.read_text() == json.dumps(config(path), indent=2) + "\n"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_nothing_is_said_before_the_first_result(path: Path) -> None:
    """With two conditions in a file, the first result of one would tell the other's default."""
    assert config(path)["pluginConfig"]["skip_initial_status"] is True
    assert len(config(path)["conditions"]) == len(config(path)["rules"]) == 1


def test_each_has_its_own_source_condition_and_reasons() -> None:
    configs = [config(path) for path in CONFIGS]
    assert len({each["source"] for each in configs}) == len(CONFIGS)
    conditions = [condition for each in configs for condition in each["conditions"]]
    reasons = [condition["reason"] for condition in conditions]
    reasons += [rule["reason"] for each in configs for rule in each["rules"]]
    assert len(set(reasons)) == 2 * len(CONFIGS)
    assert len({condition["type"] for condition in conditions}) == len(CONFIGS)


SLIPS: dict[str, tuple[list[str | int], Any]] = {
    "plugin": (["plugin"], "kmsg"),
    "unknown field": (["pluginConfig", "max_output_lenght"], 80),
    "another case": (["metricsreporting"], True),
    "duration": (["pluginConfig", "invoke_interval"], "60"),
    "type of a field": (["pluginConfig", "concurrency"], "1"),
    "no such condition": (["rules", 0, "condition"], "NvmlOther"),
    "timeout of a rule": (["rules", 0, "timeout"], "31s"),
    "longer than the interval": (["pluginConfig", "timeout"], "2m"),
    "status of a problem": (["rules", 0, "type"], "perm"),
    "path": (["rules", 0, "path"], "nvml-signal.sh"),
    "args": (["rules", 0, "args"], "npd broken"),
}


@pytest.mark.parametrize(("place", "value"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_seen(place: list[str | int], value: Any) -> None:
    slipped: Any = copy.deepcopy(config(CONFIGS[0]))
    inner = slipped
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert objections(slipped)


@pytest.mark.parametrize(
    ("node", "want"),
    [
        ("bookworm_lost", {"NvmlBroken": "True", "NvmlAtRisk": "True"}),
        ("trixie_exposed", {"NvmlBroken": "False", "NvmlAtRisk": "True"}),
        ("gpu_good", {"NvmlBroken": "False", "NvmlAtRisk": "False"}),
        ("trixie_no_root", {"NvmlBroken": "Unknown", "NvmlAtRisk": "Unknown"}),
    ],
)
def test_the_rules_run_and_set_their_conditions(
    tmp_path: Path, node: str, want: dict[str, str]
) -> None:
    textfile = tmp_path / "nvml.prom"
    said = read([recorded(node)], datetime.now(timezone.utc))
    states = {node: {"status": "found", "reboot": "a reason" if node == "bookworm_lost" else None}}
    textfile.write_text(metrics(said, drifted(nodes=states)))
    got = {}
    for path in CONFIGS:
        rule = config(path)["rules"][0]
        script = TEMPLATES / rule["path"].lstrip("/")
        words = [str(script), *rule["args"][:-1], str(textfile)]
        done = subprocess.run(words, capture_output=True, timeout=30)
        got[rule["condition"]] = STATUS[done.returncode]
        longest = config(path)["pluginConfig"]["max_output_length"]
        assert 0 < len(done.stdout.strip()) <= longest
    reboot = "True" if node == "bookworm_lost" else "False"
    assert got == {**want, "NvmlRebootRequired": reboot}
