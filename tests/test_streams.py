"""Named streams: independence, the same bits everywhere, and seeds of any size."""

import hashlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.streams import Streams

NAMES = st.text(max_size=20)


def by_hand(seed: int, name: str) -> np.random.PCG64:
    """PCG64 (XSL-RR, 128 bits) set up from the digest as its definition says, in Python's own integers."""
    digest = hashlib.blake2b(f"{seed:x}/{name}".encode(), digest_size=32).digest()
    word = [int.from_bytes(digest[k : k + 8], "little") for k in (0, 8, 16, 24)]
    start, increment = (word[0] << 64) | word[1], (((word[2] << 64) | word[3]) << 1 | 1) % 2**128
    state = ((start + increment) * 0x2360ED051FC65DA44385DF649FCCF645 + increment) % 2**128
    result = np.random.PCG64(0)
    result.state = {**result.state, "state": {"state": state, "inc": increment}}
    return result


@given(st.integers(0, 2**200), NAMES)
def test_a_stream_is_pcg64_begun_with_the_digest_of_seed_and_name(seed, name):
    assert Streams(seed)[name].bit_generator.random_raw(4).tolist() == by_hand(seed, name).random_raw(4).tolist()


@given(st.integers(0, 2**70), NAMES, st.integers(0, 50))
def test_uniforms_are_the_upper_53_bits_of_each_word(seed, name, count):
    expected = [int(word) // 2**11 / 2**53 for word in by_hand(seed, name).random_raw(count)]
    values = Streams(seed).uniforms(name, count)
    assert values.tolist() == expected
    assert values.dtype == np.float64


@given(st.integers(0, 2**70), NAMES, NAMES)
def test_streams_of_two_names_or_two_seeds_differ(seed, one, other):
    streams = Streams(seed)
    assert (streams.integer(one) == streams.integer(other)) == (one == other)
    assert streams.integer(one) != Streams(seed + 1).integer(one)


def test_a_consumer_more_shifts_nobody():
    alone = Streams(3).uniforms("durations", 5)
    shared = Streams(3)
    shared["sizes"].random(1000)
    shared.uniforms("arrivals", 7)
    assert shared.uniforms("durations", 5).tolist() == alone.tolist()


def test_streams_of_many_seeds_are_uncorrelated_and_uniform():
    drawn = np.array([[Streams(seed).uniforms(name, 200) for name in ("sizes", "durations")] for seed in range(200)])
    sizes, durations = drawn[:, 0].ravel(), drawn[:, 1].ravel()
    assert abs(np.corrcoef(sizes, durations)[0, 1]) < 5 / np.sqrt(sizes.size)
    first = np.histogram(drawn[:, :, 0], bins=10, range=(0, 1))[0]  # first numbers of neighbouring seeds
    assert ((first - 40) ** 2 / 40).sum() < 33  # chi-square with 9 degrees of freedom, p = 1e-4


def test_integer_has_63_bits():
    drawn = [Streams(seed).integer("placement") for seed in range(200)]
    assert min(drawn) >= 0
    assert 2**62 < max(drawn) < 2**63


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7", None, float("nan")])
def test_a_seed_that_is_no_whole_number_from_0_is_refused(seed):
    with pytest.raises(InputError, match=r"^seed must be a whole number of at least 0") as refused:
        Streams(seed)
    assert "\n" not in str(refused.value)


def test_a_numpy_seed_is_the_same_seed():
    assert Streams(np.int64(5)).integer("a") == Streams(5).integer("a")


def test_a_stream_goes_on_after_pickling():
    stream = Streams(1)["a"]
    stream.random(3)
    assert pickle.loads(pickle.dumps(stream)).random() == stream.random()


def test_the_same_bits_in_another_process():
    message = "from workbench.streams import Streams as S; print(S(7).uniforms('sizes', 5).tolist(), S(7).integer('p'))"
    env = {**os.environ, "PYTHONHASHSEED": "1"}
    reply = subprocess.run([sys.executable, "-c", message], capture_output=True, text=True, check=True, env=env).stdout
    assert reply.strip() == f"{Streams(7).uniforms('sizes', 5).tolist()} {Streams(7).integer('p')}"


def test_the_same_bits_as_on_the_day_they_were_first_drawn():
    """Golden: printed by this code on 2026-11-21 with NumPy 2.4.6 on x86-64; stored runs rest on them."""
    assert Streams(7).integer("placement") == 4779114798229570096
    upper_bits = [round(number * 2**53) for number in Streams(7).uniforms("sizes", 3)]
    assert upper_bits == [2518778071842092, 8394066337661373, 6091217045501588]
