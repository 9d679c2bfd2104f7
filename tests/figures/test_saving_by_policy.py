"""How much better every policy is than the baseline: speed-ups in per cent, or differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.figures.stand_ins import runs
from workbench.errors import InputError
from workbench.figures import figure
from workbench.palette import LIGHT
from workbench.policies.catalogue import load_all
from workbench.policies.placement import FirstFit
from workbench.policies.policy import _CATALOGUE, policies

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


GAINS = [11.066, -0.078, -9.194]
"""In per cent: the geometric means of the ratios less 1."""


def test_shares_of_the_baseline_largest_first():
    data = SAVING.data(runs(GIVEN, baseline="first_fit"))
    (panel,) = data.panels
    assert panel.names == ("best_fit", "next_fit", "worst_fit")
    logs = np.log(np.array([100, 200, 300, 400, 500, 600, 700, 800]) / [90, 181, 270, 359, 450, 541, 630, 719])
    assert panel.gain.mean[0] == pytest.approx(100 * (np.exp(logs.mean()) - 1)) and panel.gain.mean[2] < -9
    half = stats.t.ppf(0.975, 7) * logs.std(ddof=1) / np.sqrt(8)
    assert panel.gain.high[0] == pytest.approx(100 * (np.exp(logs.mean() + half) - 1))
    assert panel.n.tolist() == [8, 8, 8]
    assert "geometric mean of 8 seeds with its 95 % interval" in SAVING.draw(data).get_supxlabel()
    assert data.label == "speed-up over first_fit in drain time (%)"


def test_one_panel_a_setting():
    data = SAVING.data(runs(GIVEN, baseline="first_fit", segments=[8, 16]))
    assert [panel.setting for panel in data.panels] == ["segments = 8", "segments = 16"]
    assert len(data.columns()["policy"]) == 6


def test_ink_best_on_top_and_hollow_where_zero_is_possible():
    drawn = SAVING.draw(SAVING.data(runs(GIVEN, baseline="first_fit")))
    (axes,) = drawn.axes
    rows = {round(row): text.get_text() for row, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    assert rows == {2: "best fit", 1: "next fit", 0: "worst fit"}
    dots, intervals, *ends = axes.collections[:4]
    assert all(one.get_zorder() > dots.get_zorder() for one in (intervals, *ends))  # a dot hides no interval
    assert [one.get_sizes()[0] > 2 * dots.get_sizes()[0] for one in ends] == [True, True]
    assert dots.get_offsets()[:, 0].tolist() == pytest.approx(GAINS, abs=1e-2)
    expected = [tuple(int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)) for c in (LIGHT.better, LIGHT.paper, LIGHT.worse)]
    assert np.allclose(dots.get_facecolors()[:, :3], expected)
    assert axes.get_xlabel() == "speed-up over first fit in drain time (%)"


def compared(**others: list[float]):
    rows = {"first_fit": [100.0, 200.0, 300.0, 400.0], **others}
    return runs({name: [{"drain_cycles": value} for value in values] for name, values in rows.items()}, "first_fit")


@pytest.fixture
def tight_fit():
    """A rule of the user's own, as a test module is no part of the package."""

    class TightFit(FirstFit):
        """Take the first hole."""

    yield "tight_fit"
    _CATALOGUE["placement"].pop("tight_fit")


def test_a_rule_of_ones_own_and_an_upper_bound_look_like_what_they_are(tight_fit):
    result = compared(tight_fit=[80, 161, 239, 320], byte_counter=[50, 100, 151, 200], best_fit=[101, 199, 301, 399])
    data = SAVING.data(result)
    (panel,) = data.panels
    assert dict(zip(panel.names, panel.kinds, strict=True)) == {
        "byte_counter": "upper bound",
        "tight_fit": "own",
        "best_fit": "shipped",
    }
    assert data.columns()["kind"].tolist() == ["upper bound", "own", "shipped"]
    drawn = SAVING.draw(data)
    (axes,) = drawn.axes
    weights = {text.get_text(): text.get_fontweight() for text in axes.get_yticklabels()}
    assert weights == {"byte counter": "normal", "tight fit": "bold", "best fit": "normal"}
    bar, *_ = axes.patches
    assert bar.get_hatch() and bar.get_facecolor()[3] == 0
    assert bar.get_width() == pytest.approx(panel.gain.mean[0])
    drawn_dots = [one.get_offsets()[:, 0].tolist() for one in axes.collections[:2]]
    assert drawn_dots == [[pytest.approx(panel.gain.mean[2])], [pytest.approx(panel.gain.mean[1])]]
    shapes = [len(one.get_paths()[0].vertices) for one in axes.collections[:2]]
    assert shapes[0] != shapes[1]
    messages = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert messages == ["better", "undecided", "your own rule", "upper bound"]


