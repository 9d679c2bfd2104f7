"""What came out, in words: verdicts by the corrected p, digits that the interval earns, lines that fit a terminal."""

import math
import re

import numpy as np
import pytest

import workbench as wb
from workbench.cli import main
from workbench.cli._output import say_summary
from workbench.experiments.results import Results
from workbench.metrics.measure import Measure
from workbench.statistics import compare, judge
from workbench.statistics.comparisons import by_seed, judged
from workbench.statistics.sentences import Block, Line, blocks, fitted, holdout_sentences, key, shown

SWEEP = {
    "question": "Is <it> faster?",
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 40},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary", "worst_fit"]}},
    "baseline": {"placement": "nearest_boundary"},
    "seeds": 20,
    "measures": ["drain_cycles", "low_end_share"],
}


@pytest.fixture(scope="module")
def results():
    return wb.run(SWEEP, workers=0)


def test_each_comparison_is_a_sentence_with_the_verdict_of_the_summary(results):
    summary = results.summary()
    compared = summary[summary["verdict"].notna()]
    assert len(compared) == len(results.sentences()) > 1
    for row, text in zip(compared.to_dict("records"), results.sentences(), strict=True):
        assert text.startswith(f"{row['policy.placement']}: {row['measure']} ")
        assert " on average, " in text and "x [" in text and " against the baseline, " in text
        word = "sure" if row["sure"] else row["verdict"]
        assert f" of 20; {word}" in text


def test_a_loss_is_told_as_a_positive_amount_and_its_interval_turned_round():
    line = made([-5.0, -7, -6, -9, -4, -6, -8, -7])
    assert line.size == "6.5 [5.2, 7.8] cycles more"
    assert line.verdict == "worse at 8, better at 0 of 8; sure (p 0.017, 1 comparison)"


def made(gains, better="lower", level=1000.0, family=1, compared_by="difference", **more):
    """The line of a comparison with such gains, of a measure in cycles, among others without effect."""
    gains = np.array(gains, float)
    baseline = np.full(gains.size, level)
    other = level - gains if better == "lower" else level + gains
    one = compare(baseline, other, better=better, compared_by=compared_by, **more)
    others = {k: compare([1.0, 2.0], [2.0, 1.0]) for k in range(family - 1)}
    measure = Measure(
        "drain_cycles", "cycles", better, "", compared_by=compared_by, least_effect=more.get("least_effect")
    )
    verdict = judge({"one": one, **others})["one"]
    return Line("mru", "1,000", *shown(verdict, measure), verdict.word)


def test_the_line_is_speed_up_interval_seeds_and_sure():
    draws = np.random.default_rng(4)
    line = made(np.r_[draws.uniform(20, 90, 182), -draws.uniform(1, 9, 15), 0, 0, 0], compared_by="ratio", family=5)
    assert re.fullmatch(r"1\.05\dx \[1\.0\d\d, 1\.0\d\d\]", line.size)
    assert line.verdict == "better at 182, worse at 15 of 200; sure (p <0.001, 5 comparisons)"


def test_the_line_of_a_difference_has_its_unit():
    """The case of an earlier issue: 19 of 20 seeds; it read "undecided"."""
    line = made([*np.linspace(9, 12.2, 19), -1], level=286, family=16)
    assert line.size == "10.0 [8.7, 11.3] cycles fewer"
    assert line.verdict == "better at 19, worse at 1 of 20; sure (p 0.0014, 16 comparisons)"
    assert made([*np.linspace(9, 12.2, 19), -1], better="higher").size == "10.0 [8.7, 11.3] cycles more"


@pytest.mark.parametrize(
    ("gains", "more", "verdict"),
    [
        ([*range(1, 16), *range(-9, -4)], {"family": 16}, "undecided (p 1, 16 comparisons); size p 0.024 alone, "
         "0.84 among 16"),
        ([0.0] * 8, {}, "the same at all 8 seeds"),
        ([4.0], {}, "better in the one run, undecided: one run is no sample"),
        ([4.0], {"exact": True}, "better, exact: nothing is drawn"),
        ([-4.0], {"exact": True}, "worse, exact: nothing is drawn"),
        ([*[1.0] * 30, -31.0], {}, "better on most seeds (p <0.001; on average p 1; 1 comparison)"),
        ([*[30.0] * 14, *[-4.0] * 12], {}, "better on average (p <0.001; on most seeds p 0.94; 1 comparison)"),
        ([1.0] * 34 + [-60.0] * 6, {}, "worse on average, better on most seeds (p 0.027, 1 comparison)"),
        ([-math.inf] * 3 + [9.0, 8.0, 7.0] * 9, {}, "better on most seeds (p <0.001; 1 comparison)"),
    ],
)  # fmt: skip
def test_every_word_says_what_it_rests_on(gains, more, verdict):
    assert made(gains, **more).verdict.partition("; ")[2 if " of " in made(gains, **more).verdict else 0] == verdict


