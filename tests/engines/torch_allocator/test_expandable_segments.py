"""Expandable segments at the first kept event: where each begins, and of which pool its mapped ranges are."""

import pickle

import pytest

from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder
from workbench.engines.torch_allocator.recording import recording_of
from workbench.engines.torch_allocator.replay import Exactness, replay_of
from workbench.engines.torch_allocator.state import UNMAPPED
from workbench.workloads.importers import read_trace


def freed(made, count, size):
    """Allocate blocks, then free them all."""
    for address in [made.malloc(0, size) for _ in range(count)]:
        made.free(address)


@pytest.fixture
def later(tmp_path):
    """The log of the events that follow the first ones."""

    def log_of(made, before):
        place = tmp_path / "made.pickle"
        place.write_bytes(pickle.dumps(made.snapshot(len(made.events) - before)))
        (log,) = read_trace(place).logs
        return log

    return log_of


def pools(log):
    """Return whether the mapped ranges at the beginning are small, by address."""
    start = recording_of(log).start
    mapped = start.kind != UNMAPPED
    return dict(zip(start.address[mapped].tolist(), (start.pool[mapped] & 1 > 0).tolist(), strict=True))


def test_a_segment_begins_at_its_first_page_although_that_page_is_unmapped_at_the_beginning(later):
    made = Recorder(Rules(expandable=True))
    first, _ = made.malloc(0, 30 * MIB), made.malloc(0, 30 * MIB)
    made.free(first)
    made.empty_cache()
    before = len(made.events)
    assert made.malloc(0, 12 * MIB) == first
    log = later(made, before)
    start = recording_of(log).start
    assert (start.address[0], start.kind[0], start.base.tolist()) == (first, UNMAPPED, [first] * len(start.base))
    assert replay_of(log).exactness.is_exact


def test_blocks_tell_the_pool_of_a_range_whose_size_fits_both(later):
    made = Recorder(Rules(expandable=True))
    held = [made.malloc(0, MIB) for _ in range(40)]
    before = len(made.events)
    for address in held:
        made.free(address)
    made.empty_cache()
    log = later(made, before)
    assert [event["size"] for event in made.events[-1:]] == [40 * MIB]
    assert {*pools(log).values()} == {True} and not recording_of(log).guessed_segments


@pytest.mark.parametrize("sizes", [(MIB, 12 * MIB), (12 * MIB, MIB)])
def test_the_other_segment_of_a_stream_tells_the_pool_of_a_range_without_a_block(later, sizes):
    """A stream has one segment a pool; the one that is emptied first is taken back last."""
    made = Recorder(Rules(expandable=True))
    for size in sizes:
        freed(made, 40 * MIB // size, size)
    before = len(made.events)
    made.free(made.malloc(0, 30 * MIB))
    made.empty_cache()
    log = later(made, before)
    assert [small for _, small in sorted(pools(log).items())] == [size <= MIB for size in sizes]
    replay = replay_of(log)
    assert replay.exactness.is_exact and not replay.recording.guessed_segments


def test_a_range_of_which_nothing_tells_the_pool_is_a_guess(later):
    made = Recorder(Rules(expandable=True, divisions=(2,) * 16))
    freed(made, 40, MIB)
    before = len(made.events)
    made.empty_cache()
    made.malloc(0, 5 * MIB)
    made.malloc(0, 5 * MIB)
    log = later(made, before)
    exact = replay_of(log).exactness
    assert exact == Exactness(1, 1, 2, 2, guessed_segments=1) and "guess" not in str(exact)
    wrong = replay_of(log._replace(settings={**log.settings, "roundup_power2_divisions": {}})).exactness
    assert str(wrong).endswith(
        ", addresses 1 of 2; the beginning is a guess, as no event tells the pool of some of its memory"
    )
