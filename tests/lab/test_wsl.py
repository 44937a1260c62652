"""A node with the marks of WSL2, on cgroup v1 as WSL2 was: what the audit and the advice say."""

from __future__ import annotations

from pathlib import Path

from tests.lab import deployed, inventory
from tests.lab.session import Lab

# What facts/wsl.py reads; a file bound over the kernel's own, whose release cannot be chosen.
MARKS = """\
mkdir -p /run/WSL /usr/lib/wsl/lib && mknod /dev/dxg c 10 127
touch /usr/lib/wsl/lib/libcuda.so.1 /usr/lib/wsl/lib/libnvidia-ml.so.1
echo 5.15.90.1-microsoft-standard-WSL2 >/run/osrelease
mount --bind /run/osrelease /proc/sys/kernel/osrelease
"""
CONF = "[boot]\nsystemd=true\n[automount]\ncgroups=v1\n"


def test_wsl2_on_cgroup_v1(lab: Lab, tmp_path: Path) -> None:
    node = lab.fresh("legacy", files={"/etc/wsl.conf": CONF})
    try:
        node.sh(MARKS)
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        told = deployed.run(hosts, "wsl.py", "-y")
        assert told.code == 0, told.text
        found = told.findings(node.name)
        assert ("cgroup-hierarchy", "advice", "cgroups") in found
        assert ("systemd-taints", "advice", "systemd") in found
        facts = told.node(node.name)["facts"]["wsl"]
        assert (facts["version"], facts["dxg"], facts["session"]) == (2, True, True)
        for text in (
            "WSL2 5.15.90.1-microsoft-standard-WSL2, cgroup v1, systemd, Docker here",
            "boot: sign: System is tainted: cgroupsv1",
            "boot: harmless: ",
            "here: /etc/wsl.conf without cgroups=v1",
            "on Windows: wsl --update, then wsl --shutdown",
            "kernelCommandLine = cgroup_no_v1=all",
        ):
            assert text in told.text, text
        order = [told.text.index(word) for word in ("wsl --update", "kernelCommandLine")]
        assert order == sorted(order)
        assert node.read("/etc/wsl.conf") == CONF.encode()
    finally:
        lab.stop(node)
