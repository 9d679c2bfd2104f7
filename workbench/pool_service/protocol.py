"""What client and service say to each other: records of fixed size, as many at a time as there are.

A request is 24 bytes: what is wanted, a card, two numbers. A reply is 24 bytes: a status, a card, two numbers. Replies
come in the order of the requests. Each allocation has a serial of its client's: asked again after the service was
killed, it is granted once. A region's identifier is its card and its offset there, the same for every process
(spec 5, R8): card * 2^48 + offset.
"""

from __future__ import annotations

import struct

REQUEST = struct.Struct("<iiqq")
REPLY = struct.Struct("<iiqq")
Request = tuple[int, int, int, int]
Reply = tuple[int, int, int, int]

HELLO, ALLOC, ALLOC_AGAIN, FREE, OPEN, STATE = range(1, 7)
"""HELLO: own card, client's number (0 = a new one) -> number. ALLOC: the card to start from (-1 = its own), bytes,
serial -> region, bytes of its block; ALLOC_AGAIN: the same, perhaps granted before. FREE: region. OPEN: region ->
region, bytes. STATE: card -> bytes in use, bytes cached."""

FINE, OUT_OF_MEMORY, UNKNOWN_REGION, TOO_LARGE, BAD_REQUEST = range(5)
NOT_HELD, NO_PAGES, NO_JOURNAL, POLICY_FAILED, BUSY = range(5, 10)
"""NO_PAGES: the system has no shared memory left. NO_JOURNAL: what would change cannot be written down. BUSY: there are
as many clients as the second number says, and there can be no more."""

_OFFSET_BITS = 48
MOST_OFFSET = 1 << _OFFSET_BITS


class Refusal(Exception):
    """A request is refused; nothing has changed for anybody."""

    def __init__(self, status: int, number: int = 0) -> None:
        super().__init__(status, number)
        self.status, self.number = status, number
        """The status and the second number of the reply."""


def region_id(card: int, offset: int) -> int:
    """Return the identifier of a region.

    >>> region_id(3, 4096), place_of(region_id(3, 4096))
    (844424930136064, (3, 4096))
    """
    return (card << _OFFSET_BITS) | offset


def place_of(region: int) -> tuple[int, int]:
    """Return the card and the offset of a region."""
    return region >> _OFFSET_BITS, region & ((1 << _OFFSET_BITS) - 1)
