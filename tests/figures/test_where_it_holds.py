"""The map of where a claim holds: its verdicts recomputed with SciPy, and what is seen of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.results import Results
from workbench.experiments.sweep import read_sweep
from workbench.figures import figure
from workbench.figures._where_it_holds import edges
from workbench.runs.row import Row
from workbench.statistics.summary import where_it_holds

WHERE = figure("where_it_holds")
SEEDS, SIZES, COUNTS = 12, [32, 64, 128], [100, 200, 800]
SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": {"vary": SIZES}},
    "workload": {"regime": "small_uniform", "count": {"vary": COUNTS}},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": SEEDS,
    "measures": ["drain_cycles"],
}


def gain(segments, count):
    """Of the boundary rule: clearly worse in small memories, better in large ones, nothing or little between."""
    return {32: -60, 64: 0, 128: 80}[segments] + (4 if count == 800 else 0)


def drawn_runs(message=SWEEP, failing=lambda point, seed: False, measure="drain_cycles", gain=gain):
    """Runs whose measure is a made-up number: 1,000 at the baseline, less what is gained, and noise."""
    plan, rows = make_plan(read_sweep(message)), []
    for k, point in enumerate(plan.points):
        noise = np.random.default_rng(k).normal(0, 20, len(plan.sweep.seeds))
        own = point.setup.policies["placement"].name != "first_fit"
        mean = 1000 - own * gain(point.setup.machine.segments, point.setup.workload.count)
        for seed, run in zip(plan.sweep.seeds, (r for r in plan.runs() if r.point is point), strict=True):
            failed = failing(point, seed)
            result = {} if failed else {measure: mean + noise[seed]}
            rows.append(Row(run.id, point.id, seed, "failed" if failed else "done", "", 0.0, result))
    return Results(plan, rows)


@pytest.fixture(scope="module")
def runs():
    return drawn_runs()


def by_scipy(runs, alpha=0.05, corrected=True):
    """The verdicts, from the table alone."""
    table = runs.table.pivot(
        index="seed", columns=["machine.segments", "workload.count", "policy.placement"], values="drain_cycles"
    )
    places = [(x, y) for x in SIZES for y in COUNTS]
    gains = [(table[x, y, "first_fit"] - table[x, y, "nearest_boundary"]).to_numpy() for x, y in places]
    signs = [stats.binomtest(int((one > 0).sum()), SEEDS).pvalue for one in gains]
    ratios = [np.log(table[x, y, "first_fit"] / table[x, y, "nearest_boundary"]) for x, y in places]
    sizes = [stats.ttest_1samp(one, 0).pvalue for one in ratios]
    p_values = np.minimum(1.0, np.array([sizes, signs]).ravel() / 0.9)
    p_values = stats.false_discovery_control(p_values) if corrected else p_values
    sides = [np.sign(one.mean()) for one in ratios] + [np.sign((one > 0).sum() - SEEDS / 2) for one in gains]
    words = {}
    for k, place in enumerate(places):
        match = {sides[j] for j in (k, k + len(places)) if p_values[j] < alpha}
        words[place] = {1.0: "better", -1.0: "worse"}[match.pop()] if len(match) == 1 else "undecided"
    return words


def test_verdicts_are_those_that_scipy_gives(runs):
    (region,) = WHERE.data(runs).regions
    result = dict(zip(zip(region.x, region.y), region.verdict))
    assert result == by_scipy(runs)
    assert set(result.values()) == {"better", "worse", "undecided"}


def test_without_the_correction_more_places_would_be_coloured():
    """Seventy-two places of nothing at all: some intervals are clear of zero by chance, and no place is."""
    few = {**SWEEP, "machine": {"segments": {"vary": list(range(40, 48))}}}
    none = drawn_runs(
        {**few, "workload": {"regime": "small_uniform", "count": {"vary": list(range(10, 19))}}}, gain=_none
    )
    (region,) = WHERE.data(none).regions
    assert len(region.x) == 72
    assert ((region.low > 0) | (region.high < 0)).sum() >= 2
    assert set(region.verdict) == {"undecided"}


def _none(segments, count):
    return 0


def test_holm_decides_no_more_than_the_false_discovery_rate(runs):
    strict, usual = (WHERE.data(runs, correction=name).regions[0] for name in ("holm", "false_discovery"))
    assert (strict.p_size >= usual.p_size).all() and (strict.p_direction >= usual.p_direction).all()
    assert all(a in (b, "undecided") for a, b in zip(strict.verdict, usual.verdict, strict=True))


def test_a_measure_of_which_more_is_better_turns_the_signs():
    config = {**SWEEP, "measures": ["first_try_rate"]}
    (region,) = WHERE.data(drawn_runs(config, measure="first_try_rate")).regions
    assert {v for x, v in zip(region.x, region.verdict) if x == 128} == {"worse"}
    assert {v for x, v in zip(region.x, region.verdict) if x == 32} == {"better"}


def test_columns_are_what_is_drawn_one_row_a_place(runs):
    columns = WHERE.data(runs).columns()
    assert {len(column) for column in columns.values()} == {9}
    assert list(columns)[:4] == ["setting", "segments (segments)", "count (workgroups)", "verdict"]
    low, gain, high = (columns[f"{end}_percent"] for end in ("low", "gain", "high"))
    assert (low <= gain).all() and (gain <= high).all() and gain.max() == pytest.approx(9, abs=1.5)
    assert (columns["seeds"] == SEEDS).all()


def test_ink_a_cell_a_place_full_where_decided_and_hatched_where_worse(runs):
    data = WHERE.data(runs)
    drawn = WHERE.draw(data)
    (axes,) = drawn.axes
    cells = [patch for patch in axes.patches if patch.get_width() > 0]
    assert len(cells) == len(axes.texts) - 1 == 9  # the title's small print is a text too
    verdicts = data.regions[0].verdict
    assert [bool(cell.get_hatch()) for cell in cells] == [verdict == "worse" for verdict in verdicts]
    white = [cell.get_facecolor()[:3] == (1, 1, 1) for cell in cells]
    assert white == [verdict == "undecided" for verdict in verdicts]
    for cell, x, y in zip(cells, data.regions[0].x, data.regions[0].y, strict=True):
        assert (
            cell.get_x() < x < cell.get_x() + cell.get_width() and cell.get_y() < y < cell.get_y() + cell.get_height()
        )
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("segments (segments)", "count (workgroups)")
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["better", "undecided", "worse"]


def test_the_note_says_how_many_places_are_decided_and_by_what(runs):
    verdicts = list(by_scipy(runs).values())
    reply = " ".join(WHERE.draw(WHERE.data(runs)).get_supxlabel().split())
    assert "speed-up over first fit in drain time (%)" in reply
    assert (
        f"{verdicts.count('better')} better, {verdicts.count('worse')} worse of 9 places, 12 paired seeds each" in reply
    )
    assert "false discovery rate < 0.05" in reply
    assert "p < 0.05 (Holm)" in WHERE.draw(WHERE.data(runs, correction="holm")).get_supxlabel()


def test_places_of_a_design_are_dots():
    config = {**SWEEP, "design": {"sobol": {"points": 16, "seed": 2}}}
    config["machine"] = {"segments": {"vary": {"from": 32, "to": 128}}}
    config["workload"] = {"regime": "small_uniform", "count": {"vary": {"from": 10, "to": 800, "scale": "log"}}}
    data = WHERE.data(
        drawn_runs(config, gain=lambda segments, count: 80 if segments > 90 else -60 if count < 90 else 0)
    )
    (axes,) = WHERE.draw(data).axes
    assert len(data.regions[0].x) == 16
    assert sum(len(dots.get_offsets()) for dots in axes.collections) == 16
    assert axes.get_yscale() == "log"


def test_a_place_without_a_pair_is_undecided_and_has_no_number():
    broken = drawn_runs(failing=lambda point, seed: point.setup.machine.segments == 128 and point.baseline is not None)
    data = WHERE.data(broken)
    (region,) = data.regions
    gone = region.x == 128
    assert {v for v, missing in zip(region.verdict, gone) if missing} == {"undecided"}
    assert np.isnan(region.gain[gone]).all() and (region.n[gone] == 0).all()
    reply = WHERE.draw(data)
    assert [text.get_text() for text in reply.axes[0].texts if text.get_text() == ""]
    assert "0 to 12 paired seeds" in reply.get_supxlabel()


def test_several_policies_are_several_panels_corrected_together():
    config = {**SWEEP, "policy": {"placement": {"vary": ["first_fit", "nearest_boundary", "best_fit"]}}}
    data = WHERE.data(drawn_runs(config))
    assert [region.setting for region in data.regions] == ["nearest_boundary", "best_fit"]
    assert "of 18 places" in WHERE.draw(data).get_supxlabel()


@pytest.mark.parametrize(
    ("changed", "asked", "sentence"),
    [
        ({"machine": {}}, {}, "where_it_holds needs two varied numbers; this sweep varies workload.count."),
        (
            {},
            {"x": "machine.segment"},
            "unknown varied number 'machine.segment'; there are machine.segments, workload.count.",
        ),
        ({}, {"correction": "none"}, "unknown correction 'none'; there are false_discovery, holm."),
        ({"baseline": None}, {}, "where_it_holds compares points with a baseline by what is better, and there is none"),
        (
            {"options": {"latency_cycles": {"vary": [0, 1]}}},
            {},
            "where_it_holds needs to know which two numbers, x= and y=;",
        ),
    ],
)
def test_what_is_no_map_is_one_sentence(changed, asked, sentence):
    config = {key: value for key, value in {**SWEEP, "seeds": 2, **changed}.items() if value is not None}
    with pytest.raises(InputError) as refused:
        WHERE.choose(drawn_runs(config), **asked)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_edges_lie_between_the_centres_and_beyond_them():
    for centres in ([1, 2, 4, 8, 16], [0.1, 0.2, 0.3], [16, 1024]):
        result = edges(np.array(centres, float))
        assert len(result) == len(centres) + 1
        assert all(low < centre < high for low, centre, high in zip(result[:-1], centres, result[1:], strict=True))


def test_an_interval_clear_of_one_is_not_enough(runs):
    """A p-value that the family makes too large leaves a place undecided, whatever its interval says."""
    measure = runs.plan.sweep.mechanism.measures["drain_cycles"]
    weak = drawn_runs(gain=lambda segments, count: 16 if segments == 64 else 0)
    places = where_it_holds(weak, measure, "machine.segments", "workload.count", "holm")
    open_ones = [one.verdict for one in places if not one.verdict.side]
    assert any(one.of.p_alone < 0.05 for one in open_ones) and not any(math.isnan(one.p) for one in open_ones)
