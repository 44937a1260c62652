"""Draws the description of one machine of a family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import yaml

from pyinfra_nvml.model.release import release
from tests.described import system

_DRAWS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("draws.yaml").read_text())

Row = Mapping[str, Any]
Answers = dict[str, dict[str, Any]]


def node(row: Row, chance: Random) -> tuple[dict[str, Any], Answers]:
    """The description of a machine of this family, and the single answers beside it."""
    said: dict[str, Any] = {"system": _system(row, chance)}
    said["docker"], said["daemon_json"] = _docker(row, said, chance)
    said["toolkit"] = _toolkit(chance)
    said["driver"] = _driver(row, said, chance)
    said["kubelet"] = _kubelet(row, chance)
    said["containers"] = _containers(said, chance)
    for part, more in row.get("node", {}).items():
        if said[part] is not None:
            said[part] |= more
    return said, _more(row, said, chance)


def _pick(row: Row, name: str, chance: Random, default: Sequence[Any] = (None,)) -> Any:
    return chance.choice(row.get(name) or _DRAWS.get(name) or default)


def _system(row: Row, chance: Random) -> dict[str, Any]:
    said = {"name": _pick(row, "system", chance), "cgroup": _pick(row, "cgroup", chance, ("v2",))}
    if updates := _pick(row, "updates", chance):
        said["updates"] = updates
    if not chance.randrange(12):
        said["uid"] = 1000
    return said


def _docker(row: Row, said: Row, chance: Random) -> tuple[dict[str, Any] | None, str]:
    if _pick(row, "engine", chance) == "none":
        return None, ""
    version, runc = chance.choice(list(_DRAWS["docker"].items()))
    v1 = said["system"]["cgroup"] != "v2"
    driver = chance.choice(("systemd", "cgroupfs", "cgroupfs" if v1 else "systemd"))
    text = chance.choice(_DRAWS["files"]).replace("DRIVER", driver)
    engine: dict[str, Any] = {"version": version, "driver": driver, "runc": runc}
    live = "live-restore" in text
    if live or not chance.randrange(8):
        engine["live_restore"] = True
    elif not chance.randrange(8):
        engine["swarm"] = "active"
    if not chance.randrange(12):
        engine["flags"] = ["-H", "fd://", "--exec-opt", f"native.cgroupdriver={driver}"]
    if "default-runtime" in text and chance.randrange(4):
        engine["default_runtime"] = "nvidia"
    return engine, text


def _toolkit(chance: Random) -> dict[str, Any] | None:
    version = chance.choice(_DRAWS["toolkit"])
    if version is None:
        return None
    said: dict[str, Any] = {"version": version}
    if not chance.randrange(10):
        said["no_cgroups"] = True
    if not chance.randrange(8):
        said["mode"] = chance.choice(("legacy", "cdi"))
    return said


def _driver(row: Row, said: dict[str, Any], chance: Random) -> dict[str, Any] | None:
    """One of the states of draws.yaml; the toolkit's CDI spec is as old as the driver, or older."""
    state = _pick(row, "gpu", chance)
    if state == "none":
        return None
    old, new = chance.choice(_DRAWS["drivers"])
    kernel = system.release(said)
    driver: dict[str, Any] = {"version": new, "held": bool(chance.randrange(2))}
    managed = [b for b in row["builder"] if b.startswith("rpm") != system.dpkg(said)]
    driver["builder"] = chance.choice(managed or row["builder"])
    if state == "skewed":
        driver["loaded"] = old
    elif state == "not built":
        driver |= {"loaded": old, "disk": old, "dkms": None}
    elif state == "next kernel":
        driver["disk"] = {kernel: new, _newer(kernel): None}
    elif state == "not loaded":
        driver |= {"loaded": None, "gpus": [chance.choice(("", "nouveau"))]}
    elif state == "missing":
        return {"version": None, "packages": "", "nodes": False, "gpus": [""]}
    elif state == "fallen":
        log = "NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.\n"
        driver["log"] = f"kern  :err   : [Sun Mar  1 04:05:06 2026] {log}"
    elif not chance.randrange(6):
        driver["mig"] = 2
    kit = said["toolkit"]
    if kit and (release(kit["version"]) or ()) >= (1, 12) and chance.randrange(2):
        path = chance.choice(("/etc/cdi/nvidia.yaml", "/var/run/cdi/nvidia.yaml"))
        kit["specs"] = {path: chance.choice((new, new, new, old))}
    return driver


def _newer(kernel: str) -> str:
    """The next build of this kernel: 5.15.0-126-generic, 5.15.0-127-generic."""
    head, dash, tail = kernel.partition("-")
    if not dash:
        return f"{kernel}.1"
    number = tail.split("-")[0].split(".")[0]
    more = str(int(number) + 1) if number.isdigit() else f"{number}1"
    return f"{head}-{tail.replace(number, more, 1)}"


