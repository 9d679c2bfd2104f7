"""A server against its slow twin: every block, when it is got and given back, and how full it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import serving as twin
from workbench.workloads.pool_requests import ALLOC
from workbench.workloads.serving import Paged, ReserveExact, ReserveLongest, ReservePowerOfTwo, Traffic
from workbench.workloads.serving.server import Rows, Server, ServerRules

STEP, TOKEN, LONGEST = 10, 64, 24
REQUESTS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 14), st.integers(1, 10), st.integers(-1, 1)), min_size=1, max_size=9
)
LAYOUTS = (ReserveLongest(), ReservePowerOfTwo(), ReserveExact(), Paged(block_tokens=1), Paged(block_tokens=4))


def traffic_of(reply):
    gaps, prompt, answer, prefix = (np.array(column, np.int64) for column in zip(*reply, strict=True))
    return Traffic(np.cumsum(gaps) * STEP, prompt, answer, np.where(prompt > 5, prefix, -1))


def served(reply, layout, tokens, prefix_tokens=5):
    """What a server of so many tokens asks for, and what became of its requests."""
    rules = ServerRules(layout, LONGEST, TOKEN, 0, STEP, prefix_tokens, tokens * TOKEN)
    rows = Rows(0, 1)
    fates = Server(traffic_of(reply), rules, rows).run()
    return rows.requests(), fates


def blocks_of(requested):
    """Each block as (tokens, steps from when to when, token-steps that held data)."""
    result, ends = {}, {}
    for row in range(len(requested.time)):
        handle = int(requested.handle[row])
        if requested.action[row] == ALLOC:
            result[handle] = row
        else:
            ends[handle] = int(requested.time[row]) // STEP
    return [
        (
            int(requested.bytes[row]) // TOKEN,
            int(requested.time[row]) // STEP,
            ends[handle],
            requested.filled[row] / TOKEN / STEP,
        )
        for handle, row in result.items()
    ]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda it: it.short())
@given(told=REQUESTS, tokens=st.sampled_from([24, 28, 40, 100]))
def test_it_asks_for_what_its_twin_asks_for(layout, told, tokens):
    requested, fates = served(told, layout, tokens)
    traffic = traffic_of(told)
    columns = (column.tolist() for column in (traffic.arrival // STEP, *traffic[1:]))
    requests = [twin.Request(number, *row) for number, row in enumerate(zip(*columns, strict=True))]
    reserve = None if layout.block else lambda prompt, answer: layout.tokens(prompt, answer, LONGEST)
    blocks = twin.serve(requests, tokens // (layout.block or 1), layout.block, reserve, 5)
    expected = [(block.tokens, block.born, block.died, block.token_steps) for block in blocks]
    assert sorted(blocks_of(requested)) == sorted(expected)
    assert fates.preemptions.tolist() == [request.preempted for request in requests]
    assert (fates.finished // STEP).tolist() == [request.finished for request in requests]


@given(told=REQUESTS)
def test_it_never_has_more_than_it_may_and_gives_everything_back(told):
    requested, fates = served(told, Paged(block_tokens=4), 28)
    held = np.cumsum(np.where(requested.action == ALLOC, requested.bytes, -requested.bytes))
    assert held.max() <= 28 * TOKEN
    assert held[-1] == 0
    assert (np.diff(requested.time) >= 0).all()
    assert (fates.admitted >= traffic_of(told).arrival).all()
    assert fates.preemptions[0] == 0, "who came first is never preempted"


def test_preemption_happens_and_what_was_answered_is_kept():
    messages = [(0, 8, 8, -1), (0, 8, 8, -1)]
    _, fates = served(messages, Paged(block_tokens=4), 24)
    assert fates.preemptions.tolist() == [0, 1]
    assert (fates.finished // STEP).tolist() == [8, 12], "after 4 tokens it waits for the other and has 4 to go"


def test_a_prefix_that_two_share_is_there_once():
    messages = [(0, 10, 2, 0), (0, 10, 2, 0), (0, 10, 2, -1)]
    requested, _ = served(messages, Paged(block_tokens=4), 100, prefix_tokens=9)
    at_start = (requested.time == 0) & (requested.action == ALLOC)
    assert at_start.sum() == 2 + 1 + 1 + 3, "two shared blocks, one of each request's own, three of the third"


@pytest.mark.parametrize(
    ("layout", "tokens"), [(ReserveLongest(), 24), (ReservePowerOfTwo(), 15), (ReserveExact(), 12)]
)
def test_a_region_is_as_long_as_its_rule_says(layout, tokens):
    requested, _ = served([(0, 7, 5, -1)], layout, 100)
    assert requested.bytes.tolist() == [tokens * TOKEN] * 2
    assert requested.filled[0] == TOKEN * STEP * (7 * 5 + 4 + 3 + 2 + 1)
