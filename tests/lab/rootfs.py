"""A node's root file system: built once by mmdebstrap, kept in a cache, never written to again.

What differs from node to node is laid over it at boot (`furniture.py`): a changed setting rebuilds
nothing.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.lab.catalogue import Kind
from tests.lab.command import tool
from tests.lab.errors import CannotRun, LabError
from tests.lab.lock import locked

# `operator` is neither root nor in the docker group; `admin` is root by sudo. "*" is no password,
# where "!" (useradd's own) is a locked account, which sshd refuses.
USERS = (
    "useradd --create-home --no-user-group --gid users --uid 1001 --shell /bin/bash operator",
    "useradd --create-home --no-user-group --gid users --uid 1002 --shell /bin/bash admin",
    "usermod --password '*' root",
    "usermod --password '*' operator",
    "usermod --password '*' admin",
    "rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub /etc/resolv.conf",
)
LIMIT = 900


def cache() -> Path:
    """The directory that keeps what is slow to make."""
    given = os.environ.get("PYINFRA_NVML_LAB_CACHE")
    path = Path(given) if given else Path.home() / ".cache" / "pyinfra-nvml" / "lab"
    path.mkdir(parents=True, exist_ok=True)
    return path


def root_of(kind: Kind) -> Path:
    """The root file system of this kind of node, built now if the cache has none."""
    recipe = json.dumps([kind.suite, kind.packages, USERS])
    key = hashlib.sha256(recipe.encode()).hexdigest()[:12]
    root = cache() / f"{kind.suite}-{key}"
    with locked(cache() / f"{root.name}.lock"):
        if not root.exists():
            _build(kind, root)
    return root


def mirror() -> str:
    """The package mirror that this machine's own apt uses for Debian."""
    given = os.environ.get("PYINFRA_NVML_LAB_MIRROR")
    if given:
        return given
    asked = "$(REPO_URI) $(ORIGIN) $(COMPONENT) $(SUITE)"
    targets = tool("apt-get", "indextargets", "--format", asked, "Created-By: Packages")
    for line in targets.splitlines():
        uri, origin, component, suite = line.split(" ")
        # "-" stands in stable-updates, stable-security, stable-backports.
        if component == "main" and origin == "Debian" and "-" not in suite:
            return uri
    raise CannotRun("apt: no index of a Debian mirror, want one: apt-get update")


def _build(kind: Kind, root: Path) -> None:
    """Build beside the place and rename: a killed build leaves nothing under the final name."""
    for half in root.parent.glob(f".{root.name}.*"):
        shutil.rmtree(half)
    half = Path(tempfile.mkdtemp(prefix=f".{root.name}.", dir=root.parent))
    half.chmod(0o755)
    log = root.parent / f"{root.name}.log"
    # A build does not outlive who asked for it.
    argv = ["setpriv", "--pdeathsig", "TERM", "mmdebstrap", "--variant=minbase"]
    argv += [f"--include={','.join(kind.packages)}"]
    # forky's Release file may be past its date.
    argv += ["--aptopt=Acquire::Check-Valid-Until false", "--aptopt=Acquire::Retries 3"]
    argv += [f'--customize-hook=chroot "$1" {command}' for command in USERS]
    argv += [kind.suite, str(half / "root"), mirror()]
    try:
        _run(argv, log)
        (half / "root").rename(root)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _run(argv: list[str], log: Path) -> None:
    with log.open("w") as file:
        try:
            code = subprocess.run(
                argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=LIMIT, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
    if code:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise LabError(f"{log.stem}: mmdebstrap exit {code}, want 0 within {LIMIT} s:\n{tail}")
