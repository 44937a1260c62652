"""Say what to change on Windows' side of a distribution of WSL2: writes nothing, anywhere.

    pyinfra @local deploys/wsl.py --dry

For each host: what it is, what the lines of its boot tell, and the steps in their order with their
price; the files of Windows and /etc/wsl.conf are written out to be copied.
"""

from pyinfra import host, logger, state

from audit.knobs import knobs  # not found? pyinfra --chdir CHECKOUT
from audit.session import session
from audit.wsl_advice import advice, lines
from facts.unknown import Unknown

run = session(state, knobs(host))
now = run.ask(host).state
found = now if isinstance(now, Unknown) else advice(now)
run.plans[host.name] = tuple(lines(found))
for line in run.plans[host.name]:
    host.log(line, logger.info)
if isinstance(found, Unknown):
    state.failed_hosts.add(host)
