"""A trace of addresses, and its footprint: how many pages its addresses lie in.

A trace of addresses says what each warp executed, in its order, not when. Reading keeps the distinct pages and warps,
not the addresses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.workloads.importers.trace import Trace
from workbench.workloads.importers.warp_reader import Touches

_SIZES = {"pages_4k": 12, "pages_64k": 16, "pages_2m": 21}
"""Bits of the address within a page."""


class AddressTrace(Trace):
    """A trace that says what its kernels touched, not how long they ran: it gives accesses, never workgroups."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of its format, and what it lacks."""
        return {"format": self.format, **self.noted, "missing": self.missing()}

    def missing(self, needed: object = ()) -> list[str]:
        """Return that a trace of addresses has no times, whatever is needed."""
        return ["it holds no times (it says what each warp executed, in its order, not when)"]


class Footprint:
    """The global addresses of one trace, or of all traces of a list; it grows with the pages, not with the addresses.

    >>> footprint = Footprint()
    >>> none = np.empty(0, np.int64)
    >>> footprint.add(Touches(none, none, none, np.array(addresses)) for addresses in ([0, 4095, 4096], [9000]))
    >>> footprint.facts()["pages_4k"], footprint.facts()["highest_address"]
    (3, '0x2328')
    """

    def __init__(self) -> None:
        self.addresses = 0
        self._pages = dict.fromkeys(_SIZES, np.empty(0, np.int64))
        self._lowest, self._highest = 1 << 63, -1

    def add(self, batches: Iterable[Touches]) -> None:
        """Count what some batches touch."""
        for address in (batch.address for batch in batches if len(batch.address)):
            self.addresses += len(address)
            for name, bits in _SIZES.items():
                self._pages[name] = np.union1d(self._pages[name], address >> bits)
            self._lowest = min(self._lowest, int(address.min()))
            self._highest = max(self._highest, int(address.max()))

    def facts(self) -> dict[str, Any]:
        """Return the counts of addresses and pages, and what lies at the ends."""
        result: dict[str, Any] = {"global_addresses": self.addresses}
        result |= {name: len(pages) for name, pages in self._pages.items()}
        if self.addresses:
            result |= {"lowest_address": hex(self._lowest), "highest_address": hex(self._highest)}
        return result
