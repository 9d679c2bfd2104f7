# Two commands do everything on a fresh machine with Python 3.11 or newer: `make run` and `make test`.
# Of which releases: those of requirements.lock, the newest, or the oldest that pyproject.toml allows (tests/releases.py).
ENVIRONMENT := lock
ifeq ($(ENVIRONMENT),lock)
PYTHON ?= python3
NEEDED := 3.11 or newer
FITS := sys.version_info >= (3, 11)
VENV := .venv
REQUIREMENTS := --require-hashes -r requirements.lock
CHECK := check
else ifneq ($(filter $(ENVIRONMENT),newest oldest),)
NEEDED := $(if $(filter newest,$(ENVIRONMENT)),3.13,3.11)
PYTHON ?= env PYENV_VERSION=$(NEEDED) python$(NEEDED)
FITS := "%d.%d" % sys.version_info[:2] == "$(NEEDED)"
VENV := .venv-$(ENVIRONMENT)
REQUIREMENTS := -r $(VENV)/requirements.txt
# What is well formatted and well typed depends on the releases of the tools, which are the lock's.
CHECK :=
else
$(error ENVIRONMENT is lock, newest or oldest. Got $(ENVIRONMENT))
endif
MISFIT = "ENVIRONMENT=$(ENVIRONMENT) needs Python $(NEEDED) with venv, and $(lastword $(PYTHON)) is not that; name another with PYTHON=PATH."
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Python keeps what it has read in its own form: the tests start hundreds of processes that would each read it anew.
unexport PYTHONDONTWRITEBYTECODE
# What every process that computes rows has: a set of texts is in the same order in all of them.
export PYTHONHASHSEED := 6640
# Slow tests are in 24 slices (tests/slices.py): `head` draws three from the hash of HEAD. SLICES=all runs them all.
SLICES ?= head
# The examples of docstrings are left out: with them, each test file is imported twice.
TESTS := $(BIN)/python -m pytest -o addopts="--import-mode=importlib -q -p no:cacheprovider"
# Two workers; a file stays in one worker, because its tests share fixtures.
TWO_WORKERS := -n 2 --dist loadfile

# Tests whose fast ones run interpreted too: the golden records of each engine, and the node, which compiles for a minute.
INTERPRETED := tests/engines/test_golden_records.py tests/engines/test_dispatch_part.py \
	tests/engines/test_translation_part.py tests/engines/node tests/metrics/test_node.py tests/export/test_node_timeline.py \
	tests/explain/test_blame.py tests/dashboards/test_node.py tests/workloads/test_trace_applications.py
INTERPRETED_IN_LONG := tests/compiled tests/structures tests/engines tests/metrics tests/policies \
	$(filter-out tests/engines/% tests/metrics/%,$(INTERPRETED))
# Tests of policies as values, and of parts that are copied, are the same both ways.
ONE_WAY := fresh_interpreted_process or refuses_wrong_levers or yaml_and_back or pickles or compiled_and_plain \
	or copies_are_what_is_made_for_every_policy
# Interpreted, these would take minutes: they compare with theory or with recordings, or count thousands of draws.
TOO_SLOW := mean_wait or in_every_order or the_queue_m_d or snapshots_come_out_exactly
TOO_SLOW_IN_LONG := is_uniform or as_likely_as_another or draws_are_independent

.PHONY: run paper test test-long check structure warm compiled browser examples interpreted interpreted-long bounds docs lab dashboard bench pictures verdict-table lock ready python clean help

help:
	@echo "make run        set up .venv, run the main sweeps, say where the results are"
	@echo "make test       set up .venv, run every check, the fast tests and 3 of 24 slices of the slow ones (SLICES=all: all)"
	@echo "                with the newest releases or the oldest allowed: ENVIRONMENT=newest (Python 3.13) or oldest (3.11)"
	@echo "make test-long  every test at its full size, compiled, interpreted, and with array indices checked"
	@echo "make paper      a complete short paper from runs to PDF, in results/paper/paper"
	@echo "make check      the quick checks alone: format, lint, types, import walls, structure, touched sentences"
	@echo "make structure  circles of imports, long modules, constants far below their use; and the package's size"
	@echo "make compiled   part of make test: the tests, without those in a browser"
	@echo "make browser    part of make test: the tests in a browser"
	@echo "make examples   part of make test: the examples of docstrings"
	@echo "make interpreted part of make test: fast tests of compiled code once more, as plain Python"
	@echo "make docs       the documentation, into docs/_build/html (workbench open docs opens it)"
	@echo "make lab        JupyterLab on notebooks/"
	@echo "make dashboard  the shared-memory dashboard in a browser"
	@echo "make bench      compare the speed with references on this machine"
	@echo "make verdict-table  show in README and data/verdict what the verdict is"
	@echo "make lock       resolve requirements.lock anew (needs uv)"

