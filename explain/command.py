"""Says of a pasted text which fault it shows, where to look next, what to do and what not to do.

    python -m pyinfra_nvml.explain FILE
    docker logs trainer 2>&1 | python -m pyinfra_nvml.explain
    python -m pyinfra_nvml.explain --text 'Failed to initialize NVML: Unknown Error'

Exit code 0: something was recognised; 2: nothing was; 3: the text could not be read, or the command
was not understood. docs/explain.md has more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from typing_extensions import override

from pyinfra_nvml.explain.pasted import CAP, pasted_lines, tail
from pyinfra_nvml.explain.recognise import Recognised, recognise
from pyinfra_nvml.explain.symptom import Kind, symptoms
from pyinfra_nvml.model.printable import printable

RECOGNISED, NOTHING, USAGE = 0, 2, 3

_SHOWN = 200
"""Characters of a line that are shown."""

ORDER = """\
look in this order:
  versions  nvidia-smi on the node and in the container; cat /sys/module/nvidia/version; modinfo -F
            version nvidia; docker version; nvidia-ctk --version
  cgroup    docker info, for Cgroup Driver and Cgroup Version; stat -fc %T /sys/fs/cgroup
  rest      dmesg for NVRM and Xid; ls -l /dev/nvidia*; the libraries that the loader takes
or let the node itself be asked: make audit INVENTORY=your_inventory.py"""


def words(found: Sequence[Recognised], count: int) -> Iterator[str]:
    """What is told of a text with this many lines."""
    for number, one in enumerate(found, 1):
        yield from _block(number, one)
        yield ""
    kinds = [one.symptom.kind for one in found]
    if kinds:
        told = ", ".join(f"{kinds.count(kind)} {kind.value}" for kind in Kind if kind in kinds)
        yield f"{told}, in {_lines(count)}"
    else:
        yield f"nothing recognised in {_lines(count)}, of the {len(symptoms())} signs known here"
    if Kind.FAULT not in kinds:
        yield from ORDER.splitlines()


def _block(number: int, one: Recognised) -> Iterator[str]:
    symptom = one.symptom
    checks = f"  [{', '.join(symptom.checks)}]" if symptom.checks else ""
    yield f"{number}. {symptom.kind.value} · {symptom.title}{checks}"
    more = f"  (and {one.count - 1} more)" if one.count > 1 else ""
    yield f"  line  {one.line.number}: {_short(one.line.text)}{more}"
    if one.told:
        yield f"  told  {', '.join(f'{name} {printable(v)}' for name, v in one.told.items())}"
    yield f"  why   {symptom.why}"
    for place, (area, text) in enumerate(symptom.look.items()):
        yield f"  {'look' if place == 0 else '    '}  {area.value}: {text}"
    yield f"  do    {symptom.do}"
    yield f"  not   {symptom.avoid}"
    yield f"  read  {symptom.reference}"


def _short(text: str) -> str:
    shown = printable(text.strip())
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def explain_document(found: Sequence[Recognised]) -> list[dict[str, object]]:
    """What was recognised, for programs."""
    return [
        {
            "symptom": one.symptom.id,
            "kind": one.symptom.kind.value,
            "area": one.symptom.area.value,
            "checks": list(one.symptom.checks),
            "title": one.symptom.title,
            "line": one.line.number,
            "text": _short(one.line.text),
            "count": one.count,
            "told": dict(one.told),
            "why": one.symptom.why,
            "look": {area.value: text for area, text in one.symptom.look.items()},
            "do": one.symptom.do,
            "avoid": one.symptom.avoid,
            "reference": one.symptom.reference,
        }
        for one in found
    ]


class _Parser(argparse.ArgumentParser):
    @override
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(prog="nvml-explain", description="Says which fault a pasted text shows.")
    parser.add_argument("file", nargs="?", help="the text's file; - or none: standard input")
    parser.add_argument("--text", help="the text itself")
    parser.add_argument("--json", action="store_true", help="for programs")
    asked = parser.parse_args(given)
    if asked.text is not None and asked.file is not None:
        parser.error(f"saw both --text and {asked.file}, want one of them")
    return asked


def _data(asked: argparse.Namespace) -> tuple[bytes, bool]:
    if asked.text is not None:
        return str(asked.text).encode("utf-8", "surrogateescape"), False
    if asked.file not in (None, "-"):
        with Path(asked.file).open("rb") as stream:
            return tail(stream)
    if sys.stdin.isatty():
        print("paste the text, then Enter and Ctrl-D", file=sys.stderr)
    return tail(sys.stdin.buffer)


def main(given: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    asked = _arguments(given)
    try:
        data, cut = _data(asked)
    except OSError as reason:
        print(f"{asked.file}: {reason.strerror}, want a text to read", file=sys.stderr)
        return USAGE
    if cut:
        print(f"of a longer text the last {CAP // 2**20} MiB are read", file=sys.stderr)
    text = tuple(pasted_lines(data))
    found = recognise(text)
    count = text[-1].number if data.strip() else 0
    said = (
        json.dumps(explain_document(found), indent=2)
        if asked.json
        else "\n".join(words(found, count))
    )
    # What names, paths and logs hold may not exist in the terminal's encoding.
    sys.stdout.buffer.write(f"{said}\n".encode(sys.stdout.encoding, "backslashreplace"))
    return RECOGNISED if found else NOTHING


if __name__ == "__main__":
    sys.exit(main())
