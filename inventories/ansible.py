"""The hosts of an Ansible inventory, with its groups (docs/inventories.md).

    NVML_ANSIBLE_INVENTORY=hosts.ini pyinfra inventories/ansible.py deploys/audit.py --dry

Or copy this file, and write the path in.
"""

import os

from inventories.readers import ansible

_PATH = os.environ.get("NVML_ANSIBLE_INVENTORY")

# pyinfra takes every list at the top of this file for a group.
globals().update(ansible.groups(_PATH))
