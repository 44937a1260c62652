"""The six invariants: each yields what breaks it on one node.

Which remedy a finding carries is told in ``carries_cure`` to ``names_holds``; what a text advises,
and what it advises against, ``ACTIONS`` tells by its words, until ``avoid`` names remedies by id.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.model.finding import LEVELS, Finding
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.remedy import Repair
from tests.failures import failures
from tests.invariants import programs, simulated
from tests.invariants.subjects import Subject


@dataclass(frozen=True)
class Violation:
    """An invariant broken: of which kind (by check and remedy, not by node), and where."""

    invariant: str
    kind: str
    subject: str
    family: str
    detail: str = ""


Told = Iterator[tuple[str, str]]
"""Kind and detail."""


def carries_cure(finding: Finding) -> bool:
    """Whether deploys/fix_cgroup.py is among its remedies, refused or not."""
    return any(remedy.deploy == "fix_cgroup" for remedy in finding.remedies)


def names_cure(finding: Finding) -> bool:
    """Whether deploys/fix_cgroup.py is what it tells to do: its best remedy, nothing against it."""
    best = finding.remedies[:1]
    return any(remedy.deploy == "fix_cgroup" and not remedy.against for remedy in best)


# The driver's remedies have no ids yet: to be read from finding.remedies too.
def names_reboot(finding: Finding) -> bool:
    """Whether a reboot by deploys/fix_driver.py is."""
    return finding.repair is Repair.REBOOT


def names_holds(finding: Finding) -> bool:
    """Whether holds of deploys/fix_driver.py are."""
    return finding.repair is Repair.HOLD_PACKAGES


def i1(subject: Subject) -> Told:
    """A deploy acts only where a finding carries its remedy; such a node is never ok."""
    found = [finding for _, finding in subject.verdict.findings]
    steps = (("write", subject.cure.write), ("restart", subject.cure.restart))
    acts = [word for word, done in steps if done and subject.cure.acts]
    if acts and not any(carries_cure(finding) for finding in found):
        yield f"fix_cgroup acts without a finding ({' and '.join(acts)})", subject.verdict.word
    if acts and subject.verdict.word in _GOOD:
        yield "fix_cgroup acts on a node that is ok", ""
    plan = subject.driver(reboot=False)
    if plan.holds.add and not plan.refusals and not any(names_holds(one) for one in found):
        yield "fix_driver holds packages without a finding", str(plan.holds.add)
    rebooting = subject.driver(reboot=True)
    if rebooting.reboot and not any(names_reboot(finding) for finding in found):
        yield "fix_driver reboots without a finding", ""


def i2(subject: Subject) -> Told:
    """A remedy that is named as the fix is not refused by its own deploy."""
    for result, finding in subject.verdict.findings:
        if names_cure(finding):
            for refusal in subject.cure.refusals:
                yield f"{result.check}: fix_cgroup refuses: {_about(refusal)}", str(refusal)
            if not subject.cure.refusals and not subject.cure.acts:
                yield f"{result.check}: fix_cgroup does nothing", subject.cure.idle
        if names_reboot(finding):
            for refusal in subject.driver(reboot=True).refusals:
                yield f"{result.check}: fix_driver refuses: {_about(refusal)}", str(refusal)
        if names_holds(finding):
            plan = subject.driver(reboot=False)
            for refusal in plan.refusals:
                yield f"{result.check}: fix_driver refuses: {_about(refusal)}", str(refusal)
            if not plan.refusals and not plan.holds.add:
                yield f"{result.check}: fix_driver holds nothing", ""


def _about(refusal: Refusal) -> str:
    """What a refusal is about, without the place in a file."""
    return re.sub(r", line \d+.*", " is not JSON", refusal.subject)


def i3(subject: Subject) -> Told:
    """Every command that a report prints exists on that node."""
    for result, finding in subject.verdict.findings:
        texts = [remedy.text for remedy in finding.remedies if not remedy.against]
        texts += [line for line in finding.evidence if line.startswith("or, ")]
        for text in dict.fromkeys((finding.do, *texts)):
            for lacking in programs.missing(subject.state, text):
                yield f"{result.check}: {lacking}", text
    for refusal in subject.cure.refusals:
        for lacking in programs.missing(subject.state, refusal.instead):
            yield f"fix_cgroup refusal: {lacking}", refusal.instead


ACTIONS: dict[str, tuple[str, str]] = {
    "fix_cgroup": (
        r"deploys/fix_cgroup\.py(?! refuses|: it refuses)",
        r"Docker cure|fix_cgroup\.py|cgroup driver|changing the containers or their engine",
    ),
    "restart docker": (
        r"deploys/fix_cgroup\.py(?! refuses)|restart docker|a restart of docker",
        r"restarting docker|restart of docker",
    ),
    "reboot": (r"\breboot\b(?! would not help)", r"a reboot before that|or the node, before that"),
    "update the driver": (r"update the driver|install the driver", r"updating the driver"),
    "privileged": (r"--privileged|privileged: true", r"privileged"),
}
"""What a text advises, by its words in ``do`` and in ``avoid``: to be read from remedies' ids."""


