"""What rpm is asked, by the real rpm of this machine: it is told what is there, and makes nothing.

Debian's record of its package rpm is hidden in a mount namespace, where it is to look like a
system of rpm's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackages, Package
from pyinfra_nvml.facts.probe import read_frame
from tests.lab import requirements
from tests.node_scripts import stand_in

_HIDDEN = "mount -t tmpfs tmpfs /var/lib/dpkg/info && "
_SPEC = """Name: {name}
Version: 550.107.02
Release: 1.el9
Summary: without files
License: MIT
BuildArch: noarch
%description
It has no files.
%files
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory for a database, of which a stand-in for rpm tells the real one."""
    lacking = [name for name in ("rpm", "rpmbuild", "unshare") if not shutil.which(name)]
    reason = f"no {', '.join(lacking)} here, want it: apt-get install rpm"
    if os.getuid() != 0:
        lacking, reason = ["root"], "a mount namespace wants root"
    if lacking and requirements.required():
        pytest.fail(reason)
    if lacking:
        pytest.skip(reason)
    database = tmp_path / "lib" / "rpm"
    (tmp_path / "bin").mkdir()
    rpm = shutil.which("rpm")
    stand_in(tmp_path / "bin", "rpm", f'exec {rpm} --define "_dbpath {database}" "$@"')
    return database


def ask(place: Path, hidden: str = _HIDDEN) -> object:
    bin_ = place.parent.parent / "bin"
    told = subprocess.run(
        ["unshare", "-m", "sh", "-c", hidden + node_script(NvidiaPackages.probes)],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "HOME": str(place.parent)},
    )
    packages = NvidiaPackages.judged(read_frame(told.stdout.splitlines()))
    return getattr(packages, "rpm", packages)


def install(place: Path, *names: str) -> None:
    top = place.parent.parent
    folders = ["--define", f"_topdir {top}/top", "--define", f"_rpmdir {top}"]
    for name in names:
        spec = top / f"{name}.spec"
        spec.write_text(_SPEC.format(name=name))
        subprocess.run(["rpmbuild", "-bb", *folders, str(spec)], check=True, capture_output=True)
    built = [path for name in names for path in top.glob(f"noarch/{name}-550*.rpm")]
    subprocess.run([top / "bin" / "rpm", "-i", *built], check=True, capture_output=True)


def test_rpm_as_a_package_of_dpkg_is_not_asked(place: Path) -> None:
    if not Path("/var/lib/dpkg/info/rpm.list").exists():
        pytest.skip("rpm of this machine is not a package of dpkg")
    assert ask(place, hidden="") is None
    assert not place.parent.exists()


def test_no_database_is_unknown_and_none_is_made(place: Path) -> None:
    assert f"no database of rpm in {place}" in str(ask(place))
    assert not place.parent.exists()


def test_a_damaged_database_is_unknown(place: Path) -> None:
    place.mkdir(parents=True)
    (place / "rpmdb.sqlite").write_bytes(bytes(range(256)) * 64)
    assert f"cannot open Packages database in {place}" in str(ask(place))


def test_a_database_of_nothing_is_unknown(place: Path) -> None:
    subprocess.run([place.parent.parent / "bin" / "rpm", "--initdb"], check=True)
    assert "its database does not know rpm itself" in str(ask(place))


def test_a_whole_database_tells_nvidias_packages_alone(place: Path) -> None:
    install(place, "rpm")
    assert ask(place) == ()
    install(place, "kmod-nvidia-open-dkms", "rpm-build-nothing")
    version = "(none):550.107.02-1.el9"
    assert ask(place) == (Package("rpm", "kmod-nvidia-open-dkms", version, "installed"),)
