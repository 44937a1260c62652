"""Say what to change on Windows' side of a distribution of WSL2: writes nothing, anywhere.

    pyinfra @local deploys/wsl.py --dry

For each host: what it is, what the lines of its boot tell, and the steps in their order with their
price; the files of Windows and /etc/wsl.conf are written out to be copied.
"""

from pyinfra import host, logger, state
from pyinfra.api.deploy import deploy

from pyinfra_nvml.explain.wsl_advice import (  # not found? pyinfra --chdir CHECKOUT
    advice,
    advice_lines,
)
from pyinfra_nvml.fleet.session import session
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.reading import read_settings


def steps() -> None:
    """Says what to change on the Windows side of this host."""
    run = session(state, read_settings(host))
    now = run.ask(host).state
    found = now if isinstance(now, Unknown) else advice(now)
    run.plans[host.name] = tuple(advice_lines(found))
    for line in run.plans[host.name]:
        host.log(line, logger.info)
    if isinstance(found, Unknown):
        state.failed_hosts.add(host)


wsl = deploy("Advise on WSL2")(steps)
"""The same for a deploy file of your own: ``from pyinfra_nvml.deploys import wsl``."""

# pyinfra runs a deploy file with no name of its own (3.10.0, pyinfra_cli/util.py, exec_file).
if __name__ == "builtins":
    steps()
