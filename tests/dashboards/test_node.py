"""The dashboard `node` whole, without a browser: what it opens with, and what a coupling and a policy change."""

from __future__ import annotations

import html
import re

import pytest

import workbench as wb
from workbench.dashboards import _node as node
from workbench.dashboards._node import CONFIG
from workbench.dashboards._sidebar import Sidebar
from workbench.experiments.plan import plan_different_runs
from workbench.experiments.sweep import read_sweep
from workbench.mechanisms.mechanism import mechanism
from workbench.metrics.node import TIMES

pytestmark = [pytest.mark.node, pytest.mark.slow]


@pytest.fixture(scope="module")
def shown():
    """The page with half its seeds: interpreted, a run takes a third of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node, "CONFIG", CONFIG._replace(seeds=2))
        made = wb.dashboard("node")
    yield made
    made.close()


def planned(sidebar):
    return plan_different_runs(read_sweep(sidebar.config())).points


def status(displayed) -> str:
    return html.unescape(re.sub("<.*?>", "", displayed.status.value))


@pytest.fixture
def sidebar() -> Sidebar:
    return Sidebar(mechanism("node"), CONFIG)


def test_it_opens_with_two_small_cards_every_coupling_and_five_mechanisms(sidebar):
    usual, documents = planned(sidebar)
    assert (len(usual.setup.machine.gpus), usual.setup.machine.card.compute_units) == (2, 2)
    assert usual.setup.options.memory == usual.setup.options.malloc == "wait"
    for slot in CONFIG.compared:
        assert usual.setup.policies[slot].name == CONFIG.baseline[slot]
        assert documents.setup.policies[slot].name == CONFIG.other[slot]


def test_the_couplings_are_named_as_such(sidebar):
    assert sidebar.sections["options"].title == "Couplings"


def test_cards_modules_and_couplings_are_in_the_sweep(sidebar):
    rule = sidebar.machine.rules["cards_alike"]
    rule.controls["cards"].box.value, rule.controls["modules"].box.value = 3, 1
    sidebar.options.controls["remote"].field.value = "local"
    usual, _ = planned(sidebar)
    assert (len(usual.setup.machine.gpus), usual.setup.machine.card.compute_units) == (3, 1)
    assert usual.setup.options.remote == "local"


def test_a_preset_can_be_turned_to(sidebar):
    sidebar.machine.names.value = "dgx_1v"
    usual, _ = planned(sidebar)
    assert len(usual.setup.machine.gpus) == 8


@pytest.mark.usefixtures("sent_whole")
def test_it_shows_where_the_time_goes_on_both_sides(shown):
    assert status(shown) == "2 paired runs."
    assert "mean of 2 seeds" in shown.panels.seeds.value
    parts = shown.panels.parts.scene
    assert [line["place"] for line in parts["lines"]] == [0, 1]
    assert all(len(line["mean"]) == len(parts["names"]) == len(TIMES) for line in parts["lines"])
    groups = max(shown.panels.ended.scene["lines"][0]["mean"])
    assert groups == max(shown.panels.ended.scene["lines"][1]["mean"]) > 0


def test_a_coupling_that_is_switched_off_takes_its_part_away(shown):
    memory = TIMES.index("memory")
    assert all(line["mean"][memory] > 0 for line in shown.panels.parts.scene["lines"])
    shown.sidebar.options.controls["pages"].field.value = "neutral"
    shown.sidebar.options.controls["memory"].field.value = "at_once"
    assert all(line["mean"][memory] == 0 for line in shown.panels.parts.scene["lines"])
