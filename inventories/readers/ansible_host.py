"""What pyinfra has to know of a host, from its Ansible variables.

docs.ansible.com, "Connecting to hosts: behavioral inventory parameters"; docs.pyinfra.com, SSH
connector and global arguments.
"""

from __future__ import annotations

from pyinfra.api.exceptions import InventoryError

_HOST = ("ansible_host", "ansible_ssh_host")
_PORT = ("ansible_port", "ansible_ssh_port")
_USER = ("ansible_user", "ansible_ssh_user")
_KEY = ("ansible_ssh_private_key_file", "ansible_private_key_file")
_PASSWORD = ("ansible_password", "ansible_ssh_pass", "ansible_ssh_password")
_BECOME_PASSWORD = ("ansible_become_password", "ansible_become_pass")
_OPTIONS = ("ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_ssh_args")

_TEXTS = (
    ("ssh_hostname", _HOST),
    ("ssh_user", _USER),
    ("ssh_key", _KEY),
    ("ssh_password", _PASSWORD),
)


def host(path: str, name: str, said: dict[str, object]) -> tuple[str, dict[str, object]]:
    """The host with its data; what pyinfra could not do as Ansible would is refused."""
    where = f"{path}: host {name}"
    connection = _text(where, said, ("ansible_connection",)) or "ssh"
    if connection == "local":
        return "@local", _become(where, said)
    if connection.rpartition(".")[2] not in ("ssh", "smart", "paramiko", "paramiko_ssh"):
        raise InventoryError(f"{where}: saw ansible_connection {connection}, want ssh or local")
    for option in _OPTIONS:
        if said.get(option):
            raise InventoryError(
                f"{where}: saw {option}, want such options (ProxyJump, ProxyCommand)"
                " in ~/.ssh/config, which pyinfra reads"
            )
    data: dict[str, object] = {}
    for key, names in _TEXTS:
        if (value := _text(where, said, names)) is not None:
            data[key] = value
    if (port := _text(where, said, _PORT)) is not None:
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise InventoryError(f"{where}: saw ansible_port {port}, want a number up to 65535")
        data["ssh_port"] = int(port)
    return name, {**data, **_become(where, said)}


def _become(where: str, said: dict[str, object]) -> dict[str, object]:
    if not _flag(where, said, "ansible_become"):
        return {}
    method = _text(where, said, ("ansible_become_method",)) or "sudo"
    user = _text(where, said, ("ansible_become_user",)) or "root"
    password = _text(where, said, _BECOME_PASSWORD)
    method = method.rpartition(".")[2]
    if method == "sudo":
        data: dict[str, object] = {"_sudo": True}
        data |= {"_sudo_user": user} if user != "root" else {}
        return data | ({"_sudo_password": password} if password else {})
    if method == "doas" and not password:
        return {"_doas": True} | ({"_doas_user": user} if user != "root" else {})
    if method == "su" and not password:
        return {"_su_user": user}
    kind = f"{method} with a password" if password else method
    raise InventoryError(f"{where}: saw ansible_become_method {kind}, want sudo, doas or su")


def _text(where: str, said: dict[str, object], names: tuple[str, ...]) -> str | None:
    """The first of these variables that is set."""
    for name in names:
        value = said.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, dict):
            raise InventoryError(
                f"{where}: saw {name} in a vault, want it plain, or in ~/.ssh/config"
            )
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            if "{{" in str(value) or "{%" in str(value):
                raise InventoryError(f"{where}: saw {name} {value!r}, want it without a template")
            return str(value)
        raise InventoryError(f"{where}: saw {name} {value!r}, want a text")
    return None


def _flag(where: str, said: dict[str, object], name: str) -> bool:
    value = said.get(name, False)
    word = str(value).lower()
    if word in ("true", "yes", "on", "1", "y", "t"):
        return True
    if word in ("false", "no", "off", "0", "n", "f", "none", ""):
        return False
    raise InventoryError(f"{where}: saw {name} {value!r}, want true or false")
