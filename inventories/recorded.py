"""A fleet of recorded nodes: the audit without a GPU, a container or a connection.

Each host replays what one exec printed on a node (tests/nodes/). Whatever else is asked fails.
"""

import re
from pathlib import Path

_NODES = Path(__file__).resolve().parent.parent / "tests" / "nodes"


# What the inventory of such a node would say (inventories/group_data/all.py).
_SETTINGS: dict[str, dict[str, object]] = {"gpu_mig": {"mig_monitors": ["exporter"]}}


def _host(recording: Path) -> tuple[str, dict[str, object]]:
    return (
        f"@fake/{recording.parent.name}",
        {
            "fake_responses": {
                # pyinfra's own default is to succeed with no output, which would pass for a fact.
                "echo '@node ": recording.read_text(),
                re.compile(""): {"success": False, "stderr": "not in the recording"},
            },
            "fake_delay": 0,
            "fake_delay_jitter": 0,
            **_SETTINGS.get(recording.parent.name, {}),
        },
    )


hosts = [_host(recording) for recording in sorted(_NODES.glob("*/recording.txt"))]
