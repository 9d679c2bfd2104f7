"""What the pool says: answers with their runs of frames, and rows of the log."""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.node.frames import frame_of, run_length
from workbench.engines.node.pool_state import COUNT, GRANTED, NONE, OF, ROW, Jobs
from workbench.structures.size_index import ADDRESS, FIELDS, ORIGIN, SIZE


@kernel
def answer(jobs: Jobs, kind: int, ticket: int, card: int, size: int, address: int, other: int) -> None:
    """Add an answer."""
    row = jobs.answers[jobs.counters[COUNT.answers]]
    row[OF.kind], row[OF.ticket], row[OF.card], row[OF.bytes] = kind, ticket, card, size
    row[OF.address], row[OF.other], row[OF.runs], row[OF.first_run] = address, other, 0, jobs.counters[COUNT.runs]
    jobs.counters[COUNT.answers] += 1


@noinline
def grant(jobs: Jobs, ticket: int, line: int) -> None:
    """Add the answer that grants a region, with the frames of the bytes that were asked for."""
    state, at = jobs.service.state, jobs.counters[COUNT.answers]
    answer(jobs, GRANTED, ticket, state.card[line], state.taken[line], state.identifier[line], NONE)
    left, block = jobs.service.waiting.asked.size[line], int(state.block[line])
    if not (jobs.rates.framed or jobs.rates.placed):
        _add_run(jobs, 0, left)
        block = NONE
    while left > 0 and block != NONE:
        left -= _runs_of_block(jobs, state.card[line], block, left)
        block = int(state.piece[block])
    jobs.answers[at, OF.runs] = jobs.counters[COUNT.runs] - jobs.answers[at, OF.first_run]


@kernel
def _runs_of_block(jobs: Jobs, card: int, block: int, most: int) -> int:
    """Add the runs of a block, of so many bytes at most; return the bytes."""
    nodes, granule = jobs.service.state.blocks.nodes, jobs.frames.granule
    address, origin = nodes[block * FIELDS + ADDRESS], nodes[block * FIELDS + ORIGIN]
    size = min(nodes[block * FIELDS + SIZE], most)
    if jobs.rates.placed:
        driver = jobs.service.state.driver
        _add_run(jobs, driver.start[origin] * driver.granule + address - nodes[origin * FIELDS + ADDRESS], size)
        return int(size)
    at, end = address // granule, (address + size) // granule
    while at < end:
        length = run_length(jobs.frames, card, at, end)
        _add_run(jobs, frame_of(jobs.frames, card, at) * granule, length * granule)
        at += length
    return int(size)


@kernel
def _add_run(jobs: Jobs, start: int, length: int) -> None:
    at = jobs.counters[COUNT.runs]
    jobs.runs[at, 0], jobs.runs[at, 1] = start, length
    jobs.counters[COUNT.runs] += 1


@kernel
def log(jobs: Jobs, kind: int, ticket: int, card: int, address: int, size: int, source: int, borrower: int) -> None:
    """Add a row to the log, where one is kept."""
    if jobs.rates.logs:
        row = jobs.rows[jobs.counters[COUNT.rows]]
        row[ROW.kind], row[ROW.ticket], row[ROW.card], row[ROW.address] = kind, ticket, card, address
        row[ROW.bytes], row[ROW.source], row[ROW.borrower] = size, source, borrower
        jobs.counters[COUNT.rows] += 1
