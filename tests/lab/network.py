"""The wire between this machine and the nodes: a bridge with a range that nothing here uses yet."""

import ipaddress
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from tests.lab.command import tool
from tests.lab.errors import LabError

# RFC 1918; away from Docker's own 172.17.0.0/16 inside the nodes.
CANDIDATES = [ipaddress.IPv4Network(f"10.213.{third}.0/24") for third in range(256)]


@dataclass(frozen=True)
class Bridge:
    """A bridge on this machine; its first address is the machine's."""

    name: str
    network: ipaddress.IPv4Network

    def address(self, number: int) -> str:
        """The address of the node with this number, 0 to 239."""
        return str(self.network[10 + number])

    def forget(self, address: str) -> None:
        """Let the next node with this address be found under its own hardware address."""
        tool("ip", "neighbour", "flush", "to", address, "dev", self.name)


def make(name: str) -> Bridge:
    """Make the bridge, or find it as an earlier call made it."""
    if exists(name):
        return Bridge(name, _network_of(name))
    network = _free()
    # With an address of its own: without, a bridge takes the lowest of its ports', and a node that
    # comes or goes leaves the others speaking to an address that is no more.
    own = ":".join(["02", *(f"{byte:02x}" for byte in secrets.token_bytes(5))])
    tool("ip", "link", "add", name, "address", own, "type", "bridge")
    tool("ip", "address", "add", f"{network[1]}/24", "dev", name)
    tool("ip", "link", "set", name, "up")
    return Bridge(name, network)


def remove(name: str) -> None:
    """Remove the link if it is there. The kernel takes a node's too, some time after its end."""
    if not exists(name):
        return
    try:
        tool("ip", "link", "delete", name)
    except LabError:
        if exists(name):
            raise


def exists(name: str) -> bool:
    """Whether this machine has a link of that name."""
    return Path("/sys/class/net", name).exists()


def _network_of(name: str) -> ipaddress.IPv4Network:
    for link in json.loads(tool("ip", "-json", "-4", "address", "show", "dev", name)):
        for each in link.get("addr_info", []):
            found = ipaddress.ip_interface(f"{each['local']}/{each['prefixlen']}")
            if isinstance(found, ipaddress.IPv4Interface):
                return found.network
    raise LabError(f"{name}: bridge without an address, want one: python -m tests.lab down")


def _free() -> ipaddress.IPv4Network:
    used = _used()
    for each in CANDIDATES:
        if not any(each.overlaps(other) for other in used):
            return each
    raise LabError(f"network: {CANDIDATES[0]} to {CANDIDATES[-1]} in use here, want one free")


def _used() -> list[ipaddress.IPv4Network]:
    routes = json.loads(tool("ip", "-json", "-4", "route", "show", "table", "all") or "[]")
    destinations = [route["dst"] for route in routes if route["dst"] != "default"]
    return [ipaddress.IPv4Network(each, strict=False) for each in destinations]
