"""A fleet over SSH: copy this file, put your hosts in, run it in this checkout.

    pyinfra inventories/example.py deploys/audit.py --dry

A host is a name that ssh knows, or a pair of a name and its data. Every list is a group; settings
for one group go into group_data/<group>.py, for all hosts into group_data/all.py.
"""

gpu_nodes = [
    "gpu-01.example",
    ("gpu-02.example", {"ssh_user": "admin", "_sudo": True}),
]
