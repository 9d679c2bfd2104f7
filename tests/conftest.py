"""Settings of all tests, what they skip by name, and what is said about it in the end."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import threading

import pytest
from hypothesis import settings

import workbench as wb
from tests import needs
from tests.slow import LONG
from workbench import api
from workbench.compiled import INTERPRETED
from workbench.experiments import sweep as sweeps
from workbench.mechanisms.mechanism import mechanisms
from workbench.policies import policy as catalogue

# A check of web addresses that nobody here asks for: jsonschema would build forty grammars for it, at every import.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Ten thousand tests and what they import are no garbage: looking through them takes a fifteenth of the tests' time.
gc.set_threshold(10_000, 10, 10)

# In every run of a node nothing is lost and nothing is made (spec 6, R18), in processes of their own too.
os.environ.setdefault("WORKBENCH_CHECK_LAWS", "1")

# Nothing is repeated in a process of its own but where a test is about that: each would take a second or two.
os.environ.setdefault("WORKBENCH_REPEAT", "0")

# The key that signs results folders is one of the tests', in a folder that goes with them.
_CONFIGURATION = tempfile.TemporaryDirectory(prefix="workbench-tests-")
os.environ["XDG_CONFIG_HOME"] = _CONFIGURATION.name

# What is printed for a person is as wide as the terminal, which tests have none of; workers of tests are given one.
os.environ.pop("COLUMNS", None)

# A shell that starts the suite in the background has it ignore Ctrl-C, and `nohup` the end of its terminal, which the
# processes of the tests would inherit.
for _signal, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if threading.current_thread() is threading.main_thread() and signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _usual)

# The examples of Hypothesis are the same in each run, so a change never fails on a test of unrelated code. To look for
# new ones: `--hypothesis-profile=random`. There is no deadline, because the first call of compiled code compiles it.
# An interpreted run draws fewer examples: it is slow, and it looks for differences from the compiled run only.
_SIZE = (30 if INTERPRETED else 300) if LONG else (10 if INTERPRETED else 15)
settings.register_profile("fixed", deadline=None, database=None, derandomize=True, max_examples=_SIZE)
settings.register_profile("random", deadline=None, database=None, derandomize=False, max_examples=_SIZE)
settings.load_profile("fixed")

pytest_plugins = ("tests.slices",)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests that compile the node as slow; interpreted they are fast."""
    for item in items:
        if not INTERPRETED and item.get_closest_marker("node"):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Leave out of each later look for garbage what lives to the end: the tests and all that they imported."""
    gc.freeze()


@pytest.fixture
def looks_at_new_objects(monkeypatch):
    """Leave what is there already out of the looks for garbage that a test asks for: one through all takes a second."""
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
    gc.freeze()


@pytest.fixture
def readings(monkeypatch):
    """Count how often a sweep is read and how often it is planned."""
    counts = {"read": 0, "planned": 0}

    def counted(function, name):
        def call(*args, **options):
            counts[name] += 1
            return function(*args, **options)

        return call

    monkeypatch.setattr(sweeps, "checked_sweep", counted(sweeps.checked_sweep, "read"))
    monkeypatch.setattr(api, "make_plan", counted(api.make_plan, "planned"))
    return counts


@pytest.fixture(autouse=True, scope="module")
def _parts_of_a_module():
    """Take back the engines and policies that a module's tests entered: others list all that there are."""
    engines, policies = set(mechanisms()), {question: dict(room) for question, room in catalogue._CATALOGUE.items()}
    yield
    for name in set(mechanisms()) - engines:
        wb.remove("engine", name)
    for question, room in catalogue._CATALOGUE.items():
        before = policies.get(question, {})
        kept = {name: before.get(name, policy) for name, policy in room.items() if name in before or policy.built_in}
        room.clear()
        room.update(kept)


def pytest_runtest_setup(item):
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            needs.require(name)


def pytest_terminal_summary(terminalreporter):
    skipped = terminalreporter.stats.get("skipped", [])
    counts = needs.counted(str(report.longrepr[2]) for report in skipped)
    if counts:
        terminalreporter.section("not tested")
        for line in needs.report(counts, counts):
            terminalreporter.write_line(line)