def test_an_undecided_ratio_says_how_many_seeds_would_tell():
    gains = [*np.linspace(-60, 80, 20)]
    line = made(gains, compared_by="ratio", family=5)
    needed = int(re.search(r"undecided: ([\d,]+) more seeds would tell 1 % \(p 1, 5 comparisons\)", line.verdict)[1])
    assert 200 < needed < 500
    near = made(
        6 + 20 * np.random.default_rng(0).permutation(np.linspace(-1.7, 1.7, 60)), compared_by="ratio", family=5
    )
    assert "; undecided: 56 seeds would have told 1 % (p 1, 5 comparisons)" in near.verdict
    wild = made([900.0, -50000.0] * 10, compared_by="ratio", least_effect=0.001)
    assert "undecided: no number within 100,000 seeds would tell 0.1 %" in wild.verdict


def test_equal_and_small_are_by_the_least_effect():
    equal = made([1.0, -1.0, 2.0, -2.0, 0.0] * 4, compared_by="ratio")
    assert equal.verdict.endswith("; as good as equal: within 1 % (1 comparison)") and equal.word == "equal"
    small = made(np.linspace(1, 3, 20), compared_by="ratio")
    assert "; sure, by less than 1 % (p <0.001, 1 comparison)" in small.verdict


def test_no_ratio_and_runs_that_did_not_end_are_said():
    line = made([1000.0, 0.0, *np.linspace(3, 9, 18)], compared_by="ratio")
    assert "; no ratio: 0 at 1 of 20 seeds; better on most seeds (p <0.001; 1 comparison)" in line.verdict
    assert line.size.endswith(" cycles fewer")
    hung = made([-math.inf] * 3 + [9.0, 8.0, 7.0] * 9, compared_by="ratio")
    assert hung.size == "1.0081x [1.0077, 1.0084] over the 27 of 30 that end"


def test_the_legend_explains_what_the_table_has_and_no_more(results):
    sure = [Block("drain_cycles", "", [made(np.linspace(20, 60, 30), compared_by="ratio")])]
    assert [line.partition(" = ")[0] for line in key(sure, results)[1:]] == ["sure"]
    words = [made([-math.inf] * 3 + [9.0, 8.0, 7.0] * 9, compared_by="ratio"), made([9.0, -8, 7, -9] * 5)]
    message = key([Block("drain_cycles", "", words)], results)
    assert [line[:12] for line in message[1:]] == ["on most seed", "undecided = ", "a run that s"]
    assert (
        "geometric mean" in message[0] and key([Block("drain_cycles", "", [words[0]._replace(word="")])], results) == []
    )


def test_what_the_first_plan_showed_is_said_to_be_of_it():
    gains = np.r_[np.linspace(1, 3, 20), np.linspace(-9, 9, 60)]
    assert "; decided at the seeds of the first plan" in made(gains, planned=range(20)).verdict


def test_without_a_baseline_there_are_means_and_nothing_to_say():
    alone = wb.run({**{key: SWEEP[key] for key in ("engine", "workload", "policy", "measures")}, "seeds": 3}, workers=0)
    assert alone.sentences() == []
    assert all(line.size.startswith("[") and not line.verdict for line in blocks(alone)[0].lines)


def test_a_table_is_no_wider_than_asked_for():
    lines = [
        Line("a_point_with_a_name", "1.0", "[0.9, 1.1]", ""),
        Line("b", "2.0", "0.9x [0.8, 1]", "worse at 9 of 9; sure"),
    ]
    for width, rows in ((80, 3), (50, 5)):
        table = list(fitted([Block("m", "m (2 seeds)", lines)], width))
        assert len(table) == rows and max(map(len, table)) <= width


