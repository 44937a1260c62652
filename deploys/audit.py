"""Audit every node of the inventory. Changes nothing, with or without ``--dry``.

    pyinfra inventories/example.py deploys/audit.py --dry

Exit code 1 where a node has a finding at or above ``audit_level``, did not answer, or could not
be connected to.
"""

from pyinfra import host, state
from pyinfra.api.deploy import deploy

from pyinfra_nvml.fleet.session import session  # not found? pyinfra --chdir CHECKOUT
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.reading import read_settings


def steps() -> None:
    """Audits this host; it fails where it has a finding at or above ``audit_level``."""
    wanted = read_settings(host)
    verdict = session(state, wanted).ask(host)
    if isinstance(verdict.state, Unknown) or verdict.reaches(wanted.level):
        # The exit code of pyinfra asks for nothing but this set; the host stays in the run.
        state.failed_hosts.add(host)


audit = deploy("Audit")(steps)
"""The same for a deploy file of your own: ``from pyinfra_nvml.deploys import audit``."""

# pyinfra runs a deploy file with no name of its own (3.10.0, pyinfra_cli/util.py, exec_file).
if __name__ == "builtins":
    steps()
