"""The audit as JUnit XML, the form in which CI servers show tests: a suite a node, a case a check.

Format: the `testsuites` schema that Jenkins and GitLab read (their documentation).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from xml.etree import ElementTree as Xml

from audit.finding import Finding, Level, Result, Status
from audit.report.printable import printable
from audit.report.terminal import lines
from audit.verdict import Verdict
from facts.unknown import Unknown


def junit(verdicts: Sequence[Verdict], at: datetime, level: Level | None) -> str:
    """The XML: a finding at or above ``level`` is a failure, what could not be told an error."""
    root = Xml.Element("testsuites", name="pyinfra-nvml")
    for verdict in verdicts:
        root.append(_suite(verdict, at, level))
    _count(root)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(verdict: Verdict, at: datetime, level: Level | None) -> Xml.Element:
    name = printable(verdict.node)
    when = at.isoformat(timespec="seconds").partition("+")[0]
    suite = Xml.Element("testsuite", name=name, timestamp=when)
    answers = Xml.SubElement(suite, "testcase", classname=name, name="answers")
    if isinstance(verdict.state, Unknown):
        _say(answers, "error", "no answer", verdict.state.reason)
    for result in verdict.results:
        case = Xml.SubElement(suite, "testcase", classname=name, name=result.check)
        _judge(case, result, level)
    _count(suite)
    return suite


def _judge(case: Xml.Element, result: Result, level: Level | None) -> None:
    levels = list(Level)
    reached = levels[: levels.index(level) + 1] if level else []
    for finding in result.findings:
        if finding.level in reached and finding.counts:
            message = f"{finding.subject}: saw {finding.saw}; want {finding.want}"
            _say(case, "failure", finding.level.value, message, _told(finding))
        else:
            Xml.SubElement(case, "system-out").text = f"{finding.standing}\n{_told(finding)}"
    for doubt in result.doubts:
        _say(case, "error", "unknown", f"{doubt.subject}: {doubt.reason}")
    if result.status is Status.NOT_APPLICABLE:
        Xml.SubElement(case, "skipped", message=printable(result.reason))


def _say(case: Xml.Element, tag: str, kind: str, message: str, text: str = "") -> None:
    said = Xml.SubElement(case, tag, type=kind, message=printable(message))
    said.text = text or None


def _told(finding: Finding) -> str:
    told = [printable(finding.subject)]
    told += [f"{word:<6}{printable(said)}" for word, said in lines(finding)]
    told += [f"| {printable(line)}" for line in finding.evidence]
    return "\n".join(told)


def _count(element: Xml.Element) -> None:
    found = list(element.iter("testcase"))
    element.set("tests", str(len(found)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(tag) is not None for case in found)))
