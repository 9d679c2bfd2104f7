"""What stops a run of the engine `pool`: kept with the time at which the work on the request began, worded with it."""

from __future__ import annotations

from workbench.compiled import kernel
from workbench.engines.kit.faults import Stop, fail
from workbench.engines.pool.state import COUNT, Columns, State


@kernel
def stopped(state: State, fault: int, row: int, answer: int) -> None:
    """Keep the first fault, at a request."""
    fail(state.counters, fault, state.counters[COUNT.begins], row, answer)


def words(columns: Columns, stop: Stop) -> dict[str, str]:
    """Return where a run stopped: its request, with its bytes and the card that it came from."""
    row = stop.row
    return {"where": f"at request {row} ({columns.size[row]} bytes, from card {columns.borrower[row]})"}