def test_the_commands_print_words_and_all_columns_when_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    wb.run({**SWEEP, "seeds": 6}, tmp_path / "out", workers=1)
    assert main(["results", "out"]) == 0
    text = capsys.readouterr().out
    assert "drain_cycles (cycles, less is better, 6 seeds)" in text and "p of direction" not in text
    assert "  policy " in text and max(map(len, text.splitlines())) <= 80
    assert main(["results", "out", "--wide"]) == 0
    assert "p of direction" in capsys.readouterr().out
    assert main(["results", "out", "--words"]) == 0
    words = capsys.readouterr().out
    assert ", better at 0 of 6; " in words and "comparisons)" in words and "  policy " not in words
    assert main(["results", "out", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_words_and_columns_are_not_both_printed(capsys):
    assert main(["results", "out", "--words", "--wide"]) == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_a_notebook_shows_a_card(results):
    html = results._repr_html_()
    assert "Is &lt;it&gt; faster?" in html and "60 of 60" in html and "first_fit, nearest_boundary, worst_fit" in html
    rows = sum(len(block.rows) + 1 for block in results.comparisons().blocks)
    assert html.count("<tr><td>") == rows - 2 and html.count("<caption") == 2


@pytest.mark.parametrize(
    ("words", "conclusion"),
    [
        (
            {"better": 2},
            "trial 7 beats the baseline for sure in a and b, at 20 seeds that tuning never saw: what was tuned holds ",
        ),
        (
            {"better": 1, "undecided": 1},
            "trial 7 beats the baseline for sure in a; is not shown to beat the baseline in b, at 20 ",
        ),
        ({"better on average": 2}, "trial 7 beats the baseline on average in a and b, at 20 "),
        ({"better on average": 2}, ": what was tuned holds here in part."),
        ({"better": 1, "equal": 1}, ": what was tuned holds here in part."),
        (
            {"better": 1, "worse": 1},
            "loses to the baseline for sure in b, at 20 seeds that tuning never saw: a trade, not a gain.",
        ),
        ({"worse on average": 1, "undecided": 1}, ": what was tuned does harm here."),
        ({"undecided": 2}, "trial 7 is not shown to beat the baseline in a and b, at 20 seeds "),
        ({"undecided": 2}, ": nothing that was tuned shows here."),
    ],
)
def test_what_was_held_out_comes_to_one_sentence(results, monkeypatch, words, conclusion):
    verdicts = [word for word, times in words.items() for _ in range(times)]
    made = [
        Block(m, m, [Line("p", "1", "", f"{word} by 2, p 1", word)]) for m, word in zip("ab", verdicts, strict=True)
    ]
    monkeypatch.setattr("workbench.statistics.sentences.blocks", lambda _: [*made, Block("c", "c", made[0].lines)])
    assert conclusion in holdout_sentences(results, ["a", "b"], "trial 7")[0]


def test_a_best_that_is_the_baseline_or_that_has_one_run_is_not_compared():
    sweep = {key: SWEEP[key] for key in ("engine", "workload", "baseline", "measures")}
    same = wb.run({**sweep, "policy": {"placement": "nearest_boundary"}, "seeds": 2}, workers=0)
    assert holdout_sentences(same, ["drain_cycles"], "it") == [
        "it cannot be compared with the baseline: it is the baseline."
    ]
    once = wb.run({**sweep, "policy": {"placement": "first_fit"}, "seeds": 1}, workers=0)
    only = "it is not shown to beat the baseline in drain_cycles, in the one run there is: one run is no sample."
    assert holdout_sentences(once, ["drain_cycles"], "it")[0] == only


@pytest.mark.parametrize(("seeds", "is_noted"), [(6, True), (8, False)])
def test_seeds_too_few_to_be_sure_are_named_once_with_how_many_it_takes(seeds, is_noted, capsys):
    results = wb.run({**SWEEP, "measures": ["drain_cycles"], "seeds": seeds}, workers=0)
    note = "none of 2 comparisons can be decided at 6 seeds: the smallest corrected p is 0.14; it takes 8 seeds."
    assert results.sentences().count(note) == is_noted == (results.sentences()[-1] == note)
    say_summary(results, wide=False)
    assert ("can be decided" in capsys.readouterr().out) == is_noted


@pytest.mark.slow
def test_seeds_that_are_added_after_a_look_are_looks(tmp_path):
    """Ten looks called one of ten studies without effect one; a folder keeps how many seeds its first plan had."""
    config = {**SWEEP, "measures": ["drain_cycles"]}
    for seeds in (10, 20, 20):
        results = wb.run({**config, "seeds": seeds}, tmp_path / "looked", workers=0)
    fresh = wb.run({**config, "seeds": 20}, workers=0)
    for (_, id), verdict in judged(results).verdicts.items():
        sides = [
            by_seed(results, results.baseline_of(point), "drain_cycles") for point in results.points if point.id == id
        ]
        sides += [by_seed(results, point, "drain_cycles") for point in results.points if point.id == id]
        planned, once = (compare(*sides, compared_by="ratio", planned=seeds) for seeds in (range(10), None))
        assert (verdict.of.p_size, verdict.of.p_direction) == (planned.p_size, planned.p_direction)
        assert judged(fresh).verdicts["drain_cycles", id].of.p_size == once.p_size != planned.p_size
    note = "The first plan had 10 seeds, and there are 20 now: every p answers for all numbers of seeds."
    assert note in results.sentences() and note not in fresh.sentences()
    opened = wb.open_results(tmp_path / "looked")
    assert opened.plan.sweep.planned == 10 and opened.sentences() == results.sentences()
    other = wb.run({**config, "seeds": {"first": 50, "count": 20}}, tmp_path / "looked", workers=0)
    assert other.plan.sweep.planned in (None, 20)  # seeds that nobody has seen


def test_before_the_plan_is_done_the_look_is_another_one(results):
    """A table of the runs so far, of a driver that goes on, is no look at the plan."""
    last = results.points[-1]
    rows = [row for row in results.rows.values() if (row.point, row.seed) != (last.id, results.seeds[-1])]
    partial = Results(results.plan, rows)  # one run of one point has not ended
    compared = {id: verdict.of for (_, id), verdict in judged(partial).verdicts.items()}
    for point in (one for one in partial.points if one.id in compared):
        sides = [by_seed(partial, one, "drain_cycles") for one in (partial.baseline_of(point), point)]
        expected = compare(*sides, compared_by="ratio", planned=() if point is last else None)
        assert compared[point.id].p_size == expected.p_size, point
    assert compared[last.id].n == 19 and len(compared) == 2


def test_several_workloads_come_to_one_line():
    workloads = {"regime": {"vary": ["large_uniform", "bimodal"]}, "count": 40}
    policies = {"placement": {"vary": ["nearest_boundary", "worst_fit"]}}
    sweep = {**SWEEP, "workload": workloads, "policy": policies, "measures": ["drain_cycles", "wait_mean_cycles"]}
    drain, wait = blocks(wb.run(sweep, workers=0))
    over = drain.lines[-1]
    assert over.point == "worst_fit, over 2 workloads" and "x [" in over.size and over.value == ""
    assert re.search(
        r"(better|worse) at \d, (better|worse) at \d of 2 workloads; .*; ratio of the sums 0\.9\d+x$", over.verdict
    )
    assert "; sure (p <0.001, 5 comparisons); " in over.verdict and len(wait.lines) == len(drain.lines) - 1


def test_exact_differences_count_over_workloads():
    results = wb.run("sweeps/dispatch/reports/gilman_2020.yaml", workers=0)
    (makespan,) = blocks(results)
    lines = {line.point: line.verdict for line in makespan.lines if ", over 2 workloads" in line.point}
    shared = "least_waves, shared_rate(law=linear=slope=1), over 2 workloads"
    assert lines[shared].startswith("better at 1, worse at 0 of 2 workloads; exact")
    assert lines["least_waves, constant, over 2 workloads"].startswith("better at 0, worse at 0 of 2 workloads; same")


def test_a_short_table_explains_its_own_lines_alone(capsys):
    results = wb.run("sweeps/dispatch/reports/mirage_775.yaml", workers=0)
    assert say_summary(results, wide=False, most=8, words=True)
    assert "ratio of the sums" not in capsys.readouterr().out
    say_summary(results, wide=False, words=True)
    assert "ratio of the sums =" in " ".join(capsys.readouterr().out.split())
