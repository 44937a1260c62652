"""The scripts that install the scheduled audit on a node, in every shell they have to run in."""

from __future__ import annotations

import base64
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from pyinfra_nvml.operations import node
from tests.node_scripts import SHELLS, Sandbox, stand_in

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the scripts want root")

SCHEDULE = node.script("say", "metrics_file", "schedule")
UNSCHEDULE = node.script("say", "metrics_file", "unschedule")
INSTALL = node.script("say", "state", "lock", "install_tool")
# Makes what `python -m venv` makes, and pip in it; both tell what they were asked.
PYTHON = """
case $* in
  *venv*) for at; do :; done
    mkdir -p "$at/bin" && cp "$0" "$at/bin/python"
    printf '#!/bin/sh\\necho usage\\nexit ${TRY:-0}\\n' >"$at/bin/nvml-audit"
    chmod +x "$at/bin/nvml-audit" ;;
  *pip*) echo "$PIP_CONFIG_FILE $*" >>"$LOG"; exit ${PIP:-0} ;;
esac
"""


@pytest.fixture(params=sorted(SHELLS))
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path, request.param)


def line(mode: str, path: Path, text: str) -> str:
    return f"{mode} {path} {base64.b64encode(text.encode()).decode()}\n"


def test_files_are_put_in_place_once(sandbox: Sandbox) -> None:
    cron, health = sandbox.root / "cron.d/drift", sandbox.root / "sbin/health"
    old, link = sandbox.root / "old", sandbox.root / "wants/boot"
    old.write_text("from before")
    given = line("644", cron, "0 * * * *\n") + line("755", health, "#!/bin/sh\n")
    given += f"link {link} ../boot\nabsent {old} -\n"
    arguments = ("cron", "root", "yes", str(sandbox.root / "results"), "-")
    first = sandbox.run(SCHEDULE, *arguments, stdin=given)
    assert first.returncode == 0, first.stderr
    assert cron.read_text() == "0 * * * *\n"
    assert health.stat().st_mode & 0o777 == 0o755
    assert str(link.readlink()) == "../boot"
    assert not old.exists()
    assert sorted(path.name for path in cron.parent.iterdir()) == ["drift"]
    second = sandbox.run(SCHEDULE, *arguments, stdin=given)
    assert second.returncode == 0, second.stderr
    assert second.stdout == ""


def test_metrics_that_nobody_writes_any_more_go(sandbox: Sandbox) -> None:
    cron, at = sandbox.root / "cron.d/drift", sandbox.root
    arguments = ("cron", "root", "yes", str(at / "results"), "-")

    def writes(name: str) -> str:
        words = f" --textfile {at}/{name}" if name else ""
        return line(
            "644", cron, f"# --textfile {at}/note.prom\n0 * * * * audit{words} >/dev/null\n"
        )

    for name in ("note.prom", "a.prom", "b.prom"):
        (at / name).write_text("pyinfra_nvml_last_run_exit_code 1.0\n")
    for name, left in (("a.prom", "ab"), ("a.prom", "ab"), ("b.prom", "b"), ("", "")):
        done = sandbox.run(SCHEDULE, *arguments, stdin=writes(name))
        assert done.returncode == 0, done.stderr
        assert sorted(path.stem for path in at.glob("?.prom")) == sorted(left)
    (at / "b.prom").touch()
    assert sandbox.run(SCHEDULE, *arguments, stdin=writes("b.prom")).returncode == 0
    done = sandbox.run(UNSCHEDULE, str(cron))
    assert (done.returncode, done.stdout) == (0, f"removed {at}/b.prom\nremoved {cron}\n"), done
    assert (at / "note.prom").exists()


