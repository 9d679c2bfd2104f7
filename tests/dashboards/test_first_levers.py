"""What stands on top, what a search shows, what a refusal marks, and the sides in one row a slot."""

from __future__ import annotations

import importlib

import pytest

import workbench as wb
from workbench.dashboards._lever_search import MISS, first_of
from workbench.dashboards._sidebar import Sidebar
from workbench.mechanisms.mechanism import mechanism

NAMES = ("shared_memory", "dispatch", "translation", "pool", "malloc", pytest.param("node", marks=pytest.mark.slow))


def opening(name):
    return importlib.import_module(f"workbench.dashboards._{name}").CONFIG


@pytest.fixture
def dispatch() -> Sidebar:
    first = ("policy.probe.*.groups", "policy.priority.*.lengths", "policy.choice.*.nx")
    return Sidebar(mechanism("dispatch"), opening("dispatch")._replace(first=first))


def seen(sidebar, path):
    """Return whether a lever can be seen below the top: not missed, and in no folded section."""
    control = dict(sidebar.walk())[path]
    head = path.split(".")[0]
    section = next(one for key, one in sidebar.sections.items() if head in [*key.split(), "other" * (key == "policy")])
    return not (MISS in control.widget._dom_classes or MISS in section.widget._dom_classes or section.folded)


@pytest.mark.parametrize("name", NAMES)
def test_a_few_levers_stand_on_top_and_the_rest_is_folded(name):
    page = Sidebar(mechanism(name), opening(name))
    top = first_of(page.walk(), opening(name).first)
    assert 2 <= len(top) <= 12
    assert [title for title, one in page.sections.items() if not one.folded] == ["policy"]


def test_the_levers_that_matter_first_follow_the_policies(dispatch):
    def captions():
        rows = dispatch.first.widget.children
        return [row.children[0].value for row in rows if "wb-pinned" in row._dom_classes]

    assert "priority: lengths (cycles)" in captions()
    assert "choice: nx (cycles)" in captions()
    assert "probe: groups" not in captions()
    dispatch.policies.other["probe"].names.value = "grouped_run"
    assert "probe: groups" in captions()
    dispatch.policies.baseline["priority"].names.value = "ageing"
    assert "priority: lengths (cycles)" not in captions()


def test_both_sides_of_a_lever_stand_in_one_row(dispatch):
    dispatch.policies.baseline["probe"].names.value = "grouped_run"
    dispatch.policies.other["probe"].names.value = "grouped_run"
    dispatch.policies.other["probe"].chosen.controls["groups"].box.value = 16
    controls = dict(dispatch.walk())
    sides = [controls[f"{side}.probe.grouped_run.groups"].widget for side in ("policy", "other")]
    assert any(
        list(row.children[1].children) == sides
        for row in dispatch.first.widget.children
        if "wb-pinned" in row._dom_classes
    )


def test_the_two_columns_say_whose_they_are(dispatch):
    def heads():
        return [[label.value for label in one.children] for one in dispatch.first.widget.children if _is_head(one)]

    def _is_head(one):
        return "wb-sides" in one._dom_classes

    assert heads() == [["baseline", "other"]]
    dispatch.policies.baseline["priority"].names.value = "ageing"
    dispatch.policies.baseline["choice"].names.value = "round_robin"
    assert heads() == []


def test_a_search_shows_what_it_names_wherever_it_is_folded(dispatch):
    assert not seen(dispatch, "options.heat")
    dispatch.search.value = "heat"
    assert seen(dispatch, "options.heat")
    assert not seen(dispatch, "options.fail_init")
    assert not seen(dispatch, "policy.priority")
    dispatch.search.value = "window"
    assert seen(dispatch, "policy.priority.priority_windows.lengths")
    assert not seen(dispatch, "machine.compute_units")
    dispatch.search.value = ""
    assert not seen(dispatch, "options.heat")
    assert all(MISS not in control.widget._dom_classes for _, control in dispatch.walk())
    assert [title for title, one in dispatch.sections.items() if not one.folded] == ["policy"]


def test_only_what_differs_leaves_the_slots_with_policies_of_their_own(dispatch):
    def slots():
        return [slot for slot, one in dispatch.table.rows.items() if one.widget.layout.display != "none"]

    assert slots() == list(dispatch.policies.baseline)
    dispatch.table.only.value = True
    assert slots() == ["selection"]
    dispatch.policies.other["choice"].names.value = "round_robin"
    assert slots() == ["selection", "choice"]
    dispatch.table.only.value = False
    assert slots() == list(dispatch.policies.baseline)


@pytest.mark.parametrize("name", ["shared_memory", "dispatch"])
def test_a_slot_shows_both_policies_in_one_row_and_opens_their_levers(name):
    page = Sidebar(mechanism(name), opening(name))
    for slot, one in page.table.rows.items():
        head, inside = one.widget.children
        assert list(head.children)[1:3] == [page.policies.baseline[slot].names, page.policies.other[slot].names]
        opened = one.opened
        one.opener.click()
        assert one.opened != opened
        assert list(inside.children) == [page.policies.baseline[slot].inside, page.policies.other[slot].inside]


@pytest.mark.slow
def test_the_lever_that_is_wrong_is_marked_until_it_is_right(two_seeds):
    shown = wb.dashboard("dispatch")

    def marked():
        return [path for path, control in shown.sidebar.walk() if control in shown.sidebar._marked]

    shown.sidebar.machine.levers.controls["segments"].box.value = 8
    assert marked() == ["workload.random_groups.shared_segments.sometimes.law.uniform.high"]
    shown.sidebar.machine.levers.controls["segments"].box.value = 128
    assert marked() == []
    choice = shown.sidebar.policies.baseline["choice"].chosen.controls["choices"]
    choice.add.click()
    assert marked() == ["policy.choice.weighted_choice.weights"]
    weights = shown.sidebar.policies.baseline["choice"].chosen.controls["weights"]
    assert "wb-wrong" in weights.widget._dom_classes
    choice.take_out(choice.items[-1])
    assert "wb-wrong" not in weights.widget._dom_classes
    shown.close()
