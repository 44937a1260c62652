"""Run one of this machine's own tools, with a limit, and say what it said when it fails."""

import subprocess
from collections.abc import Mapping

from tests.lab.errors import LabError


def tool(
    *argv: str, limit: float = 30, env: Mapping[str, str] | None = None, stdin: str | None = None
) -> str:
    """Standard output of a tool that has to succeed."""
    try:
        done = subprocess.run(
            argv,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit,
            env=env,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(argv)}: not done after {limit:g} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise LabError(f"{' '.join(argv)}: exit {done.returncode}, want 0: {said}")
    return done.stdout
