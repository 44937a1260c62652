"""The driver's scripts on this machine: holds with the real dnf, a reboot that is only noted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.operations import node
from tests.lab import requirements
from tests.node_scripts import SHELLS, Sandbox, stand_in

HOLD = node.script("say", "state", "lock", "hold_packages")
BEGIN = node.script("say", "state", "lock", "engine", "containers", "begin_reboot")
PACKAGE = "kmod-nvidia-latest-dkms"

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the scripts want root")

# What Debian 13's apt-mark (apt 3.0) does to dpkg's selections, in a file of its own.
APT_MARK = """touch "$0.held"
case $1 in
hold) shift; for n; do echo "${n%:amd64}" >>"$0.held"; done ;;
unhold) shift; for n; do sed -i "/^${n%:amd64}$/d" "$0.held"; done ;;
showhold) cat "$0.held" ;;
esac"""


@pytest.fixture(params=sorted(SHELLS))
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path, request.param)
    stand_in(made.bin, "apt-mark", APT_MARK)
    return made


def hold(
    sandbox: Sandbox, what: str, *names: str, tool: str = "apt-mark"
) -> subprocess.CompletedProcess[str]:
    listed = "".join(f"{name}\n" for name in names)
    return sandbox.run(HOLD, str(sandbox.state), what, tool, stdin=listed)


def test_a_record_that_finds_no_room_is_kept_as_it_was(sandbox: Sandbox) -> None:
    assert hold(sandbox, "hold", "nvidia-dkms-550").returncode == 0
    (sandbox.state / "holds.new").symlink_to("/dev/full")
    told = hold(sandbox, "hold", "libnvidia-compute-550")
    assert told.returncode == 1
    assert "saw no room for the record of holds" in told.stderr
    assert (sandbox.bin / "apt-mark.held").read_text() == "nvidia-dkms-550\n"
    assert (sandbox.state / "holds").read_text() == "apt-mark nvidia-dkms-550\n"


def test_what_is_held_is_on_record_until_it_is_let_go(sandbox: Sandbox) -> None:
    told = hold(sandbox, "hold", "libnvidia-compute-550:amd64", "nvidia-dkms-550")
    assert told.returncode == 0, told.stderr
    record = sandbox.state / "holds"
    assert record.read_text().splitlines() == [
        "apt-mark libnvidia-compute-550:amd64",
        "apt-mark nvidia-dkms-550",
    ]
    held = sandbox.bin / "apt-mark.held"
    assert held.read_text().splitlines() == ["libnvidia-compute-550", "nvidia-dkms-550"]
    assert hold(sandbox, "release", "nvidia-dkms-550").returncode == 0
    assert record.read_text() == "apt-mark libnvidia-compute-550:amd64\n"
    assert hold(sandbox, "release", "libnvidia-compute-550:amd64").returncode == 0
    assert not record.exists()
    assert held.read_text() == ""
    assert sandbox.journal()[0] == "hold apt-mark libnvidia-compute-550:amd64 nvidia-dkms-550"


# What zypper 1.14.89 (Debian 13) writes to /etc/zypp/locks, in a file of its own.
ZYPPER = """shift 2
case $1 in
addlock) shift; for n; do
  printf '\\ntype: package\\nmatch_type: glob\\ncase_sensitive: on\\nsolvable_name: %s\\n\\n' "$n"
done >>"$0.locks" ;;
removelock) shift; for n; do sed -i "/^solvable_name: $n$/d" "$0.locks"; done ;;
esac"""


def test_zypper_locks_by_name(sandbox: Sandbox) -> None:
    stand_in(sandbox.bin, "zypper", ZYPPER)
    locks = sandbox.bin / "zypper.locks"
    # The script reads the system's own list; here it is the stand-in's.
    source = HOLD.replace("/etc/zypp/locks", str(locks))
    for what in ("hold", "release"):
        told = sandbox.run(source, str(sandbox.state), what, "zypper", stdin="nvidia-compute-G06\n")
        assert told.returncode == 0, told.stderr
        assert told.stdout == f"{what} zypper nvidia-compute-G06\n"
        assert ("solvable_name: nvidia-compute-G06" in locks.read_text()) is (what == "hold")


def test_a_hold_that_fails_is_not_on_record(sandbox: Sandbox) -> None:
    stand_in(sandbox.bin, "apt-mark", 'echo "E: Could not get lock" >&2; exit 100')
    told = hold(sandbox, "hold", "nvidia-dkms-550")
    assert told.returncode == 1
    assert "apt-mark: saw E: Could not get lock, want hold of nvidia-dkms-550" in told.stderr
    assert not (sandbox.state / "holds").exists()


def test_a_hold_that_does_not_hold_is_told(sandbox: Sandbox) -> None:
    stand_in(sandbox.bin, "apt-mark", "true")
    told = hold(sandbox, "hold", "nvidia-dkms-550")
    assert told.returncode == 1
    assert "saw nvidia-dkms-550 not among what it holds" in told.stderr


SPEC = f"""Name: {PACKAGE}
Epoch: 3
Version: 550.107.02
Release: 1.el9
Summary: the module's package, without a module
License: MIT
BuildArch: noarch
%description
It has no files.
%files
"""
# A mount namespace of its own keeps the machine's locks as they are; Debian's rpm has its database
# below HOME.
PRIVATE = """set -e
mount -t tmpfs tmpfs /etc/dnf/plugins
printf '[main]\\nenabled = 1\\nlocklist = /etc/dnf/plugins/versionlock.list\\n' \
  >/etc/dnf/plugins/versionlock.conf