def _kubelet(row: Row, chance: Random) -> dict[str, Any] | None:
    kind = chance.choice(row["kubelet"]) if "kubelet" in row else None
    if kind is None:
        return None
    said = dict(_DRAWS["kubelets"][kind])
    said["runc"] = chance.choice(("1.1.4", "1.1.13", "1.2.5", "1.3.3"))
    if not chance.randrange(4):
        said["runtime_driver"] = "cgroupfs"
    if not chance.randrange(4):
        said["cpu_policy"] = "static"
    return said


def _containers(said: dict[str, Any], chance: Random) -> list[dict[str, Any]]:
    driver = said["driver"]
    if not driver or driver["version"] is None or driver.get("loaded", "") is None:
        return []
    found = []
    for number in range(chance.randrange(4)):
        kind = "pod" if said["kubelet"] and chance.randrange(3) else "docker"
        if kind == "docker" and said["docker"] is None:
            continue
        made = _pod(said, chance) if kind == "pod" else _of_docker(said, chance)
        found.append({"name": f"app{number}", **made})
    return found


def _of_docker(said: dict[str, Any], chance: Random) -> dict[str, Any]:
    """A container as this engine and this toolkit make it."""
    docker, kit = said["docker"], said["toolkit"]
    asks = chance.choice(_DRAWS["asks"])
    engine = release(docker["version"]) or ()
    toolkit = (release(kit["version"]) or ()) if kit else ()
    if (asks == "cdi" and engine < (25,)) or (asks in ("gpus", "runtime") and not kit):
        asks = ""
    if not asks:
        return {"asks": ""}
    cdi = asks == "cdi" or (asks == "runtime" and toolkit >= (1, 18))
    cdi |= asks == "gpus" and engine >= (29, 2) and bool(kit.get("specs"))
    by = {"device": "devices", "privileged": "privileged"}.get(asks, "cdi" if cdi else "hook")
    on = docker["driver"]
    if docker.get("live_restore") and not chance.randrange(3):
        on = "systemd"
    states = {"privileged": "auto", "hook": "unlisted"}
    made = {"asks": asks, "by": by}
    made["scope"] = states.get(by, "listed") if on == "systemd" else "none"
    if made["scope"] == "unlisted" and not chance.randrange(3):
        made["opens"] = "EPERM"
    return made | _inspect(chance)


def _inspect(chance: Random) -> dict[str, Any]:
    """What else may be said of a container: --rm, another policy, paused."""
    more = ({"AutoRemove": True, "RestartPolicy": "no"}, {"RestartPolicy": "no"})
    draw = chance.randrange(10)
    return {"inspect": more[draw]} if draw < len(more) else {}


def _pod(said: dict[str, Any], chance: Random) -> dict[str, Any]:
    kubelet = said["kubelet"]
    driver = kubelet.get("runtime_driver", kubelet.get("driver"))
    by = chance.choice(("hook", "devices", "cdi")) if said["toolkit"] else "devices"
    scope = {"hook": "unlisted"}.get(by, "listed") if driver == "systemd" else "none"
    return {"pod": f"team/job-{chance.randrange(9)}", "by": by, "scope": scope}


def _more(row: Row, said: dict[str, Any], chance: Random) -> Answers:
    """Answers that no part of a description writes."""
    found: Answers = {}
    if row.get("fabric") and said["driver"]:
        version = chance.choice((said["driver"]["version"], "535.161.07"))
        state = chance.choice(("active", "failed", "inactive"))
        found["fabric_manager.ask"] = {
            "out": f"Fabric Manager version is : {version}\nLoadState=loaded\n"
            f"ActiveState={state}\nUnitFileState=enabled\n"
        }
    if not chance.randrange(8):
        since = "boot 1772300000\nflag 1772340000 /run/reboot-required\n"
        words = "line *** System restart required ***\npackage linux-base\n"
        found["reboot_requests.ask"] = {"out": since + words}
    if said["docker"] is None and said["kubelet"] is None:
        found["docker_inspect.running"] = {"rc": 127}
    if said["system"].get("uid") and said["docker"]:
        text = "permission denied while trying to connect to the Docker daemon socket"
        found["docker_engine.info"] = {"rc": 1, "err": text}
        found["docker_inspect.running"] = {"rc": 1, "err": text}
        found["container_devices.walk"] = {"out": "uid 1000\n"}
        found["oci_specs.read"] = {"rc": 2, "err": "grep: /run/containerd: Permission denied"}
    return found
