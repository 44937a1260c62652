"""Drift: what differs between two audits of the same nodes, one difference at a time."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import date, datetime, timezone
from typing import Any

import pytest

from pyinfra_nvml.audit import baseline
from pyinfra_nvml.audit.document import record_audit
from pyinfra_nvml.audit.record import parse_audit
from pyinfra_nvml.audit.run_record import Change
from pyinfra_nvml.audit.standing import exit_code, standings
from pyinfra_nvml.audit.verdict import unreached, verdict
from pyinfra_nvml.drift import changes as drift
from tests import recordings

NODES = ("gpu_good", "trixie_exposed")
AT = datetime(2026, 1, 2, tzinfo=timezone.utc)
DAY = AT.date()
Document = dict[str, Any]


def audited(*silent: str) -> Document:
    """The document of an audit of two recorded nodes, as read back from its file."""
    told = [
        unreached(name, "could not be connected to")
        if name in silent
        else verdict(name, recordings.node(name))
        for name in NODES
    ]
    read: Document = json.loads(json.dumps(record_audit(told, AT).to_json()))
    return read


def merged(today: Document, before: Document | None) -> tuple[Document, list[str]]:
    """The state to keep, as read back from its file, and what is said of it."""
    earlier = parse_audit(before, "accepted.json") if before else None
    kept, told = baseline.merge_baseline(parse_audit(today, "audit.json"), earlier, AT)
    return json.loads(json.dumps(kept.to_json())), told


def state(said: Document) -> Document:
    return merged(said, None)[0]


def changes(accepted: Document, today: Document) -> list[Change]:
    before, after = parse_audit(accepted, "accepted.json"), parse_audit(today, "audit.json")
    return drift.changes(before, after, DAY)


def node(said: Document, name: str = "gpu_good") -> Document:
    return next(node for node in said["nodes"] if node["node"] == name)


def check(said: Document, name: str, id: str) -> Document:
    return next(check for check in node(said, name)["checks"] if check["check"] == id)


FINDING = {
    "level": "broken",
    "subject": "container trainer",
    "saw": "refused",
    "want": "reachable",
    "why": "its rule is gone",
    "repair": "human",
    "do": "start it again",
}


def found(said: Document) -> None:
    check(said, "gpu_good", "device-loss")["findings"].append(FINDING)


def worse(said: Document) -> None:
    for finding in check(said, "trixie_exposed", "device-exposure")["findings"][:1]:
        finding["level"] = "broken"


def cured(said: Document) -> None:
    del check(said, "trixie_exposed", "device-exposure")["findings"][0]


def untold(said: Document) -> None:
    cured(said)
    doubt = {"subject": "containers", "reason": "timed out"}
    check(said, "trixie_exposed", "device-exposure")["doubts"].append(doubt)


def updated(said: Document) -> None:
    node(said)["facts"]["nvidia_driver"]["module"]["loaded"] = "590.44.01"


def fact_untold(said: Document) -> None:
    node(said)["facts"]["nvidia_driver"]["module"]["loaded"] = {"unknown": "timed out"}


def all_untold(said: Document) -> None:
    node(said)["facts"]["nvidia_driver"] = {"unknown": "timed out"}


def no_engine(said: Document) -> None:
    node(said)["facts"]["docker_engine"] = None


def rebooted(said: Document) -> None:
    node(said)["facts"]["machine"]["boot_id"] = "11111111-1111-1111-1111-111111111111"
    node(said)["facts"]["nvidia_params"]["uvm_major"] = 510


def configured(said: Document) -> None:
    file = node(said)["facts"]["daemon_json"]["files"][0]
    file["content"] = {"bytes": 20, "sha256": "a" * 64}


def no_mig(said: Document) -> None:
    node(said)["facts"]["mig"] = None


def updated_package(said: Document) -> None:
    packages(said)[-1]["version"] = "1.18.0-1"


def removed(said: Document) -> None:
    packages(said)[-1]["status"] = "rc"


def packages(said: Document) -> list[Document]:
    found: list[Document] = node(said)["facts"]["nvidia_driver"]["packages"]["dpkg"]
    return found


def of_two_machines(said: Document) -> None:
    """dpkg tells a package of two architectures twice, rpm one that is kept in two versions."""
    packages(said).extend([{**packages(said)[-1], "name": "libnvidia-ml1"} for _ in range(2)])
    packages(said)[-1]["version"] = "1.16.0-1"


def in_another_order(said: Document) -> None:
    of_two_machines(said)
    packages(said)[-2:] = reversed(packages(said)[-2:])


def one_of_two_updated(said: Document) -> None:
    of_two_machines(said)
    packages(said)[-2]["version"] = "1.18.0-1"


def left(said: Document) -> None:
    said["nodes"].pop()


def limited(said: Document) -> None:
    said["nodes"].pop()
    said["limited"] = True


def joined(said: Document) -> None:
    said["nodes"].append({**copy.deepcopy(node(said)), "node": "gpu-09"})


def unlike_any_document(said: Document) -> None:
    node(said)["facts"] = {}


CASES: dict[Callable[[Document], None], list[tuple[str, str, str, str | None, str | None]]] = {
    found: [("gpu_good", "new finding", "container trainer", None, "broken")],
    worse: [("trixie_exposed", "new finding", "container notebook", "at risk", "broken")],
    cured: [("trixie_exposed", "gone finding", "container notebook", "at risk", None)],
    untold: [],
    updated: [("gpu_good", "changed fact", "loaded driver", "580.95.05", "590.44.01")],
    fact_untold: [],
    all_untold: [],
    no_engine: [
        ("gpu_good", "changed fact", "docker", "29.2.0", None),
        ("gpu_good", "changed fact", "docker's cgroup driver", "systemd", None),
        ("gpu_good", "changed fact", "docker's live-restore", "False", None),
        ("gpu_good", "changed fact", "docker's default runtime", "runc", None),
    ],
    rebooted: [],
    configured: [
        (
            "gpu_good",
            "changed fact",
            "configuration /etc/docker/daemon.json",
            None,
            "sha256 aaaaaaaaaaaa",
        )
    ],
    no_mig: [("gpu_good", "changed fact", "MIG mode of gpu 0", "Disabled", None)],
    updated_package: [
        (
            "gpu_good",
            "changed fact",
            "package nvidia-container-toolkit",
            "1.17.8-1",
            "1.18.0-1",
        )
    ],
    removed: [("gpu_good", "changed fact", "package nvidia-container-toolkit", "1.17.8-1", None)],
    left: [("trixie_exposed", "vanished", "node", "in the inventory", None)],
    limited: [],
    joined: [("gpu-09", "new node", "node", None, "in the inventory")],
    unlike_any_document: [],
}


def test_nothing_changed_is_no_drift() -> None:
    assert changes(state(audited()), audited()) == []


@pytest.mark.parametrize("happened", CASES, ids=lambda case: case.__name__)
def test_a_change(happened: Callable[[Document], None]) -> None:
    today = audited()
    happened(today)
    seen = [
        (change.node, change.kind, change.subject, change.before, change.after)
        for change in changes(state(audited()), today)
    ]
    assert [change for change in seen if change not in CASES[happened]] == []
    assert [change for change in CASES[happened] if change not in seen] == []


def test_of_two_packages_of_one_name_each_counts_and_their_order_does_not() -> None:
    before, other, updated = audited(), audited(), audited()
    of_two_machines(before)
    in_another_order(other)
    one_of_two_updated(updated)
    assert changes(state(before), other) == []
    (change,) = changes(state(before), updated)
    assert (change.subject, change.before, change.after) == (
        "package libnvidia-ml1",
        "1.16.0-1, 1.17.8-1",
        "1.16.0-1, 1.18.0-1",
    )


def test_a_node_without_an_answer_has_not_changed_otherwise() -> None:
    (change,) = changes(state(audited()), audited("gpu_good"))
    assert (change.node, change.kind) == ("gpu_good", "no answer")
    silent = parse_audit(audited("gpu_good"), "audit.json")
    assert [one.silent for one in standings(silent.nodes, None, DAY)] == [True, False]
    assert change.after == "could not be connected to"


def test_what_was_not_told_then_has_not_changed() -> None:
    before = audited("gpu_good")
    seen = [(change.node, change.kind) for change in changes(before, audited())]
    assert seen == [("gpu_good", "new node")]
    node(before := state(audited()))["facts"] = None
    assert changes(before, audited()) == []


def test_a_node_without_an_answer_keeps_its_accepted_state() -> None:
    before = state(audited())
    kept, told = merged(audited("gpu_good"), before)
    assert node(kept) == node(before)
    assert told == ["gpu_good: no answer, its earlier accepted state stays"]
    kept, told = merged(audited("gpu_good"), None)
    assert [entry["node"] for entry in kept["nodes"]] == ["trixie_exposed"]
    assert "nothing is accepted" in told[0]


def test_an_audit_of_a_part_accepts_a_part() -> None:
    today = audited()
    limited(today)
    kept, _ = merged(today, state(audited()))
    assert [entry["node"] for entry in kept["nodes"]] == list(NODES)
    left(today := audited())
    kept, _ = merged(today, state(audited()))
    assert [entry["node"] for entry in kept["nodes"]] == ["gpu_good"]


@pytest.mark.parametrize(
    ("nodes", "level", "code"),
    [
        (["gpu_good"], None, 0),
        (["trixie_exposed"], None, 1),
        (["trixie_exposed"], "broken", 0),
        (["trixie_exposed"], "none", 0),
        (["trixie_no_root"], None, 2),
        (["trixie_no_root"], "none", 2),
        (["trixie_no_root", "trixie_exposed"], None, 1),
        (["trixie_no_root", "trixie_exposed"], "broken", 2),
        ([], None, 2),
    ],
)
def test_a_finding_wins_over_an_unknown(nodes: list[str], level: str | None, code: int) -> None:
    told = [verdict(name, recordings.node(name)) for name in nodes]
    assert exit_code(standings(record_audit(told, AT).nodes, level, date(2026, 1, 2))) == code
