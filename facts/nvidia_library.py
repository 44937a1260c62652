"""NVIDIA's management library on this node: the one the loader takes, and every other copy."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

DRIVER_ROOT = "/run/nvidia/driver"
"""Where the GPU Operator's driver container shows its file system (gpu-operator, driver.yaml)."""

# multiarch (Debian), lib64 (Red Hat, SUSE), plain (Arch), WSL, NixOS, GKE and its node images.
_DIRECTORIES = (
    "/usr/lib/*-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/*-linux-gnu/nvidia/*",
    "/usr/lib/wsl/lib",
    "/usr/local/lib",
    "/run/opengl-driver/lib",
    "/usr/local/nvidia/lib64",
    "/home/kubernetes/bin/nvidia/lib64",
)
_ROOTED = (f"{DRIVER_ROOT}/usr/lib/*-linux-gnu", f"{DRIVER_ROOT}/usr/lib64")

# ldconfig lives in /sbin, which the script's PATH has; musl's (Alpine) has no -p.
_FIND = rf"""
echo "machine $MACHINE"
cache=$(ldconfig -p) cached=''
case $cache in *libnvidia-ml.so.1*)
  cache=$(printf '%s\n' "$cache" | grep -F libnvidia-ml.so.1)
  while IFS= read -r line; do
    printf 'cache %s\n' "$line"
    case $line in *'libnvidia-ml.so.1 '*'=> '*) cached="$cached ${{line##*=> }}" ;; esac
  done <<END
$cache
END
  ;;
esac
for path in $cached \
  {" ".join(f"{directory}/libnvidia-ml.so.*" for directory in _DIRECTORIES)} \
  {" ".join(f"{directory}/libnvidia-ml.so.*" for directory in _ROOTED)}; do
  [ -e "$path" ] || [ -L "$path" ] || continue
  gone=; [ -e "$path" ] || gone=gone
  echo "file $path $(readlink -f "$path") $gone"
done
grep -F ' {DRIVER_ROOT} ' /proc/self/mountinfo >/dev/null && echo mounted
true
"""

# The words of ldconfig -p for the native libraries (glibc, elf/cache.c, print_entry).
_NATIVE = {"x86_64": "x86-64", "aarch64": "AArch64", "ppc64le": "64bit"}

_VERSION = re.compile(r"/libnvidia-ml\.so\.(\d+(?:\.\d+)+)$")


@dataclass(frozen=True)
class Library(Value):
    """One libnvidia-ml: the path, what it resolves to, the version in that file's name.

    ``version`` is ``None`` where the name has none: WSL's own copy is a plain libnvidia-ml.so.1.

    .. code:: python

        Library("/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.107.02", "550.107.02", True)
    """

    path: str
    target: str
    version: str | None
    exists: bool


@dataclass(frozen=True)
class DriverRoot(Value):
    """The driver container's file system: the version of the library in it, where one is there."""

    mounted: bool
    version: str | None


@dataclass(frozen=True)
class NvidiaLibraryState(Value):
    """The user's half of the driver, as NVML clients load it.

    ``resolved`` is the native libnvidia-ml.so.1 of the loader (``None``: it finds none), ``files``
    all that were found on the node, ``root`` the driver container's.

    .. code:: python

        NvidiaLibraryState(resolved=Library(...), files=(Library(...), Library(...)), root=None)
    """

    resolved: Library | None
    files: tuple[Library, ...]
    root: DriverRoot | None

    @property
    def version(self) -> str | Unknown | None:
        """The version of the library that clients on the node load."""
        if self.resolved is None:
            return None
        if not self.resolved.exists:
            return Unknown(f"{self.resolved.path}: leads to {self.resolved.target}, which is gone")
        return self.resolved.version or Unknown(f"{self.resolved.target}: no version in its name")


class NvidiaLibrary(Source[NvidiaLibraryState]):
    """The libnvidia-ml of this node.

    Sources: ldconfig(8) ``-p`` (glibc), readlink(1), the usual directories. Needs no root.
    """

    probes = (Probe("nvidia_library.files", _FIND, lines=r"(machine|cache|file) |mounted$"),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaLibraryState | Unknown:
        answer = section(sections, "nvidia_library.files")
        if answer.trouble:
            return answer.trouble
        for line in answer.out.splitlines():
            if line.startswith("file ") and not _FILE.match(line):
                return Unknown(f"{answer.name}: not understood: {line[:80]!r}")
        everything = tuple(dict.fromkeys(_library(m) for m in _FILE.finditer(answer.out)))
        return NvidiaLibraryState(
            resolved=_resolved(answer, everything),
            files=tuple(lib for lib in everything if not lib.path.startswith(DRIVER_ROOT)),
            root=_root(answer, everything),
        )


ManagementLibrary = NvidiaLibrary  # the name before 0.2


_FILE = re.compile(r"^file (/\S+) (\S*) ?(gone)?$", re.MULTILINE)


def _library(line: re.Match[str]) -> Library:
    target = line[2] or line[1]
    version = _VERSION.search(target)
    return Library(line[1], target, version[1] if version else None, exists=not line[3])


def _resolved(answer: Section, libraries: tuple[Library, ...]) -> Library | None:
    named = re.search(r"^machine (\S+)$", answer.out, re.MULTILINE)
    native = _NATIVE.get(named[1] if named else "")
    listed = re.findall(r"^cache .*\((libc6[^)]*)\) => (\S+)$", answer.out, re.MULTILINE)
    by_path = {library.path: library for library in libraries}
    for words, path in listed:
        # glibc takes the first of the cache's entries for its architecture.
        if native is None or native in words.split(", ")[0]:
            return by_path.get(path) or Library(path, path, None, exists=False)
    # What is not in the cache is looked for in the default directories (ld.so(8)).
    multiarch = f"/usr/lib/{named[1]}-linux-gnu" if named else ""
    # NixOS has no cache: its programs look into /run/opengl-driver (nixpkgs, addDriverRunpath).
    for directory in (multiarch, "/usr/lib64", "/usr/lib", "/run/opengl-driver/lib"):
        if library := by_path.get(f"{directory}/libnvidia-ml.so.1"):
            return library
    return None


def _root(answer: Section, libraries: tuple[Library, ...]) -> DriverRoot | None:
    mounted = "mounted" in answer.out.splitlines()
    # Only real names count: an absolute link in there would lead to a file of the node.
    inside = [lib for lib in libraries if lib.path.startswith(DRIVER_ROOT)]
    versions = [found[1] for lib in inside if (found := _VERSION.search(lib.path))]
    if not mounted and not versions:
        return None
    return DriverRoot(mounted, versions[-1] if versions else None)