@pytest.mark.parametrize("name", ["byte_counter", "paged_memory", "compaction"])
def test_a_policy_that_its_docstring_calls_an_upper_bound_is_one(name):
    assert policies("placement")[name]().is_upper_bound
    assert "upper" in policies("placement")[name].__doc__
    assert not policies("placement")["best_fit"]().is_upper_bound


def test_an_upper_bound_within_a_policy_makes_it_one():
    load_all()
    locate = policies("locate")["directory"]
    assert locate(scope={"oracle": {}}).is_upper_bound and not locate().is_upper_bound


def test_effects_that_are_far_apart_have_axes_of_their_own():
    data = SAVING.data(
        compared(
            next_fit=[1, 2.1, 3, 4],
            best_fit=[99, 199, 297, 397],
            last_fit=[98, 197, 294, 392],
            worst_fit=[101, 202, 304, 404],
        )
    )
    drawn = SAVING.draw(data)
    large, small = drawn.axes
    assert [large.get_title(loc="left"), small.get_title(loc="left")] == ["large effects", "small effects"]
    rows = [[text.get_text() for text in axes.get_yticklabels()] for axes in drawn.axes]
    assert rows == [["next fit"], ["last fit", "best fit", "worst fit"]]
    assert large.get_xlim()[1] > 1000 * small.get_xlim()[1] / 3
    assert "effects that are far apart have axes of their own" in " ".join(drawn.get_supxlabel().split())
    assert len(data.panels) == 1 and len(data.columns()["policy"]) == 4


def test_effects_of_one_size_share_an_axis_in_all_panels():
    drawn = SAVING.draw(SAVING.data(runs(GIVEN, baseline="first_fit", segments=[8, 16])))
    assert len(drawn.axes) == 2 and drawn.axes[0].get_xlim() == drawn.axes[1].get_xlim()
    assert "far apart" not in drawn.get_supxlabel()


def test_one_seed_has_no_interval_and_says_so():
    drawn = SAVING.draw(SAVING.data(runs({name: seeds[:1] for name, seeds in GIVEN.items()}, baseline="first_fit")))
    assert drawn.get_supxlabel() == "one seed"


def test_a_measure_that_can_be_zero_has_differences():
    given = {"first_fit": [{"attempts": 0.0}, {"attempts": 3.0}], "best_fit": [{"attempts": 1.0}, {"attempts": 1.0}]}
    data = SAVING.data(runs(given, baseline="first_fit"), measure="attempts")
    assert data.panels[0].gain.mean.tolist() == [0.5] and list(data.columns())[4] == "gain_cycles"
    assert data.label == "attempts saved against first_fit (cycles)"
    zero = {name: [{"drain_cycles": row["attempts"]} for row in rows] for name, rows in given.items()}
    assert SAVING.data(runs(zero, baseline="first_fit")).label == "drain time saved against first_fit (cycles)"


def test_many_settings_are_a_heat_map_with_the_same_numbers():
    data = SAVING.data(runs(GIVEN, baseline="first_fit", segments=range(8, 20)))
    drawn = SAVING.draw(data)
    axes, bar = drawn.axes
    assert (
        drawn.get_figheight() < 3 and " ".join(bar.get_ylabel().split()) == "speed-up over first fit in drain time (%)"
    )
    assert [text.get_text() for text in axes.get_yticklabels()] == ["best fit", "next fit", "worst fit"]
    assert [text.get_text() for text in axes.get_xticklabels()] == [panel.setting for panel in data.panels]
    said = [text.get_text() for text in axes.texts]
    assert said == ["11.1"] * 12 + ["(-0.1)"] * 12 + ["-9.2"] * 12
    assert "in brackets" in drawn.get_supxlabel()
    assert len(data.columns()["policy"]) == 36


def test_a_page_holds_twenty_four_settings():
    with pytest.raises(
        InputError, match=r"needs 25 columns for this sweep; a page holds 24. Narrow the sweep with set=.$"
    ):
        SAVING.data(runs(GIVEN, baseline="first_fit", segments=range(8, 33)))
