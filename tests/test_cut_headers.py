"""Answers of nodes that were recorded before the whole structure of TOML files was printed."""

from __future__ import annotations

from pyinfra_nvml.facts.cut_headers import close_headers
from pyinfra_nvml.facts.toml_text import parse_toml, value_at

CRI = 'plugins."io.containerd.grpc.v1.cri"'
OLD = f"""\
[
[{CRI}
[{CRI}.containerd]
  default_runtime_name = "nvidia"
[{CRI}.containerd.runtimes.runc.options]
  SystemdCgroup = true
[{CRI}
[
"""


def test_the_lines_that_decide_are_read() -> None:
    tables = parse_toml("/etc/containerd/config.toml", close_headers(OLD))
    keys = ("plugins", "io.containerd.grpc.v1.cri", "containerd", "default_runtime_name")
    assert value_at(tables, *keys) == "nvidia"


def test_a_file_that_is_broken_stays_so() -> None:
    for text in (f"version = 2\n[{CRI}\n", "[plugins.cri\nkey = 1\n", "[x]\ny = \n"):
        assert close_headers(text) == text


def test_a_whole_file_stays_as_it_is() -> None:
    text = f"[{CRI}.containerd]\n  default_runtime_name = 'nvidia'\n"
    assert close_headers(text) == text
