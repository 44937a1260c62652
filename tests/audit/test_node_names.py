"""Many names in a few words, none lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyinfra_nvml.reports.node_names import fold_names


@pytest.mark.parametrize(
    ("names", "want"),
    [
        (["gpu-01", "gpu-02", "gpu-03", "login"], "gpu-[01-03], login"),
        (["gpu-09", "gpu-10", "gpu-11"], "gpu-[09-11]"),
        (["gpu9", "gpu10", "gpu12"], "gpu[9-10,12]"),
        (["gpu-1.example", "gpu-2.example"], "gpu-[1-2].example"),
        (["rack2-gpu1", "rack2-gpu2", "rack3-gpu1"], "rack2-gpu[1-2], rack3-gpu1"),
        (["10.0.0.7", "10.0.0.8"], "10.0.0.[7-8]"),
        (["a", "a1"], "a, a1"),
        (["n0", "n1", "n10"], "n[0-1,10]"),
        (["gpu-7"], "gpu-7"),
        (["gpu-٣", "gpu-4"], "gpu-٣, gpu-4"),
        ([], ""),
    ],
)
def test_names_that_differ_by_a_number_are_ranges(names: list[str], want: str) -> None:
    assert fold_names(names) == want


@given(st.lists(st.from_regex(r"(gpu|n)(-?0{0,2}[1-9][0-9]{0,2})", fullmatch=True), unique=True))
def test_every_name_comes_back(names: list[str]) -> None:
    assert sorted(_unfolded(fold_names(names))) == sorted(names)


def _unfolded(text: str) -> list[str]:
    found = []
    for part in re.split(r", (?![^\[]*\])", text) if text else []:
        bracket = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)
        if not bracket:
            found.append(part)
            continue
        for each in bracket[2].split(","):
            first, _, last = each.partition("-")
            for number in range(int(first), int(last or first) + 1):
                found.append(f"{bracket[1]}{number:0{len(first)}d}{bracket[3]}")
    return found
