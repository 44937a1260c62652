"""Audit every node of the inventory. Changes nothing, with or without ``--dry``.

    pyinfra inventories/example.py deploys/audit.py --dry

Exit code 1 where a node has a finding at or above ``audit_level``, did not answer, or could not
be connected to.
"""

from pyinfra import host, state

from audit.knobs import knobs  # not found? pyinfra --chdir CHECKOUT
from audit.session import session
from facts.unknown import Unknown

wanted = knobs(host)
verdict = session(state, wanted).ask(host)
if isinstance(verdict.state, Unknown) or verdict.reaches(wanted.audit_level):
    # The exit code of pyinfra asks for nothing but this set; the host stays in the run.
    state.failed_hosts.add(host)
