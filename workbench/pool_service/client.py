"""The client library: what an application calls (spec 5, R2, R4, R5, R25-R27).

A client keeps what it holds when the service is killed and started again: it waits, connects again, says who it is, and
asks again for what was not answered. Requests go over one connection, and replies come in their order.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import count
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, NamedTuple, Self

from workbench.errors import InputError, unknown_name
from workbench.pool_service.arenas import attach_arena, detach_arena, memory_of
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.listener import peer_of
from workbench.pool_service.protocol import (
    ALLOC,
    ALLOC_AGAIN,
    ANY,
    BAD_REQUEST,
    FINE,
    FREE,
    HELLO,
    NOT_HELD,
    OPEN,
    REPLY,
    REQUEST,
    STATE,
    UNKNOWN_REGION,
    Refused,
    Reply,
    Request,
    place_of,
    refusal,
    whole_number,
)


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

    Examples
    --------
    >>> import tempfile
    >>> from workbench.pool_service import running_service
    >>> with tempfile.TemporaryDirectory() as folder, running_service(folder, {"card_bytes": 4096}):
    ...     with PoolClient(folder) as client, PoolClient(folder, card="gpu1") as other:
    ...         region = client.alloc(100)
    ...         region.memory[:5] = b"hello"
    ...         region.card, bytes(other.open(region.id).memory[:5]), other.state("gpu0")
    ('gpu0', b'hello', (100, 0))

    References
    ----------
    spec 5, R2, R4, R5, R25-R27.
    """

    def __init__(self, folder: Path | str, card: str = "", patience_s: float = 5.0) -> None:
        place = ServiceFolder(folder)
        try:
            place.check_owner()
        except InputError as wrong:
            raise Refused(str(wrong)) from None
        self._serials = count(1)
        self._views: dict[int, list[tuple[memoryview, weakref.ref[Any]]]] = {}
        """What the application was given of each region, released when it is freed, and what lives as long as anything
        that was made of it."""
        self._arenas: dict[int, SharedMemory] = {}
        self._pointers: dict[int, int] = {}
        """The identifier of each region of which the application asked for the address (spec 5, R26)."""
        self._addresses: dict[int, int] = {}
        """The same the other way round."""
        self._held: set[int] = set()
        self._channel = Channel(place, patience_s)
        try:
            self._greet(place, card)
        except BaseException:
            self._channel.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, raised: object, at: object) -> None:
        self.close()

    def alloc(self, size: int, card: str = "") -> Region:
        """Allocate a region of so many bytes: on the own card (or the one that is named) if it has space, else where
        the service's policy puts it.

        Raises
        ------
        OutOfMemory
            No card has space now.
        Refused
            No card ever has so much.
        InputError
            The size is below 1.
        """
        return self.alloc_many([size], card)[0]

    def alloc_many(self, sizes: Sequence[int], card: str = "") -> list[Region]:
        """Allocate several regions at once; where one is refused, those before it are given back.

        The requests are sent together and served in their order.
        """
        wanted = [whole_number("alloc: a size", size, 1) for size in sizes]
        start = self._number_of(card) if card else -1
        replies = self._channel.ask([(ALLOC, start, size, next(self._serials)) for size in wanted])
        refused = next((place for place, reply in enumerate(replies) if reply[0] != FINE), None)
        if refused is not None:
            granted = [reply[2] for reply in replies if reply[0] == FINE]
            self._channel.ask([(FREE, 0, region, 0) for region in granted])
            raise refusal(replies[refused], wanted[refused])
        return [self._region(reply, size) for reply, size in zip(replies, wanted, strict=True)]

    def free(self, region: Region | int) -> None:
        """Let go of a region, by what `alloc` gave, its identifier, or the address of its memory (`pointer`).

        Its views raise `ValueError` from then on: the bytes are the next client's.

        Raises
        ------
        Refused
            This client does not hold it (any more).
        InputError
            An array or another view that was made of its memory is still there; nothing was given back.
        """
        self.free_many([region])

    def free_many(self, regions: Iterable[Region | int]) -> None:
        """Let go of several regions at once; the first that is refused is told, after all of them were asked for."""
        names = [self._named(region) for region in regions]
        self._release_views(names)
        self._let_go_of(names)
        replies = self._channel.ask([(FREE, 0, name, 0) for name in names])
        for reply, name in zip(replies, names, strict=True):
            if reply[0] != FINE:
                raise refusal(reply, name)

    def free_later(self, region: Region | int) -> None:
        """Let go of a region with the next request, whatever that is: no call waits for the reply.

        Raises
        ------
        Refused
            This client does not hold it (any more).
        """
        name = self._named(region)
        if name not in self._held:
            raise refusal((UNKNOWN_REGION, 0, name, 0), name)
        self._release_views([name])
        self._let_go_of([name])
        self._channel.later((FREE, 0, name, 0))

    def open(self, region: int) -> Region:
        """Open a region that another process holds, by its identifier; it stays until the last one lets go of it.

        Raises
        ------
        Refused
            No client holds a region of this identifier.
        """
        number = whole_number("a region", region, ANY)
        (reply,) = self._channel.ask([(OPEN, 0, number, 0)])
        if reply[0] != FINE:
            raise refusal(reply, number)
        return self._region(reply, reply[3])

    def pointer(self, region: Region) -> int:
        """Return the address of a region's memory in this process; another process has another (spec 5, R9, R26)."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(region.memory))
        self._pointers[address], self._addresses[region.id] = region.id, address
        return address

    def state(self, card: str) -> tuple[int, int]:
        """Return the bytes of a card that are in use, and bytes that are cached."""
        (reply,) = self._channel.ask([(STATE, self._number_of(card), 0, 0)])
        return reply[2], reply[3]

    def close(self) -> None:
        """End the connection; the service takes back what is still held."""
        self._channel.close()
        for arena in self._arenas.values():
            detach_arena(arena)
        self._arenas.clear()

    def _greet(self, place: ServiceFolder, card: str) -> None:
        description = place.description()
        if description is None:
            raise Refused(f"{place.path}: no service runs in this folder.")
        self.cards, self._names = description.cards, description.arenas
        own = card or next((name for name in self.cards if name.startswith("gpu")), self.cards[0])
        if own not in self.cards:
            raise unknown_name(str(place.path), "card", own, self.cards)
        self._channel.greet(self.cards.index(own))

    def _number_of(self, card: str) -> int:
        if card not in self.cards:
            raise unknown_name("", "card", card, self.cards)
        return self.cards.index(card)

    def _region(self, reply: Reply, size: int) -> Region:
        _, card, region, _ = reply
        if card not in self._arenas:
            arena = attach_arena(self._names[card])
            if arena is None:
                raise Refused(f"the arena of {self.cards[card]} is gone; the service was stopped.")
            self._arenas[card] = arena
        _, offset = place_of(region)
        self._held.add(region)
        bytes_of = (ctypes.c_char * size).from_buffer(memory_of(self._arenas[card]), offset)
        view = memoryview(bytes_of).cast("B")
        self._views.setdefault(region, []).append((view, weakref.ref(bytes_of)))
        return Region(region, self.cards[card], view)

    def _named(self, region: Region | int) -> int:
        """Return the identifier of what an application calls a region."""
        if isinstance(region, Region):
            return region.id
        number = whole_number("a region", region, ANY)
        return self._pointers.get(number, number)

    def _release_views(self, names: Iterable[int]) -> None:
        """Take back what the application was given of regions, so that it cannot write into the next client's."""
        for name in names:
            for view, used in self._views.get(name, []):
                with suppress(BufferError):
                    view.release()
                if used() is not None:
                    raise InputError(
                        f"an array or a view of region {name} is still in use, and would write into the next client's "
                        "memory; let go of it (del) before the region is freed."
                    )
            self._views.pop(name, None)

    def _let_go_of(self, names: Iterable[int]) -> None:
        """Let go of these, which this client no longer holds."""
        for name in names:
            self._held.discard(name)
            self._pointers.pop(self._addresses.pop(name, 0), None)


