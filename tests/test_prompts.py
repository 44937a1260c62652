"""What pyinfra asks where nobody is there to answer: cron, a timer, CI."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyinfra_cli.cli
import pyinfra.connectors.util
import pytest

from pyinfra_nvml.fleet import prompts
from pyinfra_nvml.fleet.prompts import answer_prompts, unanswered_prompts, unattended
from tests.typed import typed

ROOT = Path(__file__).resolve().parent.parent
PYINFRA = Path(sys.executable).with_name("pyinfra")

WANT = (
    "before it changes anything pyinfra asks for Enter: "
    "saw no terminal to ask on and no -y, want -y"
)


def asked(*words: str) -> dict[str, Any]:
    with pyinfra_cli.cli.cli.make_context("pyinfra", ["@local", *words]) as context:
        return context.params


@pytest.fixture
def nobody() -> Iterator[None]:
    """Standard input as cron and systemd give it."""
    with pytest.MonkeyPatch.context() as patched, Path(os.devnull).open() as nothing:
        patched.setattr(sys, "stdin", nothing)
        patched.setattr(prompts, "_terminal", lambda: False)
        for module, name in (
            (pyinfra_cli.cli, "_do_confirm"),
            (pyinfra.connectors.util, "getpass"),
        ):
            patched.setattr(module, name, getattr(module, name))
        yield


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize("words", [["fix.py"], ["fix.py", "--diff"], ["server.user", "a"]])
def test_a_run_that_would_change_something_is_refused(words: list[str]) -> None:
    assert list(unanswered_prompts(asked(*words))) == [WANT]


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(
    "words",
    [
        ["fix.py", "-y"],
        ["fix.py", "--dry"],
        ["fix.py", "--json"],
        ["fix.py", "--debug-operations"],
        ["debug-inventory"],
        ["fact", "server.Hostname"],
        ["exec", "--", "true"],
    ],
)
def test_one_that_asks_nothing_is_not(words: list[str]) -> None:
    assert not list(unanswered_prompts(asked(*words)))


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(
    ("words", "goes_on"),
    [(["fix.py", "--dry"], True), (["fact", "a.B"], True), (["exec", "--", "true"], False)],
)
def test_a_failed_host_ends_only_a_run_that_changes_something(
    words: list[str], goes_on: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_prompts(asked(*words))
    assert pyinfra_cli.cli._do_confirm("One failed, continue?") is goes_on
    told = "One failed, continue? saw no terminal to ask on and no -y, want -y to go on\n"
    assert capsys.readouterr().err == ("" if goes_on else told)


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize("option", ["--same-sudo-password", "--ssh-password-prompt"])
def test_a_password_that_nobody_could_type_is_not_asked_for(option: str) -> None:
    (told,) = unanswered_prompts(asked("fix.py", "-y", option))
    assert told.startswith(f"{option}: saw no terminal to ask on, want ")


def test_a_password_may_be_typed_beside_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "unattended", lambda: True)
    monkeypatch.setattr(prompts, "_terminal", lambda: True)
    asks = pyinfra.connectors.util.getpass
    assert not list(unanswered_prompts(asked("fix.py", "-y", "--same-sudo-password")))
    answer_prompts(asked("fix.py", "-y"))
    assert pyinfra.connectors.util.getpass is asks


def test_sudo_that_wants_a_password_fails_its_host_alone(tmp_path: Path) -> None:
    sudo = tmp_path / "sudo"
    sudo.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    sudo.chmod(0o755)
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    words = ("@local", "deploys/schedule_drift.py", "--dry", "-y", "--sudo")
    ended = typed(PYINFRA, *words, env=path, terminal=False)
    assert (ended.returncode, "EOFError" in ended.stderr) == (1, False), ended.stderr
    assert "sudo: a password is required" in ended.stderr
    assert "Ready: deploys/schedule_drift.py" in ended.stderr


def test_an_answer_that_waits_is_one_and_stays_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = os.pipe()
    with open(theirs) as stdin, open(ours, "w") as line:  # noqa: PTH123 - descriptors, no paths
        monkeypatch.setattr(sys, "stdin", stdin)
        assert unattended()
        line.write("yes\n")
        line.flush()
        assert not unattended()
        assert stdin.readline() == "yes\n"


def test_a_terminal_is_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    with open(theirs) as stdin, open(ours, "wb", buffering=0):  # noqa: PTH123 - descriptors
        monkeypatch.setattr(sys, "stdin", stdin)
        assert not unattended()


@pytest.mark.parametrize("stdin", [None, io.StringIO()])
def test_nothing_to_read_from_is_nobody(stdin: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    assert unattended()


def test_a_dry_run_reports_the_host_that_did_not_answer(tmp_path: Path) -> None:
    # Nothing listens on port 9 (discard, RFC 863).
    inventory = tmp_path / "inventory.py"
    inventory.write_text('hosts = ["@local", ("127.0.0.1", {"ssh_port": 9})]\n')
    report = f"--data=report_json={tmp_path}/a.json"
    ended = typed(PYINFRA, inventory, "deploys/audit.py", "--dry", report)
    assert (ended.returncode, "EOFError" in ended.stderr) == (1, False)
    assert "127.0.0.1 · no answer: could not be connected to" in ended.stdout
    assert (tmp_path / "a.json").exists()
