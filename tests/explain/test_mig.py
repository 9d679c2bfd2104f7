"""Instances of a partitioned card: spec 7, V9, and every placement policy that gives one range."""

import pytest

from tests.junk import refusal
from workbench.explain.mig import MODULES, PROFILES, SOURCES, Instances, instance_machine, instance_starts
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies


@pytest.mark.parametrize(
    ("profiles", "placement", "starts"),
    [
        ("3g 3g 4g", "first_fit", [0, 4, None]),
        ("4g 3g", "first_fit", [0, 4]),
        ("3g 4g", "last_fit", [4, 0]),
        ("2g 2g 2g 1g", "first_fit", [0, 2, 4, 6]),
        ("1g " * 8, "first_fit", [0, 1, 2, 3, 4, 5, 6, None]),
        ("7g 1g", "first_fit", [0, None]),
        ("1g+mem 1g 2g 2g", "first_fit", [0, 2, 4, None]),
    ],
)
def test_v9_starts(profiles, placement, starts):
    assert instance_starts(profiles.split(), placement) == starts


def test_three_and_four_compute_slices_are_told_apart():
    """Both take four memory slices; only the smaller one may start at the second half."""
    card = Instances()
    assert card.take("1g") == 0
    assert (card.starts("4g"), card.starts("3g")) == ([], [4])


def _contiguous():
    load_all()
    return [name for name, cls in policies("placement").items() if cls.layout == "contiguous" and cls.built_in]


@pytest.mark.parametrize("name", _contiguous())
def test_any_placement_policy_takes_an_allowed_free_start(name):
    card, policy = Instances(name, seed=3), policies("placement")[name]()
    for profile in ("2g", "1g", "1g+mem", "3g", "1g", "4g"):
        free = card.starts(profile)
        start = card.take(profile)
        assert start in free if free and policy.work_conserving() else start in (None, *free)
    held = Instances(name)
    start = held.take("3g")
    held.give(start, "3g")
    assert held.starts("7g") == [0]


def test_instances_have_machines_of_their_own():
    assert instance_machine("b200", "1g+mem").compute_units == 30
    assert instance_machine("a100", "7g", modules=96).compute_units == 96
    assert instance_machine("h100", "1g").dies == ()
    assert set(MODULES) == set(SOURCES) and {len(row) for row in MODULES.values()} == {len(PROFILES)}


def test_what_cannot_be_is_one_sentence():
    assert refusal(instance_machine, "v100", "1g").startswith("unknown card with instances 'v100'; there are ")
    assert refusal(Instances().take, "5g").startswith("unknown profile '5g'; there are ")
    assert "gives no contiguous range" in refusal(Instances, "paged_memory")
    assert refusal(Instances().give, 0, "3g") == "start must be that of an instance of 3g. Got 0."
