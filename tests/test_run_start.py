"""pyinfra's own command, typed wrong in the ways that pyinfra itself ends with 0 or a traceback."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from pyinfra_cli.cli import cli

from pyinfra_nvml.fleet.run_start import begin_run, run_refusals
from tests.typed import Ended, typed

ROOT = Path(__file__).resolve().parent.parent
AUDIT = str(ROOT / "deploys" / "audit.py")
PYINFRA = Path(sys.executable).with_name("pyinfra")

INVENTORIES = {
    "good.py": 'hosts = ["@local"]\n',
    "empty.py": "hosts = []\n",
    "words.py": 'hosts = "gpu-01"\n',
    "numbers.py": "hosts = [7]\n",
    "open.py": 'hosts = [\n    "gpu-01",\n',
    "fails.py": "\n\nimport nosuch\n",
    "my fleet.py": "hosts = []\n",
    "groups.py": 'gpus = ["gpu-01", ("gpu-02", {"batch_size": 0})]\n',
}
KEYS = {
    "words": "nothing of a key\n",
    "id.pub": "ssh-ed25519 AAAA made-up\n",
}

# What is typed, and all that is said about it.
REFUSED = [
    (["none.py"], "inventory none.py: saw no such file or host, want a file, @local or host names"),
    (["empty.py"], "inventory empty.py: saw no hosts in it, want a list of hosts"),
    (["words.py"], "inventory words.py: saw no hosts in it, want a list of hosts"),
    (["numbers.py"], "inventory numbers.py: saw no hosts in it, want a list of hosts"),
    (["my fleet.py"], "inventory my fleet.py: saw no hosts in it, want a list of hosts"),
    (["open.py"], "inventory open.py, line 1: saw '[' was never closed, want Python"),
    (
        ["fails.py"],
        "inventory fails.py, line 3: saw ModuleNotFoundError: No module named 'nosuch', want hosts",
    ),
    (
        ["good.py", "--limit", "gpu-99", "--data", "batch_sise=4"],
        "limit gpu-99: saw no such host or group, want one of this inventory\n"
        "unknown setting batch_sise (--data): did you mean batch_size?",
    ),
    (
        ["good.py", "--exclude", "gpu-99"],
        "exclude gpu-99: saw no such host or group, want one of this inventory",
    ),
    (
        ["good.py", "--exclude", "@lo*"],
        "exclude @lo*: saw every host of the run excluded, want one left",
    ),
    (
        ["groups.py", "--data", "max_failures=lots", "--data", "reboot=yes"],
        "setting max_failures is 'lots' (--data); expected a number from 0\n"
        "setting reboot is 'yes' (--data); expected true or false\n"
        "setting batch_size is 0 (host gpu-02); expected a number from 1",
    ),
    (
        ["groups.py", "--data", "max_failures=lots", "--limit", "gpu-01"],
        "setting max_failures is 'lots' (--data); expected a number from 0",
    ),
    (["good.py", "--data", "batch_size"], "--data: saw 'batch_size', want SETTING=VALUE"),
    (
        ["good.py", "--data", "ssh_key=none"],
        "ssh_key none: saw No such file or directory, want the file of a private key",
    ),
    (
        ["good.py", "--key", "words"],
        "ssh_key words: saw no private key in it, want the file of a private key",
    ),
    (
        ["good.py", "--key", "id.pub"],
        "ssh_key id.pub: saw a public key, want the file of a private key",
    ),
]


def _asked(*words: str) -> dict[str, Any]:
    with cli.make_context("pyinfra", [*words[:1], AUDIT, "-y", *words[1:]]) as context:
        return context.params


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {**INVENTORIES, **KEYS}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "told"), REFUSED)
@pytest.mark.usefixtures("place")
def test_a_run_of_nothing_is_refused(words: list[str], told: str) -> None:
    assert "\n".join(run_refusals(_asked(*words))) == told


@pytest.mark.usefixtures("place")
def test_a_run_of_something_is_not(caplog: pytest.LogCaptureFixture) -> None:
    assert not list(run_refusals(_asked("good.py", "--data", "batch_size=4", "--limit", "@lo*")))
    assert not caplog.records


def _pyinfra(place: Path, *words: str | Path, path: str | None = str(ROOT)) -> Ended:
    others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return typed(PYINFRA, *words, cwd=place, env={**others, "PYTHONPATH": path} if path else others)


def _audited(place: Path, *words: str) -> Ended:
    for name in ("config.py", "audit", "inventories", "group_data", "deploys"):
        (place / name).symlink_to(ROOT / name)
    return _pyinfra(place, "--dry", "-y", words[0], "deploys/audit.py", *words[1:])


def test_a_refusal_is_all_that_is_said_and_ends_with_1(place: Path) -> None:
    ended = _audited(place, "empty.py")
    told = "inventory empty.py: saw no hosts in it, want a list of hosts"
    assert (ended.returncode, ended.stderr) == (1, f"--> Loading config...\n{told}\n")


@pytest.mark.parametrize("deploy", ["deploys/audit.py", str(ROOT / "deploys" / "fix_cgroup.py")])
def test_a_deploy_is_run_from_anywhere(place: Path, deploy: str) -> None:
    words = ["inventories/recorded.py", deploy, "--dry", "-y", "--limit", "@fake/gpu_good"]
    report = f"--data=report_json={place}/audit.json"
    ended = _pyinfra(place, "--chdir", ROOT, *words, report, path=None)
    assert (ended.returncode, "1 node: nothing found" in ended.stdout) == (0, True), ended.stderr
    assert (place / "audit.json").exists()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "deploys").glob("[a-z]*.py")), ids=lambda path: path.stem
)
def test_a_deploy_whose_modules_are_not_found_says_what_to_do(path: Path) -> None:
    # Python shows this line above "No module named 'pyinfra_nvml'".
    first = next(
        line for line in path.read_text().splitlines() if line.startswith("from pyinfra_nvml")
    )
    assert first.endswith("  # not found? pyinfra --chdir CHECKOUT")


def test_installed_as_a_package_a_deploy_runs_anywhere(place: Path) -> None:
    options = [f"--group-data={ROOT}/inventories/group_data", f"--config={ROOT}/config.py"]
    words = ["good.py", AUDIT, "--dry", "-y", "--data", "batch_size=none"]
    ended = _pyinfra(place, *words, *options)
    told = "setting batch_size is 'none' (--data); expected a number from 1"
    assert (ended.returncode, ended.stderr) == (1, f"--> Loading config...\n{told}\n")


@pytest.mark.usefixtures("place")
def test_a_run_that_is_interrupted_is_none_that_went_well(monkeypatch: pytest.MonkeyPatch) -> None:
    set_up: dict[int, Any] = {}
    monkeypatch.setattr(signal, "signal", set_up.__setitem__)
    begin_run({**_asked("good.py"), "operations": ("debug-inventory",)})
    with pytest.raises(SystemExit) as ended:
        set_up[signal.SIGINT](signal.SIGINT, None)
    assert ended.value.code == 130


def test_where_no_host_answers_the_report_says_why(place: Path) -> None:
    # Nothing listens on port 9 (discard, RFC 863).
    ended = _audited(place, "127.0.0.1,localhost", "--data", "ssh_port=9")
    assert ended.returncode == 1
    assert "127.0.0.1 · no answer: could not be connected to: Could not connect (" in ended.stdout
    assert "want sshd reachable there: host data ssh_port" in ended.stdout
    assert "2 nodes: 2 without an answer" in ended.stdout
    assert (place / "results" / "audit.json").exists()
    assert "Traceback" not in ended.stderr
