"""What a front trades, in sentences: against values by hand, and against the rows of a study."""

from __future__ import annotations

import math
import re
import statistics
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tuning.small import small, undisturbed
from workbench.cli.main import main
from workbench.metrics.measure import Measure
from workbench.statistics import compare
from workbench.tuning import Objective, tune
from workbench.tuning.contrasts import Contrast
from workbench.tuning.report import recommended_point
from workbench.tuning.trades import trades

WASTE, PACE, HEAT = (
    Objective(Measure("waste", "", "lower", "", compared_by="ratio"), "minimize"),
    Objective(Measure("pace", "", "higher", "", compared_by="ratio"), "maximize"),
    Objective(Measure("heat", "", "lower", ""), "minimize"),
)
NOISE = [-0.01, 0.0, 0.01, -0.02, 0.02, 0.0, 0.01, -0.01]
"""What eight seeds differ by, as a share; of no measure is it the same."""


def contrast(first: Any, other: Any, objective: Objective) -> Contrast:
    """Return a comparison as its measure declares."""
    by = objective.measure.compared_by
    return Contrast(objective, compare(first, other, better=objective.better, compared_by=by), ())


def front(
    *means: tuple[float, ...], best: list[bool] | None = None, objectives: Any = (WASTE, PACE, HEAT), seeds: int = 8
) -> Any:
    """Return a front of points with these means on eight fresh seeds."""

    def values(k: int, j: int) -> dict[int, float]:
        return {seed: means[k][j] * (1 + (-1) ** k * noise) for seed, noise in enumerate(noises(seeds))}

    def between(start: int, end: int, objective: Objective) -> Contrast:
        j = objectives.index(objective)
        return contrast(values(start, j), values(end, j), objective)

    trials = [SimpleNamespace(name=f"trial {10 + k}") for k in range(len(means))]
    best = best or [True] * len(means)
    return Front(objectives, best, [list(row) for row in means], trials, between)


