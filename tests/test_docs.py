"""The documentation that is written from the code says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import checks
from audit.catalogue import entries
from docs import generate, mission_page


def test_the_page_of_checks_is_current() -> None:
    assert generate.PATH.read_text() == generate.pages(), "run: make docs"


def test_the_page_of_the_mission_is_current() -> None:
    assert mission_page.PATH.read_text() == mission_page.page(), "run: make docs"


def test_every_check_has_its_page() -> None:
    headings = re.findall(r"^## (\S+)$", generate.pages(), re.MULTILINE)
    assert headings == [entry.id for entry in entries()]


def test_what_the_questions_refer_to_is_there() -> None:
    text = Path(generate.PATH).with_name("faq.md").read_text()
    named = set(re.findall(r"checks\.md#([\w-]+)", text))
    assert named
    assert named <= {entry.id for entry in entries()}
    questions = re.split(r"^\*\*", text, flags=re.MULTILINE)[1:]
    assert len(questions) == 10


def test_what_findings_refer_to_is_there() -> None:
    ids = {entry.id for entry in entries()}
    named = {
        found
        for path in Path(checks.__path__[0]).glob("*.py")
        for found in re.findall(r"checks\.md#([\w-]+)", path.read_text())
    }
    assert named
    assert named <= ids
