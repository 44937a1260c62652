"""Cases that people met, from public threads: a node, the right verdict, the right repair.

Each file of tests/cases names its ``source``, what was ``seen`` there in our words, and what we
``completed`` so that the node is whole: that part is no evidence. The node is the recorded one
``base``, with what ``node`` describes (tests/described) and single ``answers``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from pyinfra_nvml.audit.deploy_plans import cgroup_driver_plan
from pyinfra_nvml.audit.verdict import Verdict, verdict
from pyinfra_nvml.plans.engine_plan import Plan
from pyinfra_nvml.settings.models import Settings
from pyinfra_nvml.settings.policy import Policy
from tests import case_words, described, recordings

PLACE = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """One case, and what the audit says of its node."""

    id: str
    said: dict[str, Any]

    @property
    def judged(self) -> Verdict:
        answers = described.answers(self.said.get("node", {})) | self.said.get("answers", {})
        state = recordings.node(self.said["base"], answers)
        policy = {setting: tuple(value) for setting, value in self.said.get("policy", {}).items()}
        judged = verdict(self.id, state, policy=Policy(**policy))
        return replace(judged, results=recordings.compared(judged.results))

    def planned(self, judged: Verdict) -> Plan:
        """What the remedy would do, with the settings as they come."""
        return cgroup_driver_plan(judged, Settings().cgroup_driver)

    @property
    def right(self) -> bool:
        """Whether verdict and repair are the ones that the case wants."""
        judged = self.judged
        words = case_words.word(judged), case_words.repair(judged, self.planned(judged))
        return words == (self.said["verdict"], self.said["repair"])


def cases() -> list[Case]:
    return [
        Case(path.stem, yaml.safe_load(path.read_text())) for path in sorted(PLACE.glob("*.yaml"))
    ]
