"""Every fact's parser: a recorded answer of a node beside the value expected of it."""

from pathlib import Path

import pytest
from pyinfra_testing.facts import make_fact_tests

CASES = Path(__file__).parent / "facts"

# The whole script is the command of every fact; tests/test_probe.py runs it.
pytestmark = pytest.mark.filterwarnings("ignore:No command set for test")

for folder in sorted(entry.name for entry in CASES.iterdir() if entry.is_dir()):
    locals()[f"Test{folder}"] = make_fact_tests("facts", folder, CASES / folder)
