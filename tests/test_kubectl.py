"""The cluster as kubectl itself tells it, of an API server that gives the recorded objects."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import time
from pathlib import Path
from typing import cast

import pytest

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.drift.lasting_facts import differences
from pyinfra_nvml.facts.api_objects import (
    NODES,
    OPERATOR,
    PLUGINS,
    PODS,
    POLICIES,
    items,
)
from pyinfra_nvml.facts.cluster import ClusterNode, KubeletConfig
from pyinfra_nvml.facts.cluster_answers import Cluster
from pyinfra_nvml.facts.probe import Section
from pyinfra_nvml.fleet import kubectl
from pyinfra_nvml.fleet.kubectl import Clusters
from pyinfra_nvml.model.unknown import Unknown, plain
from pyinfra_nvml.settings.cluster import Access
from tests import clusters, recordings
from tests.api_server import kubeconfig, serving
from tests.installed import program

ROOT = Path(__file__).parents[1]
RECORDED = sorted(path.stem for path in clusters.CLUSTERS.glob("*.yaml"))
SETTINGS = {"cgroupDriver": "systemd", "cpuManagerPolicy": "static"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """kubectl keeps what it discovered in its user's home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def seen(cluster: Cluster | Unknown) -> ClusterNode:
    assert isinstance(cluster, Cluster), cluster
    node = cluster.node(recordings.node("gpu_kubernetes").machine, "gpu-01", None)
    assert isinstance(node, ClusterNode), node
    return node


@pytest.mark.parametrize("name", ["operator_25_10", "chart_config_map"])
def test_kubectl_tells_what_the_recorded_answers_tell(home: Path, name: str) -> None:
    program("kubectl")
    with serving(clusters.objects(name)) as server:
        access = Access(kubeconfig(home / "config", f"http://127.0.0.1:{server.server_port}"))
        read = kubectl.read_cluster(access)
    assert isinstance(read, Cluster)
    assert read.answers[PODS].out == clusters.answers(name)[PODS].out
    assert seen(read) == seen(Cluster(clusters.answers(name)))


def test_a_cluster_is_asked_once_and_only_to_read(home: Path) -> None:
    program("kubectl")
    state = recordings.node("gpu_kubernetes")
    with serving(clusters.objects("chart_config_map")) as server:
        access = Access(kubeconfig(home / "config", f"http://127.0.0.1:{server.server_port}"))
        asked = Clusters()
        told = [
            asked.with_cluster(access, state, name, None).cluster for name in ("gpu-01", "other")
        ]
    assert told[0] == told[1] and isinstance(told[0], ClusterNode)
    assert server.asked.count("/api/v1/nodes") == 1
    named = [path for path in server.asked if "configmaps" in path]
    assert [path.rpartition("/")[2] for path in named] == ["nvdp-nvidia-device-plugin-configs"]


def test_a_kubelet_that_may_not_be_asked_is_asked_once(home: Path) -> None:
    program("kubectl")
    objects = {**clusters.objects("operator_25_10"), "kubelet": SETTINGS}
    with serving(objects, {"nodes/proxy"}) as server:
        access = Access(kubeconfig(home / "config", f"http://127.0.0.1:{server.server_port}"))
        asked = Clusters()
        first, second = (asked.kubelet(access, node) for node in ("gpu-01", "gpu-02"))
    assert isinstance(first, Unknown) and "cannot get resource" in first.reason
    assert second == first
    assert len([path for path in server.asked if "configz" in path]) == 1
    with serving(objects) as server:
        access = Access(kubeconfig(home / "config", f"http://127.0.0.1:{server.server_port}"))
        assert Clusters().kubelet(access, "gpu-01") == KubeletConfig("static", "systemd")


def test_a_cluster_that_does_not_answer_is_unknown(home: Path) -> None:
    program("kubectl")
    read = kubectl.read_cluster(Access(kubeconfig(home / "config", "http://127.0.0.1:1")))
    assert isinstance(read, Cluster)
    assert "The connection to the server 127.0.0.1:1 was refused" in _reason(read)
    read = kubectl.read_cluster(Access(home / "config", "nope"))
    assert isinstance(read, Cluster) and "nope" in _reason(read)
    (home / "broken").write_text("{{{")
    broken = kubectl.read_cluster(Access(home / "broken"))
    assert isinstance(broken, Cluster) and "loading config file" in _reason(broken)


def _reason(read: Cluster) -> str:
    told = read.node(Unknown("not asked"), "gpu-01", None)
    assert isinstance(told, Unknown), told
    return told.reason


def test_what_may_not_be_listed_is_unknown(home: Path) -> None:
    program("kubectl")
    with serving(clusters.objects("operator_25_10"), {"daemonsets", "pods"}) as server:
        access = Access(kubeconfig(home / "config", f"http://127.0.0.1:{server.server_port}"))
        node = seen(kubectl.read_cluster(access))
    assert isinstance(node.plugin, Unknown) and "daemonsets is forbidden" in node.plugin.reason
    assert isinstance(node.pods, Unknown) and "pods is forbidden" in node.pods.reason


def test_a_changed_cluster_is_drift() -> None:
    before, after = (
        cast(dict[str, object], plain(recordings.node("gpu_kubernetes", None, {"name": name})))
        for name in ("operator_23_9", "operator_25_10")
    )
    told = {name: (old, new) for name, old, new in differences(before, after)}
    assert told == {
        "GPU Operator": ("23.9.2", "25.10.0"),
        "CDI of the GPU Operator": ("False", "True"),
        "device plugin": ("0.14.5", "0.18.0"),
        "device specs of the device plugin": ("False", "True"),
    }


