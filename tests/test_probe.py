"""The one script: what it keeps apart, what it survives, in every shell that nodes have."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyinfra_nvml.facts.node_script import limit, node_script
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    file_texts,
    framed_files,
    read_frame,
)

SHELLS = [
    pytest.param(
        shell.split(),
        id=shell,
        marks=pytest.mark.skipif(not shutil.which(shell.split()[0]), reason=f"no {shell}"),
    )
    for shell in ("dash", "bash --posix", "busybox sh")
]


def run(shell: list[str], *probes: Probe) -> Sections:
    done = subprocess.run(
        [*shell, "-c", node_script(probes)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return read_frame(done.stdout.splitlines())


@pytest.mark.parametrize("shell", SHELLS)
def test_answers_are_told_apart_whatever_is_printed(shell: list[str]) -> None:
    told = run(
        shell,
        Probe("a.forged", r"printf '@end 1\n|x\n@a.other rc=0 cut=0\nno newline'; exit 3"),
        Probe("a.bytes", r"printf 'a\377\000b\r\n'; echo oh >&2"),
        Probe("a.empty", "true"),
        Probe("a.missing", "/no/such/command"),
    )
    assert told["a.forged"] == Section("a.forged", 3, "@end 1\n|x\n@a.other rc=0 cut=0\nno newline")
    assert told["a.bytes"] == Section("a.bytes", 0, "a??b?\n", "oh\n")
    assert told["a.empty"] == Section("a.empty", 0)
    assert told["a.missing"].rc == 127


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hung_command_costs_its_limit_only(shell: list[str]) -> None:
    probes = (
        Probe("a.stubborn", "trap '' TERM; sleep 60", limit=1),
        Probe("a.quick", "echo here"),
        Probe("a.endless", "yes", limit=5, cap=8),
    )
    start = time.monotonic()
    told = run(shell, *probes)
    assert time.monotonic() - start < limit(probes) + 2
    assert "timed out" in str(told["a.stubborn"].trouble)
    assert told["a.quick"].out == "here\n"
    assert told["a.endless"].cut
    assert told["a.endless"].trouble is not None
    assert len(told["a.endless"].out) < 20_000


# busybox's shell prefers its own timeout to that of PATH.
WITH_PATH = [each for each in SHELLS if each.id != "busybox sh"]
STUCK = Probe("a.stuck", "exec sleep 40", limit=1)
QUICK = Probe("a.quick", "echo here", limit=1)
SLOW = Probe("a.slow", "sleep 1; echo here", limit=3)


def run_with(shell: list[str], tmp_path: Path, timeout: str, *probes: Probe) -> Sections:
    """State D cannot be made at will: a timeout(1) that does not end its command stands for it."""
    fake = tmp_path / "timeout"
    fake.write_text(f"#!/bin/sh\n{timeout}\n")
    fake.chmod(0o755)
    start = time.monotonic()
    with subprocess.Popen(
        [*shell, "-c", node_script(probes)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        start_new_session=True,
    ) as process:
        told = read_frame(str(process.communicate(timeout=20)[0]).splitlines())
        os.killpg(process.pid, signal.SIGKILL)
    assert time.monotonic() - start < limit(probes) + 2
    return told


@pytest.mark.parametrize("shell", WITH_PATH)
def test_what_survives_sigkill_is_reported_and_left_behind(
    shell: list[str], tmp_path: Path
) -> None:
    told = run_with(shell, tmp_path, 'shift 3; [ "$*" = true ] || exec "$@"', STUCK, QUICK, SLOW)
    assert told["a.stuck"].rc is None
    assert "hung" in str(told["a.stuck"].trouble)
    assert told["a.quick"] == Section("a.quick", 0, "here\n")
    assert told["a.slow"] == Section("a.slow", 0, "here\n")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_timeout_that_gave_up_takes_no_other_answer(shell: list[str], tmp_path: Path) -> None:
    """coreutils' timeout sends SIGKILL to its whole group, itself included."""
    gives_up = 'shift 3; [ "$*" != true ] || exit 0; "$@" & sleep 1; exit 137'
    told = run_with(shell, tmp_path, gives_up, STUCK, QUICK)
    assert "timed out" in str(told["a.stuck"].trouble)
    assert told["a.quick"] == Section("a.quick", 0, "here\n")


