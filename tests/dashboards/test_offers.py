"""What a slider offers is never refused: it ends where the check of the whole setting does, not only its lever."""

from __future__ import annotations

import asyncio
import importlib
from functools import partial

import pytest

import workbench as wb
from workbench.dashboards import offers
from workbench.dashboards.controls.number import NumberControl
from workbench.dashboards.controls.pick import NameControl
from workbench.dashboards.offers import Offers, choosing, drop_downs, narrow, sliders
from workbench.dashboards.sidebar import Sidebar
from workbench.errors import InputError
from workbench.experiments.mechanism import mechanism
from workbench.levers import Lever


def sidebar(name):
    return Sidebar(mechanism(name), importlib.import_module(f"workbench.dashboards.{name}").OPENING)


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


def test_no_slider_of_a_page_offers_what_its_check_refuses():
    page = sidebar("shared_memory")
    check = Offers(page).check
    before = [refused(each, check, [each.stops[0], each.stops[-1]]) for each in sliders(page)]
    assert any(before)
    for each in sliders(page):
        narrow(each, check)
    assert not any(refused(each, check, [each.stops[0], *each.stops[-1::-9]]) for each in sliders(page))
    assert page.machine.levers.controls["segments"].stops[0] == 64


@pytest.mark.long
@pytest.mark.parametrize("name", ["shared_memory", "pool", "malloc", "translation", "dispatch", "node"])
def test_no_slider_of_a_whole_page_offers_what_its_check_refuses(name):
    page = sidebar(name)
    check = Offers(page).check
    for each in sliders(page):
        narrow(each, check)
    assert not any(refused(each, check, each.stops[:: len(each.stops) // 8 + 1]) for each in sliders(page))


@pytest.mark.parametrize("most", [5, 6, 77, 999, 1000])
def test_the_last_stop_that_is_allowed_is_the_end(most):
    control, check = one(most)
    narrow(control, check)
    assert list(control.stops) == [stop for stop in control.declared if stop <= most]
    assert control.slider.max == len(control.stops) - 1
    assert control.stops[control.slider.value] == 5


def test_a_value_that_is_no_stop_and_the_only_one_allowed_is_all_that_is_offered():
    control = NumberControl(Lever("share", "number", 1.0, least=0.0, most=1000.0))
    control.show(1.0)

    def check():
        if control.plain() != 1.0:
            raise InputError("share must be 1.0.")

    narrow(control, check)
    assert list(control.stops) == [1.0]


@pytest.mark.parametrize("divisor", [8, 64])
def test_what_must_divide_leaves_the_stops_between_that_do(divisor):
    control = NumberControl(Lever("parts", "integer", 64, least=1, most=1000))
    control.show(64)

    def check():
        if control.plain() % divisor:
            raise InputError(f"parts must be a multiple of {divisor}.")

    narrow(control, check)
    stops = [stop for stop in control.declared if stop % divisor == 0]
    assert list(control.stops) == stops and len(stops) < len(control.declared)


def test_a_slider_opens_again_when_more_is_allowed():
    control, check = one(20)
    narrow(control, check)
    narrow(control, lambda: None)
    assert list(control.stops) == control.declared
    assert control.stops[control.slider.value] == 5


def test_a_value_that_is_refused_itself_leaves_every_stop():
    control, check = one(4)
    narrow(control, check)
    assert list(control.stops) == control.declared


def test_a_drop_down_leaves_out_what_is_refused_and_opens_again():
    control, heard = NameControl(Lever("order", "choice", "low", choices=("high", "low", "random"))), []
    control.show("low")
    control.on_change(lambda: heard.append(1))

    def check(taken):
        if control.plain() == taken:
            raise InputError("order must be another.")

    for taken, names in (("high", ["low", "random"]), ("low", ["high", "low", "random"]), ("random", ["high", "low"])):
        list(choosing(control, partial(check, taken)))
        assert [name for _, name in control.shown.options] == names
        assert (control.plain(), heard) == ("low", [])
    control.show("random")
    assert control.plain() == "random"
    control.shown.value = "high"
    assert heard == [1]


@pytest.mark.parametrize("name", ["shared_memory", "pool"])
def test_no_drop_down_of_a_page_offers_what_its_check_refuses(name):
    page = sidebar(name)
    check, before = Offers(page).check, page.setting()
    for each in drop_downs(page):
        list(choosing(each, check))
        assert not refused(each, check, [name for _, name in each.shown.options])
    assert page.setting() == before


def test_looking_changes_nothing_and_tells_nobody():
    page = sidebar("dispatch")
    heard, before = [], page.setting()
    page.on_change(lambda: heard.append(1))
    blocks = next(each for each in sliders(page) if each.lever.name == "vgpr_N")
    narrow(blocks, Offers(page).check)
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
