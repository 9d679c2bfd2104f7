"""Arrivals: the stated process step by step, its rate, its dispersion, the load that it offers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import ANYTHING, refusal
from workbench.streams import Streams
from workbench.workloads.synthetic.arrivals import AllAtOnce, Arrival, Bursts, Offered, Poisson, PoissonLoad
from workbench.workloads.synthetic.laws import Exponential, Uniform


def step_by_step(gap: float, seed: int, count: int) -> list[int]:
    """A Poisson process written out: each waits -gap ln(1 - u) after the one before."""
    now, cycles = 0.0, []
    for rank in Streams(seed).uniforms("arrivals", count).tolist():
        now += -gap * math.log1p(-rank)
        cycles.append(math.floor(now))
    return cycles


def arrivals(arrival: Arrival, length: np.ndarray, duration: np.ndarray, segments: int, streams: Streams) -> np.ndarray:
    """When workgroups of these lengths and durations come to a shared memory."""
    return arrival.cycles(len(length), lambda: Offered.of(length, duration, segments), streams)


def queue(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    streams = Streams(seed)
    length = Uniform(low=1, high=32).draw(streams.uniforms("sizes", count))
    return length, Exponential(mean=100).draw(streams.uniforms("durations", count))


@given(st.integers(0, 1000), st.integers(1, 200), st.floats(0.001, 1e6))
def test_a_poisson_process_is_its_waits_added_up(seed, count, rate):
    length, duration = queue(count)
    values = arrivals(Poisson(per_kilocycle=rate), length, duration, 128, Streams(seed))
    expected = np.array(step_by_step(1000 / rate, seed, count))
    assert values.dtype == np.int64
    assert (np.abs(values - expected) <= 1).all()
    assert (values != expected).mean() < 0.02  # a wait on the edge of a cycle may be rounded to either side


@given(st.integers(0, 1000), st.integers(1, 200), st.floats(0.01, 5))
def test_a_load_is_a_rate(seed, count, load):
    length, duration = queue(count, seed)
    work = sum(int(n) * int(d) for n, d in zip(length, duration, strict=True))
    rate = 1000 * 128 * count * load / work
    by_load = arrivals(PoissonLoad(load=load), length, duration, 128, Streams(seed))
    by_rate = arrivals(Poisson(per_kilocycle=rate), length, duration, 128, Streams(seed))
    assert (np.abs(by_load - by_rate) <= 1).all()


def test_the_load_is_what_is_offered_over_what_is_available():
    length, duration = queue(200_000)
    arrival = arrivals(PoissonLoad(load=0.7), length, duration, 128, Streams(4))
    offered = float((length * duration).sum())
    assert offered / (128 * arrival[-1]) == pytest.approx(0.7, rel=5 / math.sqrt(200_000))


def test_counts_in_windows_are_poisson():
    length, duration = queue(200_000)
    arrival = arrivals(Poisson(per_kilocycle=50), length, duration, 128, Streams(4))
    counts = np.bincount(arrival // 200)[:-1]  # windows of 200 cycles: mean 10
    assert counts.mean() == pytest.approx(10, abs=5 * math.sqrt(10 / counts.size))
    assert counts.var() / counts.mean() == pytest.approx(1, abs=5 * math.sqrt(2 / counts.size))
    assert np.corrcoef(counts[1:], counts[:-1])[0, 1] == pytest.approx(0, abs=5 / math.sqrt(counts.size))


def test_arrivals_never_decrease_and_all_at_once_is_zero():
    length, duration = queue(5000)
    assert (np.diff(arrivals(Poisson(per_kilocycle=1e6), length, duration, 128, Streams(1))) >= 0).all()
    assert not arrivals(AllAtOnce(), length, duration, 128, Streams(1)).any()


def test_the_stream_is_arrivals_alone():
    length, duration = queue(10)
    streams = Streams(9)
    first = arrivals(Poisson(), length, duration, 128, streams)
    other = arrivals(Poisson(), length + 1, duration * 2, 64, streams)
    assert first.tolist() == other.tolist()


@given(st.integers(0, 1000), st.integers(1, 200), st.integers(1, 50))
def test_bursts_are_a_poisson_process_of_as_many_at_once(seed, count, size):
    length, duration = queue(count, seed)
    values = arrivals(Bursts(size=size, load=0.7), length, duration, 128, Streams(seed))
    assert len(values) == count
    gap = size * (length * duration).sum() / (128 * count * 0.7)
    starts = np.array(step_by_step(gap, seed, math.ceil(count / size)))
    expected = np.array([starts[k // size] for k in range(count)])
    assert (np.abs(values - expected) <= 1).all()
    alone = arrivals(PoissonLoad(load=0.7), length, duration, 128, Streams(seed))
    assert size > 1 or values.tolist() == alone.tolist()


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(1, 10**6)), min_size=2, max_size=2))
def test_the_busier_of_two_resources_is_the_one_with_the_greater_share(pairs):
    one, other = (Offered(work, capacity) for work, capacity in pairs)
    assert one.above(other) == (Fraction(one.work, one.capacity) > Fraction(other.work, other.capacity))


def test_arrivals_past_every_clock_are_refused():
    length, duration = np.full(1000, 10**5), np.full(1000, 10**10)
    message = refusal(arrivals, PoissonLoad(load=0.001), length, duration, 1, Streams(1))
    assert message == "arrivals 1e+18 cycles apart run past cycle 2^61 after 1000 of them; make them denser."


@pytest.mark.parametrize(
    ("given", "arrival"),
    [
        ("all_at_once", AllAtOnce()),
        ({"all_at_once": None}, AllAtOnce()),
        ({"poisson": 12}, Poisson(per_kilocycle=12)),
        ({"poisson": {"per_kilocycle": 12}}, Poisson(per_kilocycle=12)),
        ({"poisson_load": 0.9}, PoissonLoad(load=0.9)),
        ({"bursts": [8, 0.9]}, Bursts(size=8, load=0.9)),
    ],
)
def test_the_forms_that_a_sweep_file_may_use(given, arrival):
    assert Arrival.read(given) == arrival


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            "at_once",
            "unknown arrival 'at_once'; there are all_at_once, bursts, poisson, poisson_load. "
            "Did you mean all_at_once?",
        ),
        ({"poisson": 0}, "arrival.poisson must be a number from 0.001 to 1000000. Got 0. Nearest: 0.001."),
        ({"poisson": {"rate": 3}}, "arrival.poisson: unknown key 'rate'; there are per_kilocycle."),
        ({"all_at_once": 3}, "arrival.all_at_once must be a mapping of nothing. Got 3."),
        (12, "arrival must name one arrival, such as {poisson: 12}. Got 12."),
    ],
)
def test_what_is_wrong_is_said_with_its_path(given, says):
    assert says in refusal(Arrival.read, given, "arrival")


@given(ANYTHING)
def test_any_junk_is_refused_in_one_line(value):
    assert refusal(Arrival.read, value, "arrival", "a.yaml").startswith("a.yaml: arrival") or Arrival.read(value)
