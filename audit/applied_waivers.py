"""What the waivers of an inventory hide: findings are marked; one that hides none is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date

from pyinfra_nvml.model.finding import Finding, Result, Waived
from pyinfra_nvml.settings.waivers import Waiver


def apply_waivers(
    results: Iterable[Result], host: str, given: Iterable[Waiver], day: date
) -> tuple[Result, ...]:
    """The results with every finding that somebody answers for marked so; doubts stay as they are.

    Of several waivers the one that lasts longest counts.
    """
    here = [waiver for waiver in given if waiver.on(host)]
    here.sort(key=lambda waiver: waiver.expires, reverse=True)
    return tuple(_marked(result, here, day) for result in results)


def _marked(result: Result, here: list[Waiver], day: date) -> Result:
    mine = [waiver for waiver in here if waiver.check == result.check]
    if not mine or not result.findings:
        return result
    return replace(result, findings=tuple(_mark(each, mine, day) for each in result.findings))


def _mark(finding: Finding, mine: list[Waiver], day: date) -> Finding:
    waiver = next((waiver for waiver in mine if waiver.about(finding.subject)), None)
    if waiver is None:
        return finding
    until, expired = waiver.expires.isoformat(), waiver.expires < day
    return replace(finding, waiver=Waived(waiver.owner, waiver.reason, until, expired))


def as_of(results: tuple[Result, ...], day: date) -> tuple[Result, ...]:
    """The results with every waiver as it counts on this day.

    Raises ``ValueError`` for a last day that is no date.
    """
    return tuple(
        replace(result, findings=tuple(_as_of(finding, day) for finding in result.findings))
        if any(finding.waiver for finding in result.findings)
        else result
        for result in results
    )


def _as_of(finding: Finding, day: date) -> Finding:
    if finding.waiver is None:
        return finding
    expired = date.fromisoformat(finding.waiver.expires) < day
    return replace(finding, waiver=replace(finding.waiver, expired=expired))


def unmatched_waivers(
    given: Iterable[Waiver],
    hosts: Collection[str],
    found: Mapping[str, Iterable[Result]] | None = None,
) -> Iterator[str]:
    """A line for every waiver that hides nothing where something else was found than it says.

    Its hosts are none of the inventory's, or its check found (``found``: host to results) other
    subjects alone on them. Where its check found nothing, it has done its work.
    """
    for waiver in dict.fromkeys(given):
        who = f"waiver of {waiver.check} by {waiver.owner}"
        if not any(waiver.on(host) for host in hosts):
            said = f"saw no host like {', '.join(waiver.hosts)} in the inventory, want one of its"
            yield f"{who}: {said} names or a pattern of some"
            continue
        subjects = sorted(_subjects(waiver, found or {}))
        if subjects and not any(map(waiver.about, subjects)):
            saw = f"saw no finding on {', '.join(waiver.subjects)} but on {', '.join(subjects[:3])}"
            yield f"{who}: {saw}, want a subject as the report has it, or a pattern of some"


def _subjects(waiver: Waiver, found: Mapping[str, Iterable[Result]]) -> set[str]:
    """What its check found something on, on its hosts."""
    return {
        finding.subject
        for host, results in found.items()
        if waiver.on(host)
        for result in results
        if result.check == waiver.check
        for finding in result.findings
    }
