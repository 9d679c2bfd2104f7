"""What waves execute: every count from its sentence, in plain numbers; one mix draws nothing; counts stay countable."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles.laws import numbers_at
from workbench.streams import Streams
from workbench.workloads.synthetic.instructions import (
    DEFAULT_MIXES,
    MOST_A_CYCLE,
    MOST_OF_A_GROUP,
    InstructionLaws,
    InstructionMix,
    Instructions,
    Mix,
    NoInstructions,
    first_excess,
)
from workbench.workloads.workload import INSTRUCTION_CLASSES

RATES = st.integers(0, 64).map(lambda n: n / 8)  # which floats hold exactly
MIXES = st.lists(
    st.builds(Mix, weight=st.sampled_from([0, 1, 2]), **dict.fromkeys(INSTRUCTION_CLASSES, RATES)),
    min_size=1,
    max_size=3,
).filter(lambda mixes: any(mix.weight for mix in mixes))
GROUPS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 5000)), min_size=1, max_size=12)
SEEDS = st.integers(0, 10**6)
EDGES = [0, 1, MOST_A_CYCLE, MOST_A_CYCLE + 1, MOST_OF_A_GROUP, MOST_OF_A_GROUP + 1]


def counts(instructions, groups, seed=0, ranks=None):
    waves, duration = (np.array(column) for column in zip(*groups, strict=True))
    ranks = np.zeros(len(waves)) if ranks is None else ranks
    return instructions.counts(waves, duration, ranks, Streams(seed))


@given(MIXES, GROUPS, SEEDS)
def test_a_group_executes_its_mix_for_every_wave_and_cycle(mixes, groups, seed):
    result = counts(InstructionMix(mixes=mixes), groups, seed)
    assert result.dtype == np.int64
    total = sum(mix.weight for mix in mixes)
    for row, (waves, duration) in enumerate(groups):
        rank, below, allowed = Streams(seed).uniforms("mixes", row + 1)[row], 0.0, []
        for mix in mixes:
            if mix.weight and below - 1e-12 <= rank < below + mix.weight / total + 1e-12:
                exact = [Fraction(waves * duration) * Fraction(getattr(mix, w)) / 1000 for w in INSTRUCTION_CLASSES]
                allowed.append([round(number) for number in exact])
            below += mix.weight / total
        assert result[row].tolist() in allowed


def test_counts_by_hand():
    mix = Mix(weight=1, move=500, load=250, store=125, matrix=1000, compare=0, jump=1)
    assert counts(InstructionMix(mixes=[mix]), [(4, 100), (1, 1), (1, 2)]).tolist() == [
        [200, 100, 50, 400, 0, 0],
        [0, 0, 0, 1, 0, 0],
        [1, 0, 0, 2, 0, 0],
    ]


@given(GROUPS, SEEDS, st.dictionaries(st.sampled_from(INSTRUCTION_CLASSES), st.integers(0, 99)))
def test_laws_count_a_wave(groups, seed, said):
    laws = {which: {"uniform": [1, number]} if number else 0 for which, number in said.items()}
    instructions = InstructionLaws(**laws)
    result = counts(instructions, groups, seed)
    for place, which in enumerate(INSTRUCTION_CLASSES):
        ranks = Streams(seed).uniforms(f"instructions {which}", len(groups))
        for row, (waves, _) in enumerate(groups):
            assert result[row, place] in {waves * n for n in numbers_at(getattr(instructions, which), ranks[row])}


def test_laws_may_be_correlated_with_the_waves():
    instructions = InstructionLaws(matrix={"correlated": {"law": {"uniform": [1, 9]}, "rank_correlation": 1}})
    assert counts(instructions, [(1, 50)] * 3, ranks=np.array([0.0, 0.5, 0.99]))[:, 3].tolist() == [1, 5, 9]


def test_what_varies_with_the_seed_says_so():
    one, three = InstructionMix(mixes=DEFAULT_MIXES[:1]), InstructionMix(mixes=DEFAULT_MIXES)
    silent = InstructionMix(mixes=[DEFAULT_MIXES[0].but(weight=0), DEFAULT_MIXES[1]])
    assert [kind.varies for kind in (NoInstructions(), one, silent, three, InstructionLaws())] == [0, 0, 0, 1, 1]
    groups = [(3, 700)] * 50
    for kind in (NoInstructions(), one, silent):
        assert counts(kind, groups, 1).tolist() == counts(kind, groups, 2).tolist()
    assert counts(three, groups, 1).tolist() != counts(three, groups, 2).tolist()
    assert counts(silent, groups)[0, 3] > 0
    assert not counts(NoInstructions(), groups).any()


@given(
    st.lists(
        st.tuples(
            st.integers(1, 10**7),
            st.lists(
                st.sampled_from([0, 1, MOST_A_CYCLE, MOST_A_CYCLE + 1, 10**12, 10**12 + 1]), min_size=6, max_size=6
            ),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_first_count_that_is_too_large_is_named(rows):
    duration, table = np.array([d for d, _ in rows]), np.array([c for _, c in rows])
    wrong = [
        (row, which, min(MOST_OF_A_GROUP, cycles * MOST_A_CYCLE))
        for row, (cycles, numbers) in enumerate(rows)
        for which, number in zip(INSTRUCTION_CLASSES, numbers, strict=True)
        if number > min(MOST_OF_A_GROUP, cycles * MOST_A_CYCLE)
    ]
    assert first_excess(table, duration) == (wrong[0] if wrong else None)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"instruction_mix": {"mixes": []}}, "instruction_mix.mixes must hold at least one mix with a weight above 0."),
        ({"instruction_mix": {"mixes": [{"weight": 0}]}}, "instruction_mix.mixes must hold at least one mix with a"),
        ({"instruction_mix": {"mixes": [{"lode": 1}]}}, "instruction_mix.mixes[0]: unknown key 'lode'; there are"),
        (
            {"instruction_mix": {"mixes": [{"load": -1}]}},
            "instruction_mix.mixes[0].load must be a number from 0",
        ),
        ("no_instruction", ": unknown kind of instructions 'no_instruction'; there are instruction_laws,"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(given, says):
    message = refusal(Instructions.read, given, "w.instructions", "a.yaml")
    assert message.startswith(f"a.yaml: w.instructions{'' if says.startswith(':') else '.'}{says}")


def test_more_than_can_be_counted_exactly_is_refused():
    message = refusal(counts, InstructionLaws(load=10**9), [(1, 10), (16, 10)])
    assert message == (
        "instruction_laws.load gives a group of 10 cycles more instructions than can be counted exactly: at most "
        "10485760. Got 1000000000."
    )
