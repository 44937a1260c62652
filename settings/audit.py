"""The settings of the audit: what counts, who answers for it, where the reports go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from typing_extensions import Self

from pyinfra_nvml.model.finding import LEVELS, Level
from pyinfra_nvml.settings.check_ids import check_ids
from pyinfra_nvml.settings.declaration import Declared, Expected
from pyinfra_nvml.settings.field_types import Names, OneOf, ReportFile
from pyinfra_nvml.settings.waivers import Waiver, waivers
from pyinfra_nvml.settings.wrong import Wrong, WrongValue

_REPORTS = ("report_json", "report_html", "report_junit", "report_markdown")

Waivers = Annotated[
    tuple[Waiver, ...],
    BeforeValidator(lambda value: waivers(value, check_ids())),
    Expected("a list of waivers"),
]


class AuditSettings(Declared):
    """What an audit counts and where it writes."""

    audit_level: Annotated[str, OneOf(*LEVELS, "none")] = Field(
        default="at risk",
        description="What the audit counts as a failure (exit code 1): findings from this level "
        'on: "broken", "at risk" or "advice". "none": no finding is a failure.',
    )
    report_json: ReportFile = Field(
        default=Path("results/audit.json"),
        description="The file on this machine for the JSON report. None: no file.",
    )
    report_html: ReportFile = Field(
        default=Path("results/audit.html"),
        description="The file for the same report as one HTML page. None: no file.",
    )
    report_junit: ReportFile = Field(
        default=None, description="The file for the same report as JUnit XML. None: no file."
    )
    report_markdown: ReportFile = Field(
        default=None, description="The file for the same report as Markdown. None: no file."
    )
    waivers: Waivers = Field(
        default=(),
        description="Findings that somebody answers for until a day: they stay in every report, "
        'and count for nothing. Each item: {"check": "engine-driver", "owner": "gpu-team", '
        '"reason": "replaced in January", "expires": "2027-01-31"}; "hosts": ["gpu-0*"] and '
        '"subjects": ["container train-*"] (as the report names them) narrow it. It holds through '
        "that day (UTC). A list of a group or a host replaces this one.",
    )
    accept: bool = Field(
        default=False,
        description="True: accept the state of this run, in accepted.json beside report_json "
        "(docs/drift.md).",
    )
    mig_monitors: Names = Field(
        default=(),
        description="The containers that may see across MIG instances: patterns of a container's "
        'name, its pod ("namespace/name") or its image. Empty: such rights are reported as advice '
        "only.",
    )

    @property
    def level(self) -> Level | None:
        """The level from which a finding counts; none: nothing counts."""
        return None if self.audit_level == "none" else Level(self.audit_level)

    @model_validator(mode="after")
    def _reports_fit(self) -> Self:
        if wrong := tuple(self._unfit_reports()):
            raise WrongValue(*wrong)
        return self

    def _unfit_reports(self) -> Iterator[Wrong]:
        """Of two reports in one file the second would be all that is left."""
        whose: dict[Path, str] = {}
        for name in _REPORTS:
            path: Path | None = getattr(self, name)
            if path is None:
                continue
            if first := whose.get(place := path.resolve()):
                found = f"settings {first} and {name} are both {str(path)!r}"
                yield Wrong(name, found, "; expected two files")
            whose[place] = name
        if self.accept and self.report_json is None:
            rest = ", but report_json names no file; expected one: accepted.json is written beside"
            yield Wrong("accept", "setting accept is True", f"{rest} it")
