"""The event log of PyTorch's allocator, derived from its record: blocks got and given back, calls of the driver."""

from __future__ import annotations

import numpy as np

from workbench.records.torch_allocator import ADDRESS, ALLOC, BYTES, ROW, AllocatorRecord, CardRun

KINDS = ("driver_alloc", "driver_free", "grant", "refuse", "release")
_GOT, _GAVE, _GRANT, _REFUSE, _RELEASE = range(5)


def events(record: AllocatorRecord) -> dict[str, np.ndarray]:
    """Return every event in its total order (card, request, rank), as columns.

    Of one request the driver's calls come first, then what became of it.

    Returns
    -------
    dict of arrays
        cycle (the number of the request), serial (0, 1, 2, ... in the total order), kind, card, handle (-1 of driver
        calls), address, bytes.
    """
    parts = [_of_card(number, run) for number, run in enumerate(record.cards)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0, np.int64)] * 6
    cycle, kind, card, handle, address, size = columns
    return {
        "cycle": cycle,
        "serial": np.arange(len(cycle)),
        "kind": np.array(KINDS)[kind],
        "card": card,
        "handle": handle,
        "address": address,
        "bytes": size,
    }


def _of_card(number: int, run: CardRun) -> tuple[np.ndarray, ...]:
    calls, rows = run.calls, np.arange(len(run.kind))
    did = np.where(run.kind == ALLOC, np.where(run.placed >= 0, _GRANT, _REFUSE), _RELEASE)
    cycle = np.concatenate([calls[:, ROW], rows])
    kind = np.concatenate([np.where(calls[:, BYTES] > 0, _GOT, _GAVE), did])
    handle = np.concatenate([np.full(len(calls), -1), run.handle])
    address = np.concatenate([calls[:, ADDRESS], run.placed])
    size = np.concatenate([np.abs(calls[:, BYTES]), run.size])
    order = np.lexsort((np.arange(len(cycle)), kind >= _GRANT, cycle))
    return cycle[order], kind[order], np.full(len(cycle), number), handle[order], address[order], size[order]
