"""What a slider offers is never refused: it ends where the check of the whole setting does, not only its lever."""

from __future__ import annotations

import asyncio
import importlib
from functools import partial

import pytest

import workbench as wb
from workbench.dashboards import _offers as offers
from workbench.dashboards._controls import NameControl, NumberControl
from workbench.dashboards._offers import (
    Offers,
    catalogues,
    drop_downs,
    filtering_steps,
    limit_slider,
    marking_steps,
    sliders,
)
from workbench.dashboards._sidebar import Sidebar
from workbench.errors import InputError
from workbench.levers import Lever
from workbench.mechanisms.mechanism import mechanism


def sidebar(name):
    return Sidebar(mechanism(name), importlib.import_module(f"workbench.dashboards._{name}").CONFIG)


def refused(control, check, values):
    """Return the values of a slider that the check of the whole setting refuses."""
    return [value for value in values if not passes(control, check, value)]


def passes(control, check, value):
    with control.trying(value):
        try:
            check()
        except InputError:
            return False
    return True


def one(most, value=5, top=1000):
    control = NumberControl(Lever("low", "integer", value, least=1, most=top))
    control.show(value)

    def check():
        if control.plain() > most:
            raise InputError(f"low must be at most {most}.")

    return control, check


@pytest.mark.slow
def test_no_slider_of_a_page_offers_what_its_check_refuses():
    page = sidebar("shared_memory")
    check = Offers(page).check
    before = [refused(each, check, [each.stops[0], each.stops[-1]]) for each in sliders(page)]
    assert any(before)
    for each in sliders(page):
        limit_slider(each, check)
    assert not any(refused(each, check, [each.stops[0], *each.stops[-1::-9]]) for each in sliders(page))
    assert page.machine.levers.controls["segments"].stops[0] == 64


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shared_memory", "pool", "malloc", "translation", "dispatch", "node"])
def test_no_slider_of_a_whole_page_offers_what_its_check_refuses(name):
    page = sidebar(name)
    check = Offers(page).check
    for each in sliders(page):
        limit_slider(each, check)
    assert not any(refused(each, check, each.stops[:: len(each.stops) // 8 + 1]) for each in sliders(page))


@pytest.mark.parametrize("most", [5, 6, 77, 999, 1000])
def test_the_last_stop_that_is_allowed_is_the_end(most):
    control, check = one(most)
    limit_slider(control, check)
    assert list(control.stops) == [stop for stop in control.declared if stop <= most]
    assert control.slider.max == len(control.stops) - 1
    assert control.stops[control.slider.value] == 5


def test_a_value_that_is_no_stop_and_the_only_one_allowed_is_all_that_is_offered():
    control = NumberControl(Lever("share", "number", 1.0, least=0.0, most=1000.0))
    control.show(1.0)

    def check():
        if control.plain() != 1.0:
            raise InputError("share must be 1.0.")

    limit_slider(control, check)
    assert list(control.stops) == [1.0]


@pytest.mark.parametrize("divisor", [8, 64])
def test_what_must_divide_leaves_the_stops_between_that_do(divisor):
    control = NumberControl(Lever("parts", "integer", 64, least=1, most=1000))
    control.show(64)

    def check():
        if control.plain() % divisor:
            raise InputError(f"parts must be a multiple of {divisor}.")

    limit_slider(control, check)
    stops = [stop for stop in control.declared if stop % divisor == 0]
    assert list(control.stops) == stops and len(stops) < len(control.declared)


def test_a_slider_opens_again_when_more_is_allowed():
    control, check = one(20)
    limit_slider(control, check)
    limit_slider(control, lambda: None)
    assert list(control.stops) == control.declared
    assert control.stops[control.slider.value] == 5


def test_a_value_that_is_refused_itself_leaves_every_stop():
    control, check = one(4)
    limit_slider(control, check)
    assert list(control.stops) == control.declared


def test_a_drop_down_leaves_out_what_is_refused_and_opens_again():
    control, heard = NameControl(Lever("order", "choice", "low", choices=("high", "low", "random"))), []
    control.show("low")
    control.on_change(lambda: heard.append(1))

    def check(taken):
        if control.plain() == taken:
            raise InputError("order must be another.")

    for taken, names in (("high", ["low", "random"]), ("low", ["high", "low", "random"]), ("random", ["high", "low"])):
        list(filtering_steps(control, partial(check, taken)))
        assert [name for _, name in control.field.options] == names
        assert (control.plain(), heard) == ("low", [])
    control.show("random")
    assert control.plain() == "random"
    control.field.value = "high"
    assert heard == [1]


@pytest.mark.parametrize("name", ["shared_memory", pytest.param("pool", marks=pytest.mark.slow)])
def test_no_drop_down_of_a_page_offers_what_its_check_refuses(name):
    page = sidebar(name)
    check, before = Offers(page).check, page.setting()
    for each in drop_downs(page):
        list(filtering_steps(each, check))
        assert not refused(each, check, [name for _, name in each.field.options])
    assert page.setting() == before


MARKED = {
    "translation": {"protect_low_degree", "sharing_aware_eviction"},
    "pool": {"compaction"},
    "malloc": {"compaction"},
    "dispatch": {"coolest_first", "h100"},
    "node": set(),
}
"""Some that are refused as a page opens."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shared_memory", *(pytest.param(name, marks=pytest.mark.slow) for name in MARKED)])
def test_a_policy_or_preset_is_marked_where_the_check_refuses_it_and_only_there(name):
    page, heard, seen = sidebar(name), [], set()
    check, before = Offers(page).check, page.setting()
    page.on_change(lambda: heard.append(1))
    for each in catalogues(page):
        list(marking_steps(each, check))
        for words, member in each.names.options:
            says = "(refused here: " in words
            seen |= {member} if says else set()
            assert says == chosen_is_refused(each, check, member), (words, member)
    assert MARKED.get(name, set()) <= seen
    assert (page.setting(), heard) == (before, [])


def chosen_is_refused(control, check, member):
    """Ask of the setting with another member: is it refused, though its own levers are complete?"""
    try:
        with control.trying(member):
            return not is_fine(check)
    except InputError:
        return False


def is_fine(check):
    try:
        check()
    except InputError:
        return False
    return True


def test_marks_stay_with_a_new_catalogue_and_go_with_their_reason():
    page = sidebar("translation")
    eviction = page.policies.baseline.get("shared_eviction") or page.policies.common["shared_eviction"]
    list(marking_steps(eviction, Offers(page).check))
    assert any("(refused here: policy.shared_eviction must not be" in words for words, _ in eviction.names.options)
    eviction.refresh()
    assert any("(refused here: " in words for words, _ in eviction.names.options)
    list(marking_steps(eviction, lambda: None))
    assert not any("refused" in words for words, _ in eviction.names.options)


def test_what_is_marked_can_still_be_chosen():
    driver, heard = sidebar("pool").policies.baseline["driver"], []
    driver.on_change(lambda: heard.append(1))
    opened = driver.plain()

    def check():
        if driver.plain() != opened:
            raise InputError("sweep: driver must stay.")

    list(marking_steps(driver, check))
    words = {name: words for words, name in driver.names.options}
    assert "refused" not in words[driver.names.value]
    assert words["best_fit"] == "best fit (refused here: driver must stay.)" and heard == []
    driver.names.value = "best_fit"
    assert "best_fit" in driver.plain() and heard == [1]
    list(marking_steps(driver, check))
    assert driver.names.value == "best_fit"
    assert not any("refused" in words for words, _ in driver.names.options), "a page that is refused itself marks none"


def test_a_rule_that_needs_a_file_first_is_not_marked():
    machine = sidebar("pool").machine

    def check():
        if machine.plain() != {"preset": "dgx_1v"}:
            raise InputError("only this board.")

    list(marking_steps(machine, check))
    marks = {name for words, name in machine.names.options if "refused" in words}
    assert marks == set(machine.choices) - {"dgx_1v", "topology_file"}


def test_a_preset_is_tried_as_it_would_be_chosen():
    machine = sidebar("dispatch").machine
    opened, holds = machine.plain(), machine.contents.value
    with machine.trying("h100"):
        assert machine.plain() == {"preset": "h100"}
    machine.say_refused({"h100": "too small " * 30})
    (words,) = (words for words, name in machine.names.options if name == "h100")
    assert words.endswith("...)") and len(words) < 200
    assert (machine.plain(), machine.contents.value) == (opened, holds)
    machine.names.value = "h100"
    assert machine.plain()["preset"] == "h100"


def test_looking_changes_nothing_and_tells_nobody():
    page = sidebar("dispatch")
    heard, before = [], page.setting()
    page.on_change(lambda: heard.append(1))
    blocks = next(each for each in sliders(page) if each.lever.name == "vgpr_N")
    limit_slider(blocks, Offers(page).check)
    assert blocks.stops[0] > blocks.declared[0]
    assert (page.setting(), heard) == (before, [])


def test_a_page_at_rest_narrows_one_slider_after_the_other(monkeypatch):
    monkeypatch.setattr(offers, "REST_SECONDS", 0.0)

    async def rest():
        page = wb.dashboard("shared_memory")
        segments = page.sidebar.machine.levers.controls["segments"]
        async with asyncio.timeout(60):
            while segments.stops[0] != 64:
                await asyncio.sleep(0)
        page.close()

    asyncio.run(rest())
