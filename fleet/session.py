"""One run over an inventory: asks each host once, keeps its verdict, reports at the very end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone

import gevent
from pyinfra import logger
from pyinfra.api import Host, State
from pyinfra.api.state import BaseStateCallback
from typing_extensions import override

from pyinfra_nvml.audit.applied_waivers import unmatched_waivers
from pyinfra_nvml.audit.document import Run
from pyinfra_nvml.audit.verdict import Verdict, unreached, verdict
from pyinfra_nvml.facts.node import Node, NodeState
from pyinfra_nvml.facts.node_script import limit
from pyinfra_nvml.fleet import controller_cpu, slow_settings
from pyinfra_nvml.fleet.batches import (
    Batches,
    Progress,
    absent_canary,
    halt_reason,
    most_at_once,
    plan_batches,
    unreached_canary,
)
from pyinfra_nvml.fleet.commands_sent import count_commands
from pyinfra_nvml.fleet.connection_errors import NO_PASSWORD, connection_failure
from pyinfra_nvml.fleet.controller_cpu import tune_gc
from pyinfra_nvml.fleet.kubectl import Clusters
from pyinfra_nvml.fleet.run_report import RunReport
from pyinfra_nvml.model.printable import printable
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.engine_plan import Plan
from pyinfra_nvml.reports.page import template
from pyinfra_nvml.reports.terminal import run_notes
from pyinfra_nvml.settings.models import Settings
from pyinfra_nvml.settings.reading import read_settings
from pyinfra_nvml.settings.waivers import Waiver
from pyinfra_nvml.settings.wrong import RefusedSettings

_MARGIN = 30
"""Seconds for the connection and a loaded node, on top of what the node's script may take."""


