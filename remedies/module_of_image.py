"""A module that comes with the image of a system: packages and dkms do not last there."""

from __future__ import annotations

_WAYS = {
    "bottlerocket": "take a release of the variant for NVIDIA: apiclient update check, then"
    " apiclient update apply",
    "cos": "cos-extensions install gpu, of the image that boots next",
    "flatcar": "set NVIDIA_DRIVER_VERSION in /etc/flatcar/nvidia-metadata, then systemctl restart"
    " nvidia, which builds the module at each boot",
    "nixos": "have hardware.nvidia and the kernel from one generation in configuration.nix:"
    " nixos-rebuild boot",
    "ostree": "take an image in which kernel and module agree: rpm-ostree upgrade (rpm-ostree"
    " rollback goes back to the one before)",
    "snap": "snap refresh of the kernel snap and the driver's component together",
    "talos": "talosctl upgrade to an image with NVIDIA's system extensions of this release",
    "transactional": "transactional-update dup, which brings kernel and KMP together",
    "truenas": "switch Install NVIDIA Drivers off and on again in the settings of Apps: the system"
    " is an image, and takes no packages",
    "unraid": "update the plugin Nvidia-Driver, which brings the module of each release",
}


def by_image(system: str) -> str:
    """The way of this system; its vendor's documentation has it."""
    return _WAYS.get(system, "take an image of the system in which kernel and module agree")
