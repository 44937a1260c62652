"""Shell for a running process's command line: its words, and the values of its flags (proc(5))."""

from __future__ import annotations

JOINED = """\
words=
    while read -r line || [ -n "$line" ]; do words=$words$line; done <"$process/cmdline"\
"""
"""All words of ``$process`` (``/proc/812``) in ``$words``, by builtins alone: what has no flag of
interest then costs no process. Shells drop the NUL behind each word."""


def values(*flags: str) -> str:
    """The sed that prints the values of these flags, from words a line each.

    .. code:: python

        values("-c")  # sed -n -e 's/^-c=//p' -e '/^-c$/{n;p;}'
    """
    return " ".join(["sed -n", *(f"-e 's/^{flag}=//p' -e '/^{flag}$/{{n;p;}}'" for flag in flags)])
