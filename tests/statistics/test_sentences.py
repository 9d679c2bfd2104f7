"""What came out, in words: verdicts by the corrected p, digits that the interval earns, lines that fit a terminal."""

import math
import re

import numpy as np
import pytest

import workbench as wb
from workbench.cli import main
from workbench.cli._output import say_summary
from workbench.number_text import probability
from workbench.statistics import Looks
from workbench.statistics.sentences import Block, Line, blocks, fitted, holdout_sentences

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
    compared = summary[summary["p_holm"].notna()]
    assert len(compared) == len(results.sentences()) > 1
    for row, text in zip(compared.to_dict("records"), results.sentences(), strict=True):
        word = "undecided" if row["p_holm"] >= 0.05 else "better" if row["difference"] > 0 else "worse"
        assert text.startswith(f"{row['policy.placement']}: {row['measure']} ")
        relation = "against the baseline, " if word == "undecided" else "than the baseline at "
        assert f" on average, {word} {relation}" in text
        assert text.endswith(f"; p {probability(row['p_holm'])} after correction over {len(compared)}.")


def test_a_loss_is_told_as_a_positive_amount_and_its_interval_turned_round(results):
    worse = [row for row in results.summary().to_dict("records") if row["p_holm"] < 0.05 and row["difference"] < 0]
    assert worse
    text = next(text for text in results.sentences() if " worse " in text)
    found = re.search(r"worse than the baseline at (\d+) of 20 seeds; median (\S+) \[(\S+), (\S+)\] cycles more", text)
    seeds, amount, low, high = (float(word.replace(",", "")) for word in found.groups())
    assert seeds > 10 and 0 < low <= amount <= high


def made(gains, better="lower", level=1000.0, family=1, **more):
    """The line of a comparison with such gains, of a measure in cycles."""
    from workbench.metrics.measure import Measure
    from workbench.statistics import compare
    from workbench.statistics.sentences import _line

    gains = np.array(gains, float)
    one = compare(np.full(gains.size, level), level - gains if better == "lower" else level + gains, better=better)
    ends = {"difference": one.interval, "mean_difference": one.mean}
    row = {"mean": level, "low": math.nan, "high": math.nan, "estimand": "median", "saving": one.saving.mean}
    row |= {f"{name}{end}": value[k] for name, value in ends.items() for k, end in enumerate(("", "_low", "_high"))}
    row |= {"better": one.wins, "worse": one.losses, "same": one.ties, "pairs": one.n, "looks": 1, "family": family}
    row |= {"p": one.p_value, "p_holm": min(1.0, one.p_value * family), **more}
    return _line({"policy": "mru", **row}, ["policy"], Measure("drain_cycles", "cycles", better, ""))


def test_the_line_names_seeds_estimand_interval_unit_and_correction():
    """The case of the issue: 19 of 20 seeds; it read "undecided"."""
    line = made([*np.linspace(9, 12.2, 19), -1], level=286, family=16)
    assert line.verdict == (
        "better at 19 of 20 seeds; median 10.5 [9.7, 11.3] cycles fewer (3.7 %); p <0.001 after correction over 16"
    )
    assert made([*np.linspace(9, 12.2, 19), -1], better="higher").verdict.startswith(
        "better at 19 of 20 seeds; median 10.5 [9.7, 11.3] cycles more (1.1 %)"
    )


def test_what_the_correction_changes_is_said():
    line = made([*range(1, 16), *range(-5, 0)], family=16)
    assert line.verdict == (
        "undecided, better at 15 and worse at 5 of 20 seeds; median 6 [1, 10] cycles fewer; "
        "p 0.041 alone: yes; 0.66 after correction over 16: no"
    )


def test_a_smallest_p_is_marked_and_equal_values_are_the_same():
    assert made([1.0] * 8).verdict == "better at 8 of 8 seeds; median 1 [1, 1] cycles fewer (0.1 %); p 0.0078*"
    assert made([0.0] * 8).verdict == "the same at all 8 seeds"
    assert "of 8 seeds, the same at 1;" in made([1.0] * 7 + [0.0]).verdict


@pytest.mark.parametrize(
    ("gains", "note"),
    [
        ([2.0] * 30 + [-50.0] * 10, "worse on average: a few seeds lose much (mean 11 [4, 18] cycles more)"),
        ([-2.0] * 30 + [50.0] * 10, "better on average: a few seeds gain much (mean 11 [4, 18] cycles fewer)"),
        ([0.0] * 30 + [-50.0] * 10, "worse on average: a few seeds lose much (mean 12 [5, 20] cycles more)"),
        ([2.0] * 30 + [-math.inf] * 2, "worse on average: a few seeds lose much (infinitely so)"),
        ([2.0] * 40, ""),
        ([1.0, -1.0, 1.5, -2.0] * 10, ""),
    ],
)
def test_a_mean_that_says_the_reverse_is_told(gains, note):
    assert made(gains).note == note


def test_no_limit_that_is_not_zero_is_printed_as_zero():
    line = made([7, *[30] * 18, 72])
    assert "[30, 30]" in line.verdict
    assert "median 35 [3, 72]" in made([3, 20, 30, 40, 50, 72]).verdict


