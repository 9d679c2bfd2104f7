"""Definitions in notebook cells are noticed, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.dashboards import _catalogue_watch as catalogue_watch
from workbench.dashboards._catalogue_watch import CatalogueWatch, users_own
from workbench.workloads.synthetic.laws import Law

REAL_CELL = """
class RealCell(wb.policies.Placement):
    def answer(see):
        return -1
"""


class Events:
    """IPython's events, as far as the watch uses them."""

    def __init__(self) -> None:
        self.registered = []

    def register(self, name, function):
        assert name == "post_run_cell"
        self.registered.append(function)

    def unregister(self, name, function):
        self.registered.remove(function)

    def cell_was_run(self):
        for function in list(self.registered):
            function(None)


@pytest.fixture
def events(monkeypatch) -> Events:
    result = Events()
    monkeypatch.setattr(catalogue_watch, "_shell_events", lambda: result)
    return result


def test_a_cell_that_defines_nothing_is_not_told(events):
    messages = []
    CatalogueWatch(lambda: messages.append(1))
    events.cell_was_run()
    assert messages == []


def test_a_policy_is_told_once_and_again_when_it_is_defined_again(events, own_policy):
    messages = []
    CatalogueWatch(lambda: messages.append(1))
    for times in (1, 2):
        own_policy("WatchedHand", f"return -{times}")
        events.cell_was_run()
        events.cell_was_run()
        assert len(messages) == times


def test_a_law_is_told_too(events):
    messages = []
    CatalogueWatch(lambda: messages.append(1))

    class Always(Law):
        """One."""

        def quantile(self, ranks):
            return np.ones(len(ranks), np.int64)

        def span(self):
            return 1, 1

    events.cell_was_run()
    Law.members.pop(Always.name)
    assert messages == [1]


def test_it_stops(events, own_policy):
    messages = []
    watch = CatalogueWatch(lambda: messages.append(1))
    watch.stop()
    watch.stop()
    own_policy("UnseenHand", "return 0")
    events.cell_was_run()
    assert (messages, events.registered) == ([], [])


def test_nothing_of_this_package_is_a_user_s_own(own_policy):
    before = users_own()
    assert all(not cls.built_in for cls in before.values())
    own_policy("NewHand", "return 0")
    assert users_own().keys() - before.keys() == {"placement/new_hand"}


def test_it_listens_to_a_real_shell():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    messages = []
    watch = CatalogueWatch(lambda: messages.append(1))
    try:
        shell.run_cell("import workbench as wb")
        shell.run_cell(REAL_CELL)
        assert messages == [1]
    finally:
        watch.stop()
        InteractiveShell.clear_instance()
        from workbench.policies import policy

        policy._CATALOGUE["placement"].pop("real_cell", None)
