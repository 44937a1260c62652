"""A remedy applied to a node's answers: what the node would say once it was done."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import replace

from pyinfra_nvml.combiners import driver_state
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.probe import Section
from tests.invariants.subjects import DRIVER, Subject

_SCOPE = re.compile(r"/\S*?docker-([0-9a-f]{64})\.scope")
_REFUSED = re.compile(r"^sh: .*Operation not permitted\nrc 2$", re.MULTILINE)
_PATH = re.compile(r'"cgroupsPath": ?"[^"]*docker:([0-9a-f]{64})"')


def cgroupfs(subject: Subject) -> Subject:
    """After deploys/fix_cgroup.py: file, engine, and Docker's containers, all of them restarted."""
    sections = dict(subject.sections)
    plan = subject.cure
    _out(sections, "docker_engine.info", _with_driver)
    if plan.after is not None:
        sections["daemon_json.files"] = _file(sections["daemon_json.files"], plan.path, plan.after)
    _out(sections, "container_devices.walk", _moved)
    _out(sections, "scopes.show", _without_docker)
    _out(sections, "oci_specs.read", lambda text: _PATH.sub(r'"cgroupsPath":"/docker/\1"', text))
    return subject.other(sections)


def rebooted(subject: Subject) -> Subject:
    """After a reboot: the next kernel, its module in memory, the specs of /var/run made anew."""
    driver = subject.state.nvidia_driver
    assert isinstance(driver, NvidiaDriverState)
    boot = driver_state.next_boot(driver)
    sections = dict(subject.sections)
    version = str(boot.version)
    loaded = f"/sys/module/nvidia/version:{version}\n"
    loaded += (
        f"/proc/driver/nvidia/version:NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  \n"
    )
    sections["nvidia_module.loaded"] = Section("nvidia_module.loaded", 0, loaded)
    kernel = re.compile(r"^(running |/proc/sys/kernel/osrelease:).*$", re.MULTILINE)
    for probe in ("nvidia_module.disk", "machine.files", "wsl.files"):
        _out(sections, probe, lambda text: kernel.sub(rf"\g<1>{boot.kernel}", text))
    for probe, text in (("mig.modes", "0, Disabled, Disabled\n"), ("gpu_processes.compute", "")):
        if sections[probe].rc not in (0, 127):
            sections[probe] = Section(probe, 0, text)
    library = re.compile(r"^(/var/run/cdi/.*\.so\.)\d{3}[\d.]+$", re.MULTILINE)
    _out(sections, "container_toolkit.specs", lambda text: library.sub(rf"\g<1>{version}", text))
    sections["nvidia_log.lines"] = Section("nvidia_log.lines", 0, "")
    sections["reboot_requests.ask"] = Section("reboot_requests.ask", 0, "boot 1772400000\n")
    return subject.other(sections)


def held(subject: Subject) -> Subject:
    """After the holds that deploys/fix_driver.py makes."""
    sections = dict(subject.sections)
    for tool, name in subject.driver(reboot=False).holds.add:
        if tool == "apt-mark":
            old = sections["nvidia_packages.dpkg"]
            row = rf"^i(i *\|{re.escape(name)}\|)"
            out, known = re.subn(row, r"h\1", old.out, flags=re.MULTILINE)
            out += "" if known else f"hi |{name}|1\n"
            sections["nvidia_packages.dpkg"] = replace(old, out=out)
        else:
            path = "/etc/dnf/plugins/versionlock.list"
            line = f"{path}:{name}-0:1-1.*\n"
            if tool == "zypper":
                line = f"/etc/zypp/locks:type: package\n/etc/zypp/locks:solvable_name: {name}\n"
            old = sections["package_holds.files"]
            sections["package_holds.files"] = replace(
                old, rc=2, out=old.out.rstrip("\n") + "\n" + line
            )
    return subject.other(sections)


def _out(sections: dict[str, Section], probe: str, change: Callable[[str], str]) -> None:
    if probe in sections:
        sections[probe] = replace(sections[probe], out=change(sections[probe].out))


def _with_driver(text: str) -> str:
    info = json.loads(text)
    return json.dumps({**info, "CgroupDriver": DRIVER})


def _file(answer: Section, path: str, content: bytes) -> Section:
    """The answer with this file's bytes; the other files stay."""
    parts = re.split(r"^(?=file )", answer.out, flags=re.MULTILINE)
    kept = [part for part in parts if not part.startswith(f"file {path}\n")]
    text = base64.b64encode(content).decode()
    stat = f"link 81a4\nstat 81a4 0 0 {len(content)}\ntarget {path}\ndata {text}\n"
    return replace(answer, out="".join([*kept, f"file {path}\n{stat}"]))


def _moved(text: str) -> str:
    """Docker's containers out of their scopes, each of them with its devices open."""
    blocks = re.split(r"^(?=inhabitant )", text, flags=re.MULTILINE)
    for at, block in enumerate(blocks):
        if _SCOPE.search(block) or re.search(
            r"^cgroup .*/docker/[0-9a-f]{64}$", block, re.MULTILINE
        ):
            moved = _SCOPE.sub(r"/docker/\1", block)
            blocks[at] = re.sub(
                r"^sh: .*Operation not permitted\nrc 2$", "rc 0", moved, flags=re.MULTILINE
            )
    return "".join(blocks)


def _without_docker(text: str) -> str:
    blocks = text.strip("\n").split("\n\n")
    return "\n\n".join(block for block in blocks if "Id=docker-" not in block) + "\n"
