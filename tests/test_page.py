"""The HTML page, as a real browser shows it: 500 nodes, filters, evidence, light, dark, paper."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pyinfra_nvml.audit.catalogue import check_entries
from pyinfra_nvml.audit.document import Run
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Undetermined, result
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.reports.fleet_table import COLUMNS
from pyinfra_nvml.reports.page import page
from tests import chromium, recordings
from tests.fleet import large
from tests.installed import program

AT = datetime(2026, 1, 2, tzinfo=timezone.utc)
EVIL = "<script>alert(1)</script>\x1b[2J\u202e"
TAB, ENTER = 9, 13
HOSTILE = (
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 1</script>",
    "</style><img src=http://other.example/x onerror='window.hit = 1'>",
    '"><svg onload="window.hit = 1">',
    "' onmouseover='window.hit = 1",
    "javascript:window.hit = 1",
    "{{ 7 * 7 }}",
    "\x1b]0;title\x07\u202e\u2066\u200b\ufeff",
    "a\r\nb\tc\x00\x7f\x85\u2028",
    "\udc80\uffff\ue000\U000e0041",
    "x" * 10_000,
)


def evil(name: str = f'"><img src=x onerror=alert(1)>{EVIL}', said: str = EVIL) -> Verdict:
    finding = Finding(
        Level.BROKEN, f"container {said}", said, said, said, Repair.NONE, said, said, (said,)
    )
    results = (
        result("device-loss", Area.DEVICES, [finding]),
        result("mig-monitor", Area.DEVICES, [Undetermined(said, said)]),
        result("wsl", Area.DEVICES, [NotApplicable(said)]),
    )
    return Verdict(name, recordings.node("blank"), results)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page([*large(499), evil()], AT), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Page]:
    with chromium.Page(program("chromium")) as opened:
        yield opened


@pytest.fixture
def shown(browser: chromium.Page, written: Path) -> chromium.Page:
    browser.console.clear()
    browser.open(written)
    return browser


def rows(shown: chromium.Page) -> list[str]:
    found: list[str] = shown.value(
        "[...document.querySelectorAll('tbody tr')].filter(r => r.offsetParent)"
        ".map(r => r.cells[0].textContent)"
    )
    return found


def test_every_node_and_every_check_is_on_the_map(shown: chromium.Page) -> None:
    assert len(rows(shown)) == 500
    heads = shown.value("[...document.querySelectorAll('th.check')].map(h => h.textContent)")
    assert heads == [entry.id for entry in check_entries()]
    assert shown.value("document.querySelectorAll('tbody td.c').length") == 497 * len(heads)
    assert shown.console == []


def test_a_node_that_did_not_answer_says_why_across_its_row(shown: chromium.Page) -> None:
    row = "[...document.querySelectorAll('tbody tr')].find(r => r.dataset.node === 'gpu-250')"
    assert "∅ no answer: could not be connected to" in shown.value(f"{row}.textContent")
    assert shown.value(f"{row}.querySelectorAll('a').length") == 2
    spans = "reduce((sum, cell) => sum + cell.colSpan, 0)"
    for cells in (f"[...{row}.cells]", "[...document.querySelector('thead tr').cells]"):
        assert shown.value(f"{cells}.{spans}") == len(check_entries()) + len(COLUMNS)


def test_odd_nodes_come_first(shown: chromium.Page) -> None:
    assert {"gpu-417", "gpu-250", "gpu-251", "gpu-252"} < set(rows(shown)[:5])


def test_a_filter_leaves_what_fits_and_says_how_many(shown: chromium.Page) -> None:
    shown.value("document.querySelector('[name=odd]').click()")
    assert len(rows(shown)) == 5
    assert shown.value("document.getElementById('shown').textContent") == "5 of 500 nodes shown"
    shown.value("document.querySelector('[type=reset]').click(); new Promise(setTimeout)")
    assert len(rows(shown)) == 500
    assert shown.console == []


def test_the_address_carries_the_filter(shown: chromium.Page, written: Path) -> None:
    shown.open(written, "?verdict=broken&check=device-loss&q=GPU-4")
    assert rows(shown) == ["gpu-417"]
    articles = "[...document.querySelectorAll('article')].filter(a => a.offsetParent).length"
    assert shown.value(articles) == 1
    assert "q=GPU-4" in shown.value("location.search")


def test_a_keyboard_is_enough(shown: chromium.Page) -> None:
    shown.press("Tab", TAB)
    assert shown.value("document.activeElement.textContent") == "To the map"
    shown.press("Tab", TAB)
    assert shown.value("document.activeElement.name") == "q"
    shown.type("gpu-417")
    assert rows(shown) == ["gpu-417"]
    for _ in range(40):
        shown.press("Tab", TAB)
        if shown.value("document.activeElement.ariaLabel || ''") == "device-loss: broken":
            break
    shown.press("Enter", ENTER, "\r")
    assert shown.value("location.hash.endsWith('-device-loss')")
    target = "document.querySelector(':target')"
    assert "EPERM" in shown.value(f"{target}.textContent")
    assert shown.value(f"{target}.getBoundingClientRect().top < innerHeight")


def test_a_screen_reader_hears_what_the_colours_say(shown: chromium.Page, written: Path) -> None:
    shown.open(written, "?q=gpu-417")
    spoken = shown.spoken()
    assert ("link", "device-loss: broken") in spoken
    assert ("rowheader", "gpu-417") in spoken
    assert ("columnheader", "device-loss") in spoken
    assert ("searchbox", "Node") in spoken
    assert ("combobox", "Verdict") in spoken
    nameless = [role for role, name in spoken if role in ("link", "button") and not name]
    assert nameless == []


def test_what_a_node_said_is_text(shown: chromium.Page, written: Path) -> None:
    shown.open(written, "?q=onerror")
    assert len(rows(shown)) == 1
    assert shown.value("document.querySelectorAll('img').length") == 0
    assert shown.value("document.querySelectorAll('script').length") == 1
    told = shown.value("document.querySelector('article:not([hidden])').textContent")
    assert "<script>alert(1)</script>\\x1b[2J\\u202e" in told
    assert shown.console == []


def test_a_hostile_node_runs_nothing_fetches_nothing_and_hides_nothing(
    browser: chromium.Page, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    nodes = [evil(f"{number} {said}", said) for number, said in enumerate(HOSTILE)]
    plans = {node.node: (node.node,) for node in nodes}
    run = Run(plans, untouched={node.node: node.node for node in nodes})
    path.write_text(page(nodes, AT, run), encoding="utf-8")
    browser.console.clear()
    browser.asked.clear()
    browser.resize(390, 844, phone=True)
    browser.open(path, "?q=%3Cscript%3E&verdict=%22%3E&constructor=1#%E0%A4%A")
    browser.open(path)
    browser.value(
        "document.querySelectorAll('*').forEach(e => e.dispatchEvent(new Event('mouseover')))"
    )
    assert browser.value("window.hit") is None
    assert browser.console == []
    assert {url.partition("?")[0].partition("#")[0] for url in browser.asked} == {path.as_uri()}
    assert browser.value("document.querySelectorAll('script').length") == 1
    assert browser.value("document.querySelectorAll('img, svg, iframe, [onmouseover]').length") == 0
    assert len(rows(browser)) == len(HOSTILE)
    assert browser.value("document.documentElement.scrollWidth") <= 390
    assert (
        browser.value("Math.max(...[...document.querySelectorAll('h3')].map(h => h.offsetHeight))")
        < 100
    )
    browser.resize(1400, 1000)


def test_nothing_is_fetched_and_no_other_script_runs(written: Path) -> None:
    text = written.read_text()
    assert "default-src 'none'" in text
    assert text.count("<script>") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(shown: chromium.Page, scheme: str) -> None:
    shown.media(scheme=scheme)
    assert shown.value(_LEAST_CONTRAST) >= 4.5
    shown.media()


def test_a_phone_needs_no_sideways_scrolling_but_in_the_map(shown: chromium.Page) -> None:
    shown.resize(390, 844, phone=True)
    assert shown.value("document.documentElement.scrollWidth") <= 390
    shown.resize(1400, 1000)


def test_paper_shows_all_and_no_filters(shown: chromium.Page) -> None:
    shown.media("print")
    assert shown.value("document.getElementById('filters').offsetParent") is None
    shown.value("dispatchEvent(new Event('beforeprint'))")
    assert shown.value("document.querySelectorAll('details:not([open])').length") == 0
    # A4 on its side, within its margins
    shown.resize(1045, 717)
    assert shown.value("document.documentElement.scrollWidth") <= 1045
    shown.resize(1400, 1000)
    shown.media()


def test_no_node_is_not_nothing_found() -> None:
    assert "No node was asked." in page([], AT)


# WCAG 2.2, 1.4.3: 4.5 to 1 for text of this size.
_LEAST_CONTRAST = """(() => {
  const paint = document.createElement('canvas').getContext('2d');
  const rgb = (colour) => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1); return [...paint.getImageData(0, 0, 1, 1).data]; };
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255,
    v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; }
    return rgb('Canvas'); };
  const seen = [...document.querySelectorAll(
    'p, li, td, th, a, h1, h2, h3, h4, dt, dd, .word, label, code')].slice(0, 3000);
  return Math.min(...seen.filter((e) => e.checkVisibility()).map((e) => {
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05); }));
})()"""
