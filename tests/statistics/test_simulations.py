"""What the statistics promise, in small simulations; `python -m benchmarks.statistics` runs them in full.

`benchmarks.statistics.pair` is a twin of the engine. Its tests are compared with SciPy and with integrals, its words
and joiners with tables by hand. The simulations are compared with it, and the documentation with the kept file.
"""

import csv
import functools
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from scipy import integrate

from benchmarks.statistics import adaptive, error_and_power, independence, planted, rivals, tables, tuning
from benchmarks.statistics.pair import (
    Comparison,
    PairOfTests,
    at_look,
    at_plan,
    direction_any,
    direction_once,
    every,
    holm,
    on_side,
    rejected,
    seen_in,
    some,
    student_any,
    student_once,
    verdicts_of,
)
from benchmarks.statistics.worlds import SKEWED, WORLDS, moved
from tests.slow import LONG, thinned
from workbench.statistics import compare, judge, superior
from workbench.streams import Streams

ROOT = Path(__file__).parents[2]
STUDIES = 1000 if LONG else 250
"""Of a planted world: `benchmarks.statistics` has 10,000."""
EXPECTED = {"reversed": "contradicted", "effect in half the space": "holds_where", "one case reversed": "fails_where"}


@functools.cache
def kept():
    """Return the rows of the kept file."""
    with (ROOT / error_and_power.FILE).open() as file:
        return list(csv.DictReader(file))


def one(values):
    """Return the state of one comparison whose differences are these values."""
    return seen_in(Comparison(values, [0.0] * len(values)), len(values))


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (6, 0), (5, 9), (13, 7), (100, 100), (210, 90)])
def test_direction_at_one_look_is_scipys_binomial_test(wins, losses):
    expected = scipy.stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert direction_once(np.array(wins), np.array(losses)) == pytest.approx(expected)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (8, 2), (20, 0), (10, 10), (3, 30)])
def test_direction_at_any_look_integrates_over_the_chance_of_a_win(wins, losses):
    def of(angle):  # Beta(1/2, 1/2) is the square of the sine of a uniform angle
        return (2 * np.sin(angle) ** 2) ** wins * (2 * np.cos(angle) ** 2) ** losses * 2 / np.pi

    ratio = integrate.quad(of, 0, np.pi / 2)[0]
    assert direction_any(np.array(wins), np.array(losses)) == pytest.approx(min(1.0, 1 / ratio))


@pytest.mark.parametrize("shift", [0.0, 0.4, 1.5])
@pytest.mark.parametrize("count", [2, 10, 60])
def test_size_at_one_look_is_scipys_t_and_at_any_look_integrates_over_the_effect(count, shift):
    values = np.random.default_rng(count).normal(shift, 1, count)
    t, p = scipy.stats.ttest_1samp(values, 0)
    assert student_once(one(values)) == pytest.approx(p)

    def of(effect):
        density = scipy.stats.nct.pdf(t, count - 1, effect * math.sqrt(count))
        return density * scipy.stats.norm.pdf(effect, scale=0.5)

    ratio = integrate.quad(of, -6, 6, limit=200, points=(0, t / math.sqrt(count)))[0] / scipy.stats.t.pdf(t, count - 1)
    assert student_any(one(values)) == pytest.approx(min(1.0, 1 / ratio), rel=1e-5)


def test_looks_share_alpha_and_the_plan_counts_while_its_estimate_stays():
    first = [1.0, 2.0, 3.0] * 4
    few, same, turned = one(first), one([*first, *first]), one([*first, *(-5 * value for value in first)])
    before, at, after = at_look(few, None), at_look(few, at_plan(few)), at_look(same, at_plan(few))
    assert before.direction == pytest.approx(10 * direction_any(few.wins, few.losses))
    floor, later = 2**-11 / 0.9, 10 * direction_any(np.array(24), np.array(0))
    assert at.direction == pytest.approx(floor) and at.size == pytest.approx(floor)
    assert floor > student_once(few) / 0.9
    assert after.size == pytest.approx(min(floor, max(later, 10 * student_any(same))))
    assert at_look(turned, at_plan(few)).size == pytest.approx(min(1.0, max(later, 10 * student_any(turned))))
    assert at_look(turned, at_plan(few)).direction == 1.0


