"""What the traces of warps hold, in plain types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.workloads.importers.page_set import PageSet
from workbench.workloads.importers.trace import Trace
from workbench.workloads.importers.warp_reader import Touches, WarpReader

_SIZES = {"pages_4k": 1 << 12, "pages_64k": 1 << 16, "pages_2m": 1 << 21}


class AddressTrace(Trace):
    """A trace that says what its kernels touched, not how long they ran: it gives accesses, never workgroups."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of its format, and what it lacks."""
        return {"format": self.format, **self.noted, "missing": self.missing()}

    def missing(self, needed: object = ()) -> list[str]:
        """Return that a trace of addresses has no times, whatever is needed."""
        return ["it holds no times (it says what each warp executed, in its order, not when)"]


class Footprint:
    """The global addresses of one trace, or of all traces of a list."""

    def __init__(self) -> None:
        self.addresses = 0
        self._pages = {name: PageSet(size) for name, size in _SIZES.items()}
        self._lowest, self._highest = 1 << 63, -1

    def passing(self, batches: Iterator[Touches]) -> Iterator[Touches]:
        """Yield the same batches, counted as they go by."""
        for batch in batches:
            self._add(batch)
            yield batch

    def facts(self) -> dict[str, Any]:
        """Return the counts of addresses and pages, and what lies at the ends."""
        result: dict[str, Any] = {"global_addresses": self.addresses}
        result |= {name: len(pages) for name, pages in self._pages.items()}
        if self.addresses:
            result |= {"lowest_address": hex(self._lowest), "highest_address": hex(self._highest)}
        return result

    def _add(self, batch: Touches) -> None:
        if not len(batch.address):
            return
        self.addresses += len(batch.address)
        for pages in self._pages.values():
            pages.add(batch.address)
        self._lowest = min(self._lowest, int(batch.address.min()))
        self._highest = max(self._highest, int(batch.address.max()))


def warp_facts(reader: WarpReader, footprint: Footprint) -> dict[str, Any]:
    """Return the facts of one trace; it is read to its end."""
    for _ in footprint.passing(reader.batches()):
        pass
    header, of_memory = reader.header, sum(reader.opcodes.values())
    return {
        "kernels": 1,
        "unique_names": 1,
        "kernel_name": header.kernel,
        "grid": list(header.grid),
        "block": list(header.block),
        "max_shared_bytes": header.shared_bytes,
        "registers": header.registers,
        "binary_version": header.compute_capability,
        "tracer_version": header.version,
        "thread_blocks": reader.blocks,
        "warps": len(reader.warps),
        "instructions": reader.instructions,
        **({"instructions_declared": reader.declared} if reader.grouped else {}),
        "memory_instructions": of_memory,
        "shared_memory_instructions": reader.of_shared,
        "global_memory_instructions": of_memory - reader.of_shared,
        **footprint.facts(),
        "memory_opcodes": dict(sorted(reader.opcodes.items())),
        "address_modes": {str(mode): count for mode, count in sorted(reader.modes.items())},
    }
