# Every target sets up what it needs. Wanted on the machine: python3 (3.10 or newer, with venv) and make.

PYTHON ?= python3
INVENTORY ?= inventories/local.py
# Where drift and accept keep what they saw.
RESULTS ?= results
# Files of tests on real nodes at a time: they mostly wait. A file's tests share its nodes.
JOBS ?= 4
VENV := .venv
PIP := $(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes
RUN := $(VENV)/.locked
DEV := $(VENV)/.locked-dev
# pyinfra writes no bytecode (pyinfra_cli/main.py, 3.10): without this, each run compiles it all anew.
COMPILED := $(VENV)/.compiled
# An inventory is run by pyinfra, never imported: one that is no Python yet is none of make's business.
IMPORTED := model settings facts combiners checks plans remedies audit explain reports fleet drift \
  operations templates inventories/readers
SOURCES := $(foreach name,$(IMPORTED),$(filter %.py,$(name)) $(wildcard $(name)/*.py $(name)/*/*.py))

.DEFAULT_GOAL := help
.PHONY: help audit drift accept demo test test-pure test-lab faults matrix fuzz invariants bench versions record lint format docs pictures lab lab-down vulnerable lock clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1 \2/p' $(MAKEFILE_LIST) | while read -r name words; do printf '  make %-10s  %s\n' "$$name" "$$words"; done

audit: $(COMPILED)  ## audit this machine, or INVENTORY=path; changes nothing
	@$(VENV)/bin/pyinfra '$(INVENTORY)' deploys/audit.py --dry -y

drift: $(COMPILED)  ## audit, and tell what has changed since the accepted state
	@$(VENV)/bin/python -m pyinfra_nvml.drift '$(INVENTORY)' --results '$(RESULTS)'

accept: $(COMPILED)  ## make today's state the accepted one, after which drift counts
	@$(VENV)/bin/python -m pyinfra_nvml.drift '$(INVENTORY)' --results '$(RESULTS)' --accept || [ $$? -eq 1 ]

demo: $(COMPILED)  ## audit a recorded fleet that shows what is found
	@$(VENV)/bin/pyinfra inventories/recorded.py deploys/audit.py --dry -y --data audit_level=none

# Nodes mostly wait: the tests without any take the CPU meanwhile.
test: $(DEV)  ## every test; those on real nodes want root on Linux
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-pure test-lab

test-pure: $(DEV)  ## the tests without nodes
	@$(VENV)/bin/pytest -q --ignore=tests/lab

test-lab: $(DEV)  ## the tests on real nodes
	@$(VENV)/bin/pytest -q -n $(JOBS) --dist loadfile --durations=15 tests/lab

faults: $(DEV)  ## inject every fault on real nodes, and write docs/faults.md
	@$(VENV)/bin/python -m tests.lab.faults

matrix: $(DEV)  ## compare the audit's verdicts with real triggers, and write docs/matrix.md
	@$(VENV)/bin/python -m tests.lab.matrix

fuzz: $(DEV)  ## give every parser 10,000 answers of a node that no node gave
	@$(VENV)/bin/python -m tests.fuzz

invariants: $(DEV)  ## try the invariants of tests/test_invariants.py on 20,000 machines: ten minutes
	@MACHINES=20000 $(VENV)/bin/pytest -q tests/test_invariants.py

bench: $(DEV)  ## measure the audit against other fleet tools, and write docs/performance.md
	@test -x .venv-bench/bin/ansible || $(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	@$(MAKE) --no-print-directory VENV=.venv-bench-own .venv-bench-own/.compiled
	@$(VENV)/bin/python -m bench --rivals .venv-bench --own .venv-bench-own

versions: $(DEV)  ## the unit tests on every Python, with the newest and the oldest dependencies; ROWS=3.13-lowest for one
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check uv
	@$(VENV)/bin/python -m tests.versions $(ROWS)

record: $(DEV)  ## record a node, HOST=name NAME=its_name ORIGIN='Debian 13, Docker 26.1.5, H100'
	@$(VENV)/bin/python -m tests.record host '$(HOST)' '$(NAME)' '$(ORIGIN)'

lint: $(DEV)  ## ruff, mypy, import-linter, conflict markers, shellcheck where it is installed
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@! git grep -nIE '^(<{7}|>{7}) ' -- . || { echo 'conflict markers in the lines above: resolve the conflict, and delete them' >&2; exit 1; }
	@if command -v shellcheck >/dev/null; then shellcheck $$(git ls-files '*.sh' .ci/run); fi

format: $(DEV)  ## put the code into shape
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

docs: $(DEV)  ## write docs/checks.md and docs/mission.md, docs/cases.md from the cases
	@$(VENV)/bin/python -m docs.generate
	@$(VENV)/bin/python -m tests.cases_page

pictures: $(DEV)  ## draw the pictures of docs/ anew; wants chromium
	@$(VENV)/bin/python -m docs.pictures

lab: $(DEV)  ## boot real nodes without a GPU to play with, NODES=trixie for some; print their inventory
	@$(VENV)/bin/python -m tests.lab up $(NODES)

lab-down: $(DEV)  ## remove every trace of them
	@$(VENV)/bin/python -m tests.lab down

# CVE-2026-44405: paramiko before 5, which pyinfra 3.10 does not take; see docs/dependencies.md.
vulnerable: $(DEV)  ## known vulnerabilities in the locked dependencies; asks PyPI's database
	@test -x .venv-audit/bin/pip-audit || { $(PYTHON) -m venv .venv-audit && .venv-audit/bin/pip install --quiet pip-audit; }
	@.venv-audit/bin/pip-audit --strict --disable-pip --require-hashes --ignore-vuln CVE-2026-44405 \
	  -r requirements.lock

lock: $(DEV)  ## resolve the dependencies anew, with hashes
	@$(VENV)/bin/pip install --quiet uv
	@$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
	  --no-header --upgrade pyproject.toml -o requirements.lock
	@$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
	  --no-header --upgrade --constraint requirements.lock --extra dev pyproject.toml -o requirements-dev.lock

clean:  ## remove the virtual environment and what the tools keep
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 10) else f"python: saw {v[0]}.{v[1]}, want 3.10 or newer; name one with make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV) || { echo "venv: $(PYTHON) cannot make one (its words are above), want a directory to write to; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(RUN): requirements.lock | $(VENV)/bin/pip
	@echo "setting up $(VENV), once: a minute" >&2
	@$(PIP) -r requirements.lock || { echo "$(VENV): pip could not install requirements.lock (its words are above), want PyPI or a mirror within reach: PIP_INDEX_URL, HTTPS_PROXY; then the same make again" >&2; exit 1; }
	@touch $@

$(COMPILED): $(RUN) $(SOURCES)
	@$(VENV)/bin/python -m compileall -q $(IMPORTED)
	@touch $@

$(DEV): requirements-dev.lock | $(RUN)
	@echo "setting up $(VENV) for the tests and the lab, once: a minute" >&2
	@$(PIP) -r requirements-dev.lock
	@touch $@
