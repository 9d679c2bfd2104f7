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
# What is run interpreted: each engine's golden records, and files that are long where they are compiled (tests/depth.py),
# as a node's. That all tests of structures, engines and policies say the same both ways is left to the long tests.
BOTH_WAYS := tests/engines/test_golden_records.py tests/engines/test_dispatch_part.py \
	tests/engines/test_translation_part.py tests/engines/node tests/metrics/test_node.py tests/export/test_node_timeline.py \
	tests/explain/test_blame.py tests/dashboards/test_node.py tests/workloads/test_trace_applications.py
# Without the tests of policies as values.
IN_ONE_WAY := fresh_interpreted_process or refuses_wrong_levers or yaml_and_back or pickles or compiled_and_plain
# Nor what is compared with theory or with recordings at length: twins and golden records say that both ways are one.
IN_ONE_WAY += or mean_wait or in_every_order or the_queue_m_d or snapshots_come_out_exactly
# No examples are looked for in the tests, which would import each of their files once more.
TESTS_ALONE := --no-loadscope-reorder -o addopts="--import-mode=importlib -q -p no:cacheprovider"

# Of the dear tests a third, those whose turn it is (tests/turns.py); TURN=all runs them all, COSTS=FOLDER measures them.
TURN := due
GATE := $(TESTS_ALONE) --turn=$(TURN) $(if $(COSTS),--costs=$(COSTS)) -m "not long"

.PHONY: run paper test test-long due proven check shape warm compiled one-half other-half browser examples interpreted docs lab dashboard bench pictures verdict-table lock ready python clean help

help:
	@echo "make run        set up .venv, run the main sweeps, say where the results are"
	@echo "make test       set up .venv, run every check and the gate of tests (TURN=all: each dear one too), say what this machine lacks"
	@echo "                with the newest releases or the oldest allowed: ENVIRONMENT=newest (Python 3.13) or oldest (3.11)"
	@echo "make test-long  what is long by nature: proofs, fuzzing, error rates, everything interpreted once more"
	@echo "make due        of that what was proven longest ago, as CI does; make proven says what was proven when"
	@echo "make paper      a complete short paper from runs to PDF, in results/paper/paper"
	@echo "make check      the quick checks alone: format, lint, types, import walls, structure, touched sentences"
	@echo "make structure  circles of imports, long modules, constants far below their use; and the package's size"
	@echo "make compiled   the tests alone, without those in a browser and the examples"
	@echo "make browser    the tests in a browser alone"
	@echo "make examples   the examples of the docstrings alone"
	@echo "make interpreted the tests of compiled code once more, as plain Python"
	@echo "make docs       the documentation, into docs/_build/html (workbench open docs opens it)"
	@echo "make lab        JupyterLab on notebooks/"
	@echo "make dashboard  the shared-memory dashboard in a browser"
	@echo "make bench      measure the speed of this machine"
	@echo "make verdict-table  show in README what data/verdict holds"
	@echo "make lock       resolve requirements.lock anew (needs uv)"

# Pip would compile thirty seconds on one core; a file of a package that is no Python for this version is no matter.
$(READY): requirements.lock pyproject.toml
	@$(MAKE) --no-print-directory python
	$(PYTHON) -m venv $(VENV)
	$(if $(CHECK),,$(PYTHON) -m tests.releases $(ENVIRONMENT) >$(VENV)/requirements.txt)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(REQUIREMENTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib || true
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

# Every engine is compiled once before the tests, or each of their processes would compile it. Two at a time, for the type
# checker uses one core; then three, as tests of deaths and time limits wait a fifth of the time.
test: $(READY)
	$(MAKE) --no-print-directory -j 2 $(CHECK) warm
	$(MAKE) --no-print-directory -j 3 one-half other-half browser examples interpreted
	@$(BIN)/python -m tests.needs

test-long: $(READY) warm
	$(BIN)/python -m tests.rotation run all
	@$(BIN)/python -m tests.needs

# What this landing proves of it: the part that was proven longest ago (tests/rotation.py).
due: $(READY)
	$(BIN)/python -m tests.rotation ci

proven: $(READY)
	@$(BIN)/python -m tests.rotation

warm: $(READY)
	$(BIN)/python -m tests.compile_first

# Two processes, one a core, each with rooms of its own: of two workers that took tests from each other, each would collect
# every file, and compile or load for itself what the tests of a room share.
ONE_HALF := $(addprefix tests/,circuits cli compiled engines export figures fuzz identity machine metrics oracles policies pool_service \
	records structures workloads)

compiled: $(READY)
	$(MAKE) --no-print-directory -j 2 one-half other-half

one-half: $(READY)
	$(BIN)/python -m pytest $(GATE) $(ONE_HALF)

other-half: $(READY)
	$(BIN)/python -m pytest $(GATE) $(addprefix --ignore=,$(ONE_HALF) tests/browser) tests

browser: $(READY)
	$(BIN)/python -m pytest $(GATE) tests/browser

examples: $(READY)
	$(BIN)/python -m pytest -p tests.examples -m "not long" workbench

interpreted: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(GATE) -k "not ($(IN_ONE_WAY))" $(BOTH_WAYS)

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

verdict-table: $(READY)
	$(BIN)/python -m docs.make_verdict

lock:
	uv pip compile -q --universal --generate-hashes --no-header --no-annotate --extra all --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf .venv .venv-newest .venv-oldest results build dist docs/_build
