"""Hosts, groups and variables as an Ansible inventory has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Tree:
    """What was read so far; hosts and groups in the order in which they were named.

    The variables of a host: those of its groups, the deeper group's over its parent's, its own over
    all (docs.ansible.com, "How variables are merged").
    """

    hosts: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    _members: dict[str, list[str]] = field(default_factory=dict)
    _children: dict[str, list[str]] = field(default_factory=dict)
    _of_group: dict[str, dict[str, object]] = field(default_factory=dict)
    _of_host: dict[str, dict[str, object]] = field(default_factory=dict)

    def group(self, name: str) -> None:
        """There is a group of this name."""
        if name not in self.groups:
            self.groups.append(name)

    def child(self, parent: str, name: str) -> None:
        """A group lies below another."""
        self.group(name)
        self._children.setdefault(parent, []).append(name)

    def member(self, group: str, name: str) -> None:
        """A host is in a group."""
        if name not in self.hosts:
            self.hosts.append(name)
        mine = self._members.setdefault(group, [])
        if name not in mine:
            mine.append(name)

    def set_group(self, group: str, key: str, value: object) -> None:
        """A variable of a group; the last word counts."""
        self._of_group.setdefault(group, {})[key] = value

    def set_host(self, name: str, key: str, value: object) -> None:
        """A variable of a host; the last word counts."""
        if name not in self.hosts:
            self.hosts.append(name)
        self._of_host.setdefault(name, {})[key] = value

    def members(self, group: str) -> list[str]:
        """The hosts of a group and of the groups below it."""
        below = self._below(group)
        inside = {host for name in below for host in self._members.get(name, ())}
        return [host for host in self.hosts if host in inside]

    def circle(self) -> str | None:
        """A group that is below itself."""
        return next((g for g in self.groups if g in self._below(g, itself=False)), None)

    def said(self, host: str) -> dict[str, object]:
        """The variables of a host."""
        mine = [g for g in self.groups if g != "all" and host in self.members(g)]
        told = dict(self._of_group.get("all", {}))
        for group in sorted(mine, key=lambda name: (self._depth(name), name)):
            told.update(self._of_group.get(group, {}))
        return {**told, **self._of_host.get(host, {})}

    def _below(self, group: str, itself: bool = True) -> set[str]:
        found: set[str] = {group} if itself else set()
        waiting = list(self._children.get(group, ()))
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._children.get(name, ())
        return found

    def _depth(self, group: str) -> int:
        parents = [parent for parent, below in self._children.items() if group in below]
        return 1 + max((self._depth(parent) for parent in parents if parent != "all"), default=0)


def expanded(pattern: str) -> Iterator[str]:
    """The names in a pattern: ``gpu[01:03]`` is gpu01, gpu02, gpu03; also letters, and steps.

    Raises ``ValueError`` with what was seen where a range is none.
    """
    found = re.search(r"\[([^\]]*:[^\]]*)\]", pattern)
    if not found:
        yield pattern
        return
    head, tail = pattern[: found.start()], pattern[found.end() :]
    for name in _range(found[1]):
        for rest in expanded(tail):
            yield f"{head}{name}{rest}"


def _range(text: str) -> Iterator[str]:
    parts = text.split(":")
    first, last, step = (parts[0] or "0"), parts[1], parts[2] if len(parts) > 2 else "1"
    if len(parts) > 3 or not step.isdecimal() or int(step) == 0:
        raise ValueError(f"[{text}]")
    if first.isdecimal() and last.isdecimal() and int(first) <= int(last):
        width = len(first) if len(first) > 1 and first.startswith("0") else 0
        # Ansible wants both ends of one length where the first is padded.
        if width and len(last) != width:
            raise ValueError(f"[{text}]")
        yield from (str(n).zfill(width) for n in range(int(first), int(last) + 1, int(step)))
    elif re.fullmatch(r"[a-zA-Z]", first) and re.fullmatch(r"[a-zA-Z]", last) and first <= last:
        yield from (chr(n) for n in range(ord(first), ord(last) + 1, int(step)))
    else:
        raise ValueError(f"[{text}]")
