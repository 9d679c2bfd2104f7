"""What client and service say to each other: records of fixed size, as many at a time as there are.

A request is 24 bytes: what is wanted, a card, two numbers. A reply is 24 bytes: a status, a card, two numbers. Replies
come in the order of the requests. Each allocation has a serial of its client's: asked again after the service was
killed, it is granted once. A region's identifier is its card and its offset there, the same for every process
(spec 5, R8): card * 2^48 + offset. An application may ask for numbers that a request can hold; each refusal is one
sentence.
"""

from __future__ import annotations

import struct
from operator import index

from workbench.errors import InputError, WorkbenchError

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


class Refused(WorkbenchError):
    """The service refused a request; nothing has changed."""


class OutOfMemory(Refused, MemoryError):
    """No card has space (spec 5, R24)."""


def refusal(reply: Reply, requested: int) -> Refused:
    """Make the exception for a reply to a request for so many bytes, or about that region.

    >>> refusal((TOO_LARGE, 0, 1024, 0), 4096)
    Refused('4096 bytes are more than any card has. Nearest: 1024.')
    """
    status, _, number, _ = reply
    sentence = _SENTENCES.get(status, "the service did not understand the request.")
    kind = OutOfMemory if status in (OUT_OF_MEMORY, NO_PAGES) else Refused
    return kind(sentence.format(request=requested, number=number))


_SENTENCES = {
    OUT_OF_MEMORY: "no card has space for {request} bytes now.",
    TOO_LARGE: "{request} bytes are more than any card has. Nearest: {number}.",
    NOT_HELD: "the region {request} is held by another client, not by this one.",
    UNKNOWN_REGION: "there is no region {request}; it was freed already, or never given.",
    NO_PAGES: "a card has space for {request} bytes, but the system has no shared memory left; free some of it.",
    NO_JOURNAL: "the service cannot write down what it would grant; make room on the disk of its folder.",
    POLICY_FAILED: "a policy of the service failed; the service has printed why.",
    BUSY: "the service has {number} clients already, as many as it can have.",
}

_MOST_NUMBER = 1 << 62
ANY = -_MOST_NUMBER
"""As the least: any number that a request can hold."""


def whole_number(what: str, value: int, least: int) -> int:
    """Read a whole number as an application gives it, of any kind that is whole.

    Raises
    ------
    InputError
        It is not whole, below the least, or more than a request can hold.

    >>> whole_number("a size", True, 1)
    1
    """
    try:
        number = index(value)
    except TypeError:
        raise InputError(f"{what} must be a whole number. Got {value!r}.") from None
    if number < least:
        raise InputError(f"{what} must be at least {least}. Got {number}.")
    if number >= _MOST_NUMBER:
        raise InputError(f"{what} must be below {_MOST_NUMBER}. Got {number}.")
    return number
