"""What came out, in words: verdicts by the corrected p, digits that the interval earns, lines that fit a terminal."""

import math
import re

import pytest

import workbench as wb
from workbench.cli import main
from workbench.cli.output import say_summary
from workbench.studies.sentences import Block, Line, blocks, decimals, fitted, held_up, number, probability

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
        relation = "against the baseline, " if word == "undecided" else "than the baseline by "
        assert f", {word} {relation}" in text
        assert text.endswith(f"p {probability(row['p_holm'])}.")


def test_a_loss_is_told_as_a_positive_amount_and_its_interval_turned_round(results):
    worse = [row for row in results.summary().to_dict("records") if row["p_holm"] < 0.05 and row["difference"] < 0]
    assert worse
    text = next(text for text in results.sentences() if " worse " in text)
    amount, low, high = (
        float(word.replace(",", "")) for word in re.search(r"by (\S+) \[(\S+), (\S+)\]", text).groups()
    )
    assert 0 < low <= amount <= high


def test_without_a_baseline_there_are_means_and_nothing_to_say():
    alone = wb.run({**{key: SWEEP[key] for key in ("engine", "workload", "policy", "measures")}, "seeds": 3}, workers=0)
    assert alone.sentences() == []
    assert all(line.verdict.startswith("[") for line in blocks(alone)[0].lines)


@pytest.mark.parametrize("width", [0.004, 0.02, 0.6, 1.0, 5.9, 6.0, 221.0, 99999.0])
def test_the_last_digit_is_worth_between_a_sixtieth_and_a_sixth_of_the_interval(width):
    worth = 10.0 ** -decimals(width)
    assert width / 60 <= worth <= width / 6 * (1 + 1e-12)


def test_whole_numbers_stay_whole_and_what_is_no_number_stays_what_it_is():
    assert number(3661627392.0, None) == "3,661,627,392"
    assert number(math.inf, 2) == "inf" and decimals(math.inf) is None and decimals(math.nan) is None


def test_a_table_is_no_wider_than_asked_for():
    lines = [Line("a_point_with_a_name", "1.0", "[0.9, 1.1]"), Line("b", "2.0", "worse by 1.0 [0.9, 1.1], p <0.001")]
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
    monkeypatch.setattr("workbench.studies.sentences.blocks", lambda _: [*made, Block("c", "c", made[0].lines)])
    assert conclusion in held_up(results, ["a", "b"], "trial 7")[0]


def test_a_best_that_is_the_baseline_or_that_has_one_run_is_not_compared():
    sweep = {key: SWEEP[key] for key in ("engine", "workload", "baseline", "measures")}
    same = wb.run({**sweep, "policy": {"placement": "nearest_boundary"}, "seeds": 2}, workers=0)
    assert held_up(same, ["drain_cycles"], "it") == ["it cannot be compared with the baseline: it is the baseline."]
    once = wb.run({**sweep, "policy": {"placement": "first_fit"}, "seeds": 1}, workers=0)
    only = "it is undecided against the baseline in drain_cycles, in the one run there is: one run is no sample."
    assert held_up(once, ["drain_cycles"], "it")[0] == only


@pytest.mark.parametrize(("seeds", "is_noted"), [(6, True), (8, False)])
def test_seeds_too_few_for_any_verdict_are_named_once_with_how_many_it_takes(seeds, is_noted, capsys):
    results = wb.run({**SWEEP, "measures": ["drain_cycles"], "seeds": seeds}, workers=0)
    note = "2 comparisons at 6 seeds cannot give p_holm < 0.05: the smallest there is, is 0.062; it takes 7 seeds."
    assert results.sentences().count(note) == is_noted == (results.sentences()[-1] == note)
    say_summary(results, wide=False)
    assert ("cannot give" in capsys.readouterr().out) == is_noted
