"""The wheels that a node is installed from: fetched here, on the machine that runs pyinfra.

A GPU node often reaches no registry, and may have another Python than this machine. One archive
serves every node with the same Python, machine and C library; it is kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pyinfra_nvml.drift.wheel_target import Target, locked_requirements
from pyinfra_nvml.operations import wheel_cache
from pyinfra_nvml.operations.own_wheel import ROOT, content, own_wheel
from pyinfra_nvml.operations.wheel_cache import NoWheels

_KEPT = 3
"""Archives of one target in the cache, and as many of what they are made of."""


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
    lock = locked_requirements((ROOT / "requirements.lock").read_text(), target)
    place = wheel_cache.place()
    own = own_wheel(place)
    whole = "\n".join((lock, content(own), target.key))
    digest = hashlib.sha256(whole.encode()).hexdigest()[:16]
    path = place / f"{target.key}-{digest}.tar"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=place, prefix=".new-") as folder:
            _fill(Path(folder), _dependencies(place, lock, target), lock, own)
            _pack(Path(folder), path)
        _prune(place.glob(f"{target.key}-*.tar"))
        _prune(path for path in place.glob(f"{target.key}-*") if path.is_dir())
        _prune(place.glob("own-*"))
    return Archive(path, digest)


def _prune(made: Iterable[Path]) -> None:
    """Keeps the newest; an archive has 17 MB."""
    for path in sorted(made, key=lambda path: path.stat().st_mtime, reverse=True)[_KEPT:]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _dependencies(kept: Path, lock: str, target: Target) -> Path:
    """The folder of all wheels but our own: fetched again only when the lock file changed."""
    folder = kept / f"{target.key}-{hashlib.sha256(lock.encode()).hexdigest()[:16]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=kept, prefix=".new-") as place:
            _download(Path(place) / "wheels", lock, target)
            wheel_cache.keep(Path(place) / "wheels", folder)
    return folder


def _download(folder: Path, lock: str, target: Target) -> None:
    folder.mkdir()
    wanted = folder / "requirements.txt"
    wanted.write_text(lock)
    words = ["--python-version", target.full, "--implementation", "cp"]
    for abi in (f"cp{target.python.replace('.', '')}", "abi3", "none"):
        words += ["--abi", abi]
    for platform in target.platforms:
        words += ["--platform", platform]
    words += ["--dest", str(folder), "--requirement", str(wanted)]
    wheel_cache.pip("download", "--no-deps", "--only-binary=:all:", "--require-hashes", *words)


def _fill(folder: Path, wheels: Path, lock: str, own: Path) -> None:
    for each in (*wheels.glob("*.whl"), own):
        shutil.copyfile(each, folder / each.name)
    name, version = own.name.split("-")[:2]
    total = hashlib.sha256(own.read_bytes()).hexdigest()
    line = f"{name.replace('_', '-')}=={version} --hash=sha256:{total}\n"
    (folder / "requirements.txt").write_text(lock + line)


def _pack(folder: Path, path: Path) -> None:
    # Wheels are compressed already.
    half = path.with_name(f".{path.name}.{os.getpid()}")
    with tarfile.open(half, "w") as packed:
        for each in sorted(folder.iterdir()):
            packed.add(each, each.name)
    half.replace(path)
