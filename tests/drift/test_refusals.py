"""What makes no sense is refused before any host is connected to."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pyinfra_nvml.drift.command_line import parse_options
from tests.drift.place import ROOT, Place

REFUSED = [
    (["--data", "audit_levl=none", "--limit", "zork"], "fleet.py", [
        "unknown setting audit_levl (--data): did you mean audit_level?\n",
        "limit zork: saw no such host or group, want one of this inventory\n",
    ]),
    (["--data", "batch_size=none"], "fleet.py", [
        "setting batch_size is 'none' (--data); expected a number from 1\n"
    ]),
    (["--data", "report_junit=."], "fleet.py", [
        "setting report_junit is '.' (--data); expected the path of a file on this machine, not"
    ]),
    (["--data", "report_junit=a.x", "--data", "report_json=./a.x"], "fleet.py", [
        "settings report_json and report_junit are both 'a.x' (--data); expected two files\n"
    ]),
    (["--data", 'waivers=[{"check": "zork"}, 7]'], "fleet.py", [
        "setting waivers: owner of item 1 is missing (--data); expected text\n",
        "setting waivers: item 2 is 7 (--data); expected an object with check, ",
    ]),
    (["--data", "_timeout=abc"], "fleet.py", [
        "setting _timeout is 'abc' (--data); expected a number of seconds from 1, or None\n"
    ]),
    (["--data", "_timeout=-1"], "fleet.py", [
        "setting _timeout is -1 (--data); expected a number of seconds from 1, or None\n"
    ]),
    ([], "none.py", ["inventory none.py: saw no such file or host, want a file, @local or"]),
    ([], "empty.py", ["inventory empty.py: saw no hosts in it, want a list of hosts\n"]),
    ([], "words.py", ["inventory words.py, line 1: saw invalid syntax, want Python\n"]),
    ([], ".", ["inventory .: saw Is a directory, want hosts\n"]),
    ([], "own.py", ["setting waivers is 7 (host gpu-02 and 1 more); expected a list of waivers\n"]),
    ([], "refuses.py", ["inventory refuses.py: hosts.ini:3: saw 'b', want KEY=VALUE\n"]),
    ([], "fails.py", ["inventory fails.py, line 1: saw KeyError: 'HOSTS', want hosts\n"]),
]  # fmt: skip
OTHERS = {
    "empty.py": "hosts = []\n",
    "words.py": "gpu one\n",
    "own.py": "own = {'waivers': 7}\nhosts = ['gpu-01', ('gpu-02', own), ('gpu-03', own)]\n",
    "refuses.py": "from pyinfra.api.exceptions import InventoryError\n"
    "raise InventoryError(\"hosts.ini:3: saw 'b', want KEY=VALUE\")\n",
    "fails.py": "hosts = {}['HOSTS']",
}


@pytest.mark.parametrize(("more", "inventory", "told"), REFUSED)
def test_what_makes_no_sense_is_refused(
    place: Place, more: list[str], inventory: str, told: list[str]
) -> None:
    for name, text in OTHERS.items():
        (place.path / name).write_text(text)
    code, said = place.run(*more, inventory=inventory)
    assert (code, [words for words in told if words not in said]) == (3, []), said
    assert not (place.results / "audit.json").exists()


def test_a_directory_that_its_user_may_not_enter_is_told(place: Place) -> None:
    """As after `su -c`, from root's own."""
    words = ["--document=new.json", "--alarm=60", f"--parent={os.getpid()}", "fleet.py"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pyinfra_nvml.drift.audit_in_process",
            f"--chdir={place.path}/gone",
            *words,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    told = f"directory {place.path}/gone: saw No such file or directory, want one that this user"
    assert (done.returncode, told in done.stdout) == (3, True), done


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--data", "batch_size"], "--data: saw 'batch_size', want SETTING=VALUE"),
        (["--level", "bad"], "saw 'bad', want one of broken, at risk, advice, none"),
        (["--results", ""], "--results: saw '', want a directory"),
        (["--last", "--accept"], "--last --accept: saw both, want one"),
        (["--last", "--data", "audit_level=none"], "--last --data: saw both, want one"),
        (["--interval", "0"], "saw '0', want a number of seconds"),
        (["--interval", "1e300"], "saw '1e300', want a number of seconds up to 100000000"),
        (["--time-limit", "nan"], "saw 'nan', want a number of seconds"),
        (["--textfile", "/nowhere/x.prom"], "--textfile: saw /nowhere/x.prom, want"),
        (["--exit-scheme", "sensu"], "saw 'sensu', want one of plain, nagios, npd"),
        (["--exit-scheme"], "expected one argument"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(["fleet.py", *words])
    assert ended.value.code == 3
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(("scheme", "code"), [("npd", 2), ("nagios", 3), ("plain", 3)])
def test_a_usage_error_ends_as_the_scheme_says(scheme: str, code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(["fleet.py", "--zork", f"--exit-scheme={scheme}"])
    assert ended.value.code == code
