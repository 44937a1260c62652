"""The documentation that is written from the code says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from docs import generate, mission_page, settings_page
from inventories.group_data import all as group_data
from pyinfra_nvml import checks
from pyinfra_nvml.audit.catalogue import check_entries
from pyinfra_nvml.model.refusal import Overrule
from pyinfra_nvml.settings.models import MODELS, every_setting

DOCS = generate.PATH.parent


def test_the_page_of_checks_is_current() -> None:
    assert generate.PATH.read_text() == generate.pages(), "run: make docs"


def test_the_page_of_the_mission_is_current() -> None:
    assert mission_page.PATH.read_text() == mission_page.page(), "run: make docs"


def test_the_page_of_the_settings_is_current() -> None:
    assert settings_page.PATH.read_text() == settings_page.page(), "run: make docs"


def test_the_inventorys_defaults_are_those_that_the_settings_declare() -> None:
    assert settings_page.DEFAULTS.read_text() == settings_page.defaults(), "run: make docs"
    for model in MODELS:
        written = {
            name: getattr(group_data, name)
            for name, field in zip(model.names(), model.model_fields.values(), strict=True)
            if field.default != getattr(group_data, name)
        }
        # Paths are texts in an inventory.
        read = model.read({name: getattr(group_data, name) for name in model.names()})
        assert {name: getattr(read, name) for name in written} == {
            name: model.model_fields[name].default for name in written
        }


def test_every_setting_has_its_meaning() -> None:
    sections = settings_page.page().split("\n## ")[1:]
    assert [section for section in sections if not section.partition("```\n\n")[2].strip()] == []
    named = {name for section in sections for name in section.splitlines()[0].split(", ")}
    assert every_setting() <= named


def test_every_page_is_in_the_site_and_every_link_leads_somewhere() -> None:
    site = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text())
    listed = {page for part in site["nav"] for page in _pages(part)}
    there = {path.name for path in DOCS.glob("*.md")}
    assert listed == there
    for path in (*DOCS.glob("*.md"), *DOCS.glob("decisions/*.md"), DOCS.parent / "README.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_anchor_is_a_heading() -> None:
    for path in DOCS.glob("*.md"):
        for page, anchor in re.findall(r"\]\(([\w.-]*)#([^)]+)\)", path.read_text()):
            text = (DOCS / page if page else path).read_text()
            assert anchor in _anchors(text), f"{path.name}: {page}#{anchor}"
    rules = (DOCS.parent / "templates/prometheus/pyinfra_nvml.rules.yml").read_text()
    runbooks = set(re.findall(r"runbook: docs/metrics\.md#(\S+)", rules))
    assert runbooks
    assert runbooks <= _anchors((DOCS / "metrics.md").read_text())


def _anchors(text: str) -> set[str]:
    """As the site and GitHub make them of headings."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_the_pages_name_every_refusal_that_can_be_overruled() -> None:
    cure, reboot = ((DOCS / name).read_text() for name in ("cure.md", "driver.md"))
    named = set(re.findall(r"`--data overrule=([\w-]+)`|\(or `([\w-]+)`\)", cure))
    refused = reboot.partition("## When it refuses")[2]
    cells = re.findall(r"\| ([\w, -]+) \|$", refused, re.MULTILINE)
    told = {name for pair in named for name in pair if name}
    told |= {name for cell in cells for name in cell.split(", ")}
    assert told >= {each.value for each in Overrule}


def _pages(part: object) -> list[str]:
    if isinstance(part, str):
        return [part]
    assert isinstance(part, dict)
    return [page for below in part.values() for each in _list(below) for page in _pages(each)]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def test_every_check_has_its_page() -> None:
    headings = re.findall(r"^## (\S+)$", generate.pages(), re.MULTILINE)
    assert headings == [entry.id for entry in check_entries()]


def test_what_the_questions_refer_to_is_there() -> None:
    text = Path(generate.PATH).with_name("faq.md").read_text()
    named = set(re.findall(r"checks\.md#([\w-]+)", text))
    assert named
    assert named <= {entry.id for entry in check_entries()}
    questions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert [each for each in questions if "checks.md#" not in each] == []


def test_what_findings_refer_to_is_there() -> None:
    ids = {entry.id for entry in check_entries()}
    named = {
        found
        for path in Path(checks.__path__[0]).glob("*.py")
        for found in re.findall(r"checks\.md#([\w-]+)", path.read_text())
    }
    assert named
    assert named <= ids
