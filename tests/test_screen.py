"""Where the report for people goes, whatever stands at the other end."""

from __future__ import annotations

import io
import sys

import pytest

from pyinfra_nvml.fleet.run_report import report_console


def _stream(encoding: str) -> tuple[io.BytesIO, io.TextIOWrapper]:
    raw = io.BytesIO()
    return raw, io.TextIOWrapper(raw, encoding=encoding, write_through=True)


@pytest.mark.parametrize(
    ("encoding", "shown"), [("utf-8", "a · b".encode()), ("ascii", rb"a \xb7 b")]
)
def test_a_character_that_the_encoding_lacks_is_shown_as_its_escape(
    monkeypatch: pytest.MonkeyPatch, encoding: str, shown: bytes
) -> None:
    raw, stream = _stream(encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    report_console().print("a · b")
    assert raw.getvalue().rstrip() == shown


def test_with_json_standard_output_is_left_to_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    raw, stream = _stream("utf-8")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "argv", ["pyinfra", "--json"])
    report_console().print("report")
    assert raw.getvalue() == b"report\n"