touch /etc/dnf/plugins/versionlock.list
rpm --initdb
rpm -i "$1" >&2
run() { printf '%s\\n' "$3" | sh -c "$SCRIPT" x "$1" "$2" dnf; }
locked() { grep -v -e '^#' -e '^$' /etc/dnf/plugins/versionlock.list || true; }
run "$2" hold "$3"; locked
run "$2" release "$3"; locked
run "$2" hold nvidia-driver || locked
"""


def test_dnf_locks_the_version_that_is_installed(tmp_path: Path) -> None:
    lacking = [name for name in ("rpm", "rpmbuild", "dnf", "unshare") if not shutil.which(name)]
    if lacking:
        reason = f"no {', '.join(lacking)} here, want it: apt-get install rpm dnf dnf-plugins-core"
        if requirements.required():
            pytest.fail(reason)
        pytest.skip(reason)
    spec = tmp_path / "driver.spec"
    spec.write_text(SPEC)
    folders = ["--define", f"_topdir {tmp_path}/top", "--define", f"_rpmdir {tmp_path}"]
    subprocess.run(["rpmbuild", "-bb", *folders, str(spec)], check=True, capture_output=True)
    (package,) = tmp_path.glob("noarch/*.rpm")
    told = subprocess.run(
        ["unshare", "-m", "sh", "-c", PRIVATE, "x", package, tmp_path / "state", PACKAGE],
        capture_output=True,
        text=True,
        env={**os.environ, "SCRIPT": HOLD, "HOME": str(tmp_path)},
    )
    assert told.stdout.splitlines() == [
        f"hold dnf {PACKAGE}",
        f"{PACKAGE}-3:550.107.02-1.el9.*",
        f"release dnf {PACKAGE}",
    ], f"exit {told.returncode}: {told.stderr}"
    assert "dnf: saw nvidia-driver not among what it holds, want it held" in told.stderr


BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
ROW = f"2026-11-30T09:14:00.1Z {'4' * 64} /trainer no false false -"
DOCKER = f"""case $1 in
info) echo systemd ;;
ps) echo {"4" * 64} ;;
inspect) echo '{ROW}' ;;
esac"""


@pytest.fixture
def quiet(sandbox: Sandbox) -> Sandbox:
    stand_in(sandbox.bin, "docker", DOCKER)
    return sandbox


def begin(sandbox: Sandbox, boot: str = BOOT) -> subprocess.CompletedProcess[str]:
    """The script without its last act: the function that would reboot this machine is another."""
    start = "\nstate=$1 boot=$2"
    assert BEGIN.count(start) == 1
    harmless = f"\nbegin() {{ echo begun >'{sandbox.root}/asked'; }}{start}"
    return sandbox.run(BEGIN.replace(start, harmless), str(sandbox.state), boot)


def begun(sandbox: Sandbox) -> bool:
    return (sandbox.root / "asked").exists()


def test_what_runs_is_noted_before_the_reboot(quiet: Sandbox) -> None:
    told = begin(quiet)
    assert told.returncode == 0, told.stderr
    assert told.stdout == f"reboot from boot {BOOT}\n"
    assert (quiet.state / "ran").read_text() == f"{ROW.replace('Z ', ' ', 1)}\n"
    assert begun(quiet)
    assert quiet.journal() == [f"reboot from boot {BOOT}"]


def test_without_containers_there_is_nothing_to_bring_back(quiet: Sandbox) -> None:
    stand_in(quiet.bin, "docker", "[ $1 != info ] || echo systemd")
    assert begin(quiet).returncode == 0
    assert not (quiet.state / "ran").exists()


def test_an_engine_that_does_not_say_what_runs_is_not_stopped(quiet: Sandbox) -> None:
    stand_in(quiet.bin, "docker", "[ $1 = info ] && echo systemd")
    told = begin(quiet)
    assert told.returncode == 1
    assert "docker: saw it did not say what runs" in told.stderr
    assert not begun(quiet)


def test_a_node_that_was_rebooted_meanwhile_is_not_rebooted_again(quiet: Sandbox) -> None:
    told = begin(quiet, "another-boot")
    assert told.returncode == 1
    assert "it has been rebooted already" in told.stderr
    assert not begun(quiet)
