"""The event log of a memory pool, derived from its record: grant, release, return_to_driver, refuse, misuse."""

from __future__ import annotations

import numpy as np

from workbench.records.pool import BYTES, CARD, IDENTIFIER, OUTCOMES, RELEASED, ROW, PoolRecord, granted, was_asked

KINDS = ("release", "return_to_driver", "grant", "refuse", "misuse")
_RELEASE, _RETURN, _GRANT, _REFUSE, _MISUSE = range(5)


def events(record: PoolRecord) -> dict[str, np.ndarray]:
    """Every event in its total order (request, rank, serial), as columns.

    Of one request the release comes first, then what goes back to the driver, then the grant or the refusal. `cycle` is
    the nanosecond at which the request was served; `bytes` are those of the region, of a refusal what was asked for.
    What was never asked is no event.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ... in the total order), kind, handle, app, borrower, card, identifier, bytes, source
        (what came of the request, such as cached or physical), waited (nanoseconds in the queue for memory).
    """
    rows, kind, card, identifier, size = (
        np.concatenate(column) for column in zip(_requests(record), _returns(record), strict=True)
    )
    place = np.lexsort((np.arange(len(rows)), kind, rows))
    rows, kind = rows[place], kind[place]
    return {
        "cycle": record.done[rows],
        "serial": np.arange(len(rows)),
        "kind": np.array(KINDS)[kind],
        "handle": record.handle[rows],
        "app": record.app[rows],
        "borrower": record.borrower[rows],
        "card": card[place],
        "identifier": identifier[place],
        "bytes": size[place],
        "source": np.array(OUTCOMES)[record.outcome[rows]],
        "waited": record.waited[rows],
    }


def _requests(record: PoolRecord) -> tuple[np.ndarray, ...]:
    alloc, done = record.action == 0, granted(record)
    kind = np.where(alloc, np.where(done, _GRANT, _REFUSE), np.where(record.outcome == RELEASED, _RELEASE, _MISUSE))
    size = np.where(done | (record.outcome == RELEASED), record.taken, record.asked)
    asked = was_asked(record)
    return tuple(column[asked] for column in (np.arange(record.time.size), kind, record.card, record.identifier, size))


def _returns(record: PoolRecord) -> tuple[np.ndarray, ...]:
    back = record.calls[record.calls[:, BYTES] < 0]
    kind = np.full(len(back), _RETURN)
    return back[:, ROW], kind, back[:, CARD], back[:, IDENTIFIER], -back[:, BYTES]
