"""Every knob with its meaning and its default. A group or a host may have its own value."""

from inventories.transport import nodelay

# What the audit counts as a failure (exit code 1): "broken", "at risk", "advice" or "none".
audit_level = "at risk"

# Where the JSON report goes on this machine; None: no file.
report_json = "reports/audit.json"

# The same as one HTML page that needs nothing else, as JUnit XML, and as Markdown; None: no file.
report_html = "reports/audit.html"
report_junit = None
report_markdown = None

# The cgroup driver that deploys/fix_cgroup.py brings Docker to: "cgroupfs" or "systemd".
cgroup_driver = "cgroupfs"

# True: fix only nodes where a container has lost a device, or would at the next trigger.
only_exposed = False

# Refusals that are not to count: "remove" (containers with --rm are lost), "paused" (so is the
# state of paused ones), "ecs", "gpu-lost", "stuck", "skew" (with a driver that
# waits for its reboot no GPU container starts again), "data-root" (a symbolic link to the engine's
# directory is right, and not to be told from another directory); for a reboot "kubelet" (drained),
# "kured", "scheduler", "libraries" (of an image), "guest" (a container that has its own module).
# Those that would break a host cannot be named. Two nodes are left alone, and not refused, since
# no driver is a cure there: "harmless" (every GPU comes by CDI), "no-cgroups" (the toolkit opens no
# device).
overrule: tuple[str, ...] = ()

# The containers that may see across MIG instances: patterns of a container's name, its pod
# ("namespace/name") or its image. Empty: nobody has said, and such rights are advice only.
mig_monitors: tuple[str, ...] = ()

# A Kubernetes cluster is asked too, once for all of its nodes, by kubectl on this machine: the
# kubeconfig to use, here. None: no cluster is asked; no kubeconfig is used that is not named here.
kubeconfig = None

# Its context; None: the kubeconfig's own current one.
kubecontext = None

# The name of this host's node in the cluster; None: the node that has this machine's boot id.
kubernetes_node = None

# Findings that somebody answers for until a day: they stay in every report and count for nothing.
# Each item: {"check": "engine-driver", "owner": "gpu-team", "reason": "replaced in January",
# "expires": "2027-01-31"}; "hosts": ["gpu-0*"] and "subjects": ["container train-*"] (as the report
# names them) narrow it. It holds through that day (UTC). A group's or a host's own list takes the
# place of this one.
waivers: tuple[dict[str, object], ...] = ()

# True: make this run's state the accepted one, in accepted.json beside report_json (docs/drift.md).
accept = False

# The monitor that deploys/mig_monitor.py writes out: its image (that deploy wants one), its name,
# its namespace in Kubernetes, and the directory on this machine that the files go to.
mig_monitor_image = None
mig_monitor_name = "mig-monitor"
mig_monitor_namespace = "monitoring"
mig_monitor_out = "rendered"

# A fleet is changed in groups, one after the other, in the order of the inventory. The canary goes
# first: how many of the first hosts, or the names of some. These four are the run's: set them here.
canary = 1

# How many hosts of a batch are changed at once.
batch_size = 10

# How many hosts of a batch may fail before the rest is left alone; of the canary, none may.
max_failures = 0

# The cap on nodes out of service at once: a number, or a share of the run like "25%". None: no cap.
# No batch is larger; hosts that failed count as out of service.
max_unavailable = None

# True: after a switch with live-restore on, restart the containers that are still exposed, one by
# one, and prove each. False: they are named, and the run fails.
restart_exposed_containers = False

# Where a node keeps the backups of daemon.json and the journal of what was done to it.
state_directory = "/var/lib/pyinfra-nvml"

# The file that says that a node waits for a reboot, and why; kured and Ubuntu's login message
# read this one. kured reboots nodes that have it: name another file to be told only.
reboot_sentinel = "/run/reboot-required"

# What deploys/fix_driver.py does about updates of the driver: "packages" (apt-mark hold, dnf
# versionlock, zypper addlock), "blacklist" (unattended-upgrades leaves them out), "release" (what
# it held itself), "leave".
hold_driver = "packages"

# True: deploys/fix_driver.py reboots nodes whose driver a reboot brings in step.
reboot = False

# Seconds that a node may take to come back. Servers with eight GPUs may need ten minutes.
reboot_timeout = 900

# deploys/schedule_drift.py: False takes the timer, its program and the Slurm wrapper away again.
present = True

# Who audits: "node", each node itself, or "controller", one machine that audits an inventory.
drift_mode = "node"

# When: an OnCalendar= of systemd.time(7); without systemd, what cron can say of it.
drift_schedule = "hourly"

# Seconds over which the nodes spread their runs: each has a delay of its own, always the same.
drift_delay = 900

# Seconds after which a run is ended. Delay and limit together stay below the time between two runs.
drift_limit = 600

# What a scheduled audit counts as a failure: "broken", "at risk", "advice" or "none"; None: what
# audit_level says.
drift_level = None

# The inventory that a controller audits: its path there. A node audits itself.
drift_inventory = None

# Who runs it. None: root on a node (opening a container's device needs it), on a controller a user
# of its own, "pyinfra-nvml", who needs the keys of the inventory in its .ssh.
drift_user = None

# Where the results stay, and that user's home.
drift_results = "/var/lib/pyinfra-nvml-drift"

# The file for node_exporter's textfile collector, NAME.prom in its directory; None: none.
drift_textfile = None

# Where the program lies: virtual environments by version, and a link to the one in use.
drift_home = "/opt/pyinfra-nvml"

# The Python that makes them, a name or a path on the node: 3.10 or newer, with venv.
drift_python = "python3"

# A HealthCheckProgram for Slurm (docs/slurm.md) that drains a node with a finding at or above this
# level: "broken", "at risk" or "advice". None: Slurm is told nothing.
drift_slurm = None

# True: it drains a node too of which could not be told how it is, or whose results are old.
drift_slurm_unknown = False

# Seconds after which a command on a node is given up; the node script ends within 23 s.
_timeout = 60

# paramiko: no delay of small packets (10 ms a fact instead of 50), and an end to waiting for a
# wedged sshd (paramiko's own default is an hour).
ssh_paramiko_connect_kwargs = {"transport_factory": nodelay, "channel_timeout": 15}
