"""What every policy saves, in per cent of the baseline."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures.stand_ins import runs
from workbench.errors import InputError
from workbench.figures import figure
from workbench.figures.marks import BAD, GOOD

SAVING = figure("saving_by_policy")
GIVEN = {
    policy: [{"drain_cycles": float(value)} for value in values]
    for policy, values in {
        "first_fit": [100, 200, 300, 400, 500, 600, 700, 800],
        "worst_fit": [111, 219, 331, 440, 551, 659, 771, 880],
        "best_fit": [90, 181, 270, 359, 450, 541, 630, 719],
        "next_fit": [101, 199, 301, 399, 501, 599, 701, 799],
    }.items()
}


def test_shares_of_the_baseline_largest_first():
    data = SAVING.data(runs(GIVEN, baseline="first_fit"))
    (panel,) = data.panels
    assert panel.names == ("best_fit", "next_fit", "worst_fit")
    assert panel.saving.mean.tolist() == pytest.approx([10, -0.00893, -10.0714], abs=1e-4)
    # of 8 shares the sign test leaves all: 9.5, 9.83, 10, 10, 10, 10, 10.125, 10.25
    assert (panel.saving.low[0], panel.saving.high[0]) == pytest.approx((9.5, 10.25))
    assert panel.n.tolist() == [8, 8, 8]
    assert "median of 8 seeds with its 95 % interval" in SAVING.draw(data).get_supxlabel()
    assert data.label == "drain time saved against first_fit (%)"


def test_one_panel_a_setting():
    data = SAVING.data(runs(GIVEN, baseline="first_fit", segments=[8, 16]))
    assert [panel.setting for panel in data.panels] == ["segments = 8", "segments = 16"]
    assert len(data.columns()["policy"]) == 6


def test_ink_best_on_top_and_hollow_where_zero_is_possible():
    drawn = SAVING.draw(SAVING.data(runs(GIVEN, baseline="first_fit")))
    (axes,) = drawn.axes
    rows = {round(row): text.get_text() for row, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    assert rows == {2: "best fit", 1: "next fit", 0: "worst fit"}
    dots, intervals, *ends = axes.collections
    assert all(one.get_zorder() > dots.get_zorder() for one in (intervals, *ends))  # a dot hides no interval
    assert [one.get_sizes()[0] > 2 * dots.get_sizes()[0] for one in ends] == [True, True]
    assert dots.get_offsets()[:, 0].tolist() == pytest.approx([10, -0.00893, -10.0714], abs=1e-4)
    expected = [tuple(int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)) for c in (GOOD, "#ffffff", BAD)]
    assert np.allclose(dots.get_facecolors()[:, :3], expected)
    assert axes.get_xlabel() == "drain time saved against first fit (%)"


def test_one_seed_has_no_interval_and_says_so():
    drawn = SAVING.draw(SAVING.data(runs({name: seeds[:1] for name, seeds in GIVEN.items()}, baseline="first_fit")))
    assert drawn.get_supxlabel() == "one seed"


def test_a_baseline_of_zero_has_no_shares():
    given = {"first_fit": [{"attempts": 0.0}], "best_fit": [{"attempts": 1.0}]}
    with pytest.raises(InputError, match="shares of the baseline's attempts, whose values are not above zero"):
        SAVING.data(runs(given, baseline="first_fit"), measure="attempts")


def test_many_settings_are_a_heat_map_with_the_same_numbers():
    data = SAVING.data(runs(GIVEN, baseline="first_fit", segments=range(8, 20)))
    drawn = SAVING.draw(data)
    axes, bar = drawn.axes
    assert drawn.get_figheight() < 3 and " ".join(bar.get_ylabel().split()) == "drain time saved against first fit (%)"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["best fit", "next fit", "worst fit"]
    assert [text.get_text() for text in axes.get_xticklabels()] == [panel.setting for panel in data.panels]
    said = [text.get_text() for text in axes.texts]
    assert said == ["10.0"] * 12 + ["(0.0)"] * 12 + ["-10.1"] * 12
    assert "in brackets" in drawn.get_supxlabel()
    assert len(data.columns()["policy"]) == 36


def test_a_page_holds_twenty_four_settings():
    with pytest.raises(
        InputError, match=r"needs 25 columns for this sweep; a page holds 24. Narrow the sweep with set=.$"
    ):
        SAVING.data(runs(GIVEN, baseline="first_fit", segments=range(8, 33)))
