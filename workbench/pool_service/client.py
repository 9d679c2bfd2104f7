"""The client library: what an application calls (spec 5, R2, R4, R5, R25-R27).

A client keeps what it holds when the service is killed and started again: it connects anew, says who it is, and asks
again for what was not answered.
"""

from __future__ import annotations

import ctypes
import socket
import time
from collections.abc import Iterable, Sequence
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import NamedTuple, Self

from workbench.errors import InputError, WorkbenchError, unknown_name
from workbench.pool_service import protocol
from workbench.pool_service.arenas import attach_arena, detach_arena, memory_of
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.protocol import REPLY, REQUEST

_PAUSE_S = 0.02
_FREED_BEFORE = (protocol.UNKNOWN_REGION, protocol.NOT_HELD)
"""What a release that is asked again may be told: the service was killed after it had written the release down."""


class Refused(WorkbenchError):
    """The service refused a request; nothing has changed."""


class OutOfMemory(Refused, MemoryError):
    """No card has room (spec 5, R24)."""


class Region(NamedTuple):
    """Memory that a client holds."""

    id: int
    """The same for every process (spec 5, R8)."""
    card: str
    """Where it lies."""
    memory: memoryview
    """The bytes, those that were asked for; of a region of another's, those of its block."""


class PoolClient:
    """A connection of an application to a service.

    Parameters
    ----------
    folder : path
        The service's folder.
    card : str, optional
        The card that the application runs on; the first GPU if it is not given.
    patience_s : float
        How long to wait for a service that is not there, now and whenever it is killed.

    Raises
    ------
    InputError
        The card is not one of the service's.
    Refused
        There is no service, or it does not serve this user.
    """

    def __init__(self, folder: Path | str, card: str = "", patience_s: float = 5.0) -> None:
        self._folder, self._patience_s = ServiceFolder(folder), patience_s
        self._client = self._serial = 0
        self._arenas: dict[int, SharedMemory] = {}
        self._pointers: dict[int, int] = {}
        """The identifier of each region of which the application asked for the address."""
        self._held: set[int] = set()
        self._later: list[tuple[int, int, int, int]] = []
        """Releases that go with the next request."""
        self._socket = self._opened()
        said = self._folder.description()
        if said is None:
            raise Refused(f"{folder}: no service runs in this folder.")
        self.cards, self._names = said.cards, said.arenas
        own = card or next((name for name in self.cards if name.startswith("gpu")), self.cards[0])
        if own not in self.cards:
            raise unknown_name(str(folder), "card", own, self.cards)
        self._card = self.cards.index(own)
        self._greet()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, raised: object, at: object) -> None:
        self.close()

    def alloc(self, size: int, card: str = "") -> Region:
        """A region of so many bytes: on the own card (or the one that is named) if it has room, else where the
        service's policy puts it.

        Raises
        ------
        OutOfMemory
            No card has room now.
        Refused
            No card ever has so much.
        InputError
            The size is below 1.
        """
        return self.alloc_many([size], card)[0]

    def alloc_many(self, sizes: Sequence[int], card: str = "") -> list[Region]:
        """Several regions at once; where one is refused, those before it are given back.

        The requests are sent together and served in their order.
        """
        wrong = next((size for size in sizes if size < 1), None)
        if wrong is not None:
            raise InputError(f"alloc: a size must be at least 1 byte. Got {wrong}.")
        start = self.cards.index(card) if card else -1
        replies = self._ask([(protocol.ALLOC, start, size, self._next()) for size in sizes])
        granted = [reply for reply in replies if reply[0] == protocol.FINE]
        for place, (status, *_) in enumerate(replies):
            if status != protocol.FINE:
                self._ask([(protocol.FREE, 0, reply[2], 0) for reply in granted])
                raise _refusal(replies[place], sizes[place])
        return [self._region(reply, size) for reply, size in zip(replies, sizes, strict=True)]

    def free(self, region: Region | int) -> None:
        """Let go of a region, by what `alloc` gave, its identifier, or the address of its memory (`pointer`).

        Raises
        ------
        Refused
            This client does not hold it (any more).
        """
        self.free_many([region])

    def free_many(self, regions: Iterable[Region | int]) -> None:
        """Let go of several regions at once; the first that is refused is told, after all of them were asked for."""
        names = [region.id if isinstance(region, Region) else self._pointers.pop(region, region) for region in regions]
        self._held.difference_update(names)
        for reply, name in zip(self._ask([(protocol.FREE, 0, name, 0) for name in names]), names, strict=True):
            if reply[0] != protocol.FINE:
                raise _refusal(reply, name)

    def free_later(self, region: Region | int) -> None:
        """Let go of a region with the next request, whatever that is: nobody waits for the reply.

        Raises
        ------
        Refused
            This client does not hold it (any more).
        """
        name = self._pointers.pop(region, region) if isinstance(region, int) else region.id
        if name not in self._held:
            raise _refusal((protocol.UNKNOWN_REGION, 0, name, 0), name)
        self._held.discard(name)
        self._later.append((protocol.FREE, 0, name, 0))

    def open(self, region: int) -> Region:
        """A region that another process holds, by its identifier; it stays until the last one lets go of it.

        Raises
        ------
        Refused
            Nobody holds a region of this identifier.
        """
        (reply,) = self._ask([(protocol.OPEN, 0, region, 0)])
        if reply[0] != protocol.FINE:
            raise _refusal(reply, region)
        return self._region(reply, reply[3])

    def pointer(self, region: Region) -> int:
        """The address of a region's memory in this process; another process has another (spec 5, R9, R26)."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(region.memory))
        self._pointers[address] = region.id
        return address

    def state(self, card: str) -> tuple[int, int]:
        """Bytes of a card that are in use, and bytes that are cached."""
        if card not in self.cards:
            raise unknown_name("", "card", card, self.cards)
        (reply,) = self._ask([(protocol.STATE, self.cards.index(card), 0, 0)])
        return reply[2], reply[3]

    def close(self) -> None:
        """End the connection; the service takes back what is still held."""
        self._socket.close()
        for arena in self._arenas.values():
            detach_arena(arena)
        self._arenas.clear()

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _region(self, reply: tuple[int, int, int, int], size: int) -> Region:
        _, card, region, _ = reply
        if card not in self._arenas:
            arena = attach_arena(self._names[card])
            if arena is None:
                raise Refused(f"the arena of {self.cards[card]} is gone; the service was stopped.")
            self._arenas[card] = arena
        _, offset = protocol.place_of(region)
        self._held.add(region)
        return Region(region, self.cards[card], memory_of(self._arenas[card])[offset : offset + size])

    def _ask(self, requests: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
        """The replies to some requests; releases that waited go first."""
        before, self._later = self._later, []
        return self._exchanged(before + requests)[len(before) :]

    def _exchanged(self, requests: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
        """The replies to some requests, asked again where the service was killed before it answered."""
        replies: list[tuple[int, int, int, int]] = []
        again = False
        while len(replies) < len(requests):
            rest = requests[len(replies) :]
            if again:
                rest = [(protocol.ALLOC_AGAIN if it[0] == protocol.ALLOC else it[0], *it[1:]) for it in rest]
            try:
                self._send(rest)
                for wanted, *_ in rest:
                    found = self._receive()
                    gone = again and wanted == protocol.FREE and found[0] in _FREED_BEFORE
                    replies.append((protocol.FINE, *found[1:]) if gone else found)
            except ConnectionError:
                self._socket.close()
                self._socket = self._opened()
                self._greet()
                again = True
        return replies

    def _send(self, requests: list[tuple[int, int, int, int]]) -> None:
        self._received = b""
        self._socket.sendall(b"".join(REQUEST.pack(*request) for request in requests))

    def _receive(self) -> tuple[int, int, int, int]:
        while len(self._received) < REPLY.size:
            piece = self._socket.recv(1 << 16)
            if not piece:
                raise ConnectionResetError
            self._received += piece
        found = REPLY.unpack_from(self._received)
        self._received = self._received[REPLY.size :]
        return found

    def _opened(self) -> socket.socket:
        """A connection, waited for as long as patience lasts."""
        until = time.monotonic() + self._patience_s
        while True:
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                opened.connect(str(self._folder.socket))
                return opened
            except (FileNotFoundError, ConnectionRefusedError):
                opened.close()
                if time.monotonic() > until:
                    raise Refused(f"{self._folder.path}: no service runs in this folder.") from None
                time.sleep(_PAUSE_S)
            except PermissionError:
                opened.close()
                raise Refused(f"{self._folder.path}: the service belongs to another user.") from None

    def _greet(self) -> None:
        """Say who is there; a service that closes the connection serves another user."""
        try:
            self._send([(protocol.HELLO, self._card, self._client, 0)])
            status, _, client, _ = self._receive()
        except ConnectionError:
            raise Refused(f"{self._folder.path}: the service does not serve this user.") from None
        if status != protocol.FINE:
            raise Refused(f"{self._folder.path}: the service does not know this client any more; what it held is gone.")
        self._client = client


def _refusal(reply: tuple[int, int, int, int], asked: int) -> Refused:
    status, _, number, _ = reply
    if status == protocol.OUT_OF_MEMORY:
        return OutOfMemory(f"no card has room for {asked} bytes now.")
    if status == protocol.TOO_LARGE:
        return Refused(f"{asked} bytes are more than any card has. Nearest: {number}.")
    if status == protocol.NOT_HELD:
        return Refused(f"the region {asked} is held by another client, not by this one.")
    if status == protocol.UNKNOWN_REGION:
        return Refused(f"there is no region {asked}; it was freed already, or never given.")
    return Refused("the service did not understand the request.")
