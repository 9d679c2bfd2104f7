"""One card of a board: a processor with memory of its own, or a switch that only passes data on."""

from __future__ import annotations

from typing import Literal

from workbench.errors import InputError
from workbench.levers import Spec, lever

GIB = 1 << 30
MOST_BYTES = 1 << 50


class Card(Spec):
    """A processor card, or a switch between cards (spec 5, section 2).

    >>> Card(id="gpu3", memory_bytes=256 * 10**9, used_bytes=48 * 10**9).free_bytes
    208000000000
    >>> Card(id="gpu0", memory_bytes=100, used_bytes=200)
    Traceback (most recent call last):
    workbench.errors.InputError: card gpu0: used_bytes must be at most memory_bytes (100). Got 200. Nearest: 100.
    """

    id: str = lever(description="what the card is called, such as gpu3")
    kind: Literal["gpu", "cpu", "switch"] = lever(
        "gpu", description="what it is; a switch has no memory and runs nothing"
    )
    memory_bytes: int = lever(16 * GIB, least=0, most=MOST_BYTES, unit="bytes", description="memory of the card")
    used_bytes: int = lever(
        0, least=0, most=MOST_BYTES, unit="bytes", description="memory that others hold all the time"
    )
    port_gbps: float = lever(
        0.0,
        least=0,
        most=1e6,
        unit="GB/s",
        description="what all its links carry together, per direction; 0 = no limit",
    )

    def check(self) -> None:
        if self.used_bytes > self.memory_bytes:
            most = self.memory_bytes
            raise InputError(
                f"card {self.id}: used_bytes must be at most memory_bytes ({most}). Got {self.used_bytes}. "
                f"Nearest: {most}."
            )
        if self.kind == "switch" and self.memory_bytes:
            raise InputError(
                f"card {self.id}: a switch has no memory. Got memory_bytes {self.memory_bytes}. Nearest: 0."
            )

    @property
    def free_bytes(self) -> int:
        """Return what the driver can give out when nothing is allocated yet (spec 5, V1)."""
        return self.memory_bytes - self.used_bytes
