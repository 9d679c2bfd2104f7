"""Random workgroups: one rank a number, streams that do not disturb each other, the same bits in every process."""

import hashlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from workbench.machine import Machine
from workbench.streams import Streams
from workbench.workloads.synthetic.random_groups import RandomWorkgroups
from workbench.workloads.workload import Workgroups

MACHINE = Machine(segments=128)
SIZES = st.sampled_from(["uniform", "bimodal", "powers_of_two", {"exponential": {"mean": 8, "most": 128}}, 5])
DURATIONS = st.sampled_from(["uniform", "exponential", "geometric", "log_normal", "empirical", "correlated", 100])
ARRIVALS = st.sampled_from(["all_at_once", "poisson", "poisson_load", "bursts"])
WORKLOADS = st.builds(RandomWorkgroups, count=st.integers(1, 200), size=SIZES, duration=DURATIONS, arrival=ARRIVALS)
SEEDS = st.integers(0, 2**40)


def lists(drawn: Workgroups) -> list[list[int]]:
    return [column.tolist() for column in drawn]


@given(WORKLOADS, SEEDS)
def test_every_queue_can_be_served(workload, seed):
    drawn = workload.workgroups(MACHINE, Streams(seed))
    assert {column.shape for column in drawn} == {(workload.count,)}
    assert {column.dtype for column in drawn} == {np.dtype(np.int64)}
    assert (np.diff(drawn.arrival) >= 0).all()
    assert drawn.arrival[0] >= 0
    assert 1 <= drawn.length.min() <= drawn.length.max() <= MACHINE.segments
    assert drawn.duration.min() >= 1


@given(WORKLOADS, SEEDS)
def test_the_same_seed_gives_the_same_bits_even_after_pickling(workload, seed):
    again = pickle.loads(pickle.dumps(workload))
    assert lists(workload.workgroups(MACHINE, Streams(seed))) == lists(again.workgroups(MACHINE, Streams(seed)))


@given(WORKLOADS, SEEDS, DURATIONS, ARRIVALS, SIZES)
def test_changing_one_law_leaves_the_other_draws_as_they_are(workload, seed, duration, arrival, size):
    before = workload.workgroups(MACHINE, Streams(seed))
    for changed, kept in (
        (workload.but(arrival=arrival), ("length", "duration")),
        (workload.but(duration=duration), ("length",)),
        (workload.but(size=size), ("duration",)),
    ):
        after = changed.workgroups(MACHINE, Streams(seed))
        assert all(getattr(after, column).tolist() == getattr(before, column).tolist() for column in kept)


@given(WORKLOADS, SEEDS, st.integers(1, 200))
def test_a_longer_queue_begins_with_the_shorter_one(workload, seed, more):
    short = workload.workgroups(MACHINE, Streams(seed))
    long = workload.but(count=workload.count + more).workgroups(MACHINE, Streams(seed))
    columns = ("length", "duration") if workload.arrival.name in ("poisson_load", "bursts") else short._fields
    for column in columns:
        assert getattr(long, column)[: workload.count].tolist() == getattr(short, column).tolist()


def test_sizes_and_durations_are_independent_unless_correlated():
    workload = RandomWorkgroups(count=100_000)
    drawn = workload.workgroups(MACHINE, Streams(1))
    assert abs(np.corrcoef(drawn.length, drawn.duration)[0, 1]) < 5 / np.sqrt(workload.count)
    together = workload.but(duration={"correlated": {"rank_correlation": 0.8}}).workgroups(MACHINE, Streams(1))
    assert together.length.tolist() == drawn.length.tolist()
    assert np.corrcoef(together.length, together.duration)[0, 1] == pytest.approx(0.8, abs=0.01)


def test_another_seed_gives_another_queue():
    workload = RandomWorkgroups()
    assert lists(workload.workgroups(MACHINE, Streams(1))) != lists(workload.workgroups(MACHINE, Streams(2)))


@pytest.mark.parametrize(
    ("size", "got"),
    [
        ({"uniform": [1, 64]}, "up to 64. Nearest: uniform.high = 32."),
        ({"powers_of_two": [1, 64]}, "up to 64. Nearest: powers_of_two.high = 32."),
        ({"exponential": 8}, "up to 10000000000. Nearest: exponential.most = 32."),
        ({"empirical": [1, 33]}, "up to 33."),
        (33, "up to 33. Nearest: constant.value = 32."),
    ],
)
def test_a_size_that_may_exceed_the_machine_is_refused_before_anything_is_drawn(size, got):
    workload = RandomWorkgroups(size=size)
    message = f"size must draw at most 32 segments, all that the machine has. Got {got}"
    assert refusal(workload.workgroups, Machine(segments=32), None) == f"random_workgroups.{message}"
    assert refusal(workload.check_machine, Machine(segments=32), "workload", "a.yaml") == f"a.yaml: workload.{message}"


@pytest.mark.parametrize("count", [0, -1, 2.5, 10**8, "many", None])
def test_a_count_that_is_none_is_refused(count):
    assert refusal(RandomWorkgroups, count=count).startswith("random_workgroups.count must be a whole number from 1 to")


def test_sizes_must_not_be_correlated():
    assert refusal(RandomWorkgroups, size="correlated").startswith("random_workgroups.size must not be correlated")


@pytest.mark.parametrize("lever", ["size", "duration"])
@pytest.mark.parametrize("law", [0, "sometimes"])
def test_neither_size_nor_duration_may_be_nothing(lever, law):
    message = refusal(RandomWorkgroups.read, {lever: law}, "workload", "a.yaml")
    assert message.startswith(f"a.yaml: workload.{lever} must draw at least 1. Got ")
    assert message.endswith(", which may draw 0.")


PRINTED = """
import hashlib
from tests.workloads.synthetic.test_random_workgroups import digest
print(digest())
"""


def digest() -> str:
    """Of queues under every law and arrival."""
    reply = hashlib.sha256()
    for duration in ("uniform", "exponential", "geometric", "log_normal", "empirical", "correlated"):
        for arrival in ("all_at_once", "poisson", "poisson_load"):
            workload = RandomWorkgroups(count=500, size="bimodal", duration=duration, arrival=arrival)
            for column in workload.workgroups(MACHINE, Streams(2026)):
                reply.update(column.astype("<i8").tobytes())
    return reply.hexdigest()


@pytest.mark.slow
def test_the_same_bits_in_another_process():
    env = {**os.environ, "PYTHONHASHSEED": "5", "OMP_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": "AVX512F"}
    reply = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRINTED], capture_output=True, text=True, check=True, env=env
    )
    assert reply.stdout.strip() == digest()


def test_the_same_bits_as_on_the_day_they_were_first_drawn():
    """Golden: printed by this code on 2026-11-21 (NumPy 2.4.6, x86-64); stored runs rest on these draws."""
    drawn = RandomWorkgroups(count=6, duration="exponential", arrival="poisson").workgroups(MACHINE, Streams(7))
    assert lists(drawn) == [[33, 104, 189, 292, 293, 314], [9, 30, 22, 6, 19, 24], [12, 28, 129, 11, 37, 14]]