@pytest.mark.parametrize(
    ("user", "create", "textfile", "told"),
    [
        ("no-such-user", "no", "-", "user no-such-user: saw no such user, want a user of this"),
        ("root", "yes", "/no/such", "/no/such: saw no such directory, want that of node_exporter"),
        ("nobody", "no", "TMP", "saw user nobody may not write there, want it to"),
    ],
)
def test_nothing_is_written_before_a_refusal(
    sandbox: Sandbox, user: str, create: str, textfile: str, told: str
) -> None:
    cron = sandbox.root / "drift"
    textfile = str(sandbox.etc) if textfile == "TMP" else textfile
    arguments = ("cron", user, create, str(sandbox.root / "results"), textfile)
    done = sandbox.run(SCHEDULE, *arguments, stdin=line("644", cron, "x"))
    assert done.returncode == 1
    assert told in done.stderr
    assert not cron.exists()


def archive(sandbox: Sandbox, digest: str) -> Path:
    """An upload as it lies on the node."""
    wheels = sandbox.root / "requirements.txt"
    wheels.write_text("pyinfra-nvml==0.1.0\n")
    home = sandbox.root / "home"
    home.mkdir(exist_ok=True)
    path = home / f"{digest}.tar"
    with tarfile.open(path, "w") as packed:
        packed.add(wheels, "requirements.txt")
    return path


def install(sandbox: Sandbox, digest: str, **environment: str) -> tuple[int, str]:
    sets = "".join(f"export {name}={value}\n" for name, value in environment.items())
    sets += f"export LOG={sandbox.root}/pip.log\n"
    stand_in(sandbox.bin, "python3", PYTHON)
    path = archive(sandbox, digest)
    home = str(sandbox.root / "home")
    words = (home, digest, "python3", str(path), "nvml-audit")
    done = sandbox.run(sets + INSTALL, *words)
    return done.returncode, done.stdout + done.stderr


def in_use(sandbox: Sandbox) -> str:
    return str((sandbox.root / "home/current").readlink())


def versions(sandbox: Sandbox) -> list[str]:
    return sorted(path.name for path in (sandbox.root / "home/versions").iterdir())


def test_a_version_comes_into_use_and_the_one_before_stays(sandbox: Sandbox) -> None:
    for digest in ("aa", "bb", "cc"):
        assert install(sandbox, digest)[0] == 0
        assert in_use(sandbox) == f"versions/{digest}"
    assert versions(sandbox) == ["bb", "cc"]
    home = sandbox.root / "home"
    assert {path.name for path in home.iterdir()} - {"lock"} == {"current", "versions"}
    asked = (sandbox.root / "pip.log").read_text().splitlines()[0]
    assert asked.startswith("/dev/null -I -m pip install --quiet --no-cache-dir --no-index ")
    assert " --require-hashes " in asked


@pytest.mark.parametrize("fault", [{"PIP": "1"}, {"TRY": "1"}])
def test_a_version_that_does_not_run_leaves_the_one_in_use(
    sandbox: Sandbox, fault: dict[str, str]
) -> None:
    assert install(sandbox, "aa")[0] == 0
    code, told = install(sandbox, "bb", **fault)
    assert code == 1
    assert "bb" in told
    assert ": saw " in told
    assert in_use(sandbox) == "versions/aa"
    assert versions(sandbox) == ["aa"]
    assert install(sandbox, "bb")[0] == 0
    assert in_use(sandbox) == "versions/bb"


def test_what_a_killed_run_left_half_made_is_made_again(sandbox: Sandbox) -> None:
    half = sandbox.root / "home/versions/aa"
    half.mkdir(parents=True)
    (half / "left").write_text("over")
    assert install(sandbox, "aa")[0] == 0
    assert not (half / "left").exists()


def test_the_program_is_taken_away_and_other_things_stay(sandbox: Sandbox) -> None:
    assert install(sandbox, "aa")[0] == 0
    home = sandbox.root / "home"
    (home / "notes").write_text("of somebody")
    remove = node.script("say", "remove_tool")
    assert sandbox.run(remove, str(home)).returncode == 0
    assert [path.name for path in home.iterdir()] == ["notes"]
    shutil.rmtree(home)
    assert sandbox.run(remove, str(home)).returncode == 0
