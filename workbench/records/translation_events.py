"""The event log of a translation hierarchy: access, fill, push, evict, invalidate."""

from __future__ import annotations

import numpy as np

from workbench.records.translation import SERVED_BY, TranslationRecord

KINDS = ("access", "fill", "push", "evict", "invalidate")
ACCESS, FILL, PUSH, EVICT, INVALIDATE = range(5)
COLUMNS = 7
"""Of a row of the record's log: cycle, kind, core, page, served by, peer, latency."""


def events(record: TranslationRecord) -> dict[str, np.ndarray]:
    """Return every event by its cycle, as columns; at equal cycles in the order in which they became known.

    The cycle of an access is the one from which its latency counts: at which it could first have been issued. An entry
    comes and goes at the cycle at which it does so: a fill stands at the answer's, not at the miss's.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ...), kind, core, page. Of an access also served_by (private, merged, peer, shared,
        walk), peer (which core helped, -1 = none) and latency in cycles; of a push, peer is the core that caused it.
        What does not belong to a kind is -1, or an empty name. fill, push, evict and invalidate are those of private
        TLBs.
    """
    order = np.argsort(record.log[:, 0], kind="stable")
    cycle, kind, core, page, served, peer, latency = record.log[order].T
    return {
        "cycle": cycle,
        "serial": np.arange(len(cycle)),
        "kind": np.array(KINDS)[kind],
        "core": core,
        "page": page,
        "served_by": np.array([*SERVED_BY, ""])[served],
        "peer": peer,
        "latency": latency,
    }
