"""The options of the console command, and how it refuses those that make no sense."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from typing_extensions import override

from pyinfra_nvml.audit.run_record import LONGEST_INTERVAL
from pyinfra_nvml.drift.exit_scheme import (
    USAGE,
    Scheme,
    scheme_code,
    status_line,
)
from pyinfra_nvml.model.finding import LEVELS

# Beside /var/lib/pyinfra-nvml, which is for root alone (operations/node/state.sh).
RESULTS = Path("/var/lib/pyinfra-nvml-drift")

_LEVELS = (*LEVELS, "none")


@dataclass(frozen=True)
class Options:
    """What was asked of the command; ``level`` ``None``: the inventory's ``audit_level``."""

    inventory: str
    results: Path = RESULTS
    limits: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    level: str | None = None
    scheme: Scheme = Scheme.PLAIN
    last: bool = False
    textfile: Path | None = None
    interval: float | None = None
    time_limit: float = 900


class _Parser(argparse.ArgumentParser):
    """Ends with the usage code of the scheme asked for; argparse's own is 2, which is unknown."""

    scheme = Scheme.PLAIN

    @override
    def error(self, message: str) -> NoReturn:
        if self.scheme is Scheme.PLAIN:
            self.print_usage(sys.stderr)
        print(status_line(self.scheme, USAGE, (), message))
        sys.exit(scheme_code(self.scheme, USAGE, ()))


def parse_options(words: Sequence[str]) -> Options:
    """The options in these words; ends the process where they make no sense."""
    parser = _parser()
    parser.scheme = _scheme(words)
    said = parser.parse_args(words)
    for pair in said.data:
        if not pair.partition("=")[0] or "=" not in pair:
            parser.error(f"--data: saw {pair!r}, want SETTING=VALUE")
    if said.last and said.accept:
        parser.error("--last --accept: saw both, want one: a run is accepted, or judged again")
    if said.last and said.data:
        parser.error("--last --data: saw both, want one: settings are of a run; a level is --level")
    if said.last and said.textfile:
        parser.error("--last --textfile: saw both, want one: metrics are of a run")
    if said.textfile and not (said.textfile.suffix == ".prom" and said.textfile.parent.is_dir()):
        parser.error(f"--textfile: saw {said.textfile}, want DIR/NAME.prom in a directory there is")
    return Options(
        inventory=said.inventory,
        results=said.results,
        limits=tuple(said.limit),
        data=(*said.data, *_settings(said)),
        level=said.level,
        scheme=said.exit_scheme,
        last=said.last,
        textfile=said.textfile,
        interval=said.interval,
        time_limit=said.time_limit,
    )


def _settings(said: argparse.Namespace) -> Iterator[str]:
    """What is said by options and known to pyinfra's run as settings."""
    if said.level:
        yield f"audit_level={said.level}"
    if said.accept:
        yield "accept=true"


def _scheme(words: Sequence[str]) -> Scheme:
    """The scheme asked for, known before the words are parsed: it says how to refuse them."""
    finder = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    finder.add_argument("--exit-scheme", default="plain")
    try:
        return Scheme(finder.parse_known_args(words)[0].exit_scheme)
    except (argparse.ArgumentError, ValueError):
        return Scheme.PLAIN


def _parser() -> _Parser:
    parser = _Parser(
        prog="nvml-audit",
        description="Audit the nodes of an inventory, and compare with their accepted state.",
        epilog="Exit code: 0 clean, 1 a finding at or above the level, 2 could not tell, 3 usage.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("inventory", help="an inventory file, @local, or names of hosts")
    add("--limit", action="append", default=[], metavar="HOST", help="a host, group or pattern")
    add("--data", action="append", default=[], metavar="K=V", help="overrule a setting")
    add("--level", type=_level, metavar="LEVEL", help=f"what counts: {', '.join(_LEVELS)}")
    add("--exit-scheme", type=_known_scheme, default=Scheme.PLAIN,
        metavar="plain|nagios|npd", help="whose exit codes and first line")  # fmt: skip
    add("--results", type=_directory, default=RESULTS, metavar="DIR",
        help=f"where it writes ({RESULTS})")  # fmt: skip
    add("--accept", action="store_true", help="make today's state the accepted one")
    add("--last", action="store_true", help="judge the last results, run nothing")
    add("--textfile", type=Path, metavar="FILE", help="write metrics for the node exporter")
    add("--interval", type=_seconds, metavar="SECONDS", help="how often this runs")
    add("--time-limit", type=_seconds, default=900, metavar="SECONDS", help="end a run after (900)")
    return parser


def _known_scheme(text: str) -> Scheme:
    return Scheme(_one_of(text, [scheme.value for scheme in Scheme]))


def _level(text: str) -> str:
    return _one_of(text, _LEVELS)


def _one_of(text: str, known: Sequence[str]) -> str:
    if text not in known:
        raise argparse.ArgumentTypeError(f"saw {text!r}, want one of {', '.join(known)}")
    return text


def _directory(text: str) -> Path:
    # Path("") is the working directory: an empty variable of a script is not that.
    if not text.strip():
        raise argparse.ArgumentTypeError(f"saw {text!r}, want a directory")
    return Path(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= LONGEST_INTERVAL:
        want = f"a number of seconds up to {LONGEST_INTERVAL}"
        raise argparse.ArgumentTypeError(f"saw {text!r}, want {want}")
    return seconds
