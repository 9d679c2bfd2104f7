"""The paired differences: bars, counts, the mean and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.figures.stand_ins import runs
from workbench.errors import InputError
from workbench.figures import figure
from workbench.figures.drain_difference import bar_edges
from workbench.figures.estimates import gain_of

DRAIN = figure("drain_difference")


def drains(**cycles):
    return {policy: [{"drain_cycles": float(value)} for value in values] for policy, values in cycles.items()}


def test_differences_bars_and_counts_by_hand():
    given = drains(first_fit=[10, 20, 30, 40, 50], best_fit=[8, 20, 33, 36, 44])
    data = DRAIN.data(runs(given, baseline="first_fit"))
    (panel,) = data.panels
    assert (panel.of.name, panel.of.baseline, panel.of.missing) == ("best_fit", "first_fit", 0)
    assert list(panel.of.paired.differences) == [2, 0, -3, 4, 6]
    assert (panel.of.paired.wins, panel.of.paired.losses, panel.of.paired.ties) == (3, 1, 1)
    assert gain_of(panel.of.paired, False).mean == pytest.approx(9 / 5)
    assert panel.of.paired.size.mean == pytest.approx((10 / 8 * 30 / 33 * 40 / 36 * 50 / 44) ** (1 / 5))
    assert data.edges.tolist() == [-4, -2, 0, 2, 4, 6]
    assert panel.counts.tolist() == [1, 0, 1, 1, 1]
    assert (data.better, data.worse) == ("faster", "slower")


def test_the_same_everywhere_is_one_tie_a_seed():
    data = DRAIN.data(runs(drains(first_fit=[10, 20], last_fit=[10, 20]), baseline="first_fit"))
    (panel,) = data.panels
    assert (panel.of.paired.wins, panel.of.paired.losses, panel.of.paired.ties) == (0, 0, 2)
    assert data.edges.tolist() == [-1, 0, 1] and panel.counts.tolist() == [0, 0]
    drawn = DRAIN.draw(data)
    ties = drawn.axes[0].lines[1]
    assert list(ties.get_ydata()) == [0, 2]


@given(st.lists(st.lists(st.integers(-500, 500), min_size=1, max_size=40), min_size=1, max_size=3))
def test_every_seed_that_differs_is_in_the_bar_that_holds_it(samples):
    arrays = [np.array(sample, float) for sample in samples]
    edges = bar_edges(arrays)
    assert 0 in edges and 2 <= len(edges) <= 50
    assert len(set(np.diff(edges))) == 1 and np.diff(edges)[0] >= 1
    for sample in samples:
        given = drains(first_fit=[1000] * len(sample), best_fit=[1000 - d for d in sample])
        data = DRAIN.data(runs(given, baseline="first_fit"))
        ends = list(zip(data.edges[:-1], data.edges[1:], strict=True))
        expected = [sum(a < d <= b if b > 0 else a <= d < b for d in sample if d) for a, b in ends]
        assert data.panels[0].counts.tolist() == expected
        assert sum(expected) + data.panels[0].of.paired.ties == len(sample)


def test_fractions_get_bars_of_fractions():
    edges = bar_edges([np.array([0.001, 0.002, 0.0031, 0.004])])
    assert edges[0] == 0 and edges[-1] >= 0.004
    assert 0 < edges[1] <= 0.002


def test_seeds_without_a_pair_are_left_out_and_counted():
    result = runs(drains(first_fit=[10, 20, 30], best_fit=[8, 20, 33]), baseline="first_fit", failed=[("best_fit", 1)])
    (panel,) = DRAIN.data(result).panels
    assert list(panel.of.paired.differences) == [2, -3] and panel.of.missing == 1
    assert "1 missing" in DRAIN.draw(DRAIN.data(result)).axes[0].texts[0].get_text()


def test_more_can_be_better():
    given = {
        "first_fit": [{"utilisation": 0.5}, {"utilisation": 0.5}],
        "best_fit": [{"utilisation": 0.75}, {"utilisation": 0.25}],
    }
    data = DRAIN.data(runs(given, baseline="first_fit"), measure="utilisation")
    assert list(data.panels[0].of.paired.differences) == [0.25, -0.25]
    assert (data.better, data.worse) == ("better", "worse")
    assert data.label == "utilisation gained over first_fit"


def test_columns_are_what_is_drawn():
    given = drains(first_fit=[10, 20, 30, 40, 50], best_fit=[8, 20, 33, 36, 44], worst_fit=[8, 20, 33, 36, 44])
    columns = DRAIN.data(runs(given, baseline="first_fit")).columns()
    assert {len(column) for column in columns.values()} == {10}
    assert columns["difference_from_cycles"][:5].tolist() == [-4, -2, 0, 2, 4]
    assert columns["seeds"][:5].tolist() == [1, 0, 1, 1, 1]
    assert set(columns["mean_cycles"].tolist()) == {9 / 5}
    assert columns["policy"][::5].tolist() == ["best_fit", "worst_fit"]
    assert set(columns["seeds_tied"].tolist()) == {1}


def test_ink():
    given = drains(first_fit=[10, 20, 30, 40, 50], best_fit=[8, 20, 33, 36, 44])
    drawn = DRAIN.draw(DRAIN.data(runs(given, baseline="first_fit")))
    (axes,) = drawn.axes
    assert axes.get_xlabel() == "drain time saved against first fit (cycles)"
    assert axes.get_ylabel() == "seeds"
    assert axes.get_title(loc="left") == "best fit against first fit"
    assert axes.texts[0].get_text().splitlines() == [
        "faster on 3 seeds, slower on 1, tied on 1",
        "mean 2 [\N{MINUS SIGN}3, 6] cycles; 1.07\N{MULTIPLICATION SIGN} [0.92, 1.25]",
    ]
    better, worse = axes.containers
    assert [bar.get_height() for bar in better] == [1, 1, 1] and [bar.get_height() for bar in worse] == [1, 0]
    assert {bar.get_hatch() for bar in worse} != {bar.get_hatch() for bar in better}


@pytest.mark.parametrize(
    ("measure", "baseline", "says"),
    [
        ("drain_cycles", None, "compares points with a baseline, and no point of this sweep has one"),
        ("drain_cycels", "first_fit", "unknown measure 'drain_cycels'.*Did you mean drain_cycles"),
        ("wear_low_over_high", "first_fit", "of wear_low_over_high neither less nor more is"),
    ],
)
def test_what_cannot_be_compared(measure, baseline, says):
    result = runs(drains(first_fit=[10, 20], best_fit=[8, 20]), baseline=baseline)
    with pytest.raises(InputError, match=says):
        DRAIN.data(result, measure=measure)


def test_no_seed_in_common():
    result = runs(
        drains(first_fit=[10, 20], best_fit=[8, 20]), baseline="first_fit", failed=[("first_fit", 0), ("best_fit", 1)]
    )
    with pytest.raises(InputError, match="needs a seed that both best_fit and its baseline finished; there is none"):
        DRAIN.data(result)


def test_an_undefined_measure_is_named():
    result = runs({"first_fit": [{"wear_cv": 1.0}], "byte_counter": [{"wear_cv": float("nan")}]}, baseline="first_fit")
    with pytest.raises(InputError, match="drain_difference needs wear_cv, which is not defined for byte_counter"):
        DRAIN.data(result, measure="wear_cv")


def test_a_page_holds_eight_panels():
    given = drains(first_fit=[10], **{f"size_segregated_ends(threshold={k})": [9] for k in range(1, 10)})
    with pytest.raises(InputError, match="needs 9 panels for this sweep; a page holds 8"):
        DRAIN.data(runs(given, baseline="first_fit"))


def test_long_differences_are_in_thousands_of_cycles():
    given = drains(first_fit=[1_000_000, 1_100_000], best_fit=[930_000, 1_025_000])
    (axes,) = DRAIN.draw(DRAIN.data(runs(given, baseline="first_fit"))).axes
    assert axes.get_xlabel() == "drain time saved against first fit (thousand cycles)"
    axes.figure.draw_without_rendering()
    assert {"0", "75"} < {label.get_text() for label in axes.get_xticklabels()}
    assert (
        "mean 70,000 [40,000, 100,000] cycles; 1.074\N{MULTIPLICATION SIGN} [1.061, 1.088]" in axes.texts[0].get_text()
    )
