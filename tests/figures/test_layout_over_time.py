"""Who lies where, and when; and that larger workgroups look larger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from tests.engines.test_shared_memory import simulate
from tests.figures.stand_ins import record, runs
from workbench.errors import InputError
from workbench.figures import figure
from workbench.figures._layout_over_time import NO_ADDRESSES, WORKGROUPS
from workbench.figures.plot_style import Format, formatted
from workbench.palette import DARK, LIGHT
from workbench.policies.placement import Compaction, FirstFit, PagedMemory

LAYOUT = figure("layout_over_time")
TWO = record([(0, 0, 4, 0, 4), (0, 1, 3, 4, 4)])
LATER = record([(0, 2, 4, 0, 4), (0, 3, 9, 4, 4)])


def test_rectangles_by_hand():
    data = LAYOUT.data(runs({"first_fit": [TWO], "best_fit": [LATER]}))
    assert (data.seed, data.first, data.last) == (0, 0, 9)
    first, best = data.panels
    assert (first.name, first.segments, first.note) == ("first_fit", 8, "")
    assert [column.tolist() for column in first.pieces] == [[0, 1], [0, 1], [4, 3], [0, 4], [4, 4]]
    assert best.pieces.end.tolist() == [4, 9]


def test_a_span_shows_what_lies_partly_in_it():
    data = LAYOUT.data(runs({"first_fit": [LATER]}), cycles=(4, 6))
    assert (data.first, data.last) == (4, 6)
    assert data.panels[0].pieces.workgroup.tolist() == [1]
    assert LAYOUT.draw(data).axes[0].get_xlim() == (4, 6)


def test_a_long_run_is_shown_until_150_workgroups_were_granted():
    long = record([(0, 3 * k, 3 * k + 3, 0, 8) for k in range(1000)])
    data = LAYOUT.data(runs({"first_fit": [long]}))
    assert (data.first, data.last) == (0, 3 * WORKGROUPS)
    assert len(data.panels[0].held) == WORKGROUPS


def test_the_seed_is_one_that_every_point_finished():
    result = runs({"first_fit": [TWO, TWO, TWO], "best_fit": [TWO, LATER, LATER]}, failed=[("best_fit", 0)])
    assert LAYOUT.data(result).seed == 1
    assert LAYOUT.data(result, seed=2).seed == 2
    with pytest.raises(InputError, match=r"a seed that every point finished\. Got 0\. Nearest: 1"):
        LAYOUT.data(result, seed=0)
    none = runs({"first_fit": [TWO, TWO], "best_fit": [TWO, TWO]}, failed=[("best_fit", 0), ("first_fit", 1)])
    with pytest.raises(InputError, match="one seed that every point finished; there is none"):
        LAYOUT.data(none)


def test_a_span_that_is_none_or_holds_too_much():
    many = record([(0, k, k + 1, 0, 8) for k in range(6000)])
    with pytest.raises(InputError, match=r"draws 5000 rectangles a panel; first_fit has 6000.*cycles=\(0, 600\)"):
        LAYOUT.data(runs({"first_fit": [many]}), cycles=(0, 6000))
    for wrong in ((5, 5), (-1, 5), (5,), "ab", 7, (0.5, 2)):
        with pytest.raises(InputError, match=r"shows cycles=\(from, to\) with 0 <= from < to\. Got "):
            LAYOUT.data(runs({"first_fit": [TWO]}), cycles=wrong)


def test_amounts_without_addresses_say_so():
    data = LAYOUT.data(runs({"byte_counter": [TWO._replace(addressed=False, layout="scattered")], "first_fit": [TWO]}))
    assert data.panels[0].note == NO_ADDRESSES and len(data.panels[0].held) == 0
    drawn = LAYOUT.draw(data)
    assert NO_ADDRESSES in [text.get_text() for text in drawn.axes[0].texts]
    assert drawn.axes[0].get_position().height < drawn.axes[1].get_position().height


def test_ink():
    drawn = LAYOUT.draw(LAYOUT.data(runs({"first_fit": [TWO], "best_fit": [LATER]}, segments=[8, 16])))
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == [f"segments = {size}: {name}" for size in (8, 16) for name in ("first fit", "best fit")]
    areas, *_ = drawn.axes[0].collections
    assert [path.vertices[:4].tolist() for path in areas.get_paths()] == [
        [[0, 0], [4, 0], [4, 4], [0, 4]],
        [[1, 4], [3, 4], [3, 8], [1, 8]],
    ]
    assert drawn.axes[0].get_ylabel() == "segment" and drawn.axes[-1].get_xlabel() == "time (cycles)"
    assert drawn.get_supxlabel() == "seed 0, whole runs"


def test_columns_are_what_is_drawn():
    columns = LAYOUT.data(runs({"first_fit": [TWO], "best_fit": [LATER]})).columns()
    assert columns["policy"].tolist() == ["first_fit"] * 2 + ["best_fit"] * 2
    assert columns["from_cycles"].tolist() == [0, 1, 2, 3]
    assert columns["first_segment"].tolist() == [0, 4, 0, 4]


jobs = st.lists(st.tuples(st.just(0), st.integers(1, 8), st.integers(1, 9)), min_size=1, max_size=40)


@given(jobs, st.sampled_from([FirstFit(), Compaction(), PagedMemory()]))
def test_a_workgroup_is_as_large_wherever_it_lies(rows, placement):
    record = simulate(rows, 13, placement)
    data = LAYOUT.data(runs({"first_fit": [record]}))
    (panel,) = data.panels
    assert panel.held.tolist() == [int(record.length[k]) for k in panel.pieces.workgroup]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_larger_workgroups_are_further_along_the_ramp_on_the_color_of_free_memory(palette):
    sizes = [*range(1, 6), 3]
    rows = [(0, k, k + 1, 0, size) for k, size in enumerate(sizes)]
    with formatted(Format(is_dark=palette is DARK)):
        drawn = LAYOUT.draw(LAYOUT.data(runs({"first_fit": [record(rows)]})))
    areas, *_ = drawn.axes[0].collections
    assert [to_hex(color) for color in areas.get_facecolor()] == [palette.sizes[size - 1] for size in sizes]
    assert to_hex(drawn.axes[0].get_facecolor()) == palette.free
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["1", "2", "3", "4", "5 segments", "free"]
