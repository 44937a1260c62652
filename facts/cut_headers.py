"""Recorded answers of an earlier probe of containerd's and cri-o's files: table headers cut open.

That probe printed the lines that decide alone, the header of another table as ``[``, and that of a
plugin without what stands behind its name (``[plugins."io.containerd.grpc.v1.cri"``). Today's probe
prints every line's structure.
"""

from __future__ import annotations

import re

_CUT = re.compile(r"^\s*\[(plugins\.(?:\"[^\"]*\"|'[^']*'|cri))?$")
_WHOLE = re.compile(
    r"^\s*(?:\[(?:crio|plugins\.)[^]]*\]"
    r"|[^#]*SystemdCgroup\s*=\s*[a-z]+"
    r"|(?:systemd_cgroup|cgroup_manager|default_runtime_name|imports)\s*=.*"
    r"|[\"'][^\"'=]*\.toml[\"'],?)$"
)


def close_headers(text: str) -> str:
    """The same with every header closed, where it is such an answer; any other text as it is.

    .. code:: python

        close_headers('[plugins."cri"')  # '[plugins."cri"]'
    """
    lines = [line for line in text.split("\n") if line.strip()]
    cut = [_CUT.match(line) for line in lines]
    if not any(cut) or not all(_CUT.match(line) or _WHOLE.match(line) for line in lines):
        return text
    known: set[str] = set()
    return "\n".join(
        _closed(found[1], number, known) if found else line
        for number, (line, found) in enumerate(zip(lines, cut, strict=True))
    )


def _closed(plugin: str | None, number: int, known: set[str]) -> str:
    """A table may be declared once; of which table a second one was the header is not told."""
    if plugin is None:
        return f"[cut{number}]"
    if plugin in known:
        return f"[{plugin}.cut{number}]"
    known.add(plugin)
    return f"[{plugin}]"
