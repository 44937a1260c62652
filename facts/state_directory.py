"""The directory in which the operations of this project keep their state on a node."""

from __future__ import annotations

import shlex

STATE_DIR = "/var/lib/pyinfra-nvml"
"""The default of the setting ``state_directory``; it is for root alone."""

# test(1) cannot tell "not there" from "not allowed to look".
_READABLE = """
if [ -d "$state" ] && ! [ -x "$state" ]; then echo 'not allowed to look' >&2; exit 1; fi
"""


def look(commands: str, state_dir: str = STATE_DIR) -> str:
    """These commands, to which the directory is ``$state``; they fail where it is closed to us."""
    return f"state={shlex.quote(state_dir)}{_READABLE}{commands}"
