"""Rotated split against the tables of spec 3, section 4, its invariant and its slow twin (R60-R68)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_units as slow
from workbench.errors import InputError
from workbench.policies.dispatch.units import LeastLoaded, NoRotation, RandomRotation, RotatedSplit, UnitsContract, asks
from workbench.policies.scenes import Speaker

GROUPS = st.lists(st.integers(1, 40) | st.integers(1, 640), min_size=1, max_size=200)
UNITS = st.integers(1, 8) | st.just(64)


class TestTail(UnitsContract):
    policy = RotatedSplit()


class TestHead(UnitsContract):
    policy = RotatedSplit(pointer="head")


class TestTailAsWritten(UnitsContract):
    policy = RotatedSplit(as_written=True)


class TestHeadAsWrittenB(UnitsContract):
    policy = RotatedSplit(pointer="head", as_written=True, reading="B")


def history(policy, groups, units=4):
    """Each group's split, pointer after it and cumulative counts."""
    pointer, total, rows = policy.first_pointer(0, 0), np.zeros(units, int), []
    for waves in groups:
        counts, pointer = policy.split(waves=waves, units=units, at=pointer)
        total = total + counts
        rows.append((counts, pointer, total.tolist()))
    return rows


def cumulative(policy, groups):
    return history(policy, groups)[-1][2]


def test_the_public_words():
    assert RotatedSplit(pointer="tail", as_written=False).split(waves=3, units=4, at=0) == ([0, 1, 1, 1], 3)


def test_table_of_the_tail_pointer():
    assert history(RotatedSplit(), (3, 2, 1, 4, 5, 6, 1)) == [
        ([0, 1, 1, 1], 3, [0, 1, 1, 1]),
        ([1, 1, 0, 0], 1, [1, 2, 1, 1]),
        ([0, 0, 1, 0], 2, [1, 2, 2, 1]),
        ([1, 1, 1, 1], 2, [2, 3, 3, 2]),
        ([1, 1, 1, 2], 3, [3, 4, 4, 4]),
        ([2, 2, 1, 1], 1, [5, 6, 5, 5]),
        ([0, 0, 1, 0], 2, [5, 6, 6, 5]),
    ]


def test_table_of_the_head_pointer():
    rows = history(RotatedSplit(pointer="head"), (3, 2, 1, 4, 5, 6, 1))
    assert [after for _, after, _ in rows] == [3, 1, 2, 2, 3, 1, 2]
    begins = [counts.index(max(counts)) if max(counts) > min(counts) else None for counts, _, _ in rows]
    assert begins == [0, 0, 1, None, 2, 0, 1]  # rot 0, 3, 1, 2, 2, 3, 1: the unit behind a wrap comes first
    assert rows[-1][2] == [6, 6, 5, 5]


LITERAL = [("tail", "A"), ("tail", "B"), ("head", "A"), ("head", "B")]
TABLE = [
    ((1,) * 8, [6, 0, 1, 1], [2, 2, 2, 2], [0, 0, 8, 0], [4, 0, 4, 0], [2, 2, 2, 2]),
    ((2,) * 4, [4, 0, 0, 4], [2, 2, 2, 2], [1, 2, 3, 2], [2, 2, 2, 2], [2, 2, 2, 2]),
    ((2, 1, 1, 3, 1), [5, 1, 0, 2], [3, 3, 1, 1], [2, 3, 0, 3], [2, 3, 0, 3], [2, 2, 2, 2]),
    ((4, 4, 4), [3, 3, 3, 3], [3, 3, 3, 3], [3, 3, 3, 3], [3, 3, 3, 3], [3, 3, 3, 3]),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row[0]))
def test_table_of_the_literal_formulas(row):
    groups, *literal, corrected = row
    for (pointer, reading), expected in zip(LITERAL, literal, strict=True):
        policy = RotatedSplit(pointer=pointer, as_written=True, reading=reading)
        assert cumulative(policy, groups) == expected, policy
    for pointer in ("tail", "head"):
        assert cumulative(RotatedSplit(pointer=pointer), groups) == corrected


def spreads(policy, rounds, groups, seed):
    """Largest less smallest cumulative count after each of some numbers of rounds."""
    ask, taken = Speaker(policy).ask, np.zeros(4, np.int64)
    pointer, total, result = policy.first_pointer(0, seed), np.zeros(4, np.int64), []
    for at, waves in enumerate(groups, 1):
        see = asks(waves, pointer, taken)
        pointer = ask(see)
        total += see.counts
        if at in rounds:
            result.append(int(total.max() - total.min()))
    return result