def test_holm_by_hand():
    p = np.array([[0.01, 0.04, 0.03, 0.005], [0.9, 0.02, 0.5, 0.02]])
    assert holm(p) == pytest.approx(np.array([[0.03, 0.06, 0.06, 0.02], [1, 0.08, 1, 0.08]]))
    assert rejected(p).tolist() == [[True, False, False, True], [False] * 4]


BASELINE = [100.0 + k % 7 for k in range(20)]
GAINS = [2 + k % 3 for k in range(20)]


def word_of(other, *more, **options):
    table = [Comparison(BASELINE[: len(other)], other, **options), *more]
    return verdicts_of(table)[0].word


@pytest.mark.parametrize("compared_by", ["difference", "ratio"])
def test_words_by_hand(compared_by):
    def of(gains, **options):
        return word_of([a - b for a, b in zip(BASELINE, gains)], compared_by=compared_by, **options)

    few_gain_much = [40.0] * 4 + [-0.5] * 16
    assert of(GAINS) == "better" and of([-gain for gain in GAINS]) == "worse"
    assert of(GAINS, better="higher") == "worse"
    assert of([80.0] * 2 + [0.5] * 12 + [-0.5] * 2 + [0.0] * 4) == "better on most seeds"
    assert of([0.0] * 15 + [5.0] * 5) == "better on average"
    assert of([30.0, 34.0, 36.0, 41.0] + [-1.0] * 16) == "worse on most seeds"
    assert of(few_gain_much) == "worse on most seeds"
    assert of([0.0] * 20) == ("equal" if compared_by == "ratio" else "undecided")
    assert of([0.2 * (-1) ** k for k in range(20)]) == ("equal" if compared_by == "ratio" else "undecided")
    assert of([0.2 * (-1) ** k for k in range(20)], least_effect=0.5) == "equal"
    assert of([9.0 * (-1) ** k for k in range(20)]) == "undecided"
    assert of([-math.inf] * 20) == "worse on most seeds"


def test_differences_without_a_spread_have_the_p_of_the_direction():
    for count, word in ((1, "undecided"), (5, "undecided"), (7, "better"), (20, "better")):
        verdict = verdicts_of([Comparison([0.3] * count, [0.1 * 2] * count, least_effect=0.01)])[0]
        assert verdict.p_size == verdict.p_direction and verdict.word == word, count
    tripled = [3 * value for value in BASELINE]  # the quotients differ by rounding
    verdict = verdicts_of([Comparison(tripled, [0.7 * value for value in tripled], compared_by="ratio")])[0]
    assert verdict.p_size == pytest.approx(2**-19 / 0.9)
    assert word_of(BASELINE[:3]) == "undecided" and word_of(BASELINE[:3], least_effect=1.0) == "undecided"
    assert word_of(BASELINE[:5], least_effect=1.0) == "equal"  # 2^-4 is below 10 %


def test_both_sides_are_named_where_size_and_direction_differ():
    gains = [200.0 + k for k in range(40)] + [-1.0] * 110
    baseline = [1000.0 + k for k in range(150)]
    table = [Comparison(baseline, [a - b for a, b in zip(baseline, gains)], "difference")]
    verdict = verdicts_of(table)[0]
    assert verdict.word == "better on average, worse on most seeds"
    assert verdict.p_for == verdict.p_against == 1.0


