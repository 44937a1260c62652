"""The result of a restart, read from its lines."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pyinfra_nvml.operations.restart_result import (
    Restarted,
    RestartOutcome,
    Return,
    ReturnedContainer,
    parse_restart,
)

# As seen on Debian 13, Docker 26.1.5, with a stand-in dockerd that refused the new file.
UNDONE = """\
id 20261130T102100Z.4505
reason failed to start daemon: not this file
undo /etc/docker/daemon.json put back from daemon.json.20261130T102059Z
undo docker info says cgroup driver systemd
container 0686d823d866 policy always aa -
container c874eb78094d started no bb -
container 568e53c60dd9 removed no cc its --rm took it
container 568e53c60dda failed no dd Error response from daemon: no such network
verdict undone
want cgroupfs
before systemd
after systemd
seconds 16
end
"""


def test_an_undone_restart() -> None:
    assert parse_restart(UNDONE.splitlines()) == Restarted(
        verdict=RestartOutcome.UNDONE,
        id="20261130T102100Z.4505",
        want="cgroupfs",
        before="systemd",
        after="systemd",
        seconds=16,
        reasons=("failed to start daemon: not this file",),
        undo=(
            "/etc/docker/daemon.json put back from daemon.json.20261130T102059Z",
            "docker info says cgroup driver systemd",
        ),
        containers=(
            ReturnedContainer("0686d823d866", Return.POLICY, "always", "aa"),
            ReturnedContainer("c874eb78094d", Return.STARTED, "no", "bb"),
            ReturnedContainer("568e53c60dd9", Return.REMOVED, "no", "cc", "its --rm took it"),
            ReturnedContainer(
                "568e53c60dda",
                Return.FAILED,
                "no",
                "dd",
                "Error response from daemon: no such network",
            ),
        ),
    )


def test_a_cut_result_is_unknown() -> None:
    lines = UNDONE.splitlines()[:-1]
    assert parse_restart(lines).verdict is RestartOutcome.UNKNOWN
    assert parse_restart([]).verdict is RestartOutcome.UNKNOWN


@settings(deadline=None)
@given(st.lists(st.text() | st.sampled_from(UNDONE.splitlines())))
def test_no_lines_raise(lines: list[str]) -> None:
    assert isinstance(parse_restart(lines), Restarted)
