"""The timeline: at each of its moments the pieces add up to what is live, and the failed request is drawn."""

import pickle
import re

import numpy as np
import pytest

import workbench as wb
from benchmarks.memory_timeline import recording
from tests import public_traces
from tests.advice.torch_memory.test_growth import Program, train
from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder, exercised
from tests.slow import thinned
from workbench.advice.torch_memory.snapshot import card_histories
from workbench.advice.torch_memory.timeline import MOST_PIECES, PLACES, columns_of, timeline_of
from workbench.advice.torch_memory.timeline_chart import timeline_chart

STREAMS = ((0, (0, 0)), (0x40, (0, 0)))


def made(tmp_path, seed, kept=1 << 30):
    place = tmp_path / f"{seed}.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(Rules(), STREAMS, seed), 300, seed).snapshot(kept)))
    return card_histories(place)[0]


def check(card, drawn):
    """Each place is a moment of the history; pieces, bands and rest are its live bytes, stack by stack."""
    assert (np.diff(drawn.moments) > 0).all() and drawn.moments[drawn.decisive] == card.decisive
    heights = np.zeros(len(drawn.moments), np.int64)
    for piece, bottom in zip(drawn.pieces, drawn.bottoms(), strict=True):
        own = slice(piece.first, piece.end)
        assert bottom.tolist() == heights[own].tolist()
        heights[own] += piece.bytes
    heights += sum((band.bytes for band in drawn.bands), np.zeros(len(heights), np.int64)) + drawn.rest
    assert heights.tolist() == drawn.live.tolist() and (drawn.rest >= 0).all()
    for place in range(0, len(drawn.moments), 7):
        moment = card.moment(int(drawn.moments[place]))
        assert (moment.block_bytes, moment.reserved_bytes) == (drawn.live[place], drawn.reserved[place])


@pytest.mark.parametrize("places", [1, 13, 100, 10_000])
def test_pieces_add_up_to_what_is_live_at_each_moment(tmp_path, places):
    for seed, kept in ((1, 1 << 30), (2, 200)):
        card = made(tmp_path, seed, kept)
        drawn = timeline_of(card, places)
        check(card, drawn)
        assert len(drawn.moments) == min(places, card.events + 1)
        few = timeline_of(card, places, most=3)
        assert len(few.pieces) <= 3 and few.live.tolist() == drawn.live.tolist()
        check(card, few)


def test_the_highest_moment_of_a_history_is_drawn(tmp_path):
    card = made(tmp_path, 3)
    drawn = timeline_of(card, 10)
    live = [card.moment(after).block_bytes for after in range(card.events + 1)]
    stretch = len(live) // 10 + 1
    assert drawn.live.max() == max(live) or abs(live.index(max(live)) - card.decisive) <= stretch


def test_the_bytes_of_a_stack_are_those_of_its_blocks(tmp_path):
    program = Program()
    train(program, 5)
    card = program.history(tmp_path)
    drawn = timeline_of(card, 10_000)
    for place in range(0, len(drawn.moments), 11):
        here = [it for it in drawn.pieces if it.first <= place < it.end]
        totals = {site: sum(it.bytes for it in here if it.site == site) for site in {it.site for it in here}}
        moment = card.moment(int(drawn.moments[place]))
        names = [card.log.sites[site] for site in moment.site.tolist()]
        assert totals == {
            name: sum(size for one, size in zip(names, moment.size.tolist(), strict=True) if one == name)
            for name in set(names)
            if name != "train/loss.py:7 step"  # too small to be drawn
        }


@public_traces.needs_public_traces
@pytest.mark.parametrize("place", thinned(public_traces.recordings(), 9), ids=lambda place: place.name)
def test_it_holds_for_public_recordings(place):
    for card in card_histories(place):
        if card.events:
            check(card, timeline_of(card, 60))


def failed(tmp_path):
    program = Program(card=1 << 30)
    held = [program.ask("weights.py:3", 100) for _ in range(9)]
    program.free(held[2])
    assert program.ask("attention.py:7", 300) is None
    place = tmp_path / "failed.pickle"
    place.write_bytes(pickle.dumps(program.snapshot()))
    return wb.advise(place)


def test_the_card_at_the_moment_is_live_free_and_what_was_left(tmp_path):
    advice = failed(tmp_path)
    kinds = columns_of(advice.segments, advice.cards[0].failure)
    assert sum(kind.bytes for kind in kinds) == advice.cards[0].failure.room_bytes == 1 << 30
    assert kinds[0].bytes == 800 * MIB


def test_the_page_has_the_request_that_failed_and_what_was_left(tmp_path):
    """The page showed curves that ended, and neither the request nor the end of the card."""
    advice = failed(tmp_path)
    page = advice.html()
    for text in (
        "the request that failed",
        "<td>requested</td><td>300 MiB</td>",
        "<td>requested by</td><td>train/attention.py:7 step</td>",
        "<td>left on the card</td><td>224 MiB</td>",
        f"failed: event {advice.cards[0].failure.event + 1}",
        "requested 300 MiB",
        "the card had 1 GiB",
        "<h2>GPU 0: live blocks over events, by stack</h2>",
    ):
        assert text in page, text
    assert "what grows from step to step" not in page
    titles = re.findall(r"<title>(\d+) MiB in \d+ blocks?: train/weights.py:3 step &lt; train/run.py:1 main", page)
    assert sum(map(int, titles)) == 900


def test_the_page_has_a_curve_of_each_line_that_grows(tmp_path):
    program = Program()
    train(program, 20, lambda step: (program.ask("log.py:5", 12), program.ask("log.py:8", 20)))
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(program.snapshot()))
    page = wb.advise(place).html()
    part = page.split("what grows from step to step</h2>")[1].split("<h2>")[0]
    assert re.findall(r"<title>([^<]*) at most</title>", part) == [
        "train/log.py:8 step: 400 MiB",
        "train/log.py:5 step: 240 MiB",
    ]
    assert "the request that failed" not in page and "failed:" not in page


def test_the_picture_does_not_grow_with_the_history(tmp_path):
    """The recordings of benchmarks/memory_timeline.py replay as they were made, and their pictures are as large."""
    pages = []
    for events in (6_000, 24_000):
        place = tmp_path / f"{events}.pickle"
        place.write_bytes(pickle.dumps(recording(events)))
        (card,) = card_histories(place)
        assert card.replay.exactness.is_exact and card.events >= events
        drawn = timeline_of(card)
        check(card, drawn)
        assert len(drawn.moments) <= PLACES and len(drawn.pieces) <= MOST_PIECES
        pages.append(len(timeline_chart(drawn, columns_of(card.segments(card.decisive), None), None, None)))
    assert pages[1] < 1.5 * pages[0]
