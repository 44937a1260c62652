"""This project's own wheel, built from the checkout that the deploy is run from."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path

from pyinfra_nvml.operations import wheel_cache
from pyinfra_nvml.operations.wheel_cache import NoWheels

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    *("model", "settings", "facts", "combiners", "checks", "plans", "remedies", "audit", "explain"),
    *("reports", "fleet", "drift", "operations", "deploys", "templates", "pyinfra_nvml"),
    "inventories",
)
_INVENTORIES = ("__init__.py", "group_data", "all.py", "local.py", "readers")
"""What of inventories/ goes along: an operator's own lists of hosts stay here."""
_SETTINGS = "pyinfra_nvml/inventories/group_data/"


def own_wheel(kept: Path) -> Path:
    """The wheel of this checkout, built again when a file of it has changed."""
    if not (ROOT / "pyproject.toml").exists():
        raise NoWheels(f"{ROOT}: saw no pyproject.toml, want a checkout: run the deploy from one")
    folder = kept / f"own-{_sources()}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=kept, prefix=".new-") as place:
            wheel_cache.pip("wheel", "--no-deps", "--wheel-dir", f"{place}/wheel", str(ROOT))
            wheel_cache.keep(Path(place) / "wheel", folder)
    return next(folder.glob("*.whl"))


def content(wheel: Path) -> str:
    """Names and checksums of the program in the wheel: its own bytes differ with the umask.

    Settings are no part of it: a node takes its own along, and a new waiver installs nothing.
    """
    with zipfile.ZipFile(wheel) as packed:
        rows = [f"{each.filename} {each.CRC:08x}" for each in packed.infolist()]
    return "\n".join(row for row in rows if not row.startswith(_SETTINGS) and "/RECORD " not in row)


def _wanted(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    if "__pycache__" in parts or path.suffix == ".pyc":
        return False
    return parts[0] != "inventories" or all(part in _INVENTORIES for part in parts[1:])


def _files() -> list[Path]:
    single = [ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE")]
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return sorted(path for path in single + found if path.exists() and _wanted(path))


def _sources() -> str:
    digest = hashlib.sha256()
    for path in _files():
        digest.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
