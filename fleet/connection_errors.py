"""Why a host could not be connected to, or did not answer, and what to do about it."""

from __future__ import annotations

import logging
import re

from typing_extensions import override

# "    [gpu-01]  Authentication error (...)", its colours taken out: pyinfra 3.10, Host.connect.
_LINE = re.compile(r"^\s*\[(?P<host>[^\]]+)\]\s+(?P<said>.*)", re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# What pyinfra adds to the node's own words when a fact failed.
_ADDED = "Error (ignored): could not load fact"

# A node's answer (facts/probe.py), which pyinfra prints line by line where its exit code is not 0.
_ANSWER = "@node "
_OF_ANSWER = re.compile(r"[|!]|@[a-z0-9_.]+ ")
_IN_PART = "its answer ends in the middle"

_LINES = 3

_SUDO = (
    "want sudo that asks this user for no password, or ssh_user root; without _sudo the audit "
    "runs too, and says what it could not tell"
)

NO_PASSWORD = f"sudo: a password is required, and there is no terminal to ask for it; {_SUDO}"

_ADVICE = (
    (
        # sudoers(5), requiretty: pyinfra asks for no terminal on the node.
        re.compile(r"sudo: .*must have a tty"),
        "want `Defaults:USER !requiretty` in sudoers there, or ssh_user root",
    ),
    (
        re.compile(r"sudo: .*(password|terminal)|sudo: command not found|not in the sudoers"),
        _SUDO,
    ),
    (
        # csh and tcsh, of a quoted word that goes over lines; facts/node_script.py ends them there.
        re.compile(r"^Unmatched '", re.MULTILINE),
        "want a login shell that reads what is meant for sh, and csh does not: a user with another "
        "one (ssh_user), or `chsh -s /bin/bash` there",
    ),
    (
        re.compile(r"No such file or directory: '[^']*known_hosts'"),
        "want that file: `mkdir -p -m 700 ~/.ssh && touch ~/.ssh/known_hosts`",
    ),
    (
        # pyinfra's question about a host key, which for a node itself it does not ask.
        re.compile(r"EOF when reading a line"),
        "want the host key of the ProxyJump hop known: connect to the hop once by ssh",
    ),
    (
        re.compile(r"EOF error"),
        "want a key without a passphrase, an ssh agent that has it, or a terminal to ask on; "
        "or sshd there has closed the connection",
    ),
    (
        re.compile(r"no end of the login"),
        "want a login that ends: something there stands still (PAM, sssd, LDAP, a name server), or "
        "takes longer than auth_timeout in host data ssh_paramiko_connect_kwargs",
    ),
    (
        re.compile(r"Authentication error|No authentication methods|not a valid .* private key"),
        "want a key and a user that this host lets in: host data ssh_user, ssh_key",
    ),
    (
        re.compile(r"Host key for .* does not match"),
        "its host key has changed: if the node was reinstalled, `ssh-keygen -R` its name; "
        "if not, somebody else may answer in its place",
    ),
    (
        re.compile(r"not found in known_hosts|Unknown host key|No host key"),
        "want its host key known: connect once by ssh, or name the file in ssh_known_hosts_file",
    ),
    (
        re.compile(r"protocol banner|no key exchange|No existing session"),
        "want an sshd on that port that speaks: it took the connection and said nothing, or has "
        "too many at once (sshd's MaxStartups)",
    ),
    (
        re.compile(rf"Command timed out|within \d+ s|Timeout opening channel|{_IN_PART}"),
        "want a node that answers: something there stands still (a login file, a disk, memory), or "
        "takes longer than host data _timeout",
    ),
    (re.compile(r"Could not resolve"), "want a name that this machine or ssh's config knows"),
    (
        re.compile(r"refused|timed out|[Nn]o route|Unable to connect"),
        "want sshd reachable there: host data ssh_port, a firewall, the node itself",
    ),
)


class ConnectionErrors(logging.Handler):
    """Keeps what pyinfra said of each host that failed it.

    pyinfra connects before a deploy's first line runs, so that nothing of a deploy hears of it;
    its log is read along instead. What a failed command printed goes there too.
    """

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: dict[str, list[str]] = {}
        self._answering: set[str] = set()

    @override
    def emit(self, record: logging.LogRecord) -> None:
        found = _line(record)
        if found and not found["said"].startswith(_ADDED):
            self.messages.setdefault(found["host"], []).append(" ".join(found["said"].split()))

    def no_answer(self, record: logging.LogRecord) -> bool:
        """Whether this is no line of a node's answer: those are many, and may hold secrets."""
        if record.levelno < logging.ERROR or not (found := _line(record)):
            return True
        host, said = found["host"], found["said"]
        if said.startswith(_ANSWER):
            self._answering.add(host)
            self.messages.setdefault(host, []).append(_IN_PART)
        elif not _OF_ANSWER.match(said):
            self._answering.discard(host)
        return host not in self._answering


def _line(record: logging.LogRecord) -> re.Match[str] | None:
    return _LINE.match(_COLOUR.sub("", record.getMessage()))


def install_log_handler() -> ConnectionErrors:
    """The listener of this process; it listens from the first call on."""
    log = logging.getLogger("pyinfra")
    for handler in log.handlers:
        if isinstance(handler, ConnectionErrors):
            return handler
    listening = ConnectionErrors()
    log.addHandler(listening)
    log.addFilter(listening.no_answer)
    return listening


def connection_failure(what: str, host: str) -> str:
    """What happened with a host, in pyinfra's words, and what is wanted.

    .. code:: python

        "could not be connected to: Could not resolve hostname (...); want a name that ..."
    """
    said = " / ".join(install_log_handler().messages.get(host, [])[-_LINES:])
    if not said:
        return what
    advice = next((text for pattern, text in _ADVICE if pattern.search(said)), "")
    return f"{what}: {said}" + (f"; {advice}" if advice else "")
