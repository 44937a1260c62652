"""The remedies of a finding, as they fit its node: first the best that nothing stands against."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache

from pyinfra_nvml import remedies
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Finding, Result
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context
from pyinfra_nvml.settings.policy import Policy

Prescribe = Callable[[Context, Finding], Remedy | None]


@cache
def known() -> dict[str, Prescribe]:
    """Every module of ``remedies`` that prescribes, by its id: its name with dashes."""
    modules = (
        importlib.import_module(f"{remedies.__name__}.{module.name}")
        for module in pkgutil.iter_modules(remedies.__path__)
    )
    return {
        module.__name__.rpartition(".")[2].replace("_", "-"): module.prescribe
        for module in modules
        if hasattr(module, "prescribe")
    }


def prescribed(node: NodeState, policy: Policy, results: Iterable[Result]) -> tuple[Result, ...]:
    """These results, each finding with its remedies on this node."""
    context = Context(node, policy)
    return tuple(
        replace(one, findings=tuple(_with_remedies(context, finding) for finding in one.findings))
        for one in results
    )


def _with_remedies(context: Context, finding: Finding) -> Finding:
    if not finding.fix:
        return finding
    found = tuple(_fitting(context, finding))
    # What nothing stands against comes first; sorted() keeps the check's order otherwise.
    ordered = tuple(sorted(found, key=lambda remedy: bool(remedy.against)))
    if not ordered:
        return replace(finding, repair=Repair.MANUAL, do="no remedy is known for this node")
    return replace(finding, remedies=ordered, repair=ordered[0].repair, do=_told(ordered))


def _fitting(context: Context, finding: Finding) -> Iterator[Remedy]:
    for id in finding.fix:
        remedy = known()[id](context, finding)
        if remedy is not None:
            yield remedy


def _told(ordered: tuple[Remedy, ...]) -> str:
    """The best remedy; where others were named before it, what stands against these."""
    best, *rest = ordered
    refused = [remedy for remedy in (best, *rest) if remedy.against]
    reasons = "; ".join(
        f"deploys/{remedy.deploy}.py refuses this node: {remedy.against[0]}" for remedy in refused
    )
    return "; ".join(part for part in ("" if best.against else best.text, reasons) if part)
