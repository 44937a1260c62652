"""What a node has beyond its packages: names, address, keys, rights, GPU nodes, the legacy hook."""

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

# sudo(8) reads it only with mode 0440 or stricter; any other file here may be 0644.
SUDOERS = "/etc/sudoers.d/admin"
MASKED = (
    "systemd-networkd-wait-online.service",
    "console-getty.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
)
# No driver stands behind them: an allowed open ends in ENXIO, a refused one in EPERM.
GPU_NODES = """\
[Unit]
Description=NVIDIA device nodes without a driver
DefaultDependencies=no
Before=sysinit.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mknod -m 0666 /dev/nvidiactl c 195 255
ExecStart=/bin/mknod -m 0666 /dev/nvidia0 c 195 0

[Install]
WantedBy=sysinit.target
"""
# systemd-nspawn mounts the v1 controllers read-only; a machine that boots on v1 has them writable.
INIT = "/usr/local/sbin/lab-init"
INIT_SCRIPT = """\
#!/bin/sh
if test -e /sys/fs/cgroup/devices; then
    for each in /sys/fs/cgroup/*/; do mount -o remount,bind,rw "$each"; done
fi
exec /lib/systemd/systemd "$@"
"""
SSHD = """\
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/lab_authorized_keys
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 200
"""
NETWORK = """\
[Match]
Name=host0
[Network]
Address={address}/24
ConfigureWithoutCarrier=yes
IgnoreCarrierLoss=yes
LinkLocalAddressing=no
LLDP=no
"""
WANTED = {
    "systemd-networkd.service": "multi-user.target",
    "lab-gpu-nodes.service": "sysinit.target",
}


def put_in(root: Path, hostname: str, address: str, public_key: str, host_key: Path) -> None:
    """Furnish a root that is not booted yet."""
    files = {
        "/etc/hostname": f"{hostname}\n",
        "/etc/hosts": f"127.0.0.1 localhost\n{address} {hostname}\n",
        "/etc/machine-id": f"{secrets.token_hex(16)}\n",
        "/etc/resolv.conf": "",
        "/etc/systemd/network/10-host0.network": NETWORK.format(address=address),
        "/etc/ssh/sshd_config.d/lab.conf": SSHD,
        "/etc/ssh/lab_authorized_keys": public_key,
        SUDOERS: "admin ALL=(ALL) NOPASSWD: ALL\n",
        "/etc/systemd/system/lab-gpu-nodes.service": GPU_NODES,
        INIT: INIT_SCRIPT,
    }
    write(root, files)
    (root / SUDOERS[1:]).chmod(0o440)
    (root / INIT[1:]).chmod(0o755)
    key = root / "etc/ssh/ssh_host_ed25519_key"
    shutil.copyfile(host_key, key)
    key.chmod(0o600)
    _enable(root)


def put_hook_in(root: Path, hook: Path) -> None:
    """Put the stand-in for the legacy hook where dockerd looks for it."""
    place = root / "usr/bin/nvidia-container-runtime-hook"
    shutil.copyfile(hook, place)
    place.chmod(0o755)


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files, given by their path on the node, readable by everyone."""
    for path, text in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        # A link would lead out of the root: an absolute one is resolved on this machine.
        place.unlink(missing_ok=True)
        place.write_text(text)
        place.chmod(0o644)


def _enable(root: Path) -> None:
    units = root / "etc/systemd/system"
    for unit in MASKED:
        (units / unit).unlink(missing_ok=True)
        (units / unit).symlink_to("/dev/null")
    for unit, target in WANTED.items():
        link = units / f"{target}.wants" / unit
        link.parent.mkdir(exist_ok=True)
        where = "/etc" if unit.startswith("lab-") else "/lib"
        link.unlink(missing_ok=True)
        link.symlink_to(f"{where}/systemd/system/{unit}")