def test_without_a_baseline_there_are_means_and_nothing_to_say():
    alone = wb.run({**{key: SWEEP[key] for key in ("engine", "workload", "policy", "measures")}, "seeds": 3}, workers=0)
    assert alone.sentences() == []
    assert all(line.verdict.startswith("[") for line in blocks(alone)[0].lines)


def test_a_table_is_no_wider_than_asked_for():
    lines = [
        Line("a_point_with_a_name", "1.0", "[0.9, 1.1]"),
        Line("b", "2.0", "worse at 9 of 9 seeds; median 1"),
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
    assert "drain_cycles (cycles, less is better, 6 seeds)" in text and "estimand" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert main(["results", "out", "--wide"]) == 0
    assert "estimand" in capsys.readouterr().out


def test_a_notebook_shows_a_card(results):
    html = results._repr_html_()
    assert "Is &lt;it&gt; faster?" in html and "60 of 60" in html and "first_fit, nearest_boundary, worst_fit" in html
    assert html.count("<li>") == len(results.sentences())


@pytest.mark.parametrize(
    ("words", "conclusion"),
    [
        (
            {"better": 2},
            "trial 7 beats the baseline in a and b, at 20 seeds that tuning never saw: what was tuned holds here.",
        ),
        (
            {"better": 1, "undecided": 1},
            "trial 7 beats the baseline in a; is undecided against the baseline in b, at 20 ",
        ),
        ({"better": 1, "undecided": 1}, ": what was tuned holds here in part."),
        (
            {"better": 1, "worse": 1},
            "loses to the baseline in b, at 20 seeds that tuning never saw: a trade, not a gain.",
        ),
        ({"worse": 1, "undecided": 1}, ": what was tuned does harm here."),
        ({"undecided": 2}, "trial 7 is undecided against the baseline in a and b, at 20 seeds "),
        ({"undecided": 2}, ": nothing that was tuned shows here."),
    ],
)
def test_what_was_held_out_comes_to_one_sentence(results, monkeypatch, words, conclusion):
    verdicts = [word for word, times in words.items() for _ in range(times)]
    made = [Block(m, m, [Line("p", "1", f"{word} by 2, p 1")]) for m, word in zip("ab", verdicts, strict=True)]
    monkeypatch.setattr("workbench.statistics.sentences.blocks", lambda _: [*made, Block("c", "c", made[0].lines)])
    assert conclusion in holdout_sentences(results, ["a", "b"], "trial 7")[0]


def test_a_best_that_is_the_baseline_or_that_has_one_run_is_not_compared():
    sweep = {key: SWEEP[key] for key in ("engine", "workload", "baseline", "measures")}
    same = wb.run({**sweep, "policy": {"placement": "nearest_boundary"}, "seeds": 2}, workers=0)
    assert holdout_sentences(same, ["drain_cycles"], "it") == [
        "it cannot be compared with the baseline: it is the baseline."
    ]
    once = wb.run({**sweep, "policy": {"placement": "first_fit"}, "seeds": 1}, workers=0)
    only = "it is undecided against the baseline in drain_cycles, in the one run there is: one run is no sample."
    assert holdout_sentences(once, ["drain_cycles"], "it")[0] == only


@pytest.mark.parametrize(("seeds", "is_noted"), [(6, True), (8, False)])
def test_seeds_too_few_for_any_verdict_are_named_once_with_how_many_it_takes(seeds, is_noted, capsys):
    results = wb.run({**SWEEP, "measures": ["drain_cycles"], "seeds": seeds}, workers=0)
    note = "cannot decide: 2 comparisons at 6 seeds have no corrected p below 0.05, the smallest is 0.062; "
    note += "it takes 7 seeds."
    assert results.sentences().count(note) == is_noted == (results.sentences()[-1] == note)
    say_summary(results, wide=False)
    assert ("cannot decide" in capsys.readouterr().out) == is_noted


@pytest.mark.slow
def test_seeds_that_are_added_after_a_look_are_looks(tmp_path):
    """Ten looks without effect called one of six studies an effect; a folder keeps at how many seeds it was looked."""
    config = {**SWEEP, "measures": ["drain_cycles"]}
    p = {}
    for seeds in (10, 20, 20):
        results = wb.run({**config, "seeds": seeds}, tmp_path / "looked", workers=0)
        p[seeds] = results.summary()["p"].dropna().tolist()
    fresh = wb.run({**config, "seeds": 20}, workers=0)
    once = fresh.summary()["p"].dropna().tolist()
    assert p[20] == [Looks((10, 20)).p_value(one) for one in once] and min(p[20]) > min(once)
    note = "Results were seen at 10 seeds before: intervals and p answer for all 2 looks."
    assert note in results.sentences() and note not in fresh.sentences()
    opened = wb.open_results(tmp_path / "looked")
    assert opened.plan.sweep.looks == (10,) and opened.sentences() == results.sentences()
    other = wb.run({**config, "seeds": {"first": 50, "count": 20}}, tmp_path / "looked", workers=0)
    assert other.plan.sweep.looks == ()  # seeds that nobody has seen
