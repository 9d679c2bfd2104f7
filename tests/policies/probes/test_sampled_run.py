"""The sampled probe against its contract and its slow twin (spec 3, R44-R49, E13, E14)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import probes as slow
from tests.policies.probes.test_exact_run import FORMS
from tests.policies.probes.together import compare, compare_on_every_state, free_maps
from workbench.errors import InputError
from workbench.policies.probes import SampledRun
from workbench.policies.probes.contract import ProbeContract
from workbench.policies.probes.shift_gates import halves
from workbench.policies.probes.shift_probe import powers_and_halfway, primes, stepped, wrong_lengths


class TestSampledRun(ProbeContract):
    policy = SampledRun()
    sizes = (16, 63, 64, 65, 127, 128, 129, 1824)


class TestSampledRunOfFewLengths(ProbeContract):
    policy = SampledRun(run_lengths=(1, 2, 4, 8, 16, 100), encoding="free0", timing="pipe_3cycle", decode="scan")
    sizes = (3, 16, 65, 128)


class TestSampledRunWithoutPrimes(ProbeContract):
    policy = SampledRun(run_lengths=tuple(range(1, 65)), exclude=primes(64), exclude_on="k", chain="running")
    sizes = (16, 64, 65)


@st.composite
def legal(draw, most=4096):
    """1, then steps that never shrink."""
    steps = sorted(draw(st.lists(st.integers(1, 4) | st.integers(1, 600), max_size=12)))
    lengths = [1]
    for step in steps:
        lengths.append(lengths[-1] + step)
    return tuple(n for n in lengths if n <= most)


@pytest.mark.parametrize("lengths", [(1,), (1, 2, 3, 4, 5), (1, 2, 4, 8), (1, 4, 7), (1, 2, 3, 4, 6, 8, 12)])
def test_every_state_of_small_resources(lengths):
    """R46, for N = 12 and below."""
    for blocks in (1, 2, 3, 6, 9, 12):
        compare_on_every_state(SampledRun(run_lengths=lengths), lambda free: slow.sampled_run(free, lengths), blocks)


@given(free_maps(), legal())
def test_reports_as_its_twin(free, lengths):
    compare(SampledRun(run_lengths=lengths), lambda free: slow.sampled_run(free, lengths), free)


@given(free_maps(st.integers(2, 100)), legal(100), st.sampled_from(FORMS))
def test_every_wire_of_every_form(free, lengths, form):
    wires = SampledRun(run_lengths=lengths, **form).trace(slow.written(free, form["encoding"]))
    run = slow.longest_run_by_text(free)
    assert wires.sar == "".join("1" if length <= run else "0" for length in lengths if length <= len(free))
    assert wires.longest == slow.sampled_run(free, lengths)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12))
def test_r47_the_step_rule_as_it_is_written(lengths):
    """k(w+1) - k(w) >= k(w) - k(w-1) for interior w, increasing, with k = 0 (E14)."""
    ks = [n - 1 for n in lengths]
    rule = all(b > a for a, b in pairwise(ks)) and ks[0] == 0
    rule = rule and all(c - b >= b - a for a, b, c in zip(ks, ks[1:], ks[2:]))
    assert (wrong_lengths(lengths) == "") == rule
    assert wrong_lengths(stepped([1, *lengths])) == ""


@pytest.mark.parametrize(
    ("levers", "sentence"),
    [
        ({"run_lengths": (2, 4, 8)}, "run_lengths must begin with 1. Got (2, 4, 8). Nearest: (1, 2, 4, 8)."),
        ({"run_lengths": ()}, "run_lengths must begin with 1. Got (). Nearest: (1,)."),
        ({"run_lengths": (1, 4, 2)}, "run_lengths must increase from 1. Got (1, 4, 2). Nearest: (1, 2, 4)."),
        ({"run_lengths": (1, 2, 2)}, "run_lengths must increase from 1. Got (1, 2, 2). Nearest: (1, 2)."),
        ({"run_lengths": (1, 0)}, "run_lengths[1] must be a whole number from 1 to 4096. Got 0. Nearest: 1."),
        ({"exclude": (3, 1)}, "exclude must leave the run length 1. Got (3, 1). Nearest: (3,)."),
        ({"exclude": (0,), "exclude_on": "k"}, "exclude must leave the run length 1. Got (0,). Nearest: ()."),
        (
            {"run_lengths": (1, 2, 8, 9)},
            "run_lengths must not have a step smaller than the one before (spec 3, R47). Got (1, 2, 8, 9). "
            "Nearest: (1, 2, 8).",
        ),
    ],
)
def test_wrong_lists_are_one_sentence(levers, sentence):
    with pytest.raises(InputError) as refused:
        SampledRun(**levers)
    assert str(refused.value) == f"sampled_run.{sentence}"


def test_r48_excluded_first_then_sampled():
    """E13: neither remainder keeps the step rule by itself, so a part of it is sampled that does."""
    every = tuple(range(1, 17))
    assert SampledRun(run_lengths=every, exclude=primes(16)).lengths(16) == (1, 4, 8, 12, 16)
    assert SampledRun(run_lengths=every, exclude=primes(16), exclude_on="k").lengths(16) == (1, 2, 5, 9, 13)
    assert SampledRun(run_lengths=every).exact(16)
    assert not SampledRun(run_lengths=every, exclude=(16,)).exact(16)
    assert not SampledRun(run_lengths=every).exact(17)


@given(legal(300))
def test_doubling_forms_every_vector_from_one_of_at_least_half(lengths):
    formed = [0, *halves(lengths)]
    assert {length - 1 for length in lengths} <= set(formed)
    assert all(any(k <= 2 * h + 1 for h in formed[:at]) for at, k in enumerate(formed) if at)


def test_the_default_lengths_end_where_memories_do():
    assert powers_and_halfway(4096)[-4:] == (1536, 2048, 3072, 4096)
    assert wrong_lengths(powers_and_halfway(4096)) == ""
