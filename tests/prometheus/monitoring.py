"""A real node_exporter that reads a directory, and a real Prometheus that scrapes it."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from tests.installed import program

RULES = Path(__file__).parents[2] / "templates" / "prometheus" / "pyinfra_nvml.rules.yml"


@dataclass(frozen=True)
class Monitoring:
    """What is written into ``textfiles`` is known to Prometheus a second later."""

    textfiles: Path
    port: int

    def ask(self, path: str, **parameters: str) -> Any:
        """The data of an answer of Prometheus' HTTP API."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series of an instant query."""
        found: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return found

    def firing(self) -> set[tuple[str, str]]:
        """Name and node of every alert that fires."""
        alerts = self.ask("alerts")["alerts"]
        return {
            (alert["labels"]["alertname"], alert["labels"].get("node", ""))
            for alert in alerts
            if alert["state"] == "firing"
        }

    def until(self, true: Callable[[], bool], what: str, limit: float = 20) -> None:
        """Waits for what has to become true."""
        end = time.monotonic() + limit
        while not true():
            assert time.monotonic() < end, f"{what}: not after {limit:g} s; {self.firing()}"
            time.sleep(0.2)


@contextmanager
def monitoring(place: Path, hold: str = "0s") -> Iterator[Monitoring]:
    """Both programs on free ports of the loopback, with the alert rules held for this long."""
    textfiles = place / "textfiles"
    textfiles.mkdir(parents=True)
    exporter, server = _free_ports()
    told = Monitoring(textfiles, server)
    with ExitStack() as running:
        for name, words in (
            ("prometheus-node-exporter", _exporter(textfiles, exporter)),
            ("prometheus", _server(place, exporter, server, hold)),
        ):
            log = running.enter_context((place / f"{name}.log").open("w"))
            process = subprocess.Popen([program(name), *words], stdout=log, stderr=log)
            running.callback(_end, process)
        told.until(lambda: _answers(told), f"Prometheus answers, logs in {place}")
        yield told


def _exporter(textfiles: Path, port: int) -> list[str]:
    return [
        "--collector.disable-defaults",
        "--collector.textfile",
        f"--collector.textfile.directory={textfiles}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]


def _server(place: Path, exporter: int, port: int, hold: str) -> list[str]:
    rules = place / "rules.yml"
    rules.write_text(yaml.safe_dump(held(hold)))
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": [
            {"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{exporter}"]}]}
        ],
    }
    (place / "prometheus.yml").write_text(yaml.safe_dump(config))
    return [
        f"--config.file={place / 'prometheus.yml'}",
        f"--storage.tsdb.path={place / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]


def held(hold: str) -> dict[str, Any]:
    """The rules with another ``for``."""
    rules: dict[str, Any] = yaml.safe_load(RULES.read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            rule["for"] = hold
    return rules


def _free_ports() -> tuple[int, int]:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        return one.getsockname()[1], other.getsockname()[1]


def _answers(told: Monitoring) -> bool:
    try:
        return bool(told.query("up == 1"))
    except (urllib.error.URLError, ConnectionError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
