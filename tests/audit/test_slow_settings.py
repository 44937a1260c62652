"""The settings that make a fleet slow are named, and only for a fleet."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyinfra_nvml.fleet.slow_settings import FEW, slow_settings

MANY: list[dict[str, object]] = [{} for _ in range(FEW + 1)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".ssh").mkdir()
    return tmp_path


def told(home: Path, data: list[dict[str, object]] = MANY, **exchanges: str) -> list[str]:
    return list(slow_settings(data, exchanges, home))


def test_a_long_hashed_known_hosts_is_named_once(home: Path) -> None:
    (home / ".ssh" / "known_hosts").write_text("|1|salt|hash ssh-ed25519 AAAA\n" * 3000)
    (line,) = told(home)
    assert "known_hosts: 3000 lines, 3000 of them hashed" in line
    assert "ssh_known_hosts_file" in line


def test_the_file_that_the_inventory_names_is_the_one_that_counts(home: Path) -> None:
    (home / ".ssh" / "known_hosts").write_text("x ssh-ed25519 AAAA\n" * 3000)
    own = home / "fleet"
    own.write_text("x ssh-ed25519 AAAA\n")
    assert told(home, [{"ssh_known_hosts_file": str(own)}] * (FEW + 1)) == []


def test_a_long_config_is_named(home: Path) -> None:
    (home / ".ssh" / "config").write_text("Host a\n  User b\n" * 500)
    (line,) = told(home)
    assert "config: 500 Host blocks" in line


def test_a_slow_key_exchange_is_counted(home: Path) -> None:
    exchanges = {"a": "diffie-hellman-group16-sha512", "b": "curve25519-sha256@libssh.org"}
    (line,) = told(home, MANY, **exchanges)
    assert f"group16-sha512 with 1 of {FEW + 1} nodes" in line


def test_a_few_hosts_are_not_worth_a_word(home: Path) -> None:
    (home / ".ssh" / "known_hosts").write_text("x ssh-ed25519 AAAA\n" * 3000)
    assert told(home, [{}] * FEW) == []


def test_nothing_slow_is_nothing_told(home: Path) -> None:
    assert told(home, MANY, a="curve25519-sha256@libssh.org") == []
