"""Runs that failed are no data: no test without a pair, no member of a family, and a sentence says what is missing."""

import json
import math

import pytest

import workbench as wb
from tests.statistics.failed_runs import with_failed
from tests.tuning.small import undisturbed
from workbench.claims import ClaimReport
from workbench.claims.cases import better, ratio
from workbench.claims.claim import Claim
from workbench.claims.report import Outcome
from workbench.cli.main import main
from workbench.experiments.results import Results
from workbench.runs.row import Row
from workbench.statistics import judge
from workbench.statistics.comparisons import by_seed, judged
from workbench.statistics.notes import missing_notes
from workbench.statistics.summary import summary, where_it_holds
from workbench.tuning.contrasts import decide
from workbench.tuning.front import Front

SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": 128},
    "workload": {"regime": "large_uniform", "count": 200},
    "policy": {"placement": {"vary": ["first_fit", "best_fit", "worst_fit", "nearest_boundary"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 8,
    "measures": ["drain_cycles"],
}


@pytest.fixture(scope="module")
def runs():
    return wb.run(SWEEP)


def rows_of(runs):
    return {row["policy.placement"]: row for row in summary(runs).to_dict("records")}


def every_seed(seed):
    return True


def test_a_policy_whose_runs_all_failed_raises_nobodys_p(runs):
    whole, some = rows_of(runs), rows_of(with_failed(runs, {"worst_fit": every_seed}))
    lost = some["worst_fit"]
    assert (lost["n"], lost["pairs"], lost["missing"]) == (0, 0, 8)
    assert all(math.isnan(lost[name]) for name in ("mean", "size", "better", "worse", "p_alone", "p_size"))
    assert lost["verdict"] == "not compared" and {row["comparisons"] for row in whole.values()} >= {3}
    for name in ("best_fit", "nearest_boundary"):
        assert some[name]["p_alone"] == whole[name]["p_alone"] and some[name]["comparisons"] == 2
        assert some[name]["p_size"] <= whole[name]["p_size"]
    # of 8 seeds the smallest p decides among two comparisons, and not among three
    assert some["nearest_boundary"]["p_size"] < 0.05 < whole["nearest_boundary"]["p_size"]
    assert whole["nearest_boundary"]["p_alone"] < 0.05


def test_some_failed_seeds_leave_the_pairs_that_both_have(runs):
    broken = with_failed(runs, {"best_fit": lambda seed: seed < 3, "first_fit": lambda seed: seed == 7})
    rows, whole = rows_of(broken), runs.table.set_index(["policy.placement", "seed"])["drain_cycles"]
    by_hand = [whole["first_fit", seed] - whole["best_fit", seed] for seed in range(3, 7)]
    assert (rows["best_fit"]["n"], rows["best_fit"]["pairs"], rows["best_fit"]["missing"]) == (5, 4, 4)
    assert rows["best_fit"]["mean_difference"] == pytest.approx(sum(by_hand) / 4)
    assert (rows["nearest_boundary"]["pairs"], rows["nearest_boundary"]["missing"]) == (7, 1)
    assert missing_notes(broken) == [
        "best_fit: compared with first_fit on 4 of 8 seeds; 4 have no pair, for a run failed or is not done.",
        "worst_fit: compared with first_fit on 7 of 8 seeds; 1 have no pair, for a run failed or is not done.",
        "nearest_boundary: compared with first_fit on 7 of 8 seeds; 1 have no pair, for a run failed or is not done.",
    ]


def test_two_policies_that_share_no_finished_seed_are_not_compared(runs):
    odd = with_failed(runs, {"best_fit": lambda seed: seed % 2 == 0, "first_fit": lambda seed: seed % 2 == 1})
    row = rows_of(odd)["best_fit"]
    assert (row["n"], row["pairs"], row["missing"]) == (4, 0, 8)
    assert math.isnan(row["p_alone"]) and not math.isnan(row["mean"])


def test_without_a_baseline_nothing_is_tested(runs):
    lost = with_failed(runs, {"first_fit": every_seed})
    assert all(one.word == "not compared" for one in judged(lost).verdicts.values())
    assert missing_notes(lost) == [
        "first_fit: all 8 runs failed, so nothing is tested (n = 0); the first: it broke.",
        *(
            f"{name}: not compared, for its baseline first_fit has no finished run."
            for name in ("best_fit", "worst_fit", "nearest_boundary")
        ),
    ]
    assert missing_notes(runs) == []


def test_a_place_without_runs_is_no_member_of_the_map():
    region = {**SWEEP, "seeds": 5, "policy": {"placement": "best_fit"}}
    varied = {
        "machine": {"segments": {"vary": [64, 96]}},
        "workload": {"regime": "large_uniform", "count": {"vary": [20, 30]}},
    }
    runs = wb.run({**region, **varied})
    axes = ("machine.segments", "workload.count")
    measure = runs.plan.sweep.mechanism.measures["drain_cycles"]
    whole = where_it_holds(runs, measure, *axes)
    lost = where_it_holds(
        with_failed(runs, {runs.label(whole[0].point): every_seed}), measure, *axes, correction="holm"
    )
    assert lost[0].verdict.word == "not compared"
    again = judge({place.point.id: place.verdict.of for place in whole[1:]})
    assert [one.verdict for one in lost[1:]] == [*again.values()]


def test_the_holdout_of_a_study_tests_what_has_pairs():
    result, _ = undisturbed()
    front, points = result.front, [p for p in result.holdout.points if p.baseline is not None]
    lost = points[-1].id
    broken = Front(result.study, front.trials, with_failed(result.holdout, {lost: every_seed})).table()
    row = broken.iloc[[point.id for point in front.points].index(lost)]
    names = [one.measure.name for one in result.study.objectives]
    assert (row["n"], row["pairs"], row["missing"]) == (0, 0, 3) and not row["beats_baseline"]
    assert [row[f"{name}_verdict"] for name in names] == ["not compared"] * len(names)
    assert all(math.isnan(row[f"{name}_p"]) for name in names)
    tested = {key: one.contrast for key, one in front.decided.items() if front.points[key[0]].id != lost}
    left = decide(tested)
    assert {len(left)} == {one.verdict.comparisons for one in left.values()}
    kept = broken[[point.id != lost for point in front.points]]
    assert sorted(kept[[f"{name}_p" for name in names]].stack().dropna()) == sorted(
        one.verdict.p for one in left.values()
    )


def test_a_claim_on_failed_runs_is_untested(runs):
    broken = with_failed(runs, {"best_fit": every_seed, "worst_fit": lambda seed: seed < 2})
    first, best, worst, _ = broken.points
    lost, kept = better(broken, first, best, "drain_cycles"), better(broken, first, worst, "drain_cycles")
    assert (lost.p_value, lost.n, lost.missing) == (None, 0, 8)
    assert (kept.n, kept.missing, kept.estimate) == (6, 2, rows_of(broken)["worst_fit"]["size"])
    both, alone = (Claim(id, "it is so", "¶1", lambda e: []) for id in ("H9.1", "H9.2"))
    report = ClaimReport(
        [
            Outcome(both, both.judged([kept, lost], 2), [kept, lost], [], 2),
            Outcome(alone, alone.judged([kept], 2), [kept], [], 2),
        ]
    )
    assert report.verdicts[0].verdict not in ("holds", "contradicted") and report.verdicts[0].decisive_case.n == 0
    assert "n = 0: no seed has a value on both sides, so nothing is tested" in report.text
    assert "n = 6, 2 seeds without a pair, adjusted p" in report.text
    assert report.verdicts[1].p_adjusted == min(1, 2 * min(kept.p_for, kept.p_against))
    assert "best_fit against first_fit: no seed has a value on both sides, so nothing is compared" in report.text


def test_commands_say_so(tmp_path, capsys):
    (tmp_path / "raises.py").write_text(
        "from workbench.policies import Placement\n\n\nclass Raises(Placement):\n"
        "    def answer(see):\n        raise ValueError\n"
    )
    (tmp_path / "sweep.yaml").write_text(
        "engine: shared_memory\nworkload: {regime: bimodal, count: 20}\nseeds: 3\nmeasures: [drain_cycles]\n"
        "policy: {placement: {vary: [first_fit, best_fit, 'raises.py:Raises']}}\nbaseline: {placement: first_fit}\n"
    )
    out = str(tmp_path / "out")
    assert main(["run", str(tmp_path / "sweep.yaml"), "--out", out, "--workers", "1"]) == 1
    line = "raises: all 3 runs failed, so nothing is tested (n = 0); the first: raises raised"
    assert line in capsys.readouterr().out
    assert main(["results", out]) == 1
    assert line in capsys.readouterr().out
    assert main(["results", out, "--json"]) == 1
    output = json.loads(capsys.readouterr().out)
    assert output["missing"][0].startswith(line)
    lost = next(row for row in output["summary"] if row["policy.placement"] == "raises")
    assert (lost["n"], lost["p_alone"], lost["verdict"]) == (0, None, "not compared")


REFUSING = {
    "engine": "node",
    "workload": "gather",
    "policy": {"target": {"vary": ["max_bandwidth", "local_only"]}},
    "baseline": {"target": "max_bandwidth"},
    "seeds": 8,
    "measures": ["makespan_cycles", "groups_per_second", "groups_ended"],
}


@pytest.fixture(scope="module")
def refusing():
    """Runs of two policies, of which the second refuses an application in the last six of eight: their times are
    missing, and shorter ones in the others."""
    plan = wb.plan(REFUSING)
    rows = []
    for run in plan.runs():
        refuses = run.point is plan.points[1] and run.seed > min(plan.sweep.seeds) + 1
        cycles = 700.0 + run.seed if run.point is plan.points[1] else 1000.0 + run.seed
        times = {"makespan_cycles": cycles, "groups_per_second": 1e9 / cycles}
        measures = {
            **(dict.fromkeys(times, math.nan) if refuses else times),
            "groups_ended": 40.0 if refuses else 70.0,
            "applications_refused": float(refuses),
        }
        rows.append(Row(run.id, run.point.id, run.seed, "done", "", 0.0, measures))
    return Results(plan, rows)


def test_a_refusal_is_the_worst_rank_in_a_comparison(refusing):
    """It was a pair less, and the six runs that did less were out: two pairs, both won."""
    other = refusing.points[1]
    sides = by_seed(refusing, other, "makespan_cycles"), by_seed(refusing, other, "groups_per_second")
    assert [sum(math.isinf(value) for value in one.values()) for one in sides] == [6, 6]
    assert {value for value in sides[1].values() if math.isinf(value)} == {-math.inf}
    rows = summary(refusing).set_index(["measure", "policy.target"])
    for measure in ("makespan_cycles", "groups_per_second"):
        row = rows.loc[measure, "local_only"]
        assert (row.better, row.worse, row.pairs, row.missing) == (2, 6, 8, 0)
        assert (row.ended, row.compared_by, row.verdict) == (2, "ratio", "undecided")
    assert (rows.loc["makespan_cycles", "local_only"].n, rows.loc["groups_ended", "local_only"].n) == (2, 8)


@pytest.mark.parametrize(("measure", "worst"), [("makespan_cycles", math.inf), ("groups_per_second", 0.0)])
def test_a_refusal_is_the_worst_of_a_ratio(refusing, measure, worst):
    """The two pairs that were left are shorter, and were all that a claim saw."""
    case = ratio(refusing, *refusing.points, measure, (0.5, 2.0), "about the same")
    assert (case.n, case.missing, case.estimate) == (8, 0, worst)


def test_a_starved_run_is_the_worst_in_every_measure_and_a_crash_is_missing(runs):
    """Both are failures: one says that the policy cannot end, the other nothing about it."""
    ends = {"starved": (0, 8, 3, 5), "failed": (3, 5, 0, 5)}
    other = next(point for point in runs.points if runs.label(point) == "nearest_boundary")
    for status, (missing, pairs, losses, ended) in ends.items():
        rows = [
            row._replace(status=status, measures={}, error="it waits")
            if row.point == other.id and row.seed < 3
            else row
            for row in runs.rows.values()
        ]
        changed = Results(runs.plan, rows)
        one = judged(changed).verdicts["drain_cycles", other.id].of
        assert (len(one.missing), one.n, one.ended) == (missing, pairs, ended)
        assert one.losses >= losses and one.is_sized == (status == "failed")
        assert [math.isinf(by_seed(changed, other, "drain_cycles")[seed]) for seed in range(3)] == [
            status == "starved"
        ] * 3
        assert len(changed.failures) == 3


def test_what_a_refusal_makes_missing_is_named(refusing):
    assert refusing.notes[1:] == [
        f"{refusing.label(refusing.points[1])}: in 6 of 8 runs something was refused (applications_refused), so "
        "makespan_cycles, groups_per_second of these are missing: less was done; in a comparison they are the worst."
    ]