def i4(subject: Subject) -> Told:
    """No report advises what another line of it advises against."""
    found = subject.verdict.findings
    for result, finding in found:
        for action, (does, _) in ACTIONS.items():
            if not re.search(does, finding.do):
                continue
            for other, against in found:
                # "do A, avoid a reboot before that, then reboot" is one line's own order.
                if against is finding or not re.search(ACTIONS[action][1], against.avoid):
                    continue
                yield f"{result.check} advises {action}, {other.check} against", against.avoid


def _keys(verdict: Verdict) -> set[tuple[str, str]]:
    return {(result.check, finding.subject) for result, finding in verdict.findings}


def _mended(
    subject: Subject, after: Subject, remedy: str, names: Callable[[Finding], bool]
) -> Told:
    old, new = _keys(subject.verdict), _keys(after.verdict)
    for result, finding in subject.verdict.findings:
        if names(finding) and (result.check, finding.subject) in new:
            yield f"{remedy} leaves {result.check}", finding.subject
    for check, about in sorted(new - old):
        yield f"{remedy} brings {check}", about


def i5(subject: Subject) -> Told:
    """The remedy makes its finding disappear, and no new one come."""
    found = [finding for _, finding in subject.verdict.findings]
    cure, idle = subject.cure, subject.cure.refusals or not subject.cure.acts
    if not idle and (cure.write or cure.restart) and any(map(names_cure, found)):
        after = simulated.cgroupfs(subject)
        yield from _mended(subject, after, "fix_cgroup", names_cure)
        if after.cure.write or after.cure.restart:
            yield "fix_cgroup is not done after it was done", ""
    if any(map(names_reboot, found)) and subject.driver(reboot=True).reboot:
        yield from _mended(subject, simulated.rebooted(subject), "reboot", names_reboot)
    if any(map(names_holds, found)) and subject.driver(reboot=False).holds.add:
        yield from _mended(subject, simulated.held(subject), "holds", names_holds)


_MAY_LOSE = ("device-exposure", "container_devices.walk")
"""Where it cannot be seen whether a container has lost its device, it is told what it may lose."""

_GOOD = ("ok", "no GPU", "not applicable")


def i6(subject: Subject, only: int = 0) -> Told:
    """Unknown stays unknown, for each probe in turn, or for ``only`` so many of them."""
    probes = [probe for probe in Node.probes if probe.name in subject.sections]
    if only:
        chance = random.Random(zlib.crc32(subject.name.encode()))  # noqa: S311 - a test's choice
        probes = chance.sample(probes, only)
    for probe in probes:
        failed = failures(probe, subject.sections[probe.name]).get("timed out")
        if failed is None:
            continue
        after = subject.other({**subject.sections, probe.name: failed})
        for kind, detail in _better(subject, after, probe.name):
            yield f"{probe.name} unread: {kind}", detail


def _better(subject: Subject, after: Subject, probe: str) -> Told:
    if after.verdict.word in _GOOD and subject.verdict.word not in _GOOD:
        yield f"{subject.verdict.word} became {after.verdict.word}", ""
    levels: dict[tuple[str, str], int] = {}
    for result, finding in subject.verdict.findings:
        # A container is called by its id where its name is not known.
        key = (result.check, finding.subject.partition(" ")[0])
        levels[key] = min(levels.get(key, 9), LEVELS.index(finding.level))
    for result, finding in after.verdict.findings:
        key = (result.check, finding.subject.partition(" ")[0])
        worse = LEVELS.index(finding.level) < levels.get(key, 9)
        if worse and (result.check, probe) != _MAY_LOSE:
            yield f"{result.check} found of a sudden", f"{finding.level.value}: {finding.subject}"
    if after.cure.acts and not subject.cure.acts:
        yield "fix_cgroup acts", subject.cure.idle or str(subject.cure.refusals)


RULES: dict[str, Callable[[Subject], Told]] = {
    "I1": i1, "I2": i2, "I3": i3, "I4": i4, "I5": i5, "I6": i6,
}  # fmt: skip


def broken(subject: Subject, only: int = 0) -> Iterator[Violation]:
    """Every invariant that this node breaks."""
    for name, rule in RULES.items():
        told = i6(subject, only) if name == "I6" else rule(subject)
        for kind, detail in dict(told).items():
            yield Violation(name, kind, subject.name, subject.family, detail[:200])
