"""The client library: what an application calls (spec 5, R2, R4, R5, R25-R27).

A client keeps what it holds when the service is killed and started again: it connects anew, says who it is, and asks
again for what was not answered.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, NamedTuple, Self

from workbench.errors import InputError, unknown_name
from workbench.pool_service import protocol
from workbench.pool_service.arenas import attach_arena, detach_arena, memory_of
from workbench.pool_service.asked import ANY, whole_number
from workbench.pool_service.channel import Channel
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.protocol import Reply
from workbench.pool_service.refusals import Refused, refusal


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
        self._serial = 0
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
        """Allocate a region of so many bytes: on the own card (or the one that is named) if it has room, else where the
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
        """Allocate several regions at once; where one is refused, those before it are given back.

        The requests are sent together and served in their order.
        """
        wanted = [whole_number("alloc: a size", size, 1) for size in sizes]
        start = self._number_of(card) if card else -1
        replies = self._channel.ask([(protocol.ALLOC, start, size, self._next()) for size in wanted])
        refused = next((place for place, reply in enumerate(replies) if reply[0] != protocol.FINE), None)
        if refused is not None:
            granted = [reply[2] for reply in replies if reply[0] == protocol.FINE]
            self._channel.ask([(protocol.FREE, 0, region, 0) for region in granted])
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
        replies = self._channel.ask([(protocol.FREE, 0, name, 0) for name in names])
        for reply, name in zip(replies, names, strict=True):
            if reply[0] != protocol.FINE:
                raise refusal(reply, name)

    def free_later(self, region: Region | int) -> None:
        """Let go of a region with the next request, whatever that is: nobody waits for the reply.

        Raises
        ------
        Refused
            This client does not hold it (any more).
        """
        name = self._named(region)
        if name not in self._held:
            raise refusal((protocol.UNKNOWN_REGION, 0, name, 0), name)
        self._release_views([name])
        self._let_go_of([name])
        self._channel.later((protocol.FREE, 0, name, 0))

    def open(self, region: int) -> Region:
        """Open a region that another process holds, by its identifier; it stays until the last one lets go of it.

        Raises
        ------
        Refused
            Nobody holds a region of this identifier.
        """
        number = whole_number("a region", region, ANY)
        (reply,) = self._channel.ask([(protocol.OPEN, 0, number, 0)])
        if reply[0] != protocol.FINE:
            raise refusal(reply, number)
        return self._region(reply, reply[3])

    def pointer(self, region: Region) -> int:
        """Return the address of a region's memory in this process; another process has another (spec 5, R9, R26)."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(region.memory))
        self._pointers[address], self._addresses[region.id] = region.id, address
        return address

    def state(self, card: str) -> tuple[int, int]:
        """Return the bytes of a card that are in use, and bytes that are cached."""
        (reply,) = self._channel.ask([(protocol.STATE, self._number_of(card), 0, 0)])
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

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _region(self, reply: Reply, size: int) -> Region:
        _, card, region, _ = reply
        if card not in self._arenas:
            arena = attach_arena(self._names[card])
            if arena is None:
                raise Refused(f"the arena of {self.cards[card]} is gone; the service was stopped.")
            self._arenas[card] = arena
        _, offset = protocol.place_of(region)
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
