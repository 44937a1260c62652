"""nvidia-smi, asked only where asking changes and hangs nothing."""

from __future__ import annotations

# nvidia-smi makes missing device nodes and loads the module (nvidia-modprobe(1)), which an audit
# must not; and it may hang for good where a GPU has fallen off the bus (Xid 79).
_GUARD = """
[ -d /proc/driver/nvidia ] || { echo absent; exit 0; }
command -v nvidia-smi >/dev/null || exit 127
[ -c /dev/nvidiactl ] || { echo 'no /dev/nvidiactl, nvidia-smi would make it' >&2; exit 1; }
if dmesg 2>/dev/null | grep -q 'fallen off the bus'; then
  echo 'a GPU has fallen off the bus, nvidia-smi may hang' >&2; exit 1
fi
"""

ABSENT = "absent"
"""The whole answer where no nvidia module is loaded."""


def query(arguments: str) -> str:
    """The command that asks nvidia-smi for rows (csv, no header), or prints ``ABSENT``."""
    return f"{_GUARD}nvidia-smi {arguments} --format=csv,noheader\n"
