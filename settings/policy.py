"""What an inventory says that a check needs to know: who is meant to have which right."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from pyinfra_nvml.model.refusal import Overrule


@dataclass(frozen=True)
class Policy:
    """The part of the settings that checks judge by (settings/audit.py has each).

    ``mig_monitors`` are patterns of the containers that may see across MIG instances, by name, pod
    (``namespace/name``) or image. ``overrule`` are the refusals that the owner lets pass.

    .. code:: python

        Policy(mig_monitors=("dcgm-exporter", "monitoring/*"))
    """

    mig_monitors: tuple[str, ...] = ()
    overrule: tuple[Overrule, ...] = ()

    def monitor(self, *names: str) -> bool:
        """Whether one of a container's names is on the list."""
        return any(
            fnmatchcase(name, pattern) for pattern in self.mig_monitors for name in names if name
        )
