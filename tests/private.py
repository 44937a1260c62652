"""What a recording of a node may not hold, how it is replaced, and how to see what slipped.

Replaced: host names, users, addresses, serial numbers, UUIDs, names and images of containers, the
values of options, keys of daemon.json and of ``docker info`` that no verdict hangs on.
"""

from __future__ import annotations

import getpass
import pwd
import re
import socket
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tests.private_json import daemon_json, docker_info, docker_inspect

UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I)
NO_UUID = "00000000-0000-0000-0000-"
ADDRESS = re.compile(r"(?<![\w.-])(?!127\.|0\.0\.0\.0|192\.0\.2\.)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
# RFC 3849 keeps 2001:db8:: for documents; a time has two colons, a slot of PCI no more.
ADDRESS_6 = re.compile(
    r"(?<![\w:.])(?!2001:db8:)(?:(?:[0-9a-f]{1,4}:){6,7}[0-9a-f]{1,4}"
    r"|(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4})(?![\w:])",
    re.I,
)
MAC = re.compile(r"\b(?!02(?::00){5})(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.I)
ENGINE = re.compile(r"\b(?:[A-Z2-7]{4}:){11}[A-Z2-7]{4}\b")  # Docker's id before 23.0
SERIAL = re.compile(r"(serial(?: number)?\s*[:=]\s*)(?!0+\b)(\w+)", re.I)
HOME = re.compile(r"(/home/)(?!user\b|kubernetes\b|\*)([\w.-]+)")
LOGIN = re.compile(r"(://)[^/\s\"'@]+@")
JOURNAL = re.compile(r"^(\|\d{4}-\d\d-\d\dT[\d:]+\S* )(\S+)( )")
OPTION = re.compile(r"(?<=[ |])(--?[a-zA-Z][\w-]*)(=| (?=[^-;\s]))(\S+)")
# Options whose values decide a verdict; the values of all others are left out.
KEPT_OPTIONS = re.compile(
    r"^(-H|--(host|config|config-file|containerd|exec-opt|data-root|exec-root|default-runtime"
    r"|add-runtime|live-restore|(container-runtime-|image-service-)?endpoint|container-runtime"
    r"|container-runtime-endpoint|cgroup-driver|cpu-manager-policy|fail-cgroupv1|query-gpu))$"
)
POD = re.compile(
    r'("io\.kubernetes\.[\w.-]*(?:sandbox-name|sandbox-namespace|pod\.name|pod\.namespace'
    r'|container-name|container\.name)": ?")([^"]*)(")'
)
IMAGE = re.compile(r'("io\.kubernetes\.[\w.-]*[iI]mage-?[nN]ame": ?")([^"]*)(")')
PUBLIC = re.compile(r"nvidia|gpu-operator|dcgm|kube-system", re.I)


@dataclass
class Cleaner:
    """Replaces what is private; the same thing is replaced by the same word."""

    keep: Collection[str] = ()
    names: set[str] = field(default_factory=set)
    given: dict[tuple[str, str], str] = field(default_factory=dict)

    def word(self, kind: str, name: str) -> str:
        """The stand-in for a name of this kind; names that are no secret stay."""
        if not name or name in self.keep or PUBLIC.search(name):
            return name
        many = sum(1 for known, _ in self.given if known == kind)
        return self.given.setdefault((kind, name), f"{kind}-{many + 1}")

    def uuid(self, found: re.Match[str]) -> str:
        if found[0].startswith(NO_UUID):
            return found[0]
        number = self.word("uuid", found[0].lower()).rpartition("-")[2]
        return f"{NO_UUID}{int(number):012d}"

    def journal(self, found: re.Match[str]) -> str:
        return found[0] if found[2] in self.keep else f"{found[1]}node{found[3]}"

    def text(self, line: str) -> str:
        """One line of any command."""
        line = JOURNAL.sub(self.journal, line)
        line = UUID.sub(self.uuid, line)
        line = LOGIN.sub(r"\1", line)
        line = ENGINE.sub("AAAA:" * 11 + "AAAA", line)
        line = MAC.sub("02:00:00:00:00:00", line)
        line = ADDRESS.sub("192.0.2.1", line)
        line = ADDRESS_6.sub("2001:db8::1", line)
        line = SERIAL.sub(r"\g<1>0", line)
        line = HOME.sub(r"\1user", line)
        line = POD.sub(lambda found: found[1] + self.word("pod", found[2]) + found[3], line)
        line = IMAGE.sub(lambda found: found[1] + self.word("image", found[2]) + found[3], line)
        for name in self.names:
            line = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "node", line)
        return line


def clean(
    lines: Iterable[str], names: Collection[str] = (), keep: Collection[str] = ()
) -> list[str]:
    """A script's output with what is private replaced; ``names`` are those of the host."""
    blocks = _blocks(lines)
    own = {found[2] for block in blocks for line in block if (found := JOURNAL.match(line))}
    known = {name for given in (*names, *own) for name in (given, given.partition(".")[0])}
    cleaner = Cleaner(keep, {name for name in known - set(keep) if len(name) > 1})
    return [line for block in blocks for line in _clean(block, cleaner)]


def _blocks(lines: Iterable[str]) -> list[list[str]]:
    """The lines of each answer, its header first."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("@"):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _clean(block: list[str], cleaner: Cleaner) -> list[str]:
    header = block[0] if block else ""
    probe = header[1:].partition(" ")[0]
    if probe == "docker_engine.info":
        block = docker_info(block)
    elif probe == "docker_inspect.running":
        block = docker_inspect(block, cleaner.word)
    elif probe == "daemon_json.files":
        return daemon_json(block, cleaner.text)
    elif probe == "daemons.processes":
        block = _arguments(block)
    elif probe == "engine_setup.ask":
        block = [OPTION.sub(_option, line) if "argv[]=" in line else line for line in block]
    return [cleaner.text(line) for line in block]


def _option(found: re.Match[str]) -> str:
    return found[0] if KEPT_OPTIONS.match(found[1]) else f"{found[1]}{found[2]}x"


def _arguments(block: list[str]) -> list[str]:
    """Command lines, an argument a line, without the values of options that decide nothing."""
    kept, secret = [], False
    for line in block:
        word = line.removeprefix("|arg ")
        if word is not line and word.startswith("-"):
            option, equals, _ = word.partition("=")
            secret = not KEPT_OPTIONS.match(option)
            line = f"|arg {option}=x" if equals and secret else line
            secret = secret and not equals
        elif word is not line and secret:
            line, secret = "|arg x", False
        else:
            secret = False
        kept.append(line)
    return kept


def private(text: str) -> set[str]:
    """What in this text looks as if it were a real machine's."""
    found = {match[0] for match in UUID.finditer(text) if not match[0].startswith(NO_UUID)}
    for pattern in (ADDRESS, ADDRESS_6, MAC, SERIAL, HOME):
        found |= {match[0] for match in pattern.finditer(text)}
    found |= {match[0] for match in ENGINE.finditer(text) if "AAAA:AAAA" not in match[0]}
    found |= {match[0] for match in LOGIN.finditer(text) if match[0] != "://"}
    found |= {name for name in here() if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)}
    return found


def here() -> set[str]:
    """The names of this machine and of its people, which no recording may hold."""
    host = socket.gethostname()
    people = {entry.pw_name for entry in pwd.getpwall() if 1000 <= entry.pw_uid < 60000}
    names = {host, host.partition(".")[0], getpass.getuser(), *people}
    # Words that any node may print.
    common = {"root", "node", "localhost", "debian", "ubuntu", "user", "docker", "nobody"}
    return {name for name in names if len(name) > 3} - common