def test_values_that_are_not_finite_or_have_no_ratio_leave_direction_alone():
    other = [a - 3 - k % 2 for k, a in enumerate(BASELINE)]
    assert word_of(other, compared_by="ratio") == "better"
    zero, refused = [0.0, *other[1:]], [math.inf, *other[1:]]
    assert word_of(zero, compared_by="ratio") == "better on most seeds"
    assert verdicts_of([Comparison(BASELINE, zero)])[0].p_size < 0.3
    for options in ({"compared_by": "ratio"}, {"compared_by": "difference"}):
        verdict = verdicts_of([Comparison(BASELINE, refused, **options)])[0]
        assert verdict.p_size == 1 and verdict.word == "better on most seeds"
        assert verdict.p_for == verdict.p_direction < 0.001
    both = verdicts_of([Comparison([math.inf] * 20, [math.inf] * 20)])[0]
    assert both.word == "undecided" and both.p_direction == 1
    assert word_of([math.nan] * 13 + other[13:]) == "better" and word_of([math.nan] * 19 + other[19:]) == "undecided"


def test_a_family_counts_both_tests_of_every_comparison():
    other = [a - 3 for a in BASELINE]
    for m in (1, 5):
        table = [Comparison(BASELINE, other), *[Comparison(BASELINE, BASELINE)] * (m - 1)]
        verdict = verdicts_of(table)[0]
        assert verdict.p_size == verdict.p_direction == pytest.approx(2**-19 / 0.9)
        assert verdict.adjusted_size == pytest.approx(2 * m * 2**-19 / 0.9)


def test_joiners_by_hand():
    p_for, p_against = np.array([[0.001, 0.2, 1.0]]), np.array([[1.0, 1.0, 0.01]])
    assert [float(p[0]) for p in every(p_for, p_against)] == pytest.approx([1.0, 0.03])
    assert [float(p[0]) for p in some(p_for, p_against)] == pytest.approx([0.003, 1.0])
    both = PairOfTests(
        *map(np.array, ([0.01, 0.01, 1.0], [0.02, 0.02, 0.02], [1, -1, 0], [1, 1, -1], [True, True, False]))
    )
    assert on_side(both, 1).tolist() == [0.02, 1.0, 1.0] and on_side(both, -1).tolist() == [1.0, 1.0, 0.02]


@pytest.mark.parametrize(("first", "others"), [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)])
def test_which_verdicts_on_planted_parts_are_false(first, others):
    effects = [first, others, others]
    truth = {
        "every for": all(effect > 0 for effect in effects),
        "every against": any(effect < 0 for effect in effects),
        "some for": any(effect > 0 for effect in effects),
        "some against": all(effect < 0 for effect in effects),
    }
    assert {*error_and_power.false_kinds(first, others)} == {kind for kind, true in truth.items() if not true}


@pytest.mark.parametrize("world", WORLDS)
def test_vectorised_studies_have_the_verdicts_of_single_tables(world):
    law, draws = WORLDS[world], np.random.default_rng(5)
    values = moved(law, law.draw(draws, (40, 8, 3)), 0.6)
    seen = error_and_power.seen_over(values, (10, 20, 40))
    for count, planned in ((10, 20), (20, 20), (40, 20)):
        both = at_look(seen[count], at_plan(seen[planned]) if count >= planned else None)
        sure = rejected(np.concatenate([both.size, both.direction], axis=1))
        for study in range(8):
            table = [Comparison(values[:count, study, k], [0.0] * count, planned=planned) for k in range(3)]
            for k, verdict in enumerate(verdicts_of(table)):
                assert verdict.p_size == pytest.approx(both.size[study, k])
                assert verdict.p_direction == pytest.approx(both.direction[study, k])
                assert (verdict.adjusted_size < 0.05) == sure[study, k]
                assert (verdict.adjusted_direction < 0.05) == sure[study, 3 + k]
                assert verdict.p_for == pytest.approx(on_side(both, 1)[study, k])
                assert verdict.p_against == pytest.approx(on_side(both, -1)[study, k])


def test_moments_over_blocks_are_those_of_single_comparisons():
    values = np.random.default_rng(0).integers(-2, 3, (30, 50, 2)).astype(float)
    values[3, 0, 0], values[:, 1, 1] = math.inf, 2.0
    for count, seen in error_and_power.seen_over(values, (10, 20, 30)).items():
        for study, k in np.ndindex(50, 2):
            expected = one(values[:count, study, k].tolist())
            assert bool(seen.sized[study, k]) == bool(expected.sized)
            for name in ("pairs", "wins", "losses", *(("mean", "spread") if expected.sized else ())):
                assert getattr(seen, name)[study, k] == pytest.approx(getattr(expected, name)), name