class Session(BaseStateCallback):
    """The verdicts of one pyinfra run.

    pyinfra 3.10 has no hook for the end of a run. ``host_disconnect`` is the last event of every
    host it connected to, in dry runs and after an abort too, so the report is written there, at
    the last of them.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.verdicts: dict[str, Verdict] = {}
        self.plans: dict[str, tuple[str, ...]] = {}
        self.rechecked: dict[str, Plan] = {}
        self.refused: set[str] = set()
        self.failed: set[str] = set()
        self.done: set[str] = set()
        self.untouched: dict[str, str] = {}
        self.lost: list[str] = []
        self.reported = False
        self.clusters = Clusters()
        self._left: set[str] = set()
        self._order: Batches | None = None

    @override
    def host_disconnect(self, state: State, host: Host) -> None:  # type: ignore[override]
        self._left.add(host.name)
        if len(self._left) == len(state.activated_hosts):
            self.report(state)
            if self.lost:
                # The one exception that leaves a greenlet of pyinfra's without a traceback.
                sys.exit(1)

    @override
    def operation_host_error(  # type: ignore[override]
        self, state: State, host: Host, op_hash: str, retry_count: int = 0, max_retries: int = 0
    ) -> None:
        # With --no-wait, pyinfra itself forgets the failure (api/operations.py, 3.10.0).
        state.failed_hosts.add(host)
        if host.name not in self.refused and host.name not in self.untouched:
            self.failed.add(host.name)

    def order(self, state: State) -> Batches:
        """The groups in which the hosts of this run are changed: those that were connected to."""
        if self._order is None:
            if wrong := absent_canary(self.settings.canary, state.inventory.hosts):
                raise RefusedSettings(wrong)
            reached = [host.name for host in state.inventory if host in state.activated_hosts]
            most = most_at_once(self.settings.max_unavailable, len(reached))
            self._order = plan_batches(
                reached, self.settings.canary, self.settings.batch_size, most
            )
        return self._order

    def halt_reason(self, state: State, number: int) -> str | None:
        """Why the group of this number is not touched, as things stand now."""
        order = self.order(state)
        if lost := unreached_canary(self.settings.canary, order):
            return lost
        most = most_at_once(self.settings.max_unavailable, sum(map(len, order.groups)))
        progress = Progress(frozenset(self.done), frozenset(self.failed), frozenset(self.refused))
        return halt_reason(order, number, progress, self.settings.max_failures, most)

    def tell(self, host: Host, lines: Iterable[str], refused: bool) -> None:
        """What is meant for this host, on the log and in the report; a refused one has failed."""
        self.plans[host.name] = tuple(lines)
        for line in self.plans[host.name]:
            host.log(line, logger.info)
        if refused:
            # In a dry run nothing else would: the operation that refuses does not run then.
            host.state.failed_hosts.add(host)
            self.refused.add(host.name)

    def ask(self, host: Host) -> Verdict:
        """The verdict of what this host says now, from a single exec."""
        count = count_commands(host)
        # A fact that fails would drop the host from the run; the audit reports it instead.
        timeout = host.data.get("_timeout") or limit(Node.probes) + _MARGIN
        try:
            answer: NodeState | Unknown = host.get_fact(Node, _ignore_errors=True, _timeout=timeout)
        except EOFError:
            # pyinfra asks for sudo's password itself, here on a terminal that is not there.
            answer = Unknown(NO_PASSWORD)
        if isinstance(answer, Unknown):
            answer = Unknown(connection_failure(answer.reason, host.name))
        wanted = read_settings(host)
        if wanted.access and not isinstance(answer, Unknown):
            answer = self.clusters.with_cluster(
                wanted.access, answer, host.name, wanted.kubernetes_node
            )
        judged = verdict(host.name, answer, count(), wanted.policy, wanted.waivers)
        self.verdicts[host.name] = judged
        return judged

    def report(self, state: State) -> None:
        """Writes and prints the report of every host of the inventory."""
        self.reported = True
        verdicts = [self._of(host, state) for host in state.inventory if self._meant(host, state)]
        run = Run(
            self.plans,
            self.untouched,
            frozenset(self.failed),
            {host.name: _asked(host) for host in state.inventory if host.name in self.verdicts},
            limited=bool(state.limit_hosts),
        )
        report = RunReport(self.settings, verdicts, datetime.now(timezone.utc), run)
        # Written before anything is shown: who reads may be gone (`| head`), the files stay.
        written = list(report.write())
        found = {name: verdict.results for name, verdict in self.verdicts.items()}
        names = [host.name for host in state.inventory]
        report.show(
            [
                *run_notes(verdicts, run),
                *map(printable, unmatched_waivers(self._waivers(state), names, found)),
                *slow_settings.slow_settings_of_run(state),
                *written,
            ]
        )
        self.lost = report.lost

    def _waivers(self, state: State) -> Iterator[Waiver]:
        for host in state.inventory:
            if host.name in self.verdicts:
                yield from read_settings(host).waivers

    def _of(self, host: Host, state: State) -> Verdict:
        if host.name in self.verdicts:
            return self.verdicts[host.name]
        if host in state.activated_hosts:
            return unreached(host.name, "the run ended before it was asked")
        return unreached(host.name, connection_failure("could not be connected to", host.name))

    @staticmethod
    def _meant(host: Host, state: State) -> bool:
        """Whether the run is about this host (``--limit``)."""
        meant = state.limit_hosts
        return not meant or host in meant


def session(state: State, settings: Settings) -> Session:
    """The session of this run; the first host's deploy code opens it."""
    controller_cpu.register_deploy_file(state.current_deploy_filename)
    for handler in state.callback_handlers:
        if isinstance(handler, Session):
            return handler
    tune_gc()
    if settings.report_html:
        # Compiled while the nodes are waited for, not after the last of them.
        gevent.spawn(template)
    opened = Session(settings)
    state.add_callback_handler(opened)
    return opened


def session_of_run(state: State) -> Session:
    """The session of a run that has ended, also of one that reached nobody: no deploy opened it."""
    return session(state, read_settings(next(iter(state.inventory))))


def _asked(host: Host) -> str:
    return read_settings(host).audit_level
