"""Why this decision: what is stepped through is what happened, for every engine and a user's own policy."""

from __future__ import annotations

import importlib

import pytest

import workbench as wb
from tests.slow import thinned
from workbench.dashboards._decision import answer_words, decision_picture, decision_words
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards.paired_runs import PairedRuns
from workbench.explain.decisions import decisions_of, first_difference
from workbench.mechanisms.mechanism import mechanism
from workbench.policies.placement import FirstFit

SAID = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 40},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 1,
}


def granted(decisions):
    return [one.answer for one in decisions if one.answer >= 0]


def test_the_decisions_are_those_of_the_compiled_run():
    runs = PairedRuns(SAID)
    for point, record in zip(runs.points, runs.records(0), strict=True):
        decisions = decisions_of(point.setup, 0)
        assert granted(decisions) == record.base[record.serial.argsort()].tolist()
        assert [one.number for one in decisions] == list(range(len(decisions)))


def test_two_sides_part_where_an_answer_or_a_state_first_differs():
    one, two = (decisions_of(point.setup, 0) for point in PairedRuns(SAID).points)
    at = first_difference(one, two)
    assert at is not None
    assert [a.outcome() for a in one[:at]] == [b.outcome() for b in two[:at]]
    assert one[at].answer != two[at].answer
    assert one[at].saw["free"] == two[at].saw["free"]
    assert first_difference(one, one) is None
    assert first_difference(one, one[:3]) == 3


@pytest.mark.parametrize("name", thinned(["dispatch", "node", "translation", "pool", "malloc"], 4))
def test_every_engine_s_decisions_have_words_and_their_arrays_a_picture(name):
    page = Sidebar(mechanism(name), importlib.import_module(f"workbench.dashboards._{name}").CONFIG)
    decisions = decisions_of(PairedRuns(page.config()).points[1].setup, 0, most=60)
    assert decisions
    for decision in decisions:
        words = decision_words(decision)
        assert decision.question in words
        assert answer_words(decision).endswith(".")
        picture = decision_picture(decision)
        assert picture == "" or picture.startswith("<svg")
    assert any(decision.rule for decision in decisions)


def test_a_choice_says_which_module_is_rated_highest():
    page = Sidebar(mechanism("dispatch"), importlib.import_module("workbench.dashboards._dispatch").CONFIG)
    decisions = decisions_of(PairedRuns(page.config()).points[0].setup, 0, most=200)
    scored = next(one for one in decisions if "scores" in one.wrote and one.saw["count"] > 1)
    scores = scored.wrote["scores"][: scored.saw["count"]]
    best = scored.saw["modules"][scores.index(max(scores))]
    assert f"{best}" in answer_words(scored)
    assert "rates module" in answer_words(scored)


def test_the_page_steps_to_where_a_policy_of_one_s_own_parts(own_policy):
    type("CellHand", (FirstFit,), {"__module__": "__main__", "__doc__": "Take what comes first."})
    own_policy.names.add("cell_hand")
    own_policy("BadHand", "return -1")
    shown = wb.dashboard("shared_memory")
    panel = shown.why
    panel.begin.click()
    panel.wait()
    assert "they part at decision" in panel.words.value
    panel.part.click()
    at = panel.place.value
    assert panel.sides[0].value != panel.sides[1].value
    assert "<svg" in panel.sides[0].value
    assert "from the lower end" in panel.sides[1].value
    panel.forth.click()
    assert panel.place.value == at + 1
    assert "in different states" in panel.words.value
    panel.back.click()
    panel.back.click()
    assert panel.place.value == at - 1
    shown.sidebar.policies.other["placement"].names.value = "cell_hand"
    panel.begin.click()
    panel.wait()
    assert "cell_hand" in panel.sides[1].value
    assert "they do not part" in panel.words.value
    assert "Take what comes first." in panel.sides[1].value
    shown.sidebar.policies.other["placement"].names.value = "bad_hand"
    panel.begin.click()
    panel.wait()
    assert "bad_hand refuses for ever" in panel.words.value
    assert "<svg" not in panel.sides[1].value
    shown.close()
