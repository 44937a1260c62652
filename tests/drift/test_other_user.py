"""A results directory of one user in which another, root, has run the command too."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from pyinfra_nvml.drift.results import Results
from tests.drift.place import Place


def test_nothing_is_written_through_a_link(place: Place) -> None:
    place.results.mkdir()
    names = ("run.log", "report.txt", "drift.json", "audit.json", "audit.html", "new.json")
    for name in names:
        (place.path / name).write_text("whole")
        (place.results / name).symlink_to(place.path / name)
    assert place.run("--level", "broken")[0] == 0
    assert {(place.path / name).read_text() for name in names} == {"whole"}
    assert not any(file.is_symlink() for file in place.results.iterdir())
    (place.results / "lock").unlink()
    (place.results / "lock").symlink_to(place.path / "made")
    code, said = place.run("--level", "broken")
    told = f"saw Too many levels of symbolic links ({place.results}/lock), want"
    assert (code, told in said) == (2, True), said
    assert not (place.path / "made").exists()


def test_a_lock_of_roots_is_held_by_who_may_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lock").touch()
    real = os.open

    def refuse(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    with Results(tmp_path).held() as lock:
        other = real(tmp_path / "lock", os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)
        assert lock != other
