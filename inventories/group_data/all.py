"""Every setting with its meaning and its default. A group or a host may have its own value."""

from pyinfra_nvml.fleet.transport import nodelay  # not found? pyinfra --chdir CHECKOUT

# From here on written by `make docs` from the declarations in settings/.

# What the audit counts as a failure (exit code 1): findings from this level on: "broken", "at risk"
# or "advice". "none": no finding is a failure.
audit_level = "at risk"

# The file on this machine for the JSON report. None: no file.
report_json = "results/audit.json"

# The file for the same report as one HTML page. None: no file.
report_html = "results/audit.html"

# The file for the same report as JUnit XML. None: no file.
report_junit = None

# The file for the same report as Markdown. None: no file.
report_markdown = None

# Findings that somebody answers for until a day: they stay in every report, and count for nothing.
# Each item: {"check": "engine-driver", "owner": "gpu-team", "reason": "replaced in January",
# "expires": "2027-01-31"}; "hosts": ["gpu-0*"] and "subjects": ["container train-*"] (as the report
# names them) narrow it. It holds through that day (UTC). A list of a group or a host replaces this
# one.
waivers: tuple[object, ...] = ()

# True: accept the state of this run, in accepted.json beside report_json (docs/drift.md).
accept = False

# The containers that may see across MIG instances: patterns of a container's name, its pod
# ("namespace/name") or its image. Empty: such rights are reported as advice only.
mig_monitors: tuple[object, ...] = ()

# The kubeconfig on this machine: its Kubernetes cluster is asked too, with kubectl, once for all of
# its nodes. None: no cluster is asked. A kubeconfig that is not named here is never used.
kubeconfig = None

# The context in that kubeconfig. None: the kubeconfig's own current context.
kubecontext = None

# The name of this host's node in the cluster. None: the node that has this machine's boot id.
kubernetes_node = None

# The cgroup driver that deploys/fix_cgroup.py sets for Docker: "cgroupfs" or "systemd".
cgroup_driver = "cgroupfs"

# True: fix only nodes where a container has lost a device, or will at the next trigger.
only_exposed = False

# True: bring Docker to that driver on nodes without a finding that asks for it, too.
enforce = False

# Refusals to ignore, by name: "remove" (containers that were started with --rm are lost); "paused"
# (the state of paused containers is lost); "ecs" (tasks of Amazon ECS are stopped); "gpu-lost" (a
# GPU that has left the bus does not come back by a restart); "stuck" (a container with a process in
# state D may not stop); "skew" (while the driver waits for its reboot, no GPU container starts
# again); "data-root" (the symbolic link to the engine's directory is right); "unproven-config" (an
# edit may keep Docker from starting, nobody tried it); "cgroup-parent" (Docker with systemd starts
# no container of such a parent); "kubelet" (the node was drained before its reboot); "kured" (kured
# may reboot the node as well); "scheduler" (jobs of the node's scheduler are stopped by the
# reboot); "libraries" (libraries of the driver that are part of an image stay as they are); "guest"
# (the container has a kernel module of its own to reboot for); "harmless" (every GPU comes by CDI,
# so another cgroup driver cures nothing); "no-cgroups" (the toolkit opens no device, so another
# cgroup driver cures nothing). Refusals that protect a host have no name.
overrule: tuple[object, ...] = ()

# True: with live-restore on, restart the containers that are still exposed after the switch, one by
# one, and prove each. False: the run names them and fails.
restart_exposed_containers = False

# The directory on a node for the backups of daemon.json and the journal of what was done.
state_directory = "/var/lib/pyinfra-nvml"

# A fleet is changed in groups, one after the other, in the order of the inventory. The canary goes
# first: how many of the first hosts, or the names of some. This and the next three hold for a whole
# run: set them here or with --data, not for a group or a host.
canary = 1

# How many hosts make a batch; they are changed at once.
batch_size = 10

# How many hosts of a batch may fail before the rest is left alone. Of the canary none may.
max_failures = 0

# The most nodes out of service at once: a number, or a share of the run like "25%". None: no limit.
# No batch is larger. Hosts that failed count as out of service.
max_unavailable = None

# The file on a node that says that it waits for a reboot, and why. kured and Ubuntu's login message
# read this one. kured reboots nodes that have it: name another file if that is not wanted.
reboot_sentinel = "/run/reboot-required"

# What deploys/fix_driver.py does about updates of the driver: "packages" (apt-mark hold, dnf
# versionlock, zypper addlock), "blacklist" (unattended-upgrades leaves them out), "release"
# (release what it held itself), "leave" (touch no hold).
hold_driver = "packages"

# True: deploys/fix_driver.py reboots the nodes whose driver a reboot puts right.
reboot = False

# Seconds that a node may take to come back. Servers with eight GPUs may need ten minutes.
reboot_timeout = 900

# The image of the monitor that deploys/mig_monitor.py writes out; that deploy needs it.
mig_monitor_image = None

# The name of that monitor.
mig_monitor_name = "mig-monitor"

# The namespace of that monitor in Kubernetes.
mig_monitor_namespace = "monitoring"

# The directory on this machine for the monitor's files.
mig_monitor_out = "rendered"

# False: deploys/schedule_drift.py removes the timer, its program and the Slurm health check again.
present = True

# Who audits: "node" (each node itself) or "controller" (one machine audits an inventory).
drift_mode = "node"

# When: an OnCalendar= of systemd.time(7). Without systemd, one that cron can express too.
drift_schedule = "hourly"

# Seconds over which the nodes spread their runs; each node always has the same delay.
drift_delay = 900

# Seconds after which a run is ended. Delay and limit together must be less than the time between
# two runs.
drift_limit = 600

# What a scheduled audit counts as a failure: "broken", "at risk", "advice" or "none". None: what
# audit_level says.
drift_level = None

# The inventory that a controller audits: its path on the controller. A node audits itself.
drift_inventory = None

# The user who runs it. None: root on a node (needed to open a container's device); on a controller
# a user of its own, "pyinfra-nvml", who needs the keys of the inventory in its .ssh.
drift_user = None

# The directory for the results, and that user's home.
drift_results = "/var/lib/pyinfra-nvml-drift"

# The file for node_exporter's textfile collector, NAME.prom in its directory. None: no file.
drift_textfile = None

# The directory for the program: a virtual environment for each version, and a link to the one in
# use.
drift_home = "/opt/pyinfra-nvml"

# The Python that makes them: a name or a path on the node; 3.10 or newer, with venv.
drift_python = "python3"

# Install a HealthCheckProgram for Slurm (docs/slurm.md) that drains a node with a finding at or
# above this level: "broken", "at risk" or "advice". None: none is installed.
drift_slurm = None

# True: it also drains a node that is unknown or whose results are too old.
drift_slurm_unknown = False

# Seconds after which a command on a node is given up; the node script ends within 23 s.
_timeout = 60

# To here written by `make docs`.

# For paramiko: no delay of small packets (10 ms for a fact instead of 50), and limits for a node
# that hangs (docs/fleets.md): seconds for a whole login (paramiko's own default is 30 for each
# key), and for sshd to open a channel or take a command (its default is an hour).
ssh_paramiko_connect_kwargs = {
    "transport_factory": nodelay,
    "auth_timeout": 15,
    "channel_timeout": 15,
}
