"""The audit as JUnit XML, the form in which CI servers show tests: a suite a node, a case a check.

Format: the `testsuites` schema that Jenkins and GitLab read (their documentation).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from xml.etree import ElementTree as Xml

from pyinfra_nvml.audit.document import Run
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.finding import (
    Finding,
    Level,
    Result,
    Status,
)
from pyinfra_nvml.model.printable import printable
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.reports.terminal import finding_lines


def junit(
    verdicts: Sequence[Verdict], at: datetime, level: Level | None, run: Run | None = None
) -> str:
    """The XML: a finding at or above ``level`` is a failure, what could not be told an error."""
    root = Xml.Element("testsuites", name="pyinfra-nvml")
    for verdict in verdicts:
        root.append(_suite(verdict, at, level, run or Run()))
    _count(root)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(verdict: Verdict, at: datetime, level: Level | None, run: Run) -> Xml.Element:
    name = printable(verdict.node)
    when = at.isoformat(timespec="seconds").partition("+")[0]
    suite = Xml.Element("testsuite", name=name, timestamp=when)
    answers = Xml.SubElement(suite, "testcase", classname=name, name="answers")
    if isinstance(verdict.state, Unknown):
        _say(answers, "error", "no answer", [verdict.state.reason])
    for result in verdict.results:
        case = Xml.SubElement(suite, "testcase", classname=name, name=result.check)
        _judge(case, result, level)
    if notes := run.notes(verdict.node):
        change = Xml.SubElement(suite, "testcase", classname=name, name="change")
        _say(change, "failure" if verdict.node in run.failed else "skipped", "change", notes)
    _count(suite)
    return suite


def _judge(case: Xml.Element, result: Result, level: Level | None) -> None:
    levels = list(Level)
    reached = levels[: levels.index(level) + 1] if level else []
    failed = [found for found in result.findings if found.level in reached and found.counts]
    others = [found for found in result.findings if found not in failed]
    doubts = [f"{doubt.subject}: {doubt.reason}" for doubt in result.doubts]
    if failed:
        said = [f"{found.subject}: saw {found.saw}; want {found.want}" for found in failed]
        _say(
            case,
            "failure",
            failed[0].level.value,
            said,
            [*map(_told, failed), *map(printable, doubts)],
        )
    elif doubts:
        _say(case, "error", "unknown", doubts)
    elif others and not any(found.counts for found in others):
        _say(case, "skipped", "waived", [*dict.fromkeys(map(_waived, others))])
    elif result.status is Status.NOT_APPLICABLE:
        _say(case, "skipped", "not applicable", [result.reason])
    if others:
        told = "\n\n".join(f"{found.standing}\n{_told(found)}" for found in others)
        Xml.SubElement(case, "system-out").text = told


def _say(
    case: Xml.Element, tag: str, kind: str, said: Sequence[str], text: Sequence[str] = ()
) -> None:
    """The case's one outcome: Jenkins and GitLab show the first, GitLab its text alone.

    Jenkins, `CaseResult.getError`; GitLab, `lib/gitlab/ci/parsers/test/junit.rb`.
    """
    more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
    attributes = {} if tag == "skipped" else {"type": kind}
    outcome = Xml.SubElement(case, tag, attributes, message=printable(said[0]) + more)
    outcome.text = "\n\n".join(text) if text else "\n".join(map(printable, said))


def _waived(finding: Finding) -> str:
    return next(f"{word} {said}" for word, said in finding_lines(finding) if word == "until")


def _told(finding: Finding) -> str:
    told = [printable(finding.subject)]
    told += [f"{word:<6}{printable(said)}" for word, said in finding_lines(finding)]
    told += [f"| {printable(line)}" for line in finding.evidence]
    return "\n".join(told)


def _count(element: Xml.Element) -> None:
    found = list(element.iter("testcase"))
    element.set("tests", str(len(found)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(tag) is not None for case in found)))
