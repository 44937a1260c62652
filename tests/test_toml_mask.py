"""What of a TOML file leaves the node: its structure and the values asked for, and no secret."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyinfra_nvml.facts.toml_mask import masked
from pyinfra_nvml.facts.toml_text import parse_toml, value_at
from pyinfra_nvml.model.unknown import Unknown

AWKS = [
    pytest.param(
        awk, id=awk, marks=pytest.mark.skipif(not shutil.which(awk.split()[0]), reason=f"no {awk}")
    )
    for awk in ("mawk", "gawk", "busybox awk", "original-awk")
]
CONFIG = (Path(__file__).parent / "containerd_config.toml").read_text()
BROKEN = {
    "an open string": ('a = 1\npassword = "s3cret\ns3cret = "s3cret"\n', 2),
    "no quotes": ("[auth]\npassword = s3cret\n", 2),
    "no value": ("[auth]\npassword =\n", 2),
    "no word of the format": ("[auth]\n$s3cret\ns3cret = 1\n", 2),
}


def shown(place: Path, text: str, awk: str = "awk") -> str:
    file = place / "config.toml"
    file.write_text(text)
    command = masked(f"grep -H '' {file}", "imports", "default_runtime_name")
    done = subprocess.run(
        ["sh", "-c", command.replace("| awk ", f"| {awk} ")], capture_output=True, text=True
    )
    assert done.stderr == ""
    prefix = f"{file}:"
    assert all(line.startswith(prefix) for line in done.stdout.splitlines())
    return "\n".join(line.removeprefix(prefix) for line in done.stdout.splitlines())


@pytest.mark.parametrize("awk", AWKS)
def test_no_secret_leaves_the_node(tmp_path: Path, awk: str) -> None:
    told = shown(tmp_path, CONFIG, awk)
    assert "s3cret" not in told
    tables = parse_toml("config.toml", told)
    assert not isinstance(tables, Unknown), tables
    assert tables["imports"] == ["/etc/containerd/conf.d/*.toml", "more.toml"]
    containerd = value_at(tables, "plugins", "io.containerd.grpc.v1.cri", "containerd")
    assert containerd["default_runtime_name"] == "nvidia"
    assert containerd["runtimes"]["nvidia"]["options"]["SystemdCgroup"] is True


@pytest.mark.parametrize("awk", AWKS)
@pytest.mark.parametrize("kind", BROKEN)
def test_a_fault_is_told_by_its_line(tmp_path: Path, awk: str, kind: str) -> None:
    text, line = BROKEN[kind]
    told = shown(tmp_path, text, awk)
    assert "s3cret" not in told
    fault = parse_toml("config.toml", told)
    assert isinstance(fault, Unknown)
    assert fault.reason.startswith(f"config.toml, line {line}, column "), fault


SECRET = st.text("ab \"'#[]{}=,.\\\n", max_size=12).map(lambda text: f"s3cret{text}s3cret")


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(SECRET, max_size=4), st.booleans())
def test_a_string_of_any_form_is_no_end_of_itself(
    tmp_path: Path, secrets: list[str], on: bool
) -> None:
    lines = [f"k{at} = {quoted(secret)}" for at, secret in enumerate(secrets)]
    text = "\n".join([*lines, f"options.SystemdCgroup = {str(on).lower()}", ""])
    told = shown(tmp_path, text)
    assert "s3cret" not in told
    tables = parse_toml("config.toml", told)
    assert not isinstance(tables, Unknown), (tables, text, told)
    assert tables["options"]["SystemdCgroup"] is on
    assert len(tables) == len(secrets) + 1


def quoted(text: str) -> str:
    """The text as a string of TOML, of the first of its kinds that can hold it."""
    if "\n" not in text and "'" not in text:
        return f"'{text}'"
    if "\n" not in text:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if "'''" not in text:
        return f"'''{text}'''"
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{escaped}"""'
