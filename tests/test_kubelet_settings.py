"""Where the node's script looks for a kubelet's settings, and which of them wins."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.facts.daemons import Daemon
from pyinfra_nvml.facts.kubelet_settings import COMMAND, KubeletSettings
from pyinfra_nvml.facts.probe import Section, file_texts
from tests.node_scripts import SHELLS


def said(tmp_path: Path, shell: str, arguments: list[str]) -> KubeletSettings:
    """The settings of a kubelet that was started with these arguments."""
    process = tmp_path / "4242"
    process.mkdir(exist_ok=True)
    (process / "cmdline").write_text("\0".join(["/usr/bin/kubelet", *arguments, ""]))
    comms = tmp_path / "comms"
    comms.write_text(f"{process}/comm:kubelet\n")
    asked = subprocess.run(
        [*SHELLS[shell], "-c", COMMAND],
        capture_output=True,
        text=True,
        env={"COMMS": str(comms), "PATH": os.environ["PATH"], "LC_ALL": "C"},
    )
    answer = Section("kubelet.settings", asked.returncode, asked.stdout, asked.stderr)
    daemon = Daemon(4242, "kubelet", 0, ("/usr/bin/kubelet", *arguments), ())
    return KubeletSettings((daemon,), file_texts(answer))


@pytest.mark.parametrize("shell", sorted(SHELLS))
def test_a_directory_of_drop_ins_beats_the_file(tmp_path: Path, shell: str) -> None:
    """As EKS' nodeadm starts it (awslabs/amazon-eks-ami, nodeadm: 40-nodeadm.conf)."""
    main = tmp_path / "config.json"
    main.write_text('{\n  "cgroupDriver": "systemd",\n  "cpuManagerPolicy": "none"\n}\n')
    drop_ins = tmp_path / "config.json.d"
    drop_ins.mkdir()
    (drop_ins / "00-first.conf").write_text('{\n  "cpuManagerPolicy": "none"\n}\n')
    (drop_ins / "40-nodeadm.conf").write_text('{\n  "cpuManagerPolicy": "static"\n}\n')
    (drop_ins / "99-left.bak").write_text('{\n  "cpuManagerPolicy": "none"\n}\n')
    for flags in (["--config-dir", str(drop_ins)], [f"--config-dir={drop_ins}/"]):
        settings = said(tmp_path, shell, ["--config", str(main), *flags])
        assert settings.value("cpu-manager-policy", "cpuManagerPolicy") == "static"
        assert settings.value("cgroup-driver", "cgroupDriver") == "systemd"


@pytest.mark.parametrize("shell", sorted(SHELLS))
def test_an_empty_directory_is_none(tmp_path: Path, shell: str) -> None:
    main = tmp_path / "config.yaml"
    main.write_text("cgroupDriver: systemd\n")
    (tmp_path / "empty").mkdir()
    flags = [f"--config-dir={tmp_path}/empty", f"--config={main}"]
    settings = said(tmp_path, shell, flags)
    assert settings.value("cgroup-driver", "cgroupDriver") == "systemd"
    assert settings.value("cpu-manager-policy", "cpuManagerPolicy") is None
