"""The hosts of your ~/.ssh/config that a pattern names (docs/inventories.md).

    NVML_SSH_HOSTS='gpu-* !gpu-09' pyinfra inventories/ssh_config.py deploys/audit.py --dry

Or copy this file, and write the patterns in. NVML_SSH_CONFIG names another file.
"""

import os

from inventories.readers import ssh

_PATTERNS = os.environ.get("NVML_SSH_HOSTS", "").split()
_FILE = os.environ.get("NVML_SSH_CONFIG", ssh.DEFAULT)

hosts = ssh.hosts(_FILE, _PATTERNS)
