"""A setting of a page: taken and shown again, as a link, undone and redone, on every page."""

from __future__ import annotations

import importlib
import json

import pytest

import workbench as wb
from tests.slow import thinned
from workbench.dashboards._settings import History, as_link, differences, from_link
from workbench.dashboards._sidebar import Sidebar
from workbench.errors import InputError
from workbench.mechanisms.mechanism import mechanism

NAMES = ("shared_memory", "dispatch", "translation", "pool", "malloc", pytest.param("node", marks=pytest.mark.slow))


def sidebar(name):
    return Sidebar(mechanism(name), importlib.import_module(f"workbench.dashboards._{name}").CONFIG)


@pytest.fixture
def shown():
    made = wb.dashboard("shared_memory")
    yield made
    made.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_is_plain_and_is_shown_again_whole(name):
    page = sidebar(name)
    opened, said = page.setting(), page.config()
    page.policies.baseline[next(iter(page.policies.baseline))].names.value = next(
        option for _, option in next(iter(page.policies.baseline.values())).names.options
    )
    page.workload.names.value = page.workload.names.options[0][1]
    page.seeds.box.value = 3
    page.show(json.loads(json.dumps(opened)))
    assert page.setting() == opened
    assert page.config() == said


@pytest.mark.parametrize("name", thinned(NAMES, 3))
def test_a_link_gives_another_page_the_same_sweep(name):
    page, another = sidebar(name), sidebar(name)
    opened = page.setting()
    page.machine.names.value = page.machine.names.options[-1 if name != "pool" else 0][1]
    page.workload.names.value = page.workload.names.options[0][1]
    page.seeds.box.value, page.drawn.box.value = 3, 2
    link = as_link(differences(opened, page.setting()))
    assert " " not in link
    another.show(from_link(another.setting(), link))
    assert another.config() == page.config()
    assert another.setting() == page.setting()


def test_a_setting_that_is_not_valid_changes_nothing():
    page = sidebar("dispatch")
    before = page.setting()
    with pytest.raises(InputError, match="seeds must be"):
        page.show({**before, "machine": {**before["machine"], "compute_units": 3}, "seeds": 0})
    assert page.setting() == before


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("machine.segmentz=3", "the link names 'machine.segmentz', which this page does not have"),
        ("seeds=x", "the link gives 'seeds' no value that can be read"),
        ("seeds.a=1", "the link names 'seeds.a'"),
    ],
)
def test_a_link_that_is_none_is_a_sentence(shown, link, sentence):
    before = shown.sidebar.setting()
    shown._follow(link)
    assert sentence in shown.status.value.replace("&#x27;", "'")
    assert shown.sidebar.setting() == before
    assert "wb-stale" not in shown.board._dom_classes


def test_the_address_holds_what_was_turned_and_opens_the_same_page(shown):
    shown.sidebar.machine.levers.controls["segments"].box.value = 200
    shown.sidebar.policies.other["placement"].names.value = "best_fit"
    assert shown.url_fragment.setting == "machine.segments=200&other.placement={%22best_fit%22:{%22tie%22:%22low%22}}"
    again = wb.dashboard("shared_memory")
    again._follow(shown.url_fragment.setting)
    assert again.histogram.scene == shown.histogram.scene
    assert again.url_fragment.setting == shown.url_fragment.setting
    again.close()


@pytest.mark.slow
def test_undo_and_redo_go_through_what_was_turned(shown):
    segments = shown.sidebar.machine.levers.controls["segments"].box
    pictures = [shown.histogram.scene["words"]]
    for turn in (lambda: setattr(segments, "value", 200), lambda: setattr(shown.sidebar.seeds.box, "value", 5)):
        turn()
        pictures.append(shown.histogram.scene["words"])
    assert not shown.tools.undo.disabled
    assert shown.tools.redo.disabled
    shown.tools.undo.click()
    assert (shown.histogram.scene["words"], shown.sidebar.seeds.plain()) == (pictures[1], 20)
    shown.tools.undo.click()
    assert (shown.histogram.scene["words"], segments.value) == (pictures[0], 128)
    assert shown.tools.undo.disabled
    shown.tools.redo.click()
    shown.tools.redo.click()
    assert shown.histogram.scene["words"] == pictures[2]
    shown.tools.reset.click()
    assert (shown.histogram.scene["words"], shown.url_fragment.setting) == (pictures[0], "")
    shown.tools.undo.click()
    assert shown.histogram.scene["words"] == pictures[2]


def test_a_refused_setting_can_be_undone(shown):
    shown.sidebar.machine.levers.controls["segments"].box.value = 16
    assert "wb-stale" in shown.board._dom_classes
    shown.tools.undo.click()
    assert "wb-stale" not in shown.board._dom_classes
    assert shown.sidebar.machine.levers.controls["segments"].box.value == 128


def test_a_drag_is_one_step_and_two_levers_are_two():
    now = [0.0]
    line = History({"a": 0, "b": 0}, clock=lambda: now[0])
    for value in range(1, 6):
        now[0] += 0.1
        line.note({"a": value, "b": 0})
    line.note({"a": 5, "b": 1})
    now[0] += 10
    line.note({"a": 5, "b": 2})
    assert [line.undo(), line.undo(), line.undo()] == [{"a": 5, "b": 1}, {"a": 5, "b": 0}, {"a": 0, "b": 0}]
    assert not line.can_undo
    line.redo()
    line.note({"a": 9, "b": 9})
    assert not line.can_redo
