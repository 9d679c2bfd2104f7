"""Both sides' policies as the keys of a sweep, whatever is turned."""

from __future__ import annotations

import pytest

from workbench.dashboards._dispatch import CONFIG
from workbench.dashboards._policies_control import PoliciesControl
from workbench.mechanisms.mechanism import mechanism


@pytest.fixture
def policies() -> PoliciesControl:
    return PoliciesControl(mechanism("dispatch").engine, CONFIG)


def test_what_is_as_the_baseline_is_said_once(policies):
    config = policies.config()
    assert set(config) == {"policy", "baseline"}
    assert list(config["baseline"]) == ["selection"]
    assert list(config["policy"]["selection"]["vary"][1]) == ["served_marks"]
    assert "zip" not in config["policy"]["selection"]
    assert config["policy"]["shared_placement"] == "placement"


def test_several_differences_step_together(policies):
    policies.other["choice"].names.value = "round_robin"
    policies.other["probe"].names.value = "bit_serial"
    config = policies.config()
    assert list(config["baseline"]) == ["probe", "selection", "choice"]
    assert {config["policy"][slot]["zip"] for slot in config["baseline"]} == {"other"}
    assert config["policy"]["choice"]["vary"][1] == "round_robin"


def test_the_same_policy_chosen_again_is_no_difference(policies):
    policies.other["selection"].names.value = "strict_blocking"
    config = policies.config()
    assert "baseline" not in config
    assert list(config["policy"]["selection"]) == ["strict_blocking"]


def test_the_shared_memory_may_have_a_placement_of_its_own(policies):
    policies.baseline["shared_placement"].names.value = "best_fit"
    assert list(policies.config()["policy"]["shared_placement"]) == ["best_fit"]


def test_every_slot_is_a_control_on_both_sides(policies):
    slots = list(mechanism("dispatch").engine.slots)
    assert [list(policies.baseline), list(policies.other), list(policies.common)] == [slots, slots, []]
    assert len(list(policies)) == 2 * len(slots)
    alone = PoliciesControl(
        mechanism("dispatch").engine, CONFIG._replace(compared=("choice",), other={"choice": "round_robin"})
    )
    assert [control.lever.name for control in alone] == ["choice", "choice", *(s for s in slots if s != "choice")]
