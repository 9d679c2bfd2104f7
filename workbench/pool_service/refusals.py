"""What an application is told when the service refuses: one sentence each."""

from __future__ import annotations

from workbench.errors import WorkbenchError
from workbench.pool_service import protocol


class Refused(WorkbenchError):
    """The service refused a request; nothing has changed."""


class OutOfMemory(Refused, MemoryError):
    """No card has room (spec 5, R24)."""


def refusal(reply: protocol.Reply, requested: int) -> Refused:
    """Make the exception for a reply to a request for so many bytes, or about that region.

    >>> refusal((protocol.TOO_LARGE, 0, 1024, 0), 4096)
    Refused('4096 bytes are more than any card has. Nearest: 1024.')
    """
    status, _, number, _ = reply
    sentence = _SENTENCES.get(status, "the service did not understand the request.")
    kind = OutOfMemory if status in (protocol.OUT_OF_MEMORY, protocol.NO_PAGES) else Refused
    return kind(sentence.format(asked=requested, number=number))


_SENTENCES = {
    protocol.OUT_OF_MEMORY: "no card has room for {asked} bytes now.",
    protocol.TOO_LARGE: "{asked} bytes are more than any card has. Nearest: {number}.",
    protocol.NOT_HELD: "the region {asked} is held by another client, not by this one.",
    protocol.UNKNOWN_REGION: "there is no region {asked}; it was freed already, or never given.",
    protocol.NO_PAGES: "a card has room for {asked} bytes, but the system has no shared memory left; free some of it.",
    protocol.NO_JOURNAL: "the service cannot write down what it would grant; make room on the disk of its folder.",
    protocol.POLICY_FAILED: "a policy of the service failed; the service has printed why.",
    protocol.BUSY: "the service has {number} clients already, as many as it can have.",
}
