"""Measured and modelled launches: rows by hand, and ink."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.junk import refusal
from workbench.figures._malloc_on_card import EXAMPLE, draw_malloc_on_card, malloc_on_card_data
from workbench.validation.lock_fit import Curve

THREADS = np.array([32, 64, 96, 128])


def curve(card: str, way: str, contenders: np.ndarray, microseconds: list[float]) -> Curve:
    return Curve(card, way, THREADS, contenders, np.array(microseconds))


WARPS = curve("card A", "warp_lock", THREADS // 32, [7.0, 9.5, 12.5, 16.0])
"""5 + 2 c + c (c - 1) / 2 times a half."""
ODD = curve("card B", "warp_lock", THREADS // 32, [7.0, 9.0, 11.0, 14.0])
ATOMICS = curve("card A", "per_thread_bump", THREADS, [5.32, 5.64, 5.96, 6.28])
"""5 + c / 100."""


def test_each_point_stands_beside_what_its_model_says_under_the_name_of_its_card():
    columns = malloc_on_card_data([WARPS, ATOMICS, ODD]).columns()
    assert [*columns["card"]] == ["card A"] * 8 + ["card B"] * 4
    assert [*columns["way"]] == ["warp_lock"] * 4 + ["per_thread_bump"] * 4 + ["warp_lock"] * 4
    assert [*columns["measured_us"]] == [*WARPS.microseconds, *ATOMICS.microseconds, *ODD.microseconds]
    assert columns["modelled_us"][:8] == pytest.approx(columns["measured_us"][:8])
    assert columns["modelled_us"][8:] != pytest.approx(columns["measured_us"][8:], rel=1e-3)
    assert columns["us_a_waiter"][[0, 4]] == pytest.approx([0.5, 0.0], abs=1e-9)
    assert columns["hold_us"][[0, 4]] == pytest.approx([2.0, 0.01])


def test_a_panel_a_card_with_its_name_and_markers_where_something_was_measured():
    sheet = draw_malloc_on_card(malloc_on_card_data([WARPS, ATOMICS, ODD]))
    assert [axes.get_title("left") for axes in sheet.axes] == ["card A", "card B"]
    assert [len(axes.lines) for axes in sheet.axes] == [4, 2]
    modelled, measured = sheet.axes[0].lines[:2]
    assert [*measured.get_ydata()] == [*WARPS.microseconds]
    assert modelled.get_ydata() == pytest.approx(WARPS.microseconds)


def test_without_a_measurement_it_says_that_none_is_shipped_and_how_to_make_one():
    message = refusal(wb.figure, "malloc_on_card")
    assert message.startswith(
        "malloc_on_card needs measured curves, of which none is shipped: measure them on your card "
    )


def test_its_page_has_an_example_that_draws_as_the_command_cannot():
    names: dict[str, object] = {}
    lines, _, last = EXAMPLE.rpartition("\n")
    exec(lines, names)
    assert eval(last, names).axes[0].get_title("left") == "four times made up"