@pytest.mark.parametrize("shell", WITH_PATH)
def test_without_a_timeout_a_hung_command_is_left_behind(shell: list[str], tmp_path: Path) -> None:
    told = run_with(shell, tmp_path, "exit 127", STUCK, QUICK)
    assert "hung" in str(told["a.stuck"].trouble)
    assert told["a.quick"] == Section("a.quick", 0, "here\n")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_may_do_to_its_shell_what_it_likes(shell: list[str]) -> None:
    told = run(
        shell,
        Probe("a.exec", "exec sh -c 'echo here; exit 4'"),
        Probe("a.exit", "cd /; set -- x; PATH=; exit 5"),
        Probe("a.killed", "kill -9 $$; sleep 5", limit=3),
        Probe("a.syntax", "if ((", limit=4),
        Probe("a.long", "while :; do echo 0123456789; done", cap=8, limit=5),
        Probe("a.same", "echo $# $COMMS $(pwd)", limit=5),
    )
    assert told["a.exec"] == Section("a.exec", 4, "here\n")
    assert told["a.exit"] == Section("a.exit", 5)
    assert told["a.killed"].trouble is not None
    assert told["a.long"].cut
    assert told["a.long"].trouble is not None
    assert told["a.syntax"].trouble is not None
    assert told["a.same"].rc == 0
    assert told["a.same"].out.startswith("0 /")


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_is_left_behind(shell: list[str]) -> None:
    def left() -> set[str]:
        return {str(p) for base in ("/run", "/dev/shm") for p in Path(base).glob("pyinfra-nvml.*")}

    before = left()
    run(shell, Probe("a.quick", "echo here"))
    assert left() <= before


def test_an_output_that_ends_in_the_middle_is_unknown() -> None:
    whole = ["@node 1", "@a.one rc=0 cut=0", "|x", "@a.two rc=0 cut=0", "|y", "@end 2"]
    told = read_frame(whole[:5])
    assert told["a.one"].trouble is None
    assert "ends in the middle" in str(told["a.two"].trouble)


def test_a_noisy_login_file_is_not_an_answer() -> None:
    told = read_frame(
        ["welcome", "|x", "@a.one rc=0 cut=0", "@node 1", "@a.one rc=1 cut=0", "|", "@end 1"]
    )
    assert told["a.one"].rc == 1


def test_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("a\nb:c\n")
    (tmp_path / "two").write_text(f"{tmp_path}/one:forged\n")
    told = run(["dash"], framed_files("a.files", f"{tmp_path}/*", "/no/such/file"))
    texts = file_texts(told["a.files"])
    assert texts == {f"{tmp_path}/one": "a\nb:c", f"{tmp_path}/two": f"{tmp_path}/one:forged"}


WORDS = st.text("ab|!@ \t", max_size=8)
LINES = st.lists(WORDS, max_size=3)


def framed(name: str, rc: int | None, out: list[str], err: list[str], cut: bool) -> list[str]:
    """The lines of one answer, as the script prints them."""
    head = f"@{name} rc={'hung' if rc is None else rc} cut={int(cut)}"
    return [head, *(f"|{line}" for line in out), *(f"!{line}" for line in err)]


@given(
    st.lists(st.tuples(st.sampled_from([None, 0, 127]), LINES, LINES, st.booleans()), max_size=4),
    LINES,
    st.data(),
)
def test_an_answer_is_whole_or_lost(
    given_answers: list[tuple[int | None, list[str], list[str], bool]],
    login: list[str],
    data: st.DataObject,
) -> None:
    """Wherever the output ends: no answer is there in part."""
    answers = {f"a.{number}": one for number, one in enumerate(given_answers)}
    body = [line for name, one in answers.items() for line in framed(name, *one)]
    lines = [*login, "@node 1", *body, f"@end {len(answers)}"]
    wanted = {
        name: Section(name, rc, "\n".join(out), "\n".join(err), cut)
        for name, (rc, out, err, cut) in answers.items()
    }
    assert read_frame(lines) == wanted
    text = "\n".join(lines)
    part = text[: data.draw(st.integers(0, len(text)))]
    for name, told in read_frame(part.split("\n")).items():
        assert told == wanted[name] or told.lost, part


@given(st.lists(st.text()))
def test_no_output_makes_the_reader_raise(lines: list[str]) -> None:
    for told in read_frame(["@node 1", *lines]).values():
        file_texts(told)