@pytest.mark.parametrize(("count", "ties"), [(10, 0.0), (30, 0.4), (50, 0.0), (80, 0.0), (80, 0.5)])
def test_rivals_are_scipys(count, ties):
    draws = np.random.default_rng(count)
    values = np.where(draws.random((count, 6, 1)) < ties, 0.0, draws.normal(0.3, 1, (count, 6, 1)))
    seen = error_and_power.seen_over(values, [count])[count]
    wilcoxon = rivals.wilcoxon_p(rivals.coded(values), seen)
    for study, row in enumerate(values[..., 0].T):
        differ = row[row != 0]
        method = "exact" if differ.size <= rivals.EXACT else "approx"
        assert wilcoxon[study, 0] == pytest.approx(scipy.stats.wilcoxon(differ, method=method).pvalue)
        assert rivals.student_p(seen)[study, 0] == pytest.approx(scipy.stats.ttest_1samp(row, 0).pvalue)
        most = max((row > 0).sum(), (row < 0).sum())
        expected = min(1.0, 2 * scipy.stats.binom.sf(most - 1, count, 0.5))
        assert rivals.sign_p(seen)[study, 0] == pytest.approx(expected)


@pytest.mark.parametrize("world", WORLDS)
def test_no_world_without_effect_has_a_direction(world):
    values = WORLDS[world].draw(np.random.default_rng(1), (100, 1000, 1))
    wins, losses = (values > 0).sum(), (values < 0).sum()
    assert wins == losses == 0 or scipy.stats.binomtest(int(wins), int(wins + losses)).pvalue > 0.001
    if WORLDS[world].mean is not None and world != "constant":
        assert abs(scipy.stats.ttest_1samp(values.ravel(), WORLDS[world].mean).statistic) < 4


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_small_simulations_keep_the_bar(world):
    cells = [*error_and_power.errors(world, "median", 300), *error_and_power.joiners(world, 300)]
    above = error_and_power.above_chance(cells)
    assert not any(above.values()), above
    assert any(cell.rate("sign") > 0.08 for cell in cells if cell.table == "looks") or world in (
        "constant",
        "60 % ties",
    )


def test_a_rate_above_the_bar_is_noticed():
    cell = error_and_power.Cell("error", "normal", "median", "", "10", 1, 10_000, {"any": 600}, ("any",))
    fine = cell._replace(happened={"any": 530})
    assert error_and_power.above_chance([fine, cell]) == {0: [], 1: ["any"]}


def test_the_kept_file_has_every_cell_of_the_bars():
    errors = [row for row in kept() if row["table"] == "error"]
    assert len(errors) == (len(WORLDS) + len(SKEWED)) * 5 * 4
    assert {row["studies"] for row in kept() if row["table"] != "independence"} == {"10000"}
    judged = {(row["world"], row["seeds"], row["family"]) for row in errors if "direction" in row["judged"]}
    assert len(judged) == 13 * 5 * 4
    joined = [row for row in kept() if row["table"] == "joiners"]
    assert len(joined) == 13 * 9 * 2 * 6 and all(row["judged"] for row in joined)


def test_the_kept_file_keeps_the_bars_but_for_light_tails_at_few_seeds():
    """Uniform values err in families of 100 at 14 and 15 seeds: the one bar that the definition misses."""
    above = {(row["world"], row["seeds"], row["family"], row["above 5 %"]) for row in kept() if row["above 5 %"]}
    assert above == {("uniform", seeds, "100", "any; size") for seeds in ("14", "15")}
    power = {(row["world"], row["case"], row["seeds"], row["family"]): row for row in kept() if row["table"] == "power"}
    for seeds in ("20", "50", "100"):
        for family in ("1", "10"):
            row = power["normal", "+0.5 sd", seeds, family]
            assert float(row["any"]) > max(float(row["t"]), float(row["sign"])) - 0.15
    assert float(power["40 % better, 60 % ties", "", "20", "1"]["any"]) >= 0.7
    assert min(float(row["held"]) for row in kept() if row["table"] == "coverage") >= 0.94


