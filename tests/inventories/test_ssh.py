"""The hosts of an ssh configuration."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyinfra.api.exceptions import InventoryError

from inventories.readers import ssh
from tests.inventories.conftest import SSH


def test_hosts_of_an_ssh_config(config: str) -> None:
    told = ssh.hosts(config, ["gpu-*"])
    data = {"ssh_config_file": config}
    assert told == [("gpu-1", data), ("gpu-10", data), ("gpu-2", data)]
    assert ssh.hosts(config, ["*", "!bastion*"]) == told


def test_the_usual_ssh_config_is_not_named_twice(
    config: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    shutil.copy(config, tmp_path / ".ssh" / "config")
    assert ssh.hosts(ssh.DEFAULT, ["bastion"]) == ["bastion"]


@pytest.mark.parametrize(
    ("text", "patterns", "message"),
    [
        (SSH, [], "saw no pattern"),
        (SSH, ["db-*"], r"saw no host for db-\*, want one of 5 .*bastion"),
        ("Host *\n", ["*"], "there is none"),
        ("Host a\n  nonsense\n", ["*"], "want the form of ssh_config"),
        (None, ["*"], "No such file"),
    ],
)
def test_an_ssh_config_that_gives_none(
    tmp_path: Path, config: str, text: str | None, patterns: list[str], message: str
) -> None:
    path = Path(config) if text == SSH else tmp_path / "other"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InventoryError, match=message):
        ssh.hosts(str(path), patterns)
