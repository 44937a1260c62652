"""Which wheels a node needs, from its Python and the lock file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pyinfra_nvml.drift.wheel_target import locked_requirements, unsupported_python, wheel_target
from pyinfra_nvml.facts.interpreter import InterpreterState

LOCK = Path(__file__).parent.parent / "requirements.lock"
PYTHON = InterpreterState(
    "/usr/bin/python3", (3, 11, 2), "CPython", "x86_64", 64, "glibc 2.36", True
)
SMALL = """\
cffi==2.1.1 ; platform_python_implementation != 'PyPy' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via cryptography
zope-interface==8.6 ; python_full_version < '3.11' \\
    --hash=sha256:cc
zope-interface==8.7 ; python_full_version >= '3.11' \\
    --hash=sha256:dd
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:ee
six==1.17.0 \\
    --hash=sha256:ff
"""


def test_markers_are_judged_for_the_node_not_for_this_machine() -> None:
    assert locked_requirements(SMALL, wheel_target(PYTHON)).splitlines() == [
        "cffi==2.1.1 --hash=sha256:aa --hash=sha256:bb",
        "zope-interface==8.7 --hash=sha256:dd",
        "six==1.17.0 --hash=sha256:ff",
    ]
    old = locked_requirements(SMALL, wheel_target(replace(PYTHON, version=(3, 10, 12))))
    assert "zope-interface==8.6 --hash=sha256:cc\n" in old
    assert "8.7" not in old


@pytest.mark.parametrize("version", [(3, 10, 12), (3, 11, 2), (3, 13, 5)])
def test_every_line_of_our_lock_is_one_pinned_package_with_hashes(
    version: tuple[int, int, int],
) -> None:
    lines = locked_requirements(
        LOCK.read_text(), wheel_target(replace(PYTHON, version=version))
    ).splitlines()
    names = [Requirement(line.partition(" --hash")[0]).name for line in lines]
    assert len(names) == len(set(names)) >= 30
    assert all(" --hash=sha256:" in line and "==" in line and ";" not in line for line in lines)


def test_the_platforms_of_glibc() -> None:
    made = wheel_target(PYTHON)
    assert made.key == "cp311-manylinux_2_36_x86_64"
    assert made.platforms[-5:] == (
        "manylinux_2_5_x86_64",
        "manylinux2014_x86_64",
        "manylinux2010_x86_64",
        "manylinux1_x86_64",
        "linux_x86_64",
    )
    grace = wheel_target(replace(PYTHON, machine="aarch64", libc="glibc 2.35"))
    assert grace.platforms[0] == "manylinux_2_35_aarch64"
    assert "manylinux_2_16_aarch64" not in grace.platforms


def test_the_platforms_of_musl() -> None:
    assert wheel_target(replace(PYTHON, libc="musl")).platforms == (
        "musllinux_1_2_x86_64",
        "musllinux_1_1_x86_64",
        "linux_x86_64",
    )


@pytest.mark.parametrize(
    ("python", "told"),
    [
        (PYTHON, None),
        (replace(PYTHON, libc="musl"), None),
        (replace(PYTHON, version=(3, 9, 2)), "Python 3.9.2"),
        (replace(PYTHON, version=(3, 6, 8)), "Python 3.6.8"),
        (replace(PYTHON, implementation="PyPy"), "PyPy, 64 bits"),
        (replace(PYTHON, bits=32), "CPython, 32 bits"),
        (replace(PYTHON, libc="uclibc"), "libc uclibc"),
        (replace(PYTHON, venv=False), "Python 3.11.2 without venv or ensurepip"),
    ],
)
def test_why_a_python_is_not_used(python: InterpreterState, told: str | None) -> None:
    found = unsupported_python(python)
    assert (found and found[0]) == told
