"""Many names of nodes in a few words, as Slurm and ClusterShell write them: ``gpu-[001-412]``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# The last run of digits counts; more digits than these name nothing that is counted.
_NUMBERED = re.compile(r"^(.*?)(\d{1,9})(\D*)$", re.DOTALL | re.ASCII)


def fold_names(names: Sequence[str]) -> str:
    """The names, those that differ by a number alone as ranges, in the order of their first one.

    .. code:: python

        folded(["gpu-01", "gpu-02", "gpu-03", "login"]) == "gpu-[01-03], login"
    """
    groups: dict[tuple[str, str, int], list[int]] = {}
    for name in names:
        found = _NUMBERED.match(name)
        # A leading zero fixes the width; without one, 9 and 10 belong together.
        width = len(found[2]) if found and found[2].startswith("0") and found[2] != "0" else 0
        key = (found[1], found[3], width) if found else (name, "", -1)
        groups.setdefault(key, []).append(int(found[2]) if found else 0)
    return ", ".join(_written(*key, numbers) for key, numbers in _of_one_width(groups).items())


def join_names(names: Sequence[str], most: int = 400, counted: bool = False) -> str:
    """The folded names; of many in a few letters as many as fit, behind how many there are.

    .. code:: python

        named(["gpu-1", "gpu-3", "gpu-5", "gpu-7"], 12) == "4 nodes: gpu-[1,3 ..."
    """
    text = fold_names(names)
    if len(names) == 1:
        return text
    if len(text) > most:
        comma = text.rfind(",", 0, most)
        text, counted = f"{text[: comma if comma > 0 else most]} ...", True
    return f"{len(names)} nodes: {text}" if counted else text


def _of_one_width(
    groups: dict[tuple[str, str, int], list[int]],
) -> dict[tuple[str, str, int], list[int]]:
    """``gpu-09`` and ``gpu-10``: a number without leading zeros joins the width that it has."""
    joined: dict[tuple[str, str, int], list[int]] = {}
    for (head, tail, width), numbers in groups.items():
        for number in numbers:
            own = len(str(number))
            fits = width == 0 and (head, tail, own) in groups
            joined.setdefault((head, tail, own if fits else width), []).append(number)
    return joined


def _written(head: str, tail: str, width: int, numbers: list[int]) -> str:
    if width < 0:
        return head
    ranges = list(_ranges(sorted(set(numbers)), width))
    if len(ranges) == 1 and "-" not in ranges[0]:
        return f"{head}{ranges[0]}{tail}"
    return f"{head}[{','.join(ranges)}]{tail}"


def _ranges(numbers: Sequence[int], width: int) -> Iterator[str]:
    first = 0
    for place, number in enumerate(numbers):
        if place + 1 < len(numbers) and numbers[place + 1] == number + 1:
            continue
        start = numbers[first]
        written = f"{start:0{width}d}"
        yield written if start == number else f"{written}-{number:0{width}d}"
        first = place + 1
