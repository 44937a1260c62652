"""Why a host gave no answer: pyinfra's own words, and what is wanted."""

from __future__ import annotations

import logging

import pytest

from pyinfra_nvml.fleet.connection_errors import connection_failure, install_log_handler

# seen with pyinfra 3.10.0, paramiko 4.0.0, OpenSSH 9.2; names replaced
SEEN = [
    ("Authentication error (username=root, key=k) (Authentication failed.)", "ssh_user, ssh_key"),
    ("SSH host key error (Host key for gpu-01 does not match.)", "`ssh-keygen -R`"),
    (
        "SSH error (StrictPolicy: No host key for [gpu-01]:22 found in known_hosts)",
        "want its host key known",
    ),
    (
        "Could not resolve hostname ([Errno -2] Name or service not known)",
        "want a name that this machine",
    ),
    ("Could not connect ([Errno None] Unable to connect to port 9 on gpu-01)", "ssh_port"),
    ("Unmatched '''.", "want a login shell that reads what is meant for sh"),
    ("SSH error (Error reading SSH protocol banner)", "want an sshd on that port that speaks"),
    ("SSH error (no protocol banner within 10 s)", "want an sshd on that port that speaks"),
    ("SSH error (no key exchange within 10 s)", "want an sshd on that port that speaks"),
    ("Could not connect (no end of the login within 15 s)", "PAM, sssd, LDAP, a name server"),
    ("Could not connect (timed out)", "want sshd reachable there"),
    ("Command timed out after 60s", "something there stands still"),
    (
        "Command socket/SSH error: SSHException('no exit status within 60 s',)",
        "something there stands still",
    ),
    ("sudo: sorry, you must have a tty to run sudo", "want `Defaults:USER !requiretty`"),
    ("sudo: a password is required", "want sudo that asks this user for no password"),
    (
        "Could not connect ([Errno 2] No such file or directory: '/home/ops/.ssh/known_hosts')",
        "touch ~/.ssh/known_hosts",
    ),
    ("EOF error (EOF when reading a line)", "want the host key of the ProxyJump hop known"),
    ("EOF error ()", "want a key without a passphrase, an ssh agent"),
]


@pytest.mark.parametrize(("said", "want"), SEEN)
def test_each_usual_mistake_has_its_advice(said: str, want: str) -> None:
    install_log_handler().messages.clear()
    # As pyinfra writes it on a terminal, colours and all.
    logging.getLogger("pyinfra").error(f"    \x1b[1m[gpu-01]\x1b[0m   \x1b[31m{said}\x1b[0m")
    told = connection_failure("could not be connected to", "gpu-01")
    assert told.startswith(f"could not be connected to: {said}; ")
    assert want in told


def test_what_nobody_knows_is_told_as_it_is() -> None:
    install_log_handler().messages.clear()
    logging.getLogger("pyinfra").error("    [gpu-01]   Something new")
    assert connection_failure("no answer", "gpu-01") == "no answer: Something new"
    assert connection_failure("no answer", "gpu-02") == "no answer"


def test_the_node_s_own_words_count_not_what_pyinfra_adds() -> None:
    install_log_handler().messages.clear()
    log = logging.getLogger("pyinfra")
    log.error("    [gpu-01]   This account is currently not available.")
    log.error("    [gpu-01]   Error (ignored): could not load fact: pyinfra_nvml.facts.node.Node ")
    log.info("    [gpu-01]   Ready: deploys/audit.py")
    assert "not available" in connection_failure("the node did not answer", "gpu-01")


def test_an_answer_that_broke_off_is_kept_off_the_terminal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    install_log_handler().messages.clear()
    log = logging.getLogger("pyinfra")
    log.error("    [gpu-02]   |what another node says")
    for line in ("@node 1", "@daemon_json.files rc=0 cut=0", "|c2VjcmV0", "!grep: /x: Permission"):
        log.error(f"    [gpu-01]   {line}")
    log.error("    [gpu-01]   Error (ignored): could not load fact: pyinfra_nvml.facts.node.Node ")
    log.error("    [gpu-01]   |words of its own")
    assert "c2VjcmV0" not in caplog.text
    assert "grep" not in caplog.text
    assert "what another node says" in caplog.text
    assert "words of its own" in caplog.text
    told = connection_failure("the node did not answer", "gpu-01")
    assert told.startswith("the node did not answer: its answer ends in the middle / |words")


def test_it_listens_once() -> None:
    assert install_log_handler() is install_log_handler()
