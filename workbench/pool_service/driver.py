"""The driver of one card: gives ranges of its arena, with pages behind them, and takes them back as zeros."""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory

import numpy as np

from workbench.pool_service.arenas import discard_pages, memory_of, reserve_pages
from workbench.pool_service.protocol import NO_PAGES, Refusal
from workbench.pool_service.slots import PAGE, Slots


class Driver:
    """The arena of a card, of which whole ranges are given and taken back.

    Parameters
    ----------
    size : int
        Bytes of the card; who asks never has more of them at a time.
    arena : SharedMemory or None
        None = a card without memory, or addresses alone.

    Examples
    --------
    >>> driver = Driver(1 << 20)
    >>> one, other = driver.take(5000), driver.take(5000)
    >>> other - one, driver.give_back(one, 5000), driver.take(6000) == one
    (8192, None, True)

    References
    ----------
    spec 5, R7, R13, R29, E20.
    """

    def __init__(self, size: int, arena: SharedMemory | None = None) -> None:
        self._slots, self._arena, self.bytes = Slots(size), arena, size

    def take(self, size: int) -> int:
        """Take the start of a range of zeros that nobody else has.

        Raises
        ------
        Refusal
            The system has no pages left; nothing has changed.
        """
        start = self._slots.take(size)
        try:
            if self._arena is not None:
                reserve_pages(self._arena, start, size)
        except OSError:
            self._slots.give_back(start, size)
            raise Refusal(NO_PAGES) from None
        return start

    def gives(self, start: int, size: int) -> bool:
        """Return whether a range is one that `take` may return for a size."""
        return self._slots.is_slot(start, size)

    def take_all(self, taken: list[tuple[int, int]]) -> None:
        """Begin with these (start, bytes) given, as a service that was killed had given them."""
        self._slots.take_all(taken)

    def give_back(self, start: int, size: int) -> None:
        """Give a range back; whoever gets it next finds zeros, as from a driver."""
        if self._arena is not None:
            if size >= PAGE:
                discard_pages(self._arena, start, size)
            else:
                self.zero(start, size)
        self._slots.give_back(start, size)

    def zero(self, start: int, size: int) -> None:
        """Fill a range with zeros (spec 5, E20)."""
        if self._arena is not None:
            np.frombuffer(memory_of(self._arena), np.uint8)[start : start + size] = 0