# Pip would compile thirty seconds on one core; a file of a package that is no Python for this version is no matter.
# The tests of packages, a quarter of all, are not imported.
$(READY): requirements.lock pyproject.toml
	@$(MAKE) --no-print-directory python
	$(PYTHON) -m venv $(VENV)
	$(if $(CHECK),,$(PYTHON) -m tests.releases $(ENVIRONMENT) >$(VENV)/requirements.txt)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(REQUIREMENTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib || true
	@touch $(READY)

ready: $(READY)

# Whether the Python that the environment needs is here.
python:
	@$(PYTHON) -c 'import ensurepip, sys; sys.exit(not $(FITS))' 2>/dev/null || { echo $(MISFIT) >&2; exit 2; }

run: $(READY)
	$(BIN)/python -m workbench.cli.run

# From runs to a PDF; without a TeX all but the PDF, and it says so.
paper: $(READY)
	$(BIN)/python -m papers.six_open_gpus

# First every engine is compiled, or each process of the tests would compile it; the type checker uses the other core.
# The two workers of `compiled` start when that is done, next to one other part at a time.
test: $(READY)
	@$(BIN)/python -m tests.slices $(SLICES)
	$(MAKE) --no-print-directory -j 2 FIRST=warm $(CHECK) warm compiled browser examples interpreted
	@$(BIN)/python -m tests.needs

compiled browser examples interpreted: | $(FIRST)

# Each part runs, also where one before it failed.
test-long: export WORKBENCH_LONG := 1
test-long: $(READY)
	$(MAKE) --no-print-directory --keep-going SLICES=all check warm compiled browser examples interpreted-long bounds
	@$(BIN)/python -m tests.needs

warm: $(READY)
	$(BIN)/python -m tests.compile_first

compiled: $(READY)
	$(TESTS) --slices=$(SLICES) $(TWO_WORKERS) --ignore=tests/browser tests

browser: $(READY)
	$(TESTS) --slices=$(SLICES) tests/browser

examples: $(READY)
	$(BIN)/python -m pytest -p tests.slices -p tests.examples --slices=$(SLICES) workbench

interpreted: $(READY)
	NUMBA_DISABLE_JIT=1 $(TESTS) --slices=none -k "not ($(ONE_WAY) or $(TOO_SLOW))" $(INTERPRETED)

interpreted-long: $(READY)
	NUMBA_DISABLE_JIT=1 $(TESTS) $(TWO_WORKERS) -k "not ($(ONE_WAY) or $(TOO_SLOW_IN_LONG))" $(INTERPRETED_IN_LONG)

# At the small size: each index of an array is checked, which the compiler otherwise leaves out.
bounds: $(READY)
	NUMBA_BOUNDSCHECK=1 WORKBENCH_LONG=0 $(TESTS) --timeout=3000 -m bounds tests/engines

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy workbench
	$(BIN)/lint-imports
	$(BIN)/python -m tests.house.structure
	$(BIN)/python -m tests.house.sentences

# The faults that it refuses, and the size as a trend (tests/house/structure.py).
structure: $(READY)
	@$(BIN)/python -m tests.house.structure

# Every page from the code as it is; notebooks are run once, and their outputs kept in the user's cache.
docs: $(READY)
	$(BIN)/python -m workbench.docs

lab: $(READY)
	$(BIN)/workbench open lab

dashboard: $(READY)
	$(BIN)/workbench open dashboard

bench: $(READY)
	$(BIN)/workbench bench

pictures: $(READY)
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python -m docs.make_gallery
	$(BIN)/python -m docs.record_dashboards
	$(BIN)/python -m tests.browser.dashboard_picture

verdict-table: $(READY)
	$(BIN)/python -m docs.make_verdict

lock:
	uv pip compile -q --universal --generate-hashes --no-header --no-annotate --extra all --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf .venv .venv-newest .venv-oldest results build dist docs/_build
