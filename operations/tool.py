"""This project's own program on a node: a virtual environment, installed without a network."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from pyinfra.api import FileUploadCommand, QuoteString, StringCommand, operation
from pyinfra.context import host

from pyinfra_nvml.facts.installed_tool import HOME, InstalledTool
from pyinfra_nvml.operations import node

PROGRAM = "nvml-audit"
_LIMIT = 600
"""Seconds to unpack and compile 34 wheels on a busy node; 15 s were seen on an idle one."""


@operation()
def installed(
    archive: str, digest: str, python: str = "python3", home: str = HOME
) -> Generator[StringCommand | FileUploadCommand, None, None]:
    """
    This version of the program is in use on the node.

    + archive: the tar of wheels on the machine that runs pyinfra
    + digest: the name of what is in it
    + python: the Python on the node that makes the virtual environment
    + home: the directory on the node

    A new version is made beside the one in use, tried, and put in its place by one rename; the one
    before stays beside it. Needs root, and no network on the node.

    **Example:**

    .. code:: python

        tool.installed(archive="cp311-manylinux_2_36_x86_64-4f1c.tar", digest="4f1c")
    """
    if host.get_fact(InstalledTool, home=home) == digest:
        host.noop(f"{home} holds version {digest}")
        return
    place = f"{home}/{Path(archive).name}"
    yield StringCommand("mkdir", "-p", QuoteString(home))
    yield FileUploadCommand(archive, place)
    source = node.script("say", "state", "lock", "install_tool")
    yield node.run(source, home, digest, python, place, PROGRAM, stdin="", limit=_LIMIT)


@operation()
def uninstalled(home: str = HOME) -> Generator[StringCommand, None, None]:
    """
    The program is not on the node; other things in its directory stay.

    + home: the directory on the node

    **Example:**

    .. code:: python

        tool.uninstalled(home="/opt/pyinfra-nvml")
    """
    if host.get_fact(InstalledTool, home=home) is None:
        host.noop(f"{home} holds no version")
        return
    yield node.run(node.script("say", "remove_tool"), home, stdin="", limit=60)
