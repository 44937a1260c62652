"""The last daemon.json that this project wrote on the node, and the one from before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    decode,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.state_directory import STATE_DIR, look
from pyinfra_nvml.model.unknown import Unknown, Value

# The record of a write is "written" until a restart has proven it, then "written.proven".
_LOOK = """
cd "$state" 2>/dev/null || { echo none; exit 0; }
for record in written written.proven; do
  [ -e "$record" ] || continue
  echo "record $record"
  cat "$record"
  backup=$(sed -n 's/^backup //p' "$record")
  [ ! -f "backups/$backup" ] || { echo data; base64 "backups/$backup" | sed 's/^/data /'; }
  exit 0
done
echo none
"""


@dataclass(frozen=True)
class LastWriteState(Value):
    """One write: the file, what it held before (``None``: it was not there), sums of both states.

    ``restored`` is whether it put back a file of before, ``unproven`` whether no restart has ended
    well since.

    .. code:: python

        LastWriteState(path="/etc/docker/daemon.json", before=b'{"debug": true}',
                       before_sum="9f86...", after_sum="2c26...", at="20261130T091400Z")
    """

    path: str
    before: bytes | None
    before_sum: str
    after_sum: str
    at: str
    restored: bool = False
    unproven: bool = False

    private: ClassVar[bool] = True

    @override
    def to_json(self) -> object:
        """Without the content, which may hold what is not to be shown."""
        return {
            "path": self.path,
            "before": self.before_sum,
            "after": self.after_sum,
            "at": self.at,
        }


class LastWrite(Source[LastWriteState | None]):
    """The last write of this project, or ``None`` where it has written nothing.

    + state_dir: where the operations of this project keep their state on the node

    Source: the record that operations/node/write_daemon_json.sh keeps. Needs root.
    """

    probes = (Probe("last_write.record", look(_LOOK), cap=4096),)

    @override
    def command(self, state_dir: str = STATE_DIR) -> str:
        return node_script((Probe("last_write.record", look(_LOOK, state_dir), cap=4096),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> LastWriteState | Unknown | None:
        answer = section(sections, "last_write.record")
        if answer.trouble:
            return answer.trouble
        lines = answer.out.splitlines()
        if lines == ["none"]:
            return None
        pairs = [line.partition(" ") for line in lines]
        values = {key: value for key, _, value in pairs if key != "data"}
        data = [value for key, _, value in pairs if key == "data"]
        content = decode("".join(data)) if data else None
        wanted = {"path", "backup", "before", "after", "at"}
        if not wanted <= values.keys():
            return Unknown(f"{answer.name}: its record lacks {', '.join(wanted - values.keys())}")
        absent = values["backup"] == "absent"
        if not absent and content is None:
            return Unknown(f"{answer.name}: the backup {values['backup']} is not there")
        return LastWriteState(
            values["path"],
            None if absent else content,
            values["before"],
            values["after"],
            values["at"],
            restored="what restore" in lines,
            unproven="record written" in lines,
        )
