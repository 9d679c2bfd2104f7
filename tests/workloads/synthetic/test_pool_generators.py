"""Generators of requests to several cards: who holds how much at the peak, nothing freed twice, nothing left."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.errors import InputError
from workbench.machine import Board, Card, Link, preset
from workbench.streams import Streams
from workbench.workloads.generators import read_regime, regimes
from workbench.workloads.pool_requests import ALLOC, matched_by_size, one_handle_each
from workbench.workloads.synthetic.memory_jobs import FullCard, MixedJobs
from workbench.workloads.synthetic.portable_math import power
from workbench.workloads.synthetic.training_memory import DataParallel, PipelineParallel, in_flight
from workbench.workloads.workload_key import read_workload

GB = 10**9
BOARD = Board(
    cards=(
        Card(id="cpu0", kind="cpu", memory_bytes=64 * GB),
        *(Card(id=f"g{k}", memory_bytes=8 * GB) for k in range(4)),
    ),
    links=tuple(Link(between=f"cpu0 g{k}", gbps=12.0) for k in range(4)),
)


def peaks(requested, machine=BOARD):
    """The most that was live at once of each GPU's applications over its memory; every handle is used as it must be."""
    live, now, most = {}, defaultdict(int), defaultdict(int)
    assert (np.diff(requested.time) >= 0).all()
    for card, action, handle, size in zip(
        *(c.tolist() for c in (requested.card, requested.action, requested.handle, requested.bytes))
    ):
        if action == ALLOC:
            assert handle not in live
            assert size > 0
            live[handle] = size
            now[card] += size
            most[card] = max(most[card], now[card])
        else:
            assert live.pop(handle) == size
            now[card] -= size
    assert not live
    return [most[k] / card.memory_bytes for k, card in enumerate(machine.cards) if card.kind == "gpu"]


@pytest.mark.parametrize("name", regimes("pool_requests"))
def test_every_regime_gives_requests_for_the_machine_that_it_was_stated_for(name):
    result = read_regime(name, wants="pool_requests")
    board = preset(result.machine).machine()
    requests = result.workload.pool_requests(board, Streams(2))
    assert len(peaks(requests, board)) == 8
    again = read_workload(name, wants="pool_requests").pool_requests(board, Streams(2))
    assert [column.tolist() for column in again] == [column.tolist() for column in requests]


@given(seed=st.integers(0, 99), footprint=st.floats(0.05, 3), kept=st.floats(0, 0.9), others=st.floats(0, 0.5))
@examples(8, 75)
def test_footprints_are_what_is_asked_for(seed, footprint, kept, others):
    exactly = {"rel": 1e-6}
    same = DataParallel(footprint=footprint, kept=kept, iterations=2).pool_requests(BOARD, Streams(seed))
    assert peaks(same) == pytest.approx([footprint] * 4, **exactly)
    staged = PipelineParallel(footprint=footprint, kept=kept, iterations=2, micro_batches=5)
    stages = [footprint * (kept + (1 - kept) * (4 - stage) / 4) for stage in range(4)]
    assert peaks(staged.pool_requests(BOARD, Streams(seed))) == pytest.approx(stages, **exactly)
    full = FullCard(footprint=footprint, others=others, later=0.25, renewed=20)
    assert peaks(full.pool_requests(BOARD, Streams(seed))) == pytest.approx(
        [footprint] + [others + 0.25] * 3, **exactly
    )


def test_ranks_ask_for_the_same_at_times_of_their_own():
    requests = DataParallel(iterations=2).pool_requests(BOARD, Streams(1))
    ranks = [requests.bytes[requests.app == rank].tolist() for rank in range(4)]
    assert ranks[0] == ranks[1] == ranks[2] == ranks[3]
    assert requests.time[requests.app == 0].tolist() != requests.time[requests.app == 1].tolist()


