"""The moment that an advice is about: what it says is what an independent walk of the pickle tells, and bounds hold."""

import pickle
import re

import numpy as np
import pytest

import workbench as wb
from tests import public_traces
from tests.advice.torch_memory.test_causes import MADE
from tests.advice.torch_memory.test_lives import SHIPPED, plain
from tests.oracles import torch_memory
from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder, exercised
from tests.slow import thinned
from workbench.advice.torch_memory import advice as advice_module
from workbench.advice.torch_memory.holdings import by_site, free_of
from workbench.advice.torch_memory.snapshot import card_histories
from workbench.advice.torch_memory.trial import replay_on_card
from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.replay import continuing

OWNERS = tuple((k * 0x40, (0, 0)) for k in range(3))
POOLS = ((0, (0, 0)), (7, (0, 0)), (0, (0, 1)), (7, (0, 1)), (9, (3, 0)))
WAYS = {
    "as PyTorch is": Rules(),
    "max_split_size": Rules(max_split=24 * MIB),
    "roundup": Rules(divisions=(4,) * 16),
    "a full card": Rules(card=220 * MIB),
    "expandable": Rules(expandable=True),
}


def printed(pattern, line):
    """The bytes that a line names."""
    match = re.search(pattern.replace("SIZE", r"([\d.]+) ([KMGT]?i?B)"), line)
    return float(match[1]) * (1 << 10 * ("B", "KiB", "MiB", "GiB", "TiB").index(match[2])) if match else 0


@pytest.mark.parametrize(
    "place", [*sorted(MADE.glob("*.gz")), *thinned([*public_traces.recordings(), SHIPPED], 9)], ids=lambda it: it.name
)
def test_the_printed_lines_hold_their_bounds(place, monkeypatch):
    """Rounded to the nearest, 3.026 GiB live and 507.4 MiB pinned were more than the 3.521 GiB that they need."""
    monkeypatch.setattr(advice_module, "TRIALS", 2)
    monkeypatch.setattr(advice_module, "FEWEST", 2)
    lines = wb.advise(place).lines()
    live, pinned = printed("SIZE live", lines[1]), printed("pin SIZE", lines[1])
    card, peak = printed("where PyTorch gets SIZE or more", lines[4]), printed("reserves SIZE at its peak", lines[4])
    assert 0 < live + pinned <= card <= peak


def as_a_walk_tells(card, snapshot):
    """Live, pinned, pooled and returning bytes and holders are those of the walk; the smallest card lies between."""
    reserved, kept = torch_memory.history(snapshot, card.log.device, {card.decisive})
    (held,) = kept.values()
    segments = card.segments(card.decisive)
    free, live = free_of(segments), sum(block.size for it in segments for block in it.blocks)
    apart = torch_memory.free_bytes(snapshot, card.log.device, held)
    assert sum(it.size for it in segments) == reserved[card.decisive]
    assert 0 <= live - sum(held.live.values()) <= held.doubt
    assert (free.returns, free.pooled) == (apart["returning"], apart["pooled"])
    assert 0 <= apart["pinned"] - free.pinned <= held.doubt
    names = {holder.name: holder.bytes for holder in by_site(segments)}
    for name, size in torch_memory.holders(held).items():
        assert 0 <= names[name] - size <= held.doubt
    need = card.need
    assert live + free.pinned <= need.smallest_card_bytes <= need.reserved_peak_bytes
    if card.failure is None:
        assert need.reserved_peak_bytes == max(reserved)


@pytest.mark.parametrize("kept", [1 << 30, 300, 40])
@pytest.mark.parametrize("seed", thinned([*range(8)], 2))
@pytest.mark.parametrize("way", WAYS)
def test_of_a_made_up_recording(tmp_path, way, seed, kept):
    """Live and pinned bytes were more than the smallest card: the lines and the card were of two moments."""
    owners = POOLS if way != "expandable" and seed % 2 else OWNERS
    snapshot = exercised(Recorder(WAYS[way], owners, seed, tells_pools=True), 400, seed).snapshot(kept)
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    (card,) = card_histories(place)
    assert card.replay.exactness.is_exact
    as_a_walk_tells(card, snapshot)


@pytest.mark.parametrize("place", [SHIPPED, *sorted(MADE.glob("*.gz"))], ids=lambda place: place.name)
def test_of_a_snapshot_of_the_project(place):
    (card,) = card_histories(place)
    as_a_walk_tells(card, plain(place))


@pytest.mark.needs("public traces")
@pytest.mark.parametrize("place", thinned(public_traces.recordings(), 9), ids=lambda place: place.name)
def test_of_a_public_recording(place):
    snapshot = plain(place)
    for card in card_histories(place):
        as_a_walk_tells(card, snapshot)


@pytest.mark.parametrize("seed", [*thinned([*range(12)], 4), 43])
def test_every_card_from_the_smallest_on_serves_all_and_the_next_smaller_one_runs_out_then(tmp_path, seed):
    """A card between two that are large enough can be too small: an early flush lays out memory better. The search took
    the lowest, and "or more" was false."""
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(Rules(), OWNERS, seed), 200, seed).snapshot()))
    (card,) = card_histories(place)
    smallest, step = card._replayed_need.smallest_card_bytes, 2 * MIB
    peak = int(card.recorded.reserved.max())
    for size in range(smallest, peak + 1, step):
        assert not replay_on_card(card.requests, card.own, size).refused
    below = replay_on_card(card.requests, card.own, smallest - step)
    assert below.refused and card.requests.event[below.first_refused] == card.tightest.event


def test_a_beginning_that_holds_too_much_is_the_tightest(tmp_path):
    """What is free as a whole goes back before the first event; what is live and pinned then needs the card."""
    made = Recorder(Rules())
    held = [made.malloc(0, 30 * MIB) for _ in range(4)]
    for address in held[:3]:
        made.free(address)
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(made.snapshot(2)))
    (card,) = card_histories(place)
    assert card.recorded.reserved.tolist() == [120 * MIB] * 3
    assert card.need.smallest_card_bytes == card._replayed_need.smallest_card_bytes == 60 * MIB
    assert (card.tightest.event, card.decisive) == (-1, 0)


@pytest.mark.parametrize("seed", thinned([*range(8)], 3))
@pytest.mark.parametrize("way", ["as PyTorch is", "max_split_size", "expandable"])
def test_what_the_recorded_settings_need_is_replayed_from_the_recorded_beginning(tmp_path, way, seed):
    """It was laid out again, where less is pinned: 13.07 GiB stood below 13.21 that were live and pinned."""
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(WAYS[way], OWNERS[:1], seed), 300, seed).snapshot(60)))
    (card,) = card_histories(place)
    replay = continuing(card.replay.recording)
    played = replay_on_card(replay, card.own)
    assert replay.live[-1] == card.recorded.allocated[-1]
    gets = np.flatnonzero(replay.requests.kind == rows.ALLOC)
    assert played.placed[gets].tolist() == card.log.events.address[replay.event[gets]].tolist()
    assert max(played.reserved.max(), played.reserved_at_start) == card.recorded.reserved.max()
    assert card._replayed_need.smallest_card_bytes == min(
        size
        for size in range(2 * MIB, int(card.recorded.reserved.max()) + 1, 2 * MIB)
        if all(not replay_on_card(replay, card.own, k).refused for k in range(size, size + 20 * MIB, 2 * MIB))
    )
