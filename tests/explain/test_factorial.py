"""Effects of a full 2^k design: least squares say the same, noise is no effect, and what is no design is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.results import Results
from workbench.experiments.sweep import read_sweep
from workbench.explain.factorial import factorial
from workbench.figures import figure
from workbench.runs.row import Row

EFFECTS = figure("factorial_effects")
SEEDS = 12
SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": {"vary": ["small_uniform", "bimodal"]}, "count": 20},
    "policy": {
        "placement": {"vary": ["first_fit", "nearest_boundary"], "zip": "both"},
        "retry": {"vary": ["next_cycle", "on_release"], "zip": "both"},
        "queue": {"vary": ["fifo_head_only", "fifo_lookahead"]},
    },
    "seeds": SEEDS,
    "measures": ["drain_cycles"],
}
NAMES = ("nearest_boundary", "fifo_lookahead")


def drawn(gains, noise=5.0, message=SWEEP, lacks=lambda point, seed: False):
    """Runs that take 1,000 cycles less what each choice gains and both together, with noise of each seed and run."""
    plan, rows = make_plan(read_sweep(message)), []
    for k, point in enumerate(plan.points):
        policies = point.setup.policies
        levels = policies["placement"].name == NAMES[0], policies["queue"].name == NAMES[1]
        gained = gains[0] * levels[0] + gains[1] * levels[1] + gains[2] * all(levels)
        own = np.random.default_rng(k).normal(0, noise, SEEDS)
        common = np.random.default_rng(99).normal(0, 50, SEEDS)  # common random numbers: in no difference
        for run in (run for run in plan.runs() if run.point is point):
            failed = lacks(point, run.seed)
            values = {} if failed else {"drain_cycles": 1000 - gained + own[run.seed] + common[run.seed]}
            rows.append(Row(run.id, point.id, run.seed, "failed" if failed else "done", "", 0.0, values))
    return Results(plan, rows)


def found(runs):
    return factorial(runs, runs.plan.sweep.mechanism.measures["drain_cycles"])


def test_effects_are_those_of_least_squares():
    runs = drawn((30, -20, 16))
    result = found(runs)
    assert (result.factors, result.settings) == (NAMES, ("small_uniform", "bimodal"))
    columns = ["workload.regime", "policy.placement", "policy.queue"]
    table = runs.table.groupby(columns, sort=False)["drain_cycles"].apply(np.array)
    for setting in result.settings:
        each = table[setting]
        rows, values = [], []
        for a, b in itertools.product((0, 1), repeat=2):
            rows.append([1, a - 0.5, b - 0.5, (2 * a - 1) * (2 * b - 1) / 4])
            name = ["first_fit", NAMES[0]][a], next(name for name in each.index.levels[1] if (NAMES[1] in name) == b)
            values.append(each[name])
        (_, *coded), *_ = np.linalg.lstsq(np.array(rows), np.array(values))
        none = values[0].mean()
        effects = [result.of(setting, NAMES[0]), result.of(setting, NAMES[1]), result.of(setting, *NAMES)]
        assert [one.gain.mean for one in effects] == pytest.approx(
            [-100 * np.mean(by_seed) / none for by_seed in coded]
        )
        assert [one.clear for one in effects] == [True, True, True]
        assert effects[2].gain.mean == pytest.approx(1.6, abs=0.6)


def test_noise_is_no_effect_and_is_corrected_over_all_settings():
    result = found(drawn((0, 0, 0)))
    assert len(result.effects) == 6
    assert not any(one.clear for one in result.effects)
    assert all(one.verdict.p_size >= one.verdict.of.p_size for one in result.effects)
    assert {one.verdict.comparisons for one in result.effects} == {6}


def test_a_seed_that_one_combination_lacks_is_left_out():
    runs = drawn((30, 0, 0), lacks=lambda point, seed: seed == 3 and point.setup.policies["queue"].name == NAMES[1])
    assert {one.n for one in found(runs).effects} == {SEEDS - 1}


def test_a_run_that_never_ends_is_the_worst_rank_and_not_left_out():
    """Nearest boundary gains 30 where it ends, and with look-ahead it never ends at nine of twelve seeds."""
    runs = drawn((30, -20, 16), noise=0.0)
    setups = {point.id: point.setup for point in runs.points}
    for id, row in runs.rows.items():
        policies = setups[row.point].policies
        if row.seed < 9 and (policies["placement"].name, policies["queue"].name) == NAMES:
            runs.rows[id] = row._replace(measures={"drain_cycles": math.inf})
    for setting in ("small_uniform", "bimodal"):
        placement, ahead = (found(runs).of(setting, name) for name in NAMES)
        assert (placement.n, placement.missing, placement.infinite) == (12, 0, 9)
        assert (placement.verdict.word, ahead.verdict.word) == ("undecided", "worse on most seeds")
        assert placement.gain.n == 3 and placement.verdict.of.losses == 9
        assert placement.contrasts[9:] == pytest.approx([3.8] * 3, abs=0.3)  # 30 and half of 16, of 1,000
    data = EFFECTS.data(runs)
    assert data.columns()["seeds_infinite"][0] == 9
    note = " ".join(EFFECTS.draw(data).get_supxlabel().split())
    assert "9 with a refusal, the worst rank there is" in note


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queue": "fifo_head_only"}, "must vary at least two policies of two values each"),
        ({"queue": {"vary": ["fifo_head_only", "fifo_lookahead"], "zip": "both"}}, "must vary at least two policies"),
    ],
)
def test_fewer_than_two_factors_are_refused(change, message):
    sweep = {**SWEEP, "policy": {**SWEEP["policy"], **change}}
    with pytest.raises(InputError, match=message):
        found(drawn((0, 0, 0), message=sweep))


def test_a_design_without_a_combination_is_refused():
    runs = drawn((0, 0, 0))
    plan = Plan(runs.plan.sweep, runs.plan.points[1:])
    with pytest.raises(InputError, match=r"2 factors needs 4 points, one a combination, of small_uniform\. Got 3"):
        found(Results(plan, runs.rows.values()))


def test_the_figure_draws_every_effect_with_its_interval(tmp_path):
    data = EFFECTS.data(drawn((30, -20, 8)))
    columns = data.columns()
    assert len(columns["gain_percent"]) == 6
    assert columns["with"][:3] == ["", "", NAMES[1]]
    low, mean, high = (np.array(columns[name]) for name in ("low", "gain_percent", "high"))
    assert (low < mean).all() and (mean < high).all()
    sheet = EFFECTS.draw(data)
    texts = [text.get_text() for axes in sheet.axes for text in axes.texts if text.get_text()]
    assert len(texts) == 6 and all("±" in text for text in texts)
    sheet.savefig(tmp_path / "e.png", dpi=150)
