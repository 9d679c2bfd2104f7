"""Requests to a pool in a CSV file of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at, nearest_name, shown, unknown_name
from workbench.levers import Spec, lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import column_names, read_columns, row_place
from workbench.workloads.csv_file import CsvFile
from workbench.workloads.pool_requests import (
    ALLOC,
    PoolRequests,
    check_size,
    gpus_of,
    one_handle_each,
    sizes_of_releases,
)

MOST_NS = 10**18
ACTIONS = ("alloc", "free")
_NAMED = 1 << 40
"""Cards that are named get numbers from here on, in the order in which they come."""


class PoolRow(Spec):
    """One row of a pool file."""

    time: int = lever(least=0, most=MOST_NS, unit="ns", description="when it is asked; never decreasing")
    app: int = lever(least=0, most=1 << 31, description="the application that asks, from 0")
    card: int = lever(
        least=0, most=_NAMED + (1 << 20), description="where it runs: a card's id, such as gpu3, or the number of a GPU"
    )
    action: int = lever(least=0, most=1, description="alloc or free")
    handle: int = lever(least=0, most=1 << 62, description="what it calls the region; of a free, that of an allocation")
    bytes: int = lever(least=0, most=1 << 50, unit="bytes", description="how many; of a free, whatever is there")


class PoolFile(CsvFile):
    """The requests of a CSV file, one a row, in the order of time, with the columns of `PoolRow`.

    A handle may come again once it was freed, as addresses do. A free that names nothing is a request like any other:
    what the service answers to it is part of what is asked (spec 5, E19).

    References
    ----------
    spec 5, R4, R27, E19.
    """

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Content:
        numbers, names = _numbered(text, where)
        columns = read_columns(numbers, PoolRow.levers, where)
        _check_file(columns, where)
        action = columns["action"].astype(np.int8)
        handle = one_handle_each(columns["app"], action, columns["handle"])
        size = sizes_of_releases(action, handle, columns["bytes"])
        requests = PoolRequests(columns["time"], columns["app"], columns["card"], action, handle, size)
        return Content(sha256, requests, tuple(names), int(np.argmax(np.where(action == ALLOC, size, 0))))

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        content: Content = self.content()
        row = content.largest
        check_size(int(content.requests.bytes[row]), machine, f"{self.file}: {row_place(row)}: bytes", where)
        self._cards(machine, where)

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        self.check_machine(machine)
        content: Content = self.content()
        copies = PoolRequests(*(column.copy() for column in content.requests))
        return copies._replace(card=self._cards(machine))

    def _cards(self, machine: Any, where: str = "") -> np.ndarray:
        """Return the place of each request's card among those of a machine."""
        content: Content = self.content()
        ids, gpus, message = [card.id for card in machine.cards], gpus_of(machine), content.requests.card
        for name in content.cards:
            if name not in ids:
                raise unknown_name(at(where, self.file), "card", name, ids)
        numbers = message[message < _NAMED]
        if len(numbers) and numbers.max() >= len(gpus):
            row = int(np.argmax((message < _NAMED) & (message >= len(gpus))))
            expected = f"card must be below {len(gpus)}, the number of GPUs, or a card's id"
            raise InputError(at(where, f"{self.file}: {row_place(row)}: {expected}. Got {message[row]}."))
        named = np.array([0, *(ids.index(name) for name in content.cards)], np.int64)
        places = gpus[np.where(message < _NAMED, message, 0)]
        return np.where(message < _NAMED, places, named[np.maximum(message - _NAMED + 1, 0)])


def pool_columns(requests: PoolRequests, ids: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the columns of a pool file that gives these requests: actions in words, cards by their ids."""
    columns = requests._asdict()
    return {**columns, "card": np.array(ids)[requests.card], "action": np.array(ACTIONS)[requests.action]}


class Content(NamedTuple):
    """What a pool file holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    requests: PoolRequests
    """With the numbers of GPUs as cards, and from `_NAMED` on those of `cards`."""
    cards: tuple[str, ...]
    """The ids that rows name."""
    largest: int
    """The first row of those that ask for the most."""


def _numbered(text: bytes, where: str) -> tuple[bytes, list[str]]:
    """Return the text with numbers in the place of actions and cards' ids, and these ids; a header that is wrong
    stays."""
    header, newline, body = text.partition(b"\n")
    columns = column_names(text)
    if "action" not in columns or "card" not in columns:
        return text, []
    action, card = columns.index("action"), columns.index("card")
    names: dict[bytes, int] = {}
    lines = body.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n") if body.strip() else []
    for row, line in enumerate(lines):
        fields = line.split(b",")
        if len(fields) == len(columns):
            fields[action] = _action(fields[action], f"{where}: {row_place(row)}")
            if not fields[card].isdigit():
                fields[card] = b"%d" % (_NAMED + names.setdefault(fields[card].strip(), len(names)))
            lines[row] = b",".join(fields)
    return header + newline + b"\n".join(lines), [name.decode(errors="replace") for name in names]


def _action(field: bytes, place: str) -> bytes:
    word = field.strip().decode(errors="replace")
    if word not in ACTIONS:
        near = nearest_name(word, ACTIONS)
        cure = f" Did you mean {near}?" if near else ""
        raise InputError(f"{place}: action must be alloc or free. Got {shown(word)}.{cure}")
    return b"%d" % ACTIONS.index(word)


def _check_file(columns: dict[str, np.ndarray], where: str) -> None:
    """Refuse times that decrease, and allocations of nothing."""
    time = columns["time"]
    earlier = np.flatnonzero(time[1:] < time[:-1])
    if earlier.size:
        row = int(earlier[0]) + 1
        order = f"time must not be below the row above it ({time[row - 1]})"
        raise InputError(f"{where}: {row_place(row)}: {order}. Got {time[row]}. Sort the rows by time.")
    empty = np.flatnonzero((columns["action"] == ALLOC) & (columns["bytes"] == 0))
    if empty.size:
        raise InputError(f"{where}: {row_place(int(empty[0]))}: bytes of an alloc must be at least 1. Got 0.")
