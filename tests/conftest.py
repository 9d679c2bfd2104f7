"""Settings of all tests, what they skip by name, and what is said about it in the end."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading

import pytest
from hypothesis import settings

import workbench as wb
from tests import needs, rotation, turns
from tests.depth import LONG
from workbench.compiled import INTERPRETED
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

# What is printed for a person is as wide as the terminal, which tests have none of; workers of tests are given one.
os.environ.pop("COLUMNS", None)

# A shell that starts the suite in the background has it ignore Ctrl-C, and `nohup` the end of its terminal, which the
# processes of the tests would inherit.
for _signal, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if threading.current_thread() is threading.main_thread() and signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _usual)

# The gate meets the same examples each time, so that no change is refused for another one's fault; the long tests meet
# others in each rotation (tests/rotation.py). No deadline: the first call of compiled code waits for its compilation.
# Interpreted, the same code meets fewer examples: it is slow there, and what is looked for is a difference between the
# two ways of running, no rare input.
settings.register_profile(
    "gate", deadline=None, database=None, derandomize=True, max_examples=10 if INTERPRETED else 15
)
settings.register_profile("rotating", deadline=None, database=None, max_examples=30 if INTERPRETED else 300)
settings.load_profile("rotating" if LONG else "gate")


def pytest_addoption(parser):
    rotation.add_options(parser)
    turns.add_options(parser)


def pytest_configure(config):
    if config.getoption("--costs", default=None):
        config.pluginmanager.register(turns.Meter())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if getattr(item, "originalname", None) == COMPILES_ANEW:
            item.add_marker(pytest.mark.long)
    rotation.keep_part(config, items)
    turns.keep_turn(config, items)


def pytest_collection_finish():
    """Leave out of each later look for garbage what lives to the end: the tests and all that they imported."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Make no item of what `make test` leaves out: two thirds of all cases are `long`, and each worker collects all."""
    yield
    if metafunc.config.getoption("markexpr", "") != "not long":
        return
    if metafunc.definition.get_closest_marker("long") or metafunc.definition.name == COMPILES_ANEW:
        metafunc._calls = metafunc._calls[:1]
    elif any(_stays(call) for call in metafunc._calls):
        metafunc._calls = [call for call in metafunc._calls if _stays(call)]


def _stays(call):
    return not any(mark.name == "long" for mark in call.marks)


COMPILES_ANEW = "test_stays_within_its_arrays"
"""The law of each policy's contract that compiles it once more, with every index checked: long, for 130 policies."""


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
    rotation.write_failures(terminalreporter.config, terminalreporter.stats)
    turns.write_costs(terminalreporter.config)
    if waiting := turns.waiting(terminalreporter.config):
        terminalreporter.section("at another landing")
        terminalreporter.write_line(waiting)
    skipped = terminalreporter.stats.get("skipped", [])
    counts = needs.counted(str(report.longrepr[2]) for report in skipped)
    if counts:
        terminalreporter.section("not tested")
        for line in needs.report(counts, counts):
            terminalreporter.write_line(line)