def test_the_documentation_has_the_tables_of_the_kept_file():
    text = (ROOT / "docs" / "statistics.md").read_text()
    for table in tables.all_of(ROOT / error_and_power.FILE):
        assert table in text, table.splitlines()[0]


@pytest.mark.slow
def test_cells_are_made_again_as_they_are_kept():
    cells = [*error_and_power.powers("60 % ties", 10_000), *error_and_power.coverages(10_000)]
    made = list(error_and_power.rows(cells))
    uniform = list(error_and_power.rows([*error_and_power.few_seeds("uniform", 10_000)]))
    kept_few = [row for row in kept() if row["table"] == "few seeds" and row["world"] == "uniform"]
    assert [{**row, "above 5 %": ""} for row in uniform] == [{**row, "above 5 %": ""} for row in kept_few]
    tables_of = [row for row in kept() if row["table"] == "coverage" or row["world"] == "60 % ties"]
    assert made == [row for row in tables_of if row["table"] in ("power", "power at looks", "coverage")]


class Overlapping(Streams):
    """Streams of which the next seed's begin one draw later."""

    def uniforms(self, name, count):
        return Streams(self.seed // 10).uniforms(name, count + 10)[self.seed % 10 :][:count]


@pytest.mark.slow
def test_streams_of_seeds_are_independent_and_overlapping_ones_are_noticed():
    assert min(test.adjusted for test in independence.table()) > 0.05
    assert min(test.adjusted for test in independence.table(Overlapping)) < 1e-6
    rows = [row for row in kept() if row["table"] == "independence"]
    assert [{key: row[key] for key in one} for one, row in zip(independence.rows(), rows, strict=True)] == [
        *independence.rows()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "law"),
    thinned([pytest.param(world, law) for world in planted.WORLDS for law in ("normal", "whole numbers", "skewed")], 3),
)
def test_error_rates_of_verdicts_in_planted_worlds(world, law):
    result = planted.studies(world, 10, 40, STUDIES, law=law)
    assert not result.false_yes.above(0.05), result.false_yes
    assert not result.false_no.above(0.05), result.false_no
    assert result.words.most_common(1)[0][0] == EXPECTED.get(world, "undecided")


@pytest.mark.slow
def test_a_small_level_holds_for_skewed_differences():
    """Judged in a family of eight, so that errors controlled over the family are 0.05 / 8 of one claim; t erred 4 %."""
    world = planted.studies("no effect", 10, 40, STUDIES, family=8, law="skewed")
    assert not world.false_yes.above(0.05 / 8) and not world.false_no.above(0.05 / 8), world


@pytest.mark.slow
def test_many_cases_make_no_verdict_surer():
    """0.4: with all true effects 0 the verdict "no" came in 31 of 60 studies with 30 cases."""
    world = planted.studies("no effect", 30, 30, STUDIES)
    assert not world.false_no.above(0.05) and not world.false_yes.above(0.05)
    assert world.words["undecided"] >= 0.85 * STUDIES


@pytest.mark.slow
@pytest.mark.parametrize("world", ["effect in half the space", "one case reversed"])
def test_a_family_costs_power_and_no_errors(world):
    result = planted.studies(world, 10, 60, 40, family=18)
    assert result.false_yes.happened + result.false_no.happened <= 4
    assert result.words[EXPECTED[world]] >= 36


@pytest.mark.parametrize("world", ["normal", "exponential"])
def test_adaptive_seeds_stop_on_width(world):
    """Two narrow intervals in a row take more seeds than one, and hold the mean as often or more often."""
    two, first = (adaptive.stopped(world, 0.3, 2000, in_a_row) for in_a_row in (2, 1))
    assert two.held.interval.high >= (0.95 if world == "normal" else 0.9)
    assert two.held.happened >= first.held.happened - 20 and first.seeds < two.seeds < 100


