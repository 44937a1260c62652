"""What an operator starts: each module is a deploy file of pyinfra, and has its function.

.. code:: python

    from pyinfra_nvml.deploys import fix_cgroup

    fix_cgroup()
"""

from pyinfra_nvml.deploys.audit import audit
from pyinfra_nvml.deploys.fix_cgroup import fix_cgroup
from pyinfra_nvml.deploys.fix_driver import fix_driver
from pyinfra_nvml.deploys.mig_monitor import mig_monitor
from pyinfra_nvml.deploys.restore import restore
from pyinfra_nvml.deploys.schedule_drift import schedule_drift
from pyinfra_nvml.deploys.wsl import wsl

__all__ = ["audit", "fix_cgroup", "fix_driver", "mig_monitor", "restore", "schedule_drift", "wsl"]
