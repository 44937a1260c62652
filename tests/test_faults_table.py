"""Every fault of the table has the test that injects it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.lab.faults import FAULTS

LAB = Path(__file__).with_name("lab")


def test_each_fault_names_a_test_that_is_there() -> None:
    for key in FAULTS:
        file, _, name = key.partition("/")[0].partition("::")
        text = (LAB / file).read_text()
        assert re.search(rf"^def {name}\(", text, re.MULTILINE), key