@pytest.mark.slow
def test_nothing_is_tuned_where_nothing_matters():
    assert not tuning.false_winners(5, 2, 60).above(0.05)
    assert tuning.false_levers(20, 8)[0].interval.low < 0.05


KINDS = ("ties", "constant", "scaled", "infinite", "zeros", "missing", "real", "small", "drift")


def values_of(draws, kind, count):
    """Return the values of one comparison."""
    baseline = np.rint(draws.normal(200, 30, count)).clip(20)
    effect = draws.choice([0, 0, 3, -3, 15, -15, 60])
    if kind == "ties":
        return baseline, baseline - np.where(draws.random(count) < 0.6, 0, np.rint(draws.normal(effect, 8, count)))
    if kind == "constant":
        return baseline, baseline - effect
    if kind == "scaled":
        return baseline, baseline * draws.choice([0.5, 1, 2, 0.996, 1.004])
    if kind == "small":
        return 10 * baseline, 10 * baseline - np.rint(draws.normal(0, 5, count))
    if kind == "drift":  # the planned look says better, later seeds say worse
        gains = np.where(np.arange(count) < count // 2, draws.normal(15, 10, count), draws.normal(-25, 10, count))
        return baseline, baseline - np.rint(gains)
    if kind == "real":
        baseline = baseline * draws.uniform(0.5, 2, count)
        return baseline, baseline - draws.normal(effect, 20, count)
    other = baseline - np.rint(draws.normal(effect, 20, count))
    worst = {"infinite": math.inf, "zeros": 0.0, "missing": math.nan}[kind]
    if kind != "missing":
        baseline = np.where(draws.random(count) < 0.05, worst, baseline)
    return baseline, np.where(draws.random(count) < 0.1, worst, other)


def table_of(draws):
    """Return a table whose comparisons have one number of seeds, before, at or after the plan."""
    family, count = draws.choice([1, 2, 5, 30]), int(draws.choice([4, 5, 8, 12, 20, 40, 90]))
    planned = int(draws.choice([count, count, count // 2, 2 * count]))
    table = []
    for _ in range(family):
        baseline, other = values_of(draws, draws.choice(KINDS), count)
        by, better = str(draws.choice(["ratio", "difference"])), str(draws.choice(["lower", "higher"]))
        if better == "higher":
            baseline, other = (np.where(np.isposinf(side), -math.inf, side) for side in (baseline, other))
        least = None if draws.random() < 0.5 else {"ratio": 0.05, "difference": 10.0}[by]
        table.append(Comparison(baseline.tolist(), other.tolist(), by, better, planned, least))
    return table


def engine_of(row):
    """Return the engine's comparison."""
    planned = range(row.planned) if len(row.baseline) >= row.planned else ()
    options = {"compared_by": row.compared_by, "better": row.better, "least_effect": row.least_effect}
    return compare(row.baseline, row.other, planned=planned, **options)


@pytest.mark.parametrize("seed", range(8))
def test_the_engine_has_the_verdicts_of_its_twin(seed):
    draws = np.random.default_rng(seed)
    for _ in range(25):
        table = table_of(draws)
        engine = dict(enumerate(map(engine_of, table)))
        if min(one.n for one in engine.values()) < 2:
            continue
        judged = judge(engine)
        for k, expected in enumerate(verdicts_of(table)):
            verdict, finding = judged[k], superior("", "", engine[k])
            got = (engine[k].p_size, engine[k].p_direction, verdict.p_size, verdict.p_direction)
            assert got == pytest.approx(expected[:4], rel=1e-7, abs=1e-300), table[k]
            assert (finding.p_for, finding.p_against) == pytest.approx((expected.p_for, expected.p_against)), table[k]
            assert verdict.word in (expected.word, "same"), table[k]