ROUNDS = (16, 64, 256, 1024)
MEAN_SPREADS = [
    (NoRotation(), (11.5, 47.1, 191, 767)),
    (RotatedSplit(as_written=True), (6.6, 26, 107, 429)),
    (RotatedSplit(as_written=True, reading="B"), (3.3, 5.7, 10.6, 26.2)),
    (RotatedSplit(as_written=True, pointer="head"), (6.4, 21.5, 83.7, 331)),
    (RotatedSplit(as_written=True, pointer="head", reading="B"), (3.6, 9.1, 17.4, 40.7)),
]


@pytest.fixture(scope="module")
def twenty_sequences():
    return [np.random.default_rng(seed).integers(1, 9, ROUNDS[-1]).tolist() for seed in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "expected"), MEAN_SPREADS, ids=lambda value: str(value)[:60])
def test_mean_spreads_of_twenty_seeds(policy, expected, twenty_sequences):
    """Two means of 20 draws each, ours and the specification's, differ by at most four standard errors of that."""
    result = np.array([spreads(policy, ROUNDS, groups, 0) for groups in twenty_sequences])
    error = result.std(axis=0, ddof=1) * np.sqrt(2 / 20)
    assert (np.abs(result.mean(axis=0) - expected) <= 4 * error).all(), (result.mean(axis=0), error)


@pytest.mark.parametrize("pointer", ["tail", "head"])
def test_mean_spreads_of_the_corrected_rule(pointer, twenty_sequences):
    result = np.array([spreads(RotatedSplit(pointer=pointer), ROUNDS, groups, 0) for groups in twenty_sequences])
    assert result.max() <= 1
    assert (result.mean(axis=0) >= 0.5).all()
    assert (result.mean(axis=0) <= 0.95).all()
    assert 0.65 <= result.mean() <= 0.95  # "mean 0.7-0.9"


def test_rivals_drift_and_least_loaded_levels():
    groups = np.random.default_rng(0).integers(1, 9, 256).tolist()
    assert spreads(RandomRotation(), (256,), groups, 0)[0] > 1
    total = [0, 0, 0, 0]
    for waves in groups:
        counts, _ = LeastLoaded().split(waves=waves, units=4, taken=tuple(total))
        total = [t + c for t, c in zip(total, counts, strict=True)]
        assert max(total) - min(total) <= 1  # where nothing ever ends, what runs is what was given


@given(st.sampled_from(["tail", "head"]), UNITS, GROUPS)
def test_r68_cumulative_counts_differ_by_at_most_one(pointer, units, groups):
    for _, _, total in history(RotatedSplit(pointer=pointer), groups, units):
        assert max(total) - min(total) <= 1


@given(st.sampled_from(["tail", "head"]), UNITS, GROUPS)
def test_walks_with_its_twin(pointer, units, groups):
    twin = slow.Corrected(units, pointer == "tail")
    assert [row[0] for row in history(RotatedSplit(pointer=pointer), groups, units)] == [twin.split(w) for w in groups]


@given(st.sampled_from(LITERAL), UNITS, GROUPS)
def test_walks_with_its_literal_twin(form, units, groups):
    pointer, reading = form
    policy = RotatedSplit(pointer=pointer, as_written=True, reading=reading)
    twin = slow.AsWritten(units, pointer == "tail", reading)
    assert [row[0] for row in history(policy, groups, units)] == [twin.split(w) for w in groups]


def test_v31_another_pointer_another_verdict():
    runs, blocks = (20, 16, 8, 8), 8
    fits = []
    for head in range(4):
        counts, _ = RotatedSplit(pointer="head").split(waves=6, units=4, at=head)
        fits.append(all(c * blocks <= run for c, run in zip(counts, runs, strict=True)))
    assert fits == [True, False, False, False]


def test_e24_too_large_and_empty_groups():
    assert RotatedSplit().split(waves=0, units=4, at=2) == ([0, 0, 0, 0], 2)
    assert RotatedSplit().split(waves=8, units=4, at=0, most=8) == ([2, 2, 2, 2], 0)
    with pytest.raises(InputError, match=r"waves must be from 0 to 8, all that a module holds\. Got 9\."):
        RotatedSplit().split(waves=9, units=4, at=0, most=8)