def noises(seeds: int) -> list[float]:
    """Return as many different shares of noise."""
    return [NOISE[k % 8] + 0.001 * (k // 8) for k in range(seeds)]


class Front(SimpleNamespace):
    """What of a front its trades are made of."""

    def __init__(self, objectives: Any, best: Any, means: Any, trials: Any, between: Any) -> None:
        super().__init__(objectives=objectives, best=best, means=means, trials=trials, between=between)

    def __len__(self) -> int:
        return len(self.trials)


def test_from_the_first_end_to_each_other_end():
    first, second = trades(front((0.1, 100.0, 8.0), (0.2, 150.0, 4.0), (0.15, 120.0, 2.0), seeds=16))
    assert first == (
        "From the end with the least waste (trial 10) to that with the most pace (trial 11): gains pace 1.499x "
        "[1.478, 1.519] (sure), heat 4.01 [3.93, 4.09] less (sure); loses waste 0.501x [0.494, 0.507] (sure), at 16 "
        "fresh seeds."
    )
    assert second.startswith(
        "From the end with the least waste (trial 10) to that with the least heat (trial 12): gains"
    )


def test_what_noise_alone_may_be_has_no_figure():
    (sentence, _) = trades(front((0.1, 100.0, 8.0), (0.2, 150.0, 8.001), seeds=40))
    assert sentence.endswith("; no shown change of heat (undecided), at 40 fresh seeds.")
    assert sentence.count("heat") == 1


def test_an_undecided_change_says_how_many_seeds_would_tell():
    (sentence, _) = trades(front((0.1, 100.0, 8.0), (0.1005, 150.0, 4.0), seeds=12))
    assert re.search(r"no shown change of waste \(\d+ seeds would tell 1 %\), at 12 fresh seeds\.$", sentence)


def test_five_seeds_are_too_few_to_be_sure():
    given = (0.1, 100.0, 8.0), (0.2, 150.0, 4.0)
    (sentence, _) = trades(front(*given, seeds=5))
    assert "no shown change of waste (" in sentence
    assert sentence.endswith("at 5 fresh seeds (it takes 10 to be sure).") and "(sure)" not in sentence
    assert trades(front(*given, seeds=40))[0].endswith("at 40 fresh seeds.")


def test_only_points_that_are_still_best_are_ends():
    given = [(0.1, 100.0, 8.0), (0.01, 900.0, 1.0), (0.2, 150.0, 4.0)]
    sentence = trades(front(*given, best=[True, False, True]))[0]
    assert "(trial 10) to that with the most pace (trial 12)" in sentence


def test_a_value_that_begins_at_zero_has_no_per_cent():
    (sentence, _) = trades(front((0.0, 100.0, 8.0), (0.2, 150.0, 4.0), seeds=16))
    assert "loses waste 0.1999 [0.1986, 0.2012] more (on most seeds)" in sentence and "nan" not in sentence


@pytest.mark.parametrize(
    ("given", "sentences"),
    [
        (front((0.1, 9.0, 1.0)), ["The front is one point (trial 10), so nothing is traded."]),
        (
            front((0.1, 9.0, 1.0), (0.2, 8.0, 1.5), best=[False, True]),
            ["On fresh seeds one point is left of the front (trial 11), so nothing is traded."],
        ),
        (
            front((math.nan, 9.0, 1.0), best=[False]),
            ["No point of the front keeps its place on fresh seeds, so what it trades is unknown."],
        ),
        (
            front((0.1, 9.0, 1.0), (0.1, 9.0, 1.0)),
            [
                "Nothing is traded: waste is the same at all 2 points (0.1); pace is the same at all 2 points (9); "
                "heat is the same at all 2 points (1)."
            ],
        ),
        (front((0.1,), (0.2,), objectives=(WASTE,)), []),
    ],
)
def test_where_nothing_is_traded(given, sentences):
    assert trades(given) == sentences


def test_an_objective_that_is_constant_is_no_end():
    sentence, constant = trades(front((0.1, 100.0, 0.5), (0.2, 150.0, 0.5)))
    assert "heat" not in sentence
    assert constant == "heat is the same at all 2 points (0.5), so it is not traded."
    sentence, constant = trades(front((0.5, 100.0, 8.0), (0.5, 150.0, 9.0)))
    assert sentence.startswith(
        "From the end with the most pace (trial 11) to that with the least heat (trial 10): gains heat 1.0"
    )
    assert constant.startswith("waste is the same at all 2 points")


def test_a_point_that_is_best_in_two_objectives_is_said_to_be():
    both, _ = trades(front((0.1, 150.0, 8.0), (0.2, 150.0, 4.0), (0.1, 100.0, 2.0)))
    assert both == "Trial 10 has both the least waste and the most pace: neither costs the other."


def test_figures_are_those_of_the_rows():
    results = tune(small(holdout_seeds={"first": 100, "count": 20}))
    (sentence,) = results.trades
    table = results.pareto[results.pareto["best"]]
    ends = [int(number) for number in re.findall(r"trial (\d+)", sentence)]
    assert ends == [table.loc[table[n].idxmin(), "trial"] for n in ("drain_cycles", "mean_external_fragmentation")]
    runs = results.holdout
    points = [results.front.points[[t.number for t in results.front.trials].index(number)] for number in ends]
    before, after = (runs.values(p, "drain_cycles") for p in points)
    logs = [math.log(before[seed] / after[seed]) for seed in runs.seeds]
    lost = re.search(r"loses drain_cycles (0\.\d+)x \[(0\.\d+), (0\.\d+)\] \(sure\)", sentence)
    size = math.exp(statistics.fmean(logs))
    assert lost and float(lost[1]) == pytest.approx(size, abs=0.001) and float(lost[2]) < size < float(lost[3])
    assert sentence.endswith("; no shown change of mean_external_fragmentation (undecided), at 20 fresh seeds.")


def reported(
    waste: float, pace: float, seeds: int = 8, broken: tuple[str, ...] = (), rivals: Any = None, scale: float = 1.0
) -> list[str]:
    """Return what is said of trial 7, whose report has this much of the baseline's 1.0 waste and 100 pace."""
    point, baseline, rival = (SimpleNamespace(id=one) for one in "pbr")
    noise = [scale * one for one in noises(seeds)]

    def against(first: Any, _point: Any, objective: Objective, _runs: Any) -> Contrast:
        start, share = (1.0, waste) if objective is WASTE else (100.0, pace)
        share = share if first is baseline else share * 1.5
        values = [[start * (1 + one) for one in noise], [start * share * (1 - one / 10) for one in noise]]
        return contrast(*values, objective)

    report = SimpleNamespace(points=[point, baseline, rival], seeds=[*range(seeds)], baseline_of=lambda _: baseline)
    front = SimpleNamespace(
        points=[point],
        trials=[SimpleNamespace(name="trial 7")],
        chosen=0,
        objectives=(WASTE, PACE),
        workloads=[""],
        name=lambda one: {"p": "worst_fit", "b": "first_fit"}[one.id],
        baseline_of=lambda _: baseline,
        against=against,
        broken=lambda *_: list(broken),
    )
    return recommended_point(front, report, rivals or {})  # type: ignore[arg-type]


def test_the_one_to_take_says_its_gains_and_its_losses():
    assert reported(0.5, 1.5) == [
        "the one to take: trial 7, worst_fit",
        "compared at 8 seeds that neither tuning nor choosing saw",
        "trial 7 beats the baseline for sure",
        "    waste 2.000x [1.976, 2.024], better at 8, worse at 0 of 8; sure (p 0.035, 2 comparisons)",
        "    pace 1.500x [1.482, 1.518], better at 8, worse at 0 of 8; sure (p 0.035, 2 comparisons)",
    ]
    first, _, second, *_ = reported(0.5, 0.75)
    assert (
        first == "the one to take: trial 7, worst_fit, if its gains are worth its losses; else the baseline, first_fit"
    )
    assert second == "trial 7 gains and loses against the baseline"


def test_a_loss_is_not_called_unproven():
    first, _, second, *_ = reported(2.0, 0.5)
    assert first == (
        "the one to take: the baseline, first_fit: trial 7, worst_fit is the best of the front and loses to it"
    )
    assert second == "trial 7 loses to the baseline"


@pytest.mark.parametrize("seeds", [8, 20])
def test_what_is_not_shown_says_how_many_seeds_would_tell(seeds):
    """It said "does not beat it" where power was 10 to 18 %."""
    first, _, second, *_ = reported(1.0, 1.0, seeds=seeds, scale=5.0)
    unproven = r"is not shown to beat (it|the baseline); \d+ seeds would tell 1 %$"
    assert re.search(f"trial 7, worst_fit is the best of the front and {unproven}", first)
    assert re.fullmatch(f"trial 7 {unproven}", second)


def test_what_is_within_the_least_effect_is_as_good_as_equal():
    first, _, second, *_ = reported(1.0, 1.0)
    assert first.endswith("trial 7, worst_fit is the best of the front and is as good as equal to it")
    assert second == "trial 7 is as good as equal to the baseline"


def test_a_point_that_breaks_a_constraint_is_not_taken():
    lines = reported(0.5, 1.5, broken=("heat at most 9 (its mean is 12)",))
    assert lines[0] == (
        "the one to take: the baseline, first_fit: trial 7, worst_fit is the best of the front and breaks a constraint"
    )
    assert "trial 7 breaks heat at most 9 (its mean is 12)" in lines


def test_five_seeds_of_a_report_are_too_few_to_be_sure():
    lines = reported(0.5, 1.5, seeds=5)
    assert re.fullmatch(r"trial 7 is not shown to beat the baseline; \d+ seeds would tell 1 %", lines[2])
    assert lines[-1].startswith("none of 2 comparisons can be decided at 5 seeds") and not any(
        "; sure" in one for one in lines
    )


def test_each_rival_has_its_sentence_and_all_comparisons_are_corrected_together():
    lines = reported(0.5, 1.5, seeds=20, rivals={"the tuned best_fit": "r", "the tuned other": "gone"})
    assert "trial 7 gains and loses against the tuned best_fit" not in lines
    start = lines.index("trial 7 beats the tuned best_fit for sure")
    assert all(line.endswith("sure (p <0.001, 4 comparisons)") for line in lines[start + 1 : start + 3])
    assert not any("other" in line for line in lines)


@pytest.mark.slow
def test_failed_trials_are_no_ends_and_a_study_of_failures_trades_nothing():
    wrong = {"placement": {"tune": ["first_fit", "tests/tuning/small.py:FailsWhenWide"]}}
    results = tune(small(policy=wrong, trials=6))
    assert results.failures
    assert not {trial.number for trial in results.failures} & {
        int(n) for one in results.trades for n in re.findall(r"rial (\d+)", one)
    }
    assert results.trades


@pytest.mark.slow
def test_the_sentence_is_printed(tmp_path, capsys, monkeypatch):
    import yaml

    monkeypatch.setenv("COLUMNS", "4000")
    (tmp_path / "place.yaml").write_text(yaml.safe_dump(small()))
    assert main(["tune", str(tmp_path / "place.yaml"), "--out", str(tmp_path / "out")]) == 0
    results, _ = undisturbed()
    assert results.trades[0] in capsys.readouterr().out
