"""Every knob with its meaning and its default. A group or a host may have its own value."""

from inventories.transport import nodelay

# What the audit counts as a failure (exit code 1): "broken", "at risk", "advice" or "none".
audit_level = "at risk"

# Where the JSON report goes on this machine; None: no file.
report_json = "reports/audit.json"

# The cgroup driver that deploys/fix_cgroup.py brings Docker to: "cgroupfs" or "systemd".
cgroup_driver = "cgroupfs"

# True: fix only nodes where a container has lost a device, or would at the next trigger.
only_exposed = False

# Where a node keeps the backups of daemon.json and the journal of what was done to it.
state_directory = "/var/lib/pyinfra-nvml"

# The file that says that a node waits for a reboot, and why; kured and Ubuntu's login message
# read this one. kured reboots nodes that have it: name another file to be told only.
reboot_sentinel = "/run/reboot-required"

# Seconds after which a command on a node is given up; the node script ends within 23 s.
_timeout = 60

# paramiko: no delay of small packets (10 ms a fact instead of 50), and an end to waiting for a
# wedged sshd (paramiko's own default is an hour).
ssh_paramiko_connect_kwargs = {"transport_factory": nodelay, "channel_timeout": 15}
