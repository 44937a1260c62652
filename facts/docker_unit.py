"""Which kind of Docker this node has, and the command line of its engine's next start."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from typing_extensions import override

from pyinfra_nvml.facts.daemons import Daemons, DaemonsState
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.unit_words import ENVIRONMENT, ON_DISK, expand_variables, on_disk, variables
from pyinfra_nvml.model.unknown import Unknown, Value

# podman-docker's `docker` is a script that starts podman; Docker's own is a program. The files of
# the unit are read only where systemd says that it has not loaded what lies on the disk.
_ASK = rf"""
if docker=$(command -v docker) && {{ readlink -f "$docker"; head -c 300 "$docker"; }} |
  grep -q podman; then echo 'variant podman-docker'; fi
[ -d /snap/docker ] && echo 'variant snap'
for place in /home/*/.docker/desktop /mnt/wsl/docker-desktop; do
  [ -e "$place" ] && {{ echo 'variant Docker Desktop'; break; }}
done
echo asked
[ -d /run/systemd/system ] || {{ echo no-systemd; exit 0; }}
{ENVIRONMENT}
unit=$(systemctl show docker.service -p LoadState,ExecStart,EnvironmentFiles,NeedDaemonReload) ||
  exit
printf '%s\n' "$unit"
systemctl show docker.service -p Environment | sed 's/^Environment=//' | assignments
while IFS= read -r line; do
  case $line in 'EnvironmentFiles='*' (ignore_errors='*) ;; *) continue ;; esac
  file=${{line#*=}}
  environment "${{file%' (ignore_errors='*}}"
done <<END
$unit
END
echo loaded
case $unit in *NeedDaemonReload=yes*) ;; *) exit 0 ;; esac
{ON_DISK}
true
"""


class Variant(str, Enum):
    """Another way to run Docker than the distribution's or Docker's own package."""

    SNAP = "snap"
    ROOTLESS = "rootless"
    DESKTOP = "Docker Desktop"
    PODMAN = "podman-docker"


@dataclass(frozen=True)
class DockerUnitState(Value):
    """The kinds of Docker that are there, how many engines run, and how the next one starts.

    ``arguments`` is docker.service's command line as systemd would use it now (drop-ins included),
    with the options that environment files put into its variables; ``None`` where there is no such
    unit. ``after_reload`` is the one of the next start after a daemon-reload, by its options alone;
    ``None`` where systemd has loaded what lies on the disk.

    .. code:: python

        DockerUnitState(variants=(Variant.SNAP,), engines=2,
                        arguments=("/usr/bin/dockerd", "-H", "fd://", "--exec-opt"))
    """

    variants: tuple[Variant, ...] | Unknown
    engines: int | Unknown
    arguments: tuple[str, ...] | Unknown | None
    after_reload: tuple[str, ...] | Unknown | None = None

    @property
    def podman(self) -> bool:
        """Whether ``docker`` is podman here and no dockerd runs."""
        known = () if isinstance(self.variants, Unknown) else self.variants
        return Variant.PODMAN in known and self.engines == 0


class DockerUnit(Source[DockerUnitState]):
    """The engines of this node.

    Sources: PATH, /snap, ``systemctl show docker.service`` (ExecStart, Environment,
    EnvironmentFiles), the environment files, /proc. Needs no root unless a file is kept from users.
    """

    probes = (
        Probe(
            "engine_setup.ask",
            _ASK,
            lines=r"variant |(asked|no-systemd|loaded|unreadable|start)$|\w+=|file |disk |word ",
        ),
        *Daemons.probes,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> DockerUnitState | Unknown:
        answer = section(sections, "engine_setup.ask")
        daemons = Daemons.judged(sections)
        arguments = _arguments(answer)
        after_reload = _after_reload(answer, arguments)
        return DockerUnitState(
            _variants(answer, daemons), _engines(daemons), arguments, after_reload
        )


def _variants(answer: Section, daemons: DaemonsState | Unknown) -> tuple[Variant, ...] | Unknown:
    # systemctl, which may hang, comes after what the variants are told by.
    whole = not answer.trouble or "asked" in answer.out.splitlines()
    if isinstance(daemons, Unknown) or not whole:
        return daemons if isinstance(daemons, Unknown) else answer.trouble or ()
    named = re.findall(r"^variant (.+)$", answer.out, re.MULTILINE)
    variants = [variant for variant in Variant if variant.value in named]
    if any(daemon.uid > 0 for daemon in daemons.named("dockerd")):
        variants.append(Variant.ROOTLESS)
    return tuple(variants)


def _engines(daemons: DaemonsState | Unknown) -> int | Unknown:
    if isinstance(daemons, Unknown):
        return daemons
    if daemons.hidden:
        return Unknown("dockerd: /proc hides other users' processes")
    return len(daemons.named("dockerd"))


def _arguments(answer: Section) -> tuple[str, ...] | Unknown | None:
    if answer.trouble:
        return answer.trouble
    load = re.search(r"^LoadState=(\S+)$", answer.out, re.MULTILINE)
    if "no-systemd" in answer.out.splitlines() or (load and load[1] != "loaded"):
        return None
    start = re.search(r"^ExecStart=\{.*?argv\[\]=(.*?) ; ignore_errors=", answer.out, re.MULTILINE)
    if not start:
        return Unknown("systemctl show docker.service: no ExecStart in its answer")
    loaded, _ = _halves(answer)
    if unread := re.search(r"^file (.+)\nunreadable$", loaded, re.MULTILINE):
        return Unknown(f"{unread[1]}: not readable, and docker.service takes its options from it")
    return expand_variables(start[1].split(), variables(loaded))


def _after_reload(
    answer: Section, arguments: tuple[str, ...] | Unknown | None
) -> tuple[str, ...] | Unknown | None:
    if arguments is None or isinstance(arguments, Unknown):
        return arguments
    reload = re.search(r"^NeedDaemonReload=(\w+)$", answer.out, re.MULTILINE)
    if not reload:
        return Unknown("not in this recording")
    if reload[1] == "no":
        return None
    loaded, disk = _halves(answer)
    found = on_disk(loaded + disk)
    return Unknown("docker.service: no ExecStart in its files") if found is None else found


def _halves(answer: Section) -> tuple[str, str]:
    """The lines of what systemd has loaded, and those of what lies on the disk."""
    loaded, _, disk = answer.out.partition("\nloaded\n")
    return loaded + "\n", disk
