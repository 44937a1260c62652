"""The files of the MIG monitor hold its rights and no more."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from pyinfra_nvml.facts.mig import MONITOR_NODE
from pyinfra_nvml.plans.mig_monitor_files import monitor_commands, monitor_files
from pyinfra_nvml.plans.mig_monitor_form import Choice, Form
from pyinfra_nvml.settings.mig_monitor import Monitor
from tests.lab import requirements

MONITOR = Monitor("registry.example/dcgm-exporter:4.2.0", "mig-monitor", "monitoring")


def written(form: Form, kubernetes: bool) -> dict[str, Any]:
    found = monitor_files(MONITOR, Choice(form, kubernetes, ""))
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
    (text,) = monitor_files(MONITOR, Choice(form, False, "")).values()
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
        for name, text in monitor_files(odd, choice).items():
            assert ".cdi." in name or odd.image in strings(yaml.safe_load(text))


def strings(value: object) -> list[object]:
    if isinstance(value, dict):
        return [one for item in value.values() for one in strings(item)]
    return [one for item in value for one in strings(item)] if isinstance(value, list) else [value]


def test_two_forms_in_one_cluster_go_to_two_files_and_two_labels() -> None:
    forms = [Choice(form, True, "") for form in (Form.RUNTIME, Form.RUNTIME_NODE)]
    names = [set(monitor_files(MONITOR, choice)) for choice in forms]
    assert not names[0] & names[1]
    told = [list(monitor_commands(MONITOR, choice, "gpu-01", "rendered")) for choice in forms]
    assert "kubectl label node gpu-01 pyinfra-nvml/mig-monitor=runtime --overwrite" in told[0]
    assert told[1][0].startswith("scp rendered/mig-monitor-runtime-node.cdi.yaml gpu-01:/etc/cdi/")
    names_of = [written(choice.form, True)["daemonset"]["metadata"]["name"] for choice in forms]
    assert len(set(names_of)) == 2
