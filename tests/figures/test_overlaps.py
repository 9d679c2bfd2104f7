"""No label covers another, in a column and across a page: of small runs, and of the gallery where slow tests run."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import workbench as wb
from docs.make_gallery import ROOT, SOURCES
from tests.figures.overlaps import overlaps
from tests.figures.stand_ins import record, runs
from workbench.figures import figure, plot_style
from workbench.figures.collisions import SLANT, UPRIGHT
from workbench.figures.plot_style import Format, formatted

WIDTHS = pytest.mark.parametrize("width", [3.4, 7.0], ids=["column", "page"])
OF_RUNS = (
    *("saving_by_policy", "pareto", "drain_difference", "layout_over_time", "remaining_over_time", "free_over_time"),
    *("wear_by_segment", "fragmentation_by_size"),
)
COSTLY = ("factorial_effects", "interactions", "sensitivities", "recorded_against_replayed", "reserved_over_program")
"""Figures of the gallery whose runs take a minute, or need a trace that is not everywhere."""
NEEDS_TRACE = ("reserved_over_requests", "region_layout")


@functools.cache
def compared():
    """Return runs of policies with long names, far from each other, on three memories."""
    generator = np.random.default_rng(7)
    names = ("first_fit", "size_segregated_ends", "unsorted_free_list", "nearest_boundary")
    records = {
        name: [
            record(
                [
                    (0, 40 * k * (1 + place), 40 * k * (1 + place) + int(generator.integers(20, 40)), 0, 1 + k % 4)
                    for k in range(30)
                ]
            )
            for _ in range(4)
        ]
        for place, name in enumerate(names)
    }
    return runs(records, baseline="first_fit", segments=(8, 16))


@WIDTHS
@pytest.mark.parametrize("name", OF_RUNS)
def test_no_label_covers_another(name, width):
    with formatted(Format(width=width)):
        assert overlaps(figure(name).draw(figure(name).data(compared()))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SOURCES if name not in COSTLY + NEEDS_TRACE])
def test_no_label_of_the_gallery_covers_another(name):
    source = SOURCES[name]
    results = wb.run(ROOT / "sweeps" / source.sweep, seeds=source.seeds and 2, set=source.set or None)
    for width in (3.4, 7.0):
        assert overlaps(results.figure(name, width=width)) == []


def plain(labels: list[str], width: float = 3.4) -> Any:
    with formatted(Format(width=width)), plot_style.paper():
        sheet, (axes,) = plot_style.stacked(1, 1.5)
        axes.plot(range(len(labels)), range(len(labels)))
        axes.set_xticks(range(len(labels)), labels)
    sheet.draw_without_rendering()
    return sheet, axes


@pytest.mark.parametrize(("count", "angle"), [(3, 0), (12, SLANT), (22, UPRIGHT)])
def test_names_are_turned_as_far_as_they_need(count, angle):
    sheet, axes = plain([f"policy {k}" for k in range(count)])
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {angle}
    assert [text.get_text() for text in axes.get_xticklabels()] == [f"policy {k}" for k in range(count)]
    assert overlaps(sheet) == []


def test_names_that_collide_upright_too_are_dropped():
    sheet, axes = plain([f"policy {k}" for k in range(44)])
    kept = [text.get_text() for text in axes.get_xticklabels()]
    assert kept[::2] == [f"policy {k}" for k in range(0, 44, 2)] and set(kept[1::2]) == {""}
    assert overlaps(sheet) == []


def test_the_name_of_a_row_is_never_dropped():
    with formatted(Format(width=3.4)), plot_style.paper():
        sheet, (axes,) = plot_style.stacked(1, 0.6)
        axes.plot(range(12), range(12))
        axes.set_yticks(range(12), [f"policy {k}" for k in range(12)])
    sheet.draw_without_rendering()
    assert [text.get_text() for text in axes.get_yticklabels()] == [f"policy {k}" for k in range(12)]


def test_of_numbers_every_other_one_is_dropped_where_they_collide():
    sheet, axes = plain([f"{1000 * k:,}" for k in range(14)])
    kept = [text.get_text() for text in axes.get_xticklabels()]
    assert kept[::2] == [f"{1000 * k:,}" for k in range(0, 14, 2)] and set(kept[1::2]) == {""}
    assert len(axes.get_xticks()) == 14 and overlaps(sheet) == []
    _, wide = plain([f"{1000 * k:,}" for k in range(14)], width=9.0)
    assert [text.get_text() for text in wide.get_xticklabels()] == [f"{1000 * k:,}" for k in range(14)]


def test_what_covers_another_is_found():
    sheet, axes = plain(["one", "two", "three"])
    axes.set_title("a long title", y=0.99, loc="center")
    axes.title.set_position((0.0, 0.0))
    axes.set_xticks([0, 0.05], ["first name", "second name"])
    sheet.set_layout_engine("none")
    problems = overlaps(sheet)
    assert any("first name" in one and "second name" in one for one in problems)
    axes.set_xlabel("beyond", labelpad=400)
    assert any(one.endswith("beyond the sheet") for one in overlaps(sheet))