def test_a_large_cluster_is_read_once() -> None:
    """A thousand nodes: their JSON is parsed for the first, not for each."""
    objects = clusters.objects("operator_25_10")
    one = objects["nodes"][0]
    many = [
        {**one, "metadata": {"name": f"gpu-{n}"}, "filler": ["x" * 90] * 100} for n in range(1000)
    ]
    said = json.dumps({"items": many})
    cluster = Cluster({**clusters.answers("operator_25_10"), NODES: Section(NODES, 0, said)})
    begun = time.monotonic()
    told = [cluster.node(Unknown("not asked"), f"gpu-{n}", None) for n in range(100)]
    assert all(isinstance(node, ClusterNode) for node in told)
    assert time.monotonic() - begun < 5


def test_a_kubeconfig_that_is_not_there_starts_nothing(tmp_path: Path) -> None:
    told = kubectl.read_cluster(Access(tmp_path / "none"))
    assert told == Unknown(f"kubeconfig {tmp_path / 'none'}: No such file or directory")


def fake(path: Path, script: str) -> None:
    program = path / "kubectl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_a_hung_login_helper_costs_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "sleep 60 & echo $! >>pids; wait")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    begun = time.monotonic()
    told = kubectl.run_kubectl(
        Access(tmp_path / "config"), {NODES: ("get",), PODS: ("get",)}, limit=0.5
    )
    assert time.monotonic() - begun < 3
    assert [answer.trouble for answer in told.values()] == [
        Unknown(f"{name}: timed out") for name in (NODES, PODS)
    ]
    pids = (tmp_path / "pids").read_text().split()
    while any(map(_runs, pids)):
        assert time.monotonic() - begun < 5, pids
        time.sleep(0.02)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_no_kubeconfig_is_used_that_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, 'echo "$@"; echo "KUBECONFIG=${KUBECONFIG-unset}"')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("KUBECONFIG", "/etc/other")
    out = kubectl.run_kubectl(Access(Path("/a"), "b"), {NODES: ("get", "nodes")})[NODES].out
    assert "--kubeconfig=/a" in out and "--context=b" in out and "KUBECONFIG=unset" in out


def test_without_kubectl_it_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = kubectl.run_kubectl(Access(tmp_path / "config"), {NODES: ("get",)})[NODES].trouble
    assert told == Unknown(f"{NODES}: command not found")


@pytest.mark.parametrize("name", RECORDED)
def test_whatever_stands_in_an_answer_ends_in_a_value(name: str) -> None:
    machine = recordings.node("gpu_kubernetes").machine
    whole = clusters.answers(name)
    for answer in whole:
        if answer == PODS:
            continue
        for text in _odd(json.loads(whole[answer].out or "null")):
            changed = {**whole, answer: Section(answer, 0, text)}
            told = Cluster(changed).node(machine, "gpu-01", None)
            assert "parser failed" not in str(told), text


ODD = ("null", "1", "[]", "{}", '"x"', '[{"a": 1}]')


def _odd(value: object) -> list[str]:
    """The JSON texts in which one part is something else."""
    whole, found = json.dumps(value), []
    for part in sorted({match[0] for match in re.finditer(r'"[^"]*"(?!:)|true|false', whole)}):
        found += [whole.replace(part, odd) for odd in ODD]
    return [*found, "", "[]", "null", "1", '{"items": {}}', "[" * 20_000]


def test_only_cluster_policies_may_be_a_kind_that_the_server_does_not_have() -> None:
    err = "error: the server doesn't have a resource type"
    assert items(Section(POLICIES, 1, err=err)) == []
    for answer in (NODES, PLUGINS, OPERATOR):
        assert isinstance(items(Section(answer, 1, err=err)), Unknown)
    assert isinstance(items(Section(POLICIES, 1, err="Error: x")), Unknown)


@pytest.mark.parametrize("name", RECORDED)
def test_a_failed_answer_makes_no_verdict_better(name: str) -> None:
    base = {r.check: r for r in judge(recordings.node("gpu_kubernetes", None, {"name": name}))}
    for answer in (NODES, PLUGINS, "kubectl.clusterpolicies", "kubectl.operator"):
        case = {"name": name, "answers": {answer: {"rc": 1, "err": "Error: x"}}}
        for result in judge(recordings.node("gpu_kubernetes", None, case)):
            before = base[result.check]
            lost = {f.subject for f in before.findings} - {f.subject for f in result.findings}
            assert not lost or result.doubts, (answer, result.check, lost)


def test_the_audit_reads_the_cluster_that_the_inventory_names(home: Path, tmp_path: Path) -> None:
    """The command of docs/kubernetes.md, on a recorded node; and what the page shows of it."""
    program("kubectl")
    page = (ROOT / "docs/kubernetes.md").read_text()
    (command,) = re.findall(r"```sh\n(.*?)\n```", page)
    assert "deploys/audit.py --dry --data kubeconfig=" in command
    (home / ".kube").mkdir()
    report = tmp_path / "audit.json"
    here = command.replace("inventories/example.py", "inventories/recorded.py")
    with serving(clusters.objects("chart_0_17")) as server:
        kubeconfig(home / ".kube/gpu-cluster", f"http://127.0.0.1:{server.server_port}")
        ran = subprocess.run(
            ["sh", "-c", f"{here} -y --limit @fake/gpu_kubernetes --data report_json={report}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (shown,) = re.findall(r"```\n(gpu-01 .*?)\n```", page, re.S)
    for line in shown.splitlines()[-2:]:
        assert line.split(None, 1)[1].split(" --version")[0] in ran.stdout, line
    (node,) = json.loads(report.read_text())["nodes"]
    assert node["facts"]["cluster"]["name"] == "gpu-01"
    assert node["execs"] == 1
