"""The wheels that a node is installed from: fetched here, on the machine that runs pyinfra.

A GPU node often reaches no registry, and may have another Python than this machine. One archive
serves every node with the same Python, machine and C library; it is kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit.wheel_target import Target, requirements

ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("facts", "checks", "audit", "operations", "deploys", "inventories", "templates")
_INVENTORIES = ("__init__.py", "group_data", "all.py", "local.py", "transport.py")
"""What of inventories/ goes along: an operator's own lists of hosts stay here."""
_LIMIT = 600
"""Seconds for pip: 34 wheels over a slow line."""
_KEPT = 3
"""Archives of one target in the cache."""
# 1980-01-01, the first date that a zip can hold: the same sources are the same wheel.
_EPOCH = "315532800"


class NoWheels(Exception):
    """Why there is no archive, in one line."""


@dataclass(frozen=True)
class Archive:
    """A tar of wheels with a requirements.txt; ``digest`` is that of what gets installed."""

    path: Path
    digest: str


# pyinfra runs the deploy for many hosts side by side; a thousand of them want the same archive.
_MAKING = threading.Lock()


def archive(target: Target) -> Archive:
    """The archive for this target, made now if the cache has none of this very content."""
    with _MAKING:
        made = _made(target)
    if isinstance(made, NoWheels):
        raise made
    return made


@cache
def _made(target: Target) -> Archive | NoWheels:
    """The archive, or why there is none: asked for once a run, for however many hosts."""
    try:
        return _archive(target)
    except NoWheels as reason:
        return reason


def _archive(target: Target) -> Archive:
    lock = requirements((ROOT / "requirements.lock").read_text(), target)
    place = _cache()
    own = _own_wheel(place)
    content = "\n".join((lock, _content(own), target.key))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    path = place / f"{target.key}-{digest}.tar"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=place, prefix=".new-") as folder:
            _fill(Path(folder), lock, own, target)
            _pack(Path(folder), path)
        _prune(place.glob(f"{target.key}-*.tar"))
    return Archive(path, digest)


def _prune(archives: Iterable[Path]) -> None:
    """Keeps the newest; each has 17 MB."""
    by_age = sorted(archives, key=lambda path: path.stat().st_mtime, reverse=True)
    for path in by_age[_KEPT:]:
        path.unlink(missing_ok=True)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    path = Path(base) / "pyinfra-nvml" / "wheels"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise NoWheels(f"{path}: saw {reason.strerror}, want a directory for wheels") from reason
    return path


def _own_wheel(kept: Path) -> Path:
    """The wheel of this checkout, made anew when a file of it has changed."""
    if not (ROOT / "pyproject.toml").exists():
        raise NoWheels(f"{ROOT}: saw no pyproject.toml, want a checkout: run the deploy from one")
    folder = kept / f"own-{_sources()}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=kept, prefix=".new-") as place:
            # In a copy: setuptools leaves build/ behind, and packs what an older one left there.
            source = _copied(Path(place) / "source")
            _pip("wheel", "--no-deps", "--wheel-dir", f"{place}/wheel", str(source))
            _put_in_place(Path(place) / "wheel", folder)
    return next(folder.glob("*.whl"))


def _wanted(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    if "__pycache__" in parts or path.suffix == ".pyc":
        return False
    return parts[0] != "inventories" or all(part in _INVENTORIES for part in parts[1:])


def _files() -> list[Path]:
    single = [ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE")]
    found = [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return sorted(path for path in single + found if path.exists() and _wanted(path))


def _sources() -> str:
    digest = hashlib.sha256()
    for path in _files():
        digest.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _copied(place: Path) -> Path:
    for path in _files():
        to = place / path.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    return place


def _content(wheel: Path) -> str:
    """Names and checksums of what the wheel holds: its own bytes differ with the umask."""
    with zipfile.ZipFile(wheel) as content:
        return "\n".join(f"{each.filename} {each.CRC:08x}" for each in content.infolist())


def _fill(folder: Path, lock: str, own: Path, target: Target) -> None:
    wanted = folder / "requirements.txt"
    wanted.write_text(lock)
    platforms = [word for platform in target.platforms for word in ("--platform", platform)]
    abis = [
        word
        for abi in (f"cp{target.python.replace('.', '')}", "abi3", "none")
        for word in ("--abi", abi)
    ]
    _pip(
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--python-version",
        target.full,
        "--implementation",
        "cp",
        *abis,
        *platforms,
        "--dest",
        str(folder),
        "--requirement",
        str(wanted),
    )
    shutil.copyfile(own, folder / own.name)
    name, version = own.name.split("-")[:2]
    total = hashlib.sha256(own.read_bytes()).hexdigest()
    line = f"{name.replace('_', '-')}=={version} --hash=sha256:{total}\n"
    wanted.write_text(lock + line)


def _pack(folder: Path, path: Path) -> None:
    # Wheels are compressed already.
    half = path.with_name(f".{path.name}.{os.getpid()}")
    with tarfile.open(half, "w") as packed:
        for each in sorted(folder.iterdir()):
            packed.add(each, each.name)
    half.replace(path)


def _put_in_place(folder: Path, place: Path) -> None:
    try:
        folder.rename(place)
    except OSError:
        # Another run of ours was faster, with the same content.
        if not place.exists():
            raise


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _EPOCH, "PIP_NO_INPUT": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_LIMIT, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise NoWheels(f"pip {words[0]}: saw no end in {_LIMIT} s, want the wheels here") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
        told = next((line for line in said if line.startswith("ERROR")), said[-1])
        raise NoWheels(f"pip {words[0]}: saw {told[:300]}, want every wheel of requirements.lock")