def test_lenders_grow_only_when_the_first_card_has_filled_up():
    requests = FullCard(footprint=2, others=0.1, later=0.5).pool_requests(BOARD, Streams(1))
    filled = requests.time[(requests.app == 0) & (requests.action == ALLOC)].max()
    later = (requests.app > 0) & (requests.action == ALLOC) & (requests.time > filled)
    per_lender = [requests.bytes[later & (requests.app == app)].sum() for app in (1, 2, 3)]
    assert per_lender == [4 * GB] * 3


def test_one_forward_one_backward():
    for count, most in ((5, 2), (3, 3), (2, 1)):
        order = in_flight(count, most)
        assert sorted(order.tolist()) == sorted([*range(1, count + 1), *(-n for n in range(1, count + 1))])
        assert np.cumsum(np.sign(order)).max() == most


def test_mixed_jobs_ask_for_their_load():
    jobs = MixedJobs(jobs=2000, duration=1_000_000, arrival={"poisson_load": 0.5}, size=100_000_000, gap=1)
    requests = jobs.pool_requests(BOARD, Streams(5))
    signs = np.where(requests.action == ALLOC, requests.bytes, -requests.bytes)
    live = np.cumsum(signs)[:-1] @ np.diff(requests.time) / (requests.time[-1] - requests.time[0])
    assert live / (32 * GB) == pytest.approx(0.5, rel=0.1)


def test_a_skew_sends_most_jobs_to_the_first_cards():
    requests = MixedJobs(jobs=1000, skew=1.0, footprint=1, size=8_000_000_000).pool_requests(BOARD, Streams(5))
    jobs = np.bincount(requests.card[requests.action == ALLOC], minlength=5)[1:]
    assert jobs / jobs.sum() == pytest.approx(np.array([12, 6, 4, 3]) / 25, abs=0.03)


@pytest.mark.parametrize("kind", [DataParallel, PipelineParallel, FullCard, MixedJobs])
def test_blocks_that_no_card_holds_are_refused(kind):
    small = BOARD.but(cards=tuple(card.but(memory_bytes=GB) for card in BOARD.cards))
    with pytest.raises(InputError) as refused:
        kind().check_machine(small, "workload", "a.yaml")
    says = "a.yaml: workload.size must draw at most 1000000000 bytes, which the largest card has. Got up to 2000000000."
    assert str(refused.value) == f"{says} Nearest: log_uniform.high = 1000000000."


def test_blocks_that_are_too_small_are_refused():
    with pytest.raises(InputError, match=r"full_card.size must draw larger blocks: 2400000000 bytes would take more"):
        FullCard(footprint=2, size=64).pool_requests(BOARD, Streams(0))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 3)), max_size=30))
@examples(20, 300)
def test_a_release_names_the_latest_allocation_of_its_application(rows):
    app, name = (np.array([row[k] for row in rows], np.int64) for k in (1, 2))
    action = np.array([int(row[0]) for row in rows], np.int8)
    values = one_handle_each(app, action, name)
    made = values[action == ALLOC].tolist()
    assert len(set(made)) == len(made)
    for row in np.flatnonzero(action != ALLOC):
        mine = [k for k in range(row) if action[k] == ALLOC and (app[k], name[k]) == (app[row], name[row])]
        if mine and len(set(name[action == ALLOC].tolist())) < len(made):
            assert values[row] == values[mine[-1]]


@given(st.lists(st.integers(1, 4), max_size=8), st.lists(st.integers(-4, 4).filter(bool), max_size=20))
@examples(20, 300)
def test_sizes_alone_match_a_release_with_a_live_block_of_its_size(before, changes):
    live = dict(enumerate(before))
    for number, change in zip(matched_by_size(changes, before), changes, strict=True):
        if change > 0:
            assert number not in live
            live[number] = change
        elif -change in live.values():
            assert live.pop(number) == -change
        else:
            assert number not in live


def test_powers_of_two_are_those_of_the_library():
    exponents = np.linspace(-40, 40, 4001)
    assert np.abs(power(exponents) / np.exp2(exponents) - 1).max() < 1e-15