_PAUSE_S = 0.02
_AT_ONCE = 512
"""Requests that are sent before their replies are read: the socket has space for these, so neither end waits for the
other to read."""
_FREED_BEFORE = (UNKNOWN_REGION, NOT_HELD)
"""What a release that is asked again may be told: the service was killed after it had written the release down."""


class _Dropped(Refused):
    """The service closed the connection instead of answering the first request."""


class Channel:
    """A connection to the service of a folder; one thread uses it at a time.

    Parameters
    ----------
    folder : ServiceFolder
    patience_s : float
        How long to wait for a service that is not there.

    Raises
    ------
    Refused
        There is no service, or it does not serve this user.
    """

    def __init__(self, folder: ServiceFolder, patience_s: float) -> None:
        self._folder, self._patience_s = folder, patience_s
        self._card = self._client = 0
        self._process = os.getpid()
        self._later: list[Request] = []
        """Releases that go with the next request."""
        self._unread: deque[int] = deque()
        """What was wanted by each request that was sent and of which the reply was not read."""
        self._received = b""
        self._closed = self._half_sent = False
        self._turn = threading.Lock()
        self._socket = self._opened()

    def greet(self, card: int) -> None:
        """Say who is there, and on which card."""
        self._card = card
        self._hello()

    def later(self, request: Request) -> None:
        """Let a release go with the next request, before it."""
        self._later.append(request)

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Ask for the replies to some requests, again where the service was killed before it answered.

        Raises
        ------
        Refused
            The connection is closed, or no service came within the client's patience.
        """
        with self._turn:
            self._check()
            self._read_rest()
            waiting = len(self._later)
            replies = self._exchanged([*self._later, *requests])
            del self._later[:waiting]
            return replies[waiting:]

    def close(self) -> None:
        """End the connection; the service takes back what is still held."""
        self._closed = True
        self._socket.close()

    def _check(self) -> None:
        where = f"{self._folder.path}: this connection"
        if self._closed:
            raise Refused(f"{where} was closed.")
        if self._process != os.getpid():
            raise Refused(f"{where} belongs to another process; connect again after a fork.")
        if self._half_sent:
            raise Refused(f"{where} was interrupted in the middle of a request; connect again.")

    def _read_rest(self) -> None:
        """Read the replies that an interrupted `ask` did not, and let go of what they grant."""
        try:
            while self._unread:
                wanted = self._unread[0]
                self._forgotten(wanted, self._receive())
        except OSError:
            self._connect_again()

    def _forgotten(self, wanted: int, reply: Reply) -> None:
        if wanted in (ALLOC, ALLOC_AGAIN) and reply[0] == FINE:
            self._later.append((FREE, 0, reply[2], 0))

    def _exchanged(self, requests: list[Request]) -> list[Reply]:
        replies: list[Reply] = []
        again = False
        try:
            while len(replies) < len(requests):
                try:
                    self._exchange(requests[len(replies) : len(replies) + _AT_ONCE], replies, again)
                except OSError:
                    self._connect_again()
                    again = True
        except BaseException:  # an interrupt among them: who asked will never see these
            for request, reply in zip(requests, replies):
                self._forgotten(request[0], reply)
            raise
        return replies

    def _exchange(self, requests: list[Request], replies: list[Reply], again: bool) -> None:
        if again:
            requests = [(ALLOC_AGAIN if it[0] == ALLOC else it[0], *it[1:]) for it in requests]
        self._send(requests)
        for wanted, *_ in requests:
            reply = self._receive()
            gone = again and wanted == FREE and reply[0] in _FREED_BEFORE
            replies.append((FINE, *reply[1:]) if gone else reply)

    def _send(self, requests: Sequence[Request]) -> None:
        self._half_sent = True
        self._socket.sendall(b"".join([REQUEST.pack(*request) for request in requests]))
        self._unread.extend([request[0] for request in requests])
        self._half_sent = False

    def _receive(self) -> Reply:
        reply = self._reply()
        self._unread.popleft()
        return reply

    def _reply(self) -> Reply:
        while len(self._received) < REPLY.size:
            piece = self._socket.recv(1 << 16)
            if not piece:
                raise ConnectionResetError
            self._received += piece
        reply = REPLY.unpack_from(self._received)
        self._received = self._received[REPLY.size :]
        return reply

    def _connect_again(self) -> None:
        """Come back to a service that was started again; one that is just ending may take a connection and drop it."""
        self._half_sent = False
        until = time.monotonic() + self._patience_s
        while True:
            self._socket.close()
            self._socket = self._opened()
            try:
                return self._hello()
            except _Dropped:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_S)

    def _opened(self) -> socket.socket:
        """Open a connection, waited for as long as patience lasts."""
        until = time.monotonic() + self._patience_s
        self._received = b""
        self._unread.clear()
        while True:
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                opened.connect(str(self._folder.socket))
                if peer_of(opened).user != os.geteuid():
                    raise PermissionError
                return opened
            except OSError as problem:
                opened.close()
                if isinstance(problem, PermissionError):
                    raise Refused(f"{self._folder.path}: the service belongs to another user.") from None
                if not isinstance(problem, (FileNotFoundError, ConnectionRefusedError)):
                    raise Refused(f"{self._folder.path}: there is no service ({problem.strerror}).") from None
                if time.monotonic() > until:
                    raise Refused(f"{self._folder.path}: no service runs in this folder.") from None
                time.sleep(_PAUSE_S)

    def _hello(self) -> None:
        """Say who is there; a service that closes the connection serves another user."""
        try:
            with suppress(OSError):  # the connection is closed already; what was said before that can be read
                self._socket.sendall(REQUEST.pack(HELLO, self._card, self._client, 0))
            status, _, client, _ = reply_status = self._reply()
        except OSError:
            raise _Dropped(f"{self._folder.path}: the service does not serve this user, or ended.") from None
        if status == BAD_REQUEST:
            raise Refused(f"{self._folder.path}: the service does not know this client any more; what it held is gone.")
        if status != FINE:
            raise refusal(reply_status, 0)
        self._client = client


KEPT = 32
"""Regions that the client holds."""


def load_service(folder: str) -> None:
    """Load a service as standard input says, line by line.

    A line is a JSON object with `sizes` (bytes, an allocation each) and `gap_ns`; the reply is a list of how many ns
    each allocation waited. With each goes a release of the oldest region, for which no call waits.
    """
    with PoolClient(folder) as client:
        held = deque(client.alloc_many([64] * KEPT))
        for line in sys.stdin:
            print(json.dumps(waits(client, held, **json.loads(line))), flush=True)


def waits(client: PoolClient, held: deque[Region], sizes: list[int], gap_ns: int) -> list[int]:
    """Return the time for which each allocation waited for its reply, in ns; `gap_ns` passes before each request."""
    result = []
    for size in sizes:
        if gap_ns:
            time.sleep(gap_ns / 1e9)  # stands for the application's own work, during which it asks for nothing
        began = time.perf_counter_ns()
        held.append(client.alloc(size))
        result.append(time.perf_counter_ns() - began)
        client.free_later(held.popleft())
    return result
