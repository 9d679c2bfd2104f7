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
from workbench.tuning.trades import recommended_point, trades

WASTE, PACE, HEAT = (
    Objective(Measure("waste", "", "lower", ""), "minimize"),
    Objective(Measure("pace", "", "higher", ""), "maximize"),
    Objective(Measure("heat", "", "lower", ""), "minimize"),
)
NOISE = [-0.01, 0.0, 0.01, -0.02, 0.02, 0.0, 0.01, -0.01]
"""What eight seeds differ by, as a share; of no measure is it the same."""


def front(
    *means: tuple[float, ...], best: list[bool] | None = None, objectives: Any = (WASTE, PACE, HEAT), seeds: int = 8
) -> Any:
    """Return a front of points with these means on eight fresh seeds."""

    def values(k: int, j: int) -> dict[int, float]:
        return {seed: means[k][j] * (1 + (-1) ** k * noise) for seed, noise in enumerate(NOISE[:seeds])}

    def between(start: int, end: int, objective: Objective) -> Any:
        j = objectives.index(objective)
        return compare(values(start, j), values(end, j), better=objective.better)

    trials = [SimpleNamespace(number=10 + k) for k in range(len(means))]
    best = best or [True] * len(means)
    return Front(objectives, best, [list(row) for row in means], trials, between)


class Front(SimpleNamespace):
    """What of a front its trades are made of."""

    def __init__(self, objectives: Any, best: Any, means: Any, trials: Any, between: Any) -> None:
        super().__init__(objectives=objectives, best=best, means=means, trials=trials, between=between)

    def __len__(self) -> int:
        return len(self.trials)


def test_from_the_first_end_to_each_other_end():
    first, second = trades(front((0.1, 100.0, 8.0), (0.2, 150.0, 4.0), (0.15, 120.0, 2.0)))
    assert first == (
        "From the end with the least waste (trial 10) to that with the most pace (trial 11): gains pace 50 "
        "[45, 55] more (50 %), heat 4.00 [3.76, 4.24] less (50 %); loses waste 0.100 [0.094, 0.106] more (100 %), at 8 "
        "fresh seeds."
    )
    assert second.startswith(
        "From the end with the least waste (trial 10) to that with the least heat (trial 12): gains"
    )
    assert "heat 6.00 [5.88, 6.12] less (75 %)" in second


def test_what_noise_alone_may_be_has_no_figure():
    (sentence, _) = trades(front((0.1, 100.0, 8.0), (0.2, 150.0, 8.001)))
    assert sentence.endswith("more (100 %); no clear change of heat, at 8 fresh seeds.")
    assert sentence.count("heat") == 1


def test_five_seeds_are_too_few_for_any_figure():
    given = (0.1, 100.0, 8.0), (0.2, 150.0, 4.0)
    (sentence, _) = trades(front(*given, seeds=5))
    assert sentence.endswith("no clear change of waste, pace and heat, at 5 fresh seeds (it takes 6).")
    assert "loses waste 0.100 [0.094, 0.106] more (100 %)" in trades(front(*given, seeds=6))[0]


def test_only_points_that_are_still_best_are_ends():
    given = [(0.1, 100.0, 8.0), (0.01, 900.0, 1.0), (0.2, 150.0, 4.0)]
    sentence = trades(front(*given, best=[True, False, True]))[0]
    assert "(trial 10) to that with the most pace (trial 12)" in sentence


def test_a_value_that_begins_at_zero_has_no_per_cent():
    (sentence, _) = trades(front((0.0, 100.0, 8.0), (0.2, 150.0, 4.0)))
    assert "loses waste 0.200 [0.196, 0.204] more, at 8 fresh seeds" in sentence and "nan" not in sentence


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
        "From the end with the most pace (trial 11) to that with the least heat (trial 10): gains heat 1.0 "
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
    median = statistics.median(after[seed] - before[seed] for seed in runs.seeds)
    lost = re.search(r"loses drain_cycles (\d+) \[(\d+), (\d+)\] cycles more", sentence)
    assert lost and float(lost[1]) == pytest.approx(median, abs=0.5) and float(lost[2]) < median < float(lost[3])
    assert sentence.endswith("; no clear change of mean_external_fragmentation, at 20 fresh seeds.")


def reported(waste: float, pace: float, seeds: int = 8, broken: tuple[str, ...] = ()) -> list[str]:
    """Return what is said of trial 7, whose report has this much of the baseline's 1.0 waste and 100 pace."""
    point, baseline = SimpleNamespace(id="p"), SimpleNamespace(id="b")
    noise = NOISE[:seeds]

    def comparison(_point: Any, objective: Objective, _runs: Any) -> Any:
        start, share = (1.0, waste) if objective is WASTE else (100.0, pace)
        values = [[start * (1 + one) for one in noise], [start * share * (1 - one / 10) for one in noise]]
        return compare(*values, better=objective.better)

    front = SimpleNamespace(
        points=[point],
        trials=[SimpleNamespace(number=7)],
        chosen=0,
        objectives=(WASTE, PACE),
        name=lambda one: {"p": "worst_fit", "b": "first_fit"}[one.id],
        baseline_of=lambda _: baseline,
        comparison=comparison,
        broken=lambda *_: list(broken),
    )
    return recommended_point(front, object())  # type: ignore[arg-type]


def test_the_one_to_take_says_its_gains_and_its_losses():
    first, second = reported(0.5, 1.5)
    assert first == "the one to take: trial 7, worst_fit"
    assert second == (
        "trial 7 against the baseline at 8 seeds that neither tuning nor choosing saw: "
        "gains waste 0.500 [0.479, 0.521] less (50 %), p 0.016, pace 50.0 [47.7, 52.3] more (50 %), p 0.016"
    )
    first, second = reported(0.5, 0.75)
    assert (
        first == "the one to take: trial 7, worst_fit, if its gains are worth its losses; else the baseline, first_fit"
    )
    assert "gains waste 0.500 [" in second and "; loses pace 25" in second and second.endswith(" less (25 %), p 0.016")


@pytest.mark.parametrize(("waste", "pace"), [(1.0, 1.0), (2.0, 1.0), (2.0, 0.5)])
def test_the_baseline_is_the_one_to_take_where_nothing_beats_it(waste, pace):
    first, second = reported(waste, pace)
    taken = "the one to take: the baseline, first_fit: trial 7, worst_fit is the best of the front and does not beat it"
    assert first == taken and ": gains" not in second
    assert reported(0.5, 1.5, broken=("heat at most 9 (its mean is 12)",))[0] == taken
    few = reported(0.5, 1.5, seeds=5)
    assert few[0] == taken and few[-1].startswith("cannot decide: 2 comparisons at 5 seeds") and ": gains" not in few[1]


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
