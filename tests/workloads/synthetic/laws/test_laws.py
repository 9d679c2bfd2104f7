"""Every law against its definition: each rank, how often each number comes, moments, exact ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tests.junk import ANYTHING, refusal
from tests.oracles.laws import LAWS, moments, numbers_at, weights_of
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import (
    LARGEST,
    Bimodal,
    Constant,
    Empirical,
    Exponential,
    Geometric,
    Law,
    LogNormal,
    LogUniform,
    PowersOfTwo,
    Sometimes,
    Uniform,
)

DRAWS = 200_000
TOP = 1 - 2.0**-53
"""The highest rank that a stream gives."""

RANKS = st.floats(0, TOP) | st.sampled_from([0.0, TOP, 0.5, 2.0**-53])
RANGES = st.tuples(st.integers(1, 60), st.integers(0, 60)).map(lambda pair: {"low": pair[0], "high": pair[0] + pair[1]})
BOUNDS = st.tuples(st.integers(1, 40), st.integers(0, 200)).map(lambda pair: {"least": pair[0], "most": sum(pair)})
WEIGHTED = st.lists(st.tuples(st.integers(1, 99), st.floats(0, 9)), min_size=1).filter(
    lambda ws: sum(w for _, w in ws) > 0.01
)
ANY_LAW = st.one_of(
    st.integers(0, LARGEST).map(lambda value: Constant(value=value)),
    RANGES.map(lambda ends: Uniform(**ends)),
    st.builds(
        lambda share, a, b, c, d: Bimodal(
            small_share=share, small=[a, a + b], large=[a + b + 1 + c, a + b + 1 + c + d]
        ),
        st.floats(0, 1),
        *[st.integers(0, 30).map(lambda n: n + 1), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)],
    ),
    st.tuples(st.integers(0, 16), st.integers(0, 16)).map(lambda p: PowersOfTwo(low=1 << p[0], high=1 << p[0] + p[1])),
    st.builds(Exponential, mean=st.floats(1, 30), most=st.integers(1, 300) | st.just(LARGEST)),
    st.builds(Geometric, mean=st.floats(1, 30), most=st.integers(1, 300) | st.just(LARGEST)),
    st.builds(lambda m, s, ends: LogNormal(median=m, sigma=s, **ends), st.floats(5, 60), st.floats(1, 3), BOUNDS),
    RANGES.map(lambda ends: LogUniform(**ends)),
    WEIGHTED.map(lambda ws: Empirical(outcomes=[n for n, _ in ws], weights=[w for _, w in ws])),
    st.lists(st.integers(1, 99), min_size=1).map(lambda outcomes: Empirical(outcomes=outcomes)),
    st.builds(lambda share, ends: Sometimes(share=share, law=Uniform(**ends)), st.floats(0, 1), RANGES),
)

CHOSEN = [
    Constant(value=7),
    Uniform(low=1, high=32),
    Uniform(low=50, high=200),
    Bimodal(),
    PowersOfTwo(low=1, high=64),
    Exponential(mean=100),
    Exponential(mean=8, most=32),
    Geometric(mean=20),
    Geometric(mean=8, most=16),
    LogNormal(median=20, sigma=0.8, least=1, most=128),
    LogUniform(low=4, high=200),
    Empirical(outcomes=[16, 1, 4], weights=[1, 5, 2]),
    Sometimes(share=0.3, law={"uniform": [5, 9]}),
]
"""Laws whose moments are compared with theory."""


def named(law: Law) -> str:
    return law.short()


@given(ANY_LAW, st.lists(RANKS, min_size=1, max_size=8))
def test_each_rank_gives_the_number_that_walking_along_the_definition_gives(law, ranks):
    drawn = law.draw(np.array(ranks))
    assert drawn.dtype == np.int64
    for rank, number in zip(ranks, drawn.tolist(), strict=True):
        assert number in numbers_at(law, rank)


@given(ANY_LAW, st.lists(RANKS, min_size=2, max_size=8))
def test_a_higher_rank_never_gives_a_smaller_number(law, ranks):
    assert (np.diff(law.draw(np.array(sorted(ranks)))) >= 0).all()


@given(ANY_LAW, st.lists(RANKS, min_size=1, max_size=8))
def test_no_number_is_outside_the_span(law, ranks):
    low, high = law.span()
    assert low <= law.draw(np.array(ranks)).min()
    assert law.draw(np.array(ranks)).max() <= high


@pytest.mark.parametrize(
    ("law", "ends"),
    [
        (Constant(value=7), (7, 7)),
        (Uniform(low=1, high=LARGEST), (1, LARGEST)),
        (Uniform(low=3, high=3), (3, 3)),
        (Bimodal(), (1, 32)),
        (Bimodal(small_share=0), (16, 32)),
        (Bimodal(small_share=1), (1, 4)),
        (PowersOfTwo(low=2, high=1 << 33), (2, 1 << 33)),
        (Exponential(mean=8, most=32), (1, 32)),
        (Geometric(mean=8, most=16), (1, 16)),
        (Geometric(mean=1), (1, 1)),
        (LogNormal(median=20, sigma=0.8, least=10, most=30), (10, 30)),
        (Empirical(outcomes=[16, 1, 4], weights=[1, 0, 2]), (4, 16)),
        (Sometimes(share=0.5, law={"uniform": [5, 9]}), (0, 9)),
        (Sometimes(share=1, law={"uniform": [5, 9]}), (5, 9)),
        (Sometimes(share=0), (0, 0)),
    ],
    ids=str,
)
def test_the_lowest_and_the_highest_rank_give_the_ends(law, ends):
    assert tuple(law.draw(np.array([0.0, TOP])).tolist()) == ends
    assert law.span() == ends or law == Geometric(mean=1)


@pytest.mark.parametrize("law", CHOSEN, ids=named)
def test_mean_and_variance_are_those_of_theory(law):
    drawn = law.draw(Streams(11).uniforms("law", DRAWS))
    mean, variance = moments(law)
    assert abs(drawn.mean() - mean) <= 5 * np.sqrt(variance / DRAWS)
    fourth = sum((number - mean) ** 4 * weight for number, weight in weights_of(law))
    assert abs(drawn.var() - variance) <= 5 * np.sqrt(max(fourth - variance**2, 0) / DRAWS) + 1e-9


@pytest.mark.parametrize("law", CHOSEN, ids=named)
def test_each_number_comes_as_often_as_the_definition_says(law):
    drawn = law.draw(Streams(12).uniforms("law", DRAWS))
    expected = {number: weight * DRAWS for number, weight in weights_of(law)}
    common = [number for number, count in expected.items() if count >= 20]
    seen = np.array([(drawn == number).sum() for number in common] + [0.0])
    wanted = np.array([expected[number] for number in common] + [0.0])
    seen[-1], wanted[-1] = DRAWS - seen.sum(), DRAWS - wanted.sum()
    kept = wanted > 1e-6
    assert seen[~kept].sum() == 0
    assert kept.sum() == 1 or chisquare(seen[kept], wanted[kept] * seen[kept].sum() / wanted[kept].sum()).pvalue > 1e-4


def test_theory_agrees_with_the_closed_forms():
    assert moments(Uniform(low=1, high=32)) == pytest.approx((16.5, (32**2 - 1) / 12))
    assert moments(Geometric(mean=20)) == pytest.approx((20, 20 * 19))
    assert moments(Exponential(mean=100))[0] == pytest.approx(1 / (1 - np.exp(-1 / 100)))
    assert moments(Bimodal())[0] == pytest.approx(0.7 * 2.5 + 0.3 * 24)


def test_every_law_of_the_package_has_a_definition_to_be_compared_with():
    built_in = {name for name, law in Law.members.items() if law.built_in}
    assert built_in == {*LAWS, "correlated"}
    assert built_in == {law.name for law in CHOSEN} | {"correlated"}


@given(ANY_LAW)
def test_a_law_writes_itself_so_that_it_reads_back(law):
    assert Law.read({law.name: law.plain()}) == law


@pytest.mark.parametrize(
    ("law", "cure"),
    [
        (Constant(value=200), "constant.value = 100"),
        (Uniform(low=1, high=128), "uniform.high = 100"),
        (Uniform(low=101, high=128), ""),
        (PowersOfTwo(low=1, high=128), "powers_of_two.high = 64"),
        (Bimodal(large=[50, 128]), "bimodal.large.high = 100"),
        (Bimodal(large=[101, 128]), ""),
        (Exponential(mean=20), "exponential.most = 100"),
        (Geometric(mean=20), "geometric.most = 100"),
        (LogNormal(median=20), "log_normal.most = 100"),
        (Empirical(outcomes=(1, 128)), ""),
        (Sometimes(law={"uniform": [1, 128]}), "sometimes.law.uniform.high = 100"),
        (Sometimes(law={"uniform": [101, 128]}), ""),
    ],
    ids=str,
)
def test_the_one_lever_that_keeps_a_law_within_100_is_named(law, cure):
    assert law.nearest_within(100) == cure


@pytest.mark.parametrize(
    ("given", "law"),
    [
        (5, Constant(value=5)),
        (np.int64(5), Constant(value=5)),
        ({"constant": 5}, Constant(value=5)),
        ({"uniform": [1, 16]}, Uniform(low=1, high=16)),
        ({"uniform": {"low": 1, "high": 16}}, Uniform(low=1, high=16)),
        ({"uniform": {"high": 16}}, Uniform(low=1, high=16)),
        ("uniform", Uniform()),
        (Uniform, Uniform()),
        (Uniform(low=3, high=3), Uniform(low=3, high=3)),
        ({"uniform": None}, Uniform()),
        (
            {"bimodal": {"small": [1, 2], "large": {"uniform": {"low": 3, "high": 9}}}},
            Bimodal(small=[1, 2], large=[3, 9]),
        ),
        ({"exponential": 100}, Exponential(mean=100)),
        ({"geometric": {"mean": 3, "most": 9}}, Geometric(mean=3, most=9)),
        ({"log_normal": [20, 0.5]}, LogNormal(median=20, sigma=0.5)),
        ({"powers_of_two": [2, 8]}, PowersOfTwo(low=2, high=8)),
        ({"empirical": [3, 1]}, Empirical(outcomes=(3, 1))),
        ({"empirical": {"outcomes": [3, 1], "weights": [1, 2]}}, Empirical(outcomes=(3, 1), weights=(1, 2))),
    ],
)
def test_the_forms_that_a_sweep_file_may_use(given, law):
    assert Law.read(given) == law


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"uniform": [0, 5]}, "size.uniform[0] must be a whole number from 1 to 10000000000. Got 0. Nearest: 1."),
        ({"uniform": [1, 2.5]}, "size.uniform[1] must be a whole number from 1 to 10000000000. Got 2.5. Nearest: 2."),
        ({"uniform": [5, 3]}, "size.uniform.high must be at least low (5). Got 3. Nearest: 5."),
        ({"uniform": [5]}, "size.uniform must be a list of low, high or a mapping of low, high. Got [5]."),
        ({"uniform": 5}, "size.uniform must be a list of low, high or a mapping of low, high. Got 5."),
        ({"uniform": {"hgh": 5}}, "size.uniform: unknown key 'hgh'; there are high, low. Did you mean high?"),
        ({"unifrom": [1, 2]}, "size: unknown law 'unifrom'; there are bimodal,"),
        ({"uniform": [1, 2], "low": 1}, "size must name one law, such as {uniform: [1, 32]}. Got"),
        ([1, 32], "size must name one law, such as {uniform: [1, 32]}. Got [1, 32]."),
        (None, "size must name one law, such as {uniform: [1, 32]}. Got None."),
        (True, "size must name one law, such as {uniform: [1, 32]}. Got True."),
        (-1, "size must be a whole number from 0 to 10000000000. Got -1. Nearest: 0."),
        (2.5, "size must be a whole number from 0 to 10000000000. Got 2.5. Nearest: 2."),
        (10**11, "size must be a whole number from 0 to 10000000000. Got 100000000000. Nearest: 10000000000."),
        ({"powers_of_two": [1, 24]}, "size.powers_of_two[1] must be a power of two from 1 to 8589934592. Got 24."),
        ({"powers_of_two": [8, 4]}, "size.powers_of_two.high must be at least low (8). Got 4. Nearest: 8."),
        ({"exponential": 0}, "size.exponential must be a number from 1 to 10000000000. Got 0. Nearest: 1."),
        ({"exponential": "long"}, "size.exponential must be a number from 1 to 10000000000. Got 'long'."),
        (
            {"bimodal": {"small": [1, 16]}},
            "size.bimodal.large.low must lie above small.high (16). Got 16. Nearest: 17.",
        ),
        ({"bimodal": {"small": [9, 1]}}, "size.bimodal.small.high must be at least low (9). Got 1. Nearest: 9."),
        ({"bimodal": {"small_share": 1.5}}, "size.bimodal.small_share must be a number from 0 to 1. Got 1.5."),
        ({"bimodal": 0.5}, "size.bimodal must be a mapping of small_share, small, large. Got 0.5."),
        (
            {"log_normal": {"least": 9, "most": 3}},
            "size.log_normal.most must be at least least (9). Got 3. Nearest: 9.",
        ),
        (
            {"log_normal": {"median": 1, "sigma": 0.1, "least": 99}},
            "size.log_normal: least (99) to most (10000000000) must",
        ),
        ({"sometimes": {"law": "correlated"}}, "size.sometimes.law must be another law than correlated."),
        ({"sometimes": {"law": {"sometimes": {}}}}, "size.sometimes.law must be another law than sometimes."),
        ({"sometimes": 0.5}, "size.sometimes must be a mapping of share, law. Got 0.5."),
        ({"empirical": []}, "size.empirical.outcomes must hold at least one number. Got []."),
        ({"empirical": [1, 0]}, "size.empirical[1] must be a whole number from 1 to 10000000000. Got 0."),
        ({"empirical": {"outcomes": [1, 2], "weights": [1]}}, "size.empirical.weights must be as many as outcomes (2)"),
        ({"empirical": {"outcomes": [1, 2], "weights": [0, 0]}}, "size.empirical.weights must not all be zero."),
    ],
)
def test_what_is_wrong_is_said_with_its_path(given, says):
    assert refusal(Law.read, given, "size", "a.yaml").startswith(f"a.yaml: {says}")


@given(ANYTHING)
def test_any_junk_is_a_law_or_is_refused_in_one_line(value):
    assert refusal(Law.read, value, "size", "a.yaml").startswith("a.yaml: size") or Law.read(value)


@given(st.sampled_from(sorted(LAWS)), ANYTHING)
def test_any_junk_inside_a_law_is_taken_or_refused_in_one_line(name, value):
    message = refusal(Law.read, {name: value}, "size", "a.yaml")
    assert message.startswith(f"a.yaml: size.{name}") or not message


def test_weights_at_the_edge_of_floats_never_fall_off_the_end():
    law = Empirical(outcomes=(1, 2), weights=(5e-324, 5e-324))
    assert set(law.draw(np.array([0.0, 0.5, TOP])).tolist()) <= {1, 2}


@pytest.mark.parametrize("share", [0.0, 5e-324, 2.0**-60, 1 - 2.0**-53, 1.0])
def test_a_share_at_its_edges_draws_in_range_without_a_warning(share):
    law = Bimodal(small_share=share)
    drawn = law.draw(np.array([0.0, 2.0**-53, 0.5, TOP]))
    assert set(drawn.tolist()) <= {1, 4, 16, 24, 32, 3, 2}
    assert (law.span() == (16, 32)) == (share == 0)


def test_a_rank_on_a_step_gives_the_number_above_it():
    assert Empirical(outcomes=(1, 16), weights=(3, 1)).draw(np.array([0.75 - 2.0**-53, 0.75])).tolist() == [1, 16]
    assert Uniform(low=1, high=4).draw(np.array([0.5 - 2.0**-53, 0.5])).tolist() == [2, 3]
