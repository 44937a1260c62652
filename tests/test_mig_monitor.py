"""The MIG monitor: the form that a node needs, and files that hold its rights and no more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import kubernetes_validate
import pytest
import yaml
from pyinfra.api import Host
from pyinfra.api.exceptions import DeployError

from audit.monitor.files import Monitor, commands, files
from audit.monitor.form import Choice, Form, choose
from audit.monitor.knobs import monitor
from facts.mig import MONITOR_NODE
from tests import recordings
from tests.lab import requirements

ROOT = Path(__file__).parents[1]

MONITOR = Monitor("registry.example/dcgm-exporter:4.2.0", "mig-monitor", "monitoring")

Answers = dict[str, dict[str, Any]]


def out(text: str, rc: int = 0) -> dict[str, Any]:
    return {"out": text, "rc": rc}


def toolkit(version: str, mode: str = "auto") -> Answers:
    config = "/etc/nvidia-container-runtime/config.toml"
    return {
        "container_toolkit.version": out(f"NVIDIA Container Toolkit CLI version {version}\n"),
        "container_toolkit.config": out(
            f'{config}:[nvidia-container-runtime]\n{config}:mode = "{mode}"\n', 2
        ),
    }


def engine(version: str = "28.3.0", runtimes: str = '"runc": {}', **more: str) -> Answers:
    said = {
        "ServerVersion": f'"{version}"',
        "CgroupDriver": '"cgroupfs"',
        "CgroupVersion": '"2"',
        "DefaultRuntime": '"runc"',
        "Runtimes": f"{{{runtimes}}}",
        "RuncCommit": '{"ID": "v1.2.5"}',
        "CDISpecDirs": "null",
        "SecurityOptions": "[]",
        **more,
    }
    text = ", ".join(f'"{key}": {value}' for key, value in said.items())
    return {"docker_engine.info": out(f"{{{text}}}")}


HOOK = "on-path nvidia-container-runtime-hook /usr/bin/nvidia-container-runtime-hook\n"
NVIDIA = '"runc": {}, "nvidia": {}'
SPEC = "/var/run/cdi/nvidia.yaml:kind: nvidia.com/gpu\n"
NONE = {"container_toolkit.programs": out(""), "container_toolkit.version": out("", 127)}
NONE |= {"container_toolkit.config": out("", 2), "container_toolkit.specs": out("", 2)}
KUBELET = {
    "daemons.processes": out(
        "process 702 kubelet\ncgroup 0::/system.slice/kubelet.service\nuid 0\nnspid 702\n"
        "arg /usr/bin/kubelet\n"
        "arg --container-runtime-endpoint=unix:///run/containerd/containerd.sock\n"
        "hidepid 0\n"
    ),
    "kubelet.settings": out("", 2),
    "kubelet.version": out("Kubernetes v1.31.2\n"),
}

FORMS: dict[str, tuple[Answers, Form, bool]] = {
    "legacy, runtime": (toolkit("1.17.8"), Form.RUNTIME, False),
    "legacy by its mode": (toolkit("1.20.0", "legacy"), Form.RUNTIME, False),
    "jit-cdi that ignores": (toolkit("1.18.1"), Form.RUNTIME_NODE, False),
    "jit-cdi that ignores, by name": (toolkit("1.20.0", "jit-cdi"), Form.RUNTIME_NODE, False),
    "jit-cdi that reads": (toolkit("1.20.1"), Form.RUNTIME, False),
    "mode cdi": (toolkit("1.20.1", "cdi"), Form.RUNTIME_NODE, False),
    "hook alone": (toolkit("1.17.8") | engine(), Form.HOOK, False),
    "CDI alone": (
        NONE
        | engine(CDISpecDirs='["/etc/cdi", "/var/run/cdi"]')
        | {"container_toolkit.specs": out(SPEC, 2)},
        Form.CDI_NODE,
        False,
    ),
    "kubernetes, legacy": (toolkit("1.17.8") | KUBELET, Form.RUNTIME, True),
    "kubernetes, jit-cdi that ignores": (toolkit("1.19.0") | KUBELET, Form.RUNTIME_NODE, True),
    "kubernetes, jit-cdi that reads": (toolkit("1.20.1") | KUBELET, Form.RUNTIME, True),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_follows_from_the_toolkit(name: str) -> None:
    answers, form, kubernetes = FORMS[name]
    choice = choose(recordings.node("gpu_mig", answers))
    assert isinstance(choice, Choice), choice
    assert (choice.form, choice.kubernetes) == (form, kubernetes)
    assert choice.remarks == ()


MODES = "mig.modes"
NO_INSTANCE = {"nvidia_params.files": out("", 2)}
REFUSED: dict[str, tuple[Answers, str]] = {
    "MIG off": ({MODES: out("0, Disabled, Disabled\n")} | NO_INSTANCE, "MIG: saw it off"),
    "MIG unknown": ({MODES: {"rc": "hung"}} | NO_INSTANCE, "MIG: saw mig.modes: hung"),
    "no module": ({MODES: out("absent\n")}, "MIG: saw no nvidia module"),
    "no way": (NONE | engine(), "Docker engine: saw no way to give a GPU"),
    "rootless": (
        engine(runtimes=NVIDIA, SecurityOptions='["name=rootless"]'),
        "Docker engine: saw it rootless",
    ),
    "no toolkit on Kubernetes": (NONE | KUBELET, "container toolkit: saw none"),
    "toolkit of no version": (
        {"container_toolkit.version": out("what\n")},
        "container toolkit: saw nvidia-ctk: no version",
    ),
    "docker kept from this user": (
        {"docker_engine.info": {"rc": 1, "err": "permission denied"}},
        "Docker engine: saw docker_engine.info: exit 1",
    ),
    "no node to pass": (
        toolkit("1.18.1")
        | {"nvidia_devices.list": out("node 666 0 0 c3 ff /dev/nvidiactl\nbus\n")},
        f"{MONITOR_NODE}: saw it not there",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_node_without_a_right_form_is_refused_with_the_reason(name: str) -> None:
    answers, want = REFUSED[name]
    against = choose(recordings.node("gpu_mig", answers))
    assert not isinstance(against, Choice), against
    assert any(str(reason).startswith(want) for reason in against), [str(r) for r in against]


def test_every_reason_is_told_at_once() -> None:
    answers = {MODES: out("0, Disabled, Disabled\n")} | NO_INSTANCE | NONE | engine()
    against = choose(recordings.node("gpu_mig", answers))
    assert not isinstance(against, Choice) and len(against) == 2


def test_a_monitor_by_the_hook_behind_systemd_is_told_that_it_will_lose_its_gpus() -> None:
    driver = engine(CgroupDriver='"systemd"')
    choice = choose(recordings.node("gpu_mig", toolkit("1.17.8") | driver))
    assert isinstance(choice, Choice) and "deploys/fix_cgroup.py first" in choice.remarks[0]


def written(form: Form, kubernetes: bool) -> dict[str, Any]:
    found = files(MONITOR, Choice(form, kubernetes, ""))
    return {name.split(".")[1]: yaml.safe_load(text) for name, text in found.items()}


@pytest.mark.parametrize("form", (Form.RUNTIME, Form.RUNTIME_NODE))
def test_the_pods_hold_to_the_schema_and_to_the_least_rights(form: Form) -> None:
    found = written(form, kubernetes=True)
    for kind in ("pod", "daemonset"):
        for version in ("1.27", kubernetes_validate.latest_version()):
            kubernetes_validate.validate(found[kind], version, strict=True)
        spec = found[kind]["spec"]
        spec = spec["template"]["spec"] if kind == "daemonset" else spec
        (container,) = spec["containers"]
        assert container["securityContext"] == {
            "privileged": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsUser": 0,
            "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        environment = {pair["name"]: pair["value"] for pair in container["env"]}
        assert environment["NVIDIA_MIG_MONITOR_DEVICES"] == "all"
        assert "NVIDIA_MIG_CONFIG_DEVICES" not in environment
        assert environment["NVIDIA_DRIVER_CAPABILITIES"] == "utility"
        assert "resources" not in container, "a limit of a GPU would take one from the workloads"
        assert spec["automountServiceAccountToken"] is False
        assert [list(volume) for volume in spec["volumes"]] == [["name", "emptyDir"]]
        assert not {"hostPID", "hostNetwork", "hostIPC"} & set(spec)
        assert spec["nodeSelector"] == {"pyinfra-nvml/mig-monitor": form.value}
    assert ("cdi" in found) == form.passes_node


def test_the_right_by_cdi_is_one_node_and_read_only() -> None:
    spec = written(Form.RUNTIME_NODE, kubernetes=True)["cdi"]
    (device,) = spec["devices"]
    assert device["containerEdits"] == {"deviceNodes": [{"path": MONITOR_NODE, "permissions": "r"}]}
    pod = written(Form.RUNTIME_NODE, kubernetes=True)["pod"]["spec"]["containers"][0]
    visible = next(e["value"] for e in pod["env"] if e["name"] == "NVIDIA_VISIBLE_DEVICES")
    assert f"{spec['kind']}={device['name']}" in visible.split(",")


@pytest.mark.parametrize("form", Form)
def test_the_compose_service_holds_to_the_schema_and_to_the_least_rights(
    form: Form, tmp_path: Path
) -> None:
    (text,) = files(MONITOR, Choice(form, False, "")).values()
    service = yaml.safe_load(text)["services"]["mig-monitor"]
    assert (service["cap_drop"], service["cap_add"]) == (["ALL"], ["SYS_ADMIN"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert (service["read_only"], service["privileged"]) == (True, False)
    assert service["environment"]["NVIDIA_MIG_MONITOR_DEVICES"] == "all"
    assert (MONITOR_NODE in str(service.get("devices"))) == form.passes_node
    assert not {"volumes", "pid", "ipc", "network_mode"} & set(service)
    if not shutil.which("docker-compose"):
        assert not requirements.required(), "docker-compose: not here, want Debian's package"
        pytest.skip("docker-compose: not here, want Debian's package")
    file = tmp_path / "compose.yaml"
    file.write_text(text)
    done = subprocess.run(
        ["docker-compose", "-f", str(file), "config"],
        capture_output=True,
        text=True,
        env={**os.environ, "DOCKER_HOST": "unix:///nowhere"},
    )
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["services"]["mig-monitor"]["cap_add"] == ["SYS_ADMIN"]


def test_values_stay_values() -> None:
    odd = Monitor("r/x:1#y: {z}'\"\n- a", "yes", "null")
    for choice in (Choice(Form.RUNTIME_NODE, True, ""), Choice(Form.HOOK, False, "")):
        for name, text in files(odd, choice).items():
            assert ".cdi." in name or odd.image in strings(yaml.safe_load(text))


def strings(value: object) -> list[object]:
    if isinstance(value, dict):
        return [one for item in value.values() for one in strings(item)]
    return [one for item in value for one in strings(item)] if isinstance(value, list) else [value]


def test_two_forms_in_one_cluster_go_to_two_files_and_two_labels() -> None:
    forms = [Choice(form, True, "") for form in (Form.RUNTIME, Form.RUNTIME_NODE)]
    names = [set(files(MONITOR, choice)) for choice in forms]
    assert not names[0] & names[1]
    told = [list(commands(MONITOR, choice, "gpu-01", "rendered")) for choice in forms]
    assert "kubectl label node gpu-01 pyinfra-nvml/mig-monitor=runtime --overwrite" in told[0]
    assert told[1][0].startswith("scp rendered/mig-monitor-runtime-node.cdi.yaml gpu-01:/etc/cdi/")
    names_of = [written(choice.form, True)["daemonset"]["metadata"]["name"] for choice in forms]
    assert len(set(names_of)) == 2


def test_the_deploy_writes_on_this_machine_and_twice_the_same(tmp_path: Path) -> None:
    place = tmp_path / "out"
    done = deploy(place)
    assert done.returncode == 0, done.stdout
    page = (ROOT / "docs/mig.md").read_text()
    assert len(told(page)) == 2
    assert told(page) == told(done.stdout), "docs/mig.md shows what the deploy tells"
    (file,) = place.iterdir()
    assert yaml.safe_load(file.read_text())["services"]["exporter"]["image"] == "r.example/x:1"
    first = file.stat().st_mtime_ns
    again = deploy(place)
    assert again.returncode == 0 and file.stat().st_mtime_ns == first


def test_a_monitor_that_the_inventory_does_not_name_is_refused(tmp_path: Path) -> None:
    done = deploy(tmp_path / "out", "--dry", "--data", "mig_monitor_name=other")
    assert done.returncode == 1
    assert "refused: mig_monitors: saw no pattern for other" in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        ("mig_monitor_image", None),
        ("mig_monitor_image", "r/x:1 y"),
        ("mig_monitor_image", "r/x:1\n"),
        ("mig_monitor_name", "Upper"),
        ("mig_monitor_name", "a" * 51),
        ("mig_monitor_namespace", "not_one"),
        ("mig_monitor_out", "/etc/hostname/x"),
    ],
)
def test_a_knob_that_cannot_be_meant_ends_the_run(knob: str, value: str | None) -> None:
    data = {"mig_monitor_image": "r.example/x:1", knob: value}
    with pytest.raises(DeployError, match=f"knob {knob}: saw"):
        monitor(cast(Host, SimpleNamespace(data=data)))


def told(text: str) -> list[str]:
    """What is told of a node, without the names that differ."""
    lines = re.findall(r"(?:form|then): .*|form \w+: .*", text)
    return [re.sub(r"ssh://\S+|\S+/(exporter|mig-monitor)-", "", line.strip()) for line in lines]


def command() -> list[str]:
    """The command of docs/mig.md, without its inventory and its image."""
    page = (ROOT / "docs/mig.md").read_text()
    (line,) = re.findall(r"```sh\n(.*)\n```", page)
    line = str(line).removesuffix(" --data mig_monitor_image=IMAGE")
    program, _, *words = line.split()
    assert program == ".venv/bin/pyinfra"
    return words


def deploy(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    given = {"mig_monitor_image": "r.example/x:1", "mig_monitor_name": "exporter"}
    given |= {"mig_monitor_out": str(place), "report_json": str(place.with_name("audit.json"))}
    data = [word for name, value in given.items() for word in ("--data", f"{name}={value}")]
    inventory = ["inventories/recorded.py", *command(), "--limit", "@fake/gpu_mig"]
    return subprocess.run(
        [str(Path(sys.executable).with_name("pyinfra")), *inventory, "-y", *data, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYINFRA_PROGRESS": "off"},
    )
