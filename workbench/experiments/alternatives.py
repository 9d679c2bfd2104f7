"""The alternatives of a mapping as a sequence: the one at an index is made when it is asked for, and no other.

The order is that of `choices.expand`. Each choice is a digit of the index, the last one varying fastest; choices that
are zipped share one digit. So a shard of a sweep makes its own points, whatever number the whole sweep has.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, overload

from workbench.experiments.choices import Called, Point, expand


class Alternatives(Sequence[Point]):
    """Every alternative of a node, as `expand` returns them.

    >>> some = Alternatives({"a": {"vary": [1, 2]}, "b": {"vary": [3, 4, 5]}})
    >>> len(some), some[4].value, some[4].coordinates
    (6, {'a': 2, 'b': 4}, {'a': 2, 'b': 4})
    """

    def __init__(self, node: Any, path: str = "", where: str = "", called: Called = str) -> None:
        """Find the choices of a node.

        Raises
        ------
        InputError
            As of `expand`.
        """
        reader = _Reader(where, called)
        self._listed: list[Point] | None = None
        try:
            self._template = reader.template(node, path)
            self._sites, self._digits = reader.sites, reader.digits()
        except _Entangled:
            self._listed, self._sites, self._digits = expand(node, path, where, called), [], []
        self._paths = [site.path for site in self._sites]
        self._zips = list({site.zip: site.place for site in self._sites if site.zip is not None}.items())
        self._is_flat = not any(site.inner for site in self._sites)
        self._size = prod(digit.size for digit in self._digits) if self._listed is None else len(self._listed)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Point: ...

    @overload
    def __getitem__(self, index: slice) -> list[Point]: ...

    def __getitem__(self, index: int | slice) -> Point | list[Point]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(self._size))]
        if not -self._size <= index < self._size:
            raise IndexError(index)
        if self._listed is not None:
            return self._listed[index]
        index %= self._size
        chosen: list[int] = [0] * len(self._sites)
        for size, places in self._digits:
            index, step = divmod(index, size)
            for place in places:
                chosen[place] = step
        steps = {zipped: chosen[place] for zipped, place in self._zips}
        if self._is_flat:
            values = [site.values[step] for site, step in zip(self._sites, chosen)]
            return Point(self._template(values), dict(zip(self._paths, values)), steps)
        points = [site.point(step) for site, step in zip(self._sites, chosen)]
        coordinates = {path: value for point in points for path, value in point.coordinates.items()}
        return Point(self._template([point.value for point in points]), coordinates, steps)

    def groups(self, is_inner: Callable[[str], bool]) -> Groups:
        """Return the alternatives in groups of those that differ in some of their choices alone.

        Parameters
        ----------
        is_inner : callable
            Whether alternatives of one group may differ at a path.
        """
        if self._listed is not None:
            return Groups([(len(self), 1)], [])
        outer, inner, stride = list[tuple[int, int]](), list[tuple[int, int]](), 1
        for size, places in self._digits:
            within = all(is_inner(self._sites[place].path) for place in places)
            (inner if within else outer).append((size, stride))
            stride *= size
        return Groups(outer, inner)


class Groups:
    """Groups of alternatives by number; each is a list of their indexes.

    >>> groups = Alternatives({"a": {"vary": [1, 2]}, "b": {"vary": [3, 4]}}).groups(lambda path: path == "a")
    >>> len(groups), groups[0], groups[1]
    (2, [0, 2], [1, 3])
    """

    def __init__(self, outer: list[tuple[int, int]], inner: list[tuple[int, int]]) -> None:
        """Keep the size and the stride of each digit that tells groups apart, and of each within a group, the fastest
        first."""
        self._outer = outer
        steps = (range(0, size * stride, stride) for size, stride in inner)
        self._offsets = sorted(map(sum, itertools.product(*steps)))

    def __len__(self) -> int:
        return prod(size for size, _ in self._outer)

    def __getitem__(self, group: int) -> list[int]:
        first = 0
        for size, stride in self._outer:
            group, step = divmod(group, size)
            first += step * stride
        return [first + offset for offset in self._offsets]


class _Entangled(Exception):
    """Choices are zipped in a way, or written in one, that `expand` alone knows."""


Template = Callable[[list[Any]], Any]
"""Make a value from those that are chosen at each site."""


class _Site(NamedTuple):
    """A choice that stands in no other choice."""

    place: int
    path: str
    zip: str | None
    values: list[Any]
    """Of each item; None where it varies itself."""
    inner: dict[int, Alternatives]
    """The alternatives of each item that varies."""
    ends: Sequence[int]
    """How many alternatives there are up to the end of each item."""

    def point(self, step: int) -> Point:
        """Return one of its alternatives."""
        item = bisect.bisect_right(self.ends, step) if self.inner else step
        if item not in self.inner:
            return Point(self.values[item], {self.path: self.values[item]}, {})
        inner = self.inner[item][step - (self.ends[item - 1] if item else 0)]
        return Point(inner.value, {self.path: inner.value, **inner.coordinates}, {})


class _Digit(NamedTuple):
    """Sites that step together."""

    size: int
    places: list[int]


class _Reader:
    """Reads the sites of a node in their order."""

    def __init__(self, where: str, called: Called) -> None:
        self._where, self._called = where, called
        self.sites: list[_Site] = []

    def digits(self) -> list[_Digit]:
        """Return the choices of the sites that were read, the fastest first; zipped ones stand where their first is."""
        by_zip: dict[Any, list[_Site]] = {}
        for site in self.sites:
            by_zip.setdefault(site.place if site.zip is None else site.zip, []).append(site)
        if any(len({site.ends[-1] for site in sites}) > 1 for sites in by_zip.values()):
            raise _Entangled  # not equally many: it is refused
        digits = [_Digit(sites[0].ends[-1], [site.place for site in sites]) for sites in by_zip.values()]
        return digits[::-1]

    def template(self, node: Any, path: str) -> Template:
        """Return the constructor for the value of a node."""
        if isinstance(node, Mapping) and "vary" in node:
            return self._site(node, path)
        if not _varies(node):
            value = _constant(node)
            return lambda chosen: value
        if isinstance(node, Mapping):
            paths = [f"{path}.{self._called(key)}" if path else self._called(key) for key in node]
            parts = [(key, self.template(value, inside)) for (key, value), inside in zip(node.items(), paths)]
            return lambda chosen: {key: make(chosen) for key, make in parts}
        entries = [self.template(value, f"{path}[{k}]") for k, value in enumerate(node)]
        return lambda chosen: [make(chosen) for make in entries]

    def _site(self, node: Mapping[str, Any], path: str) -> Template:
        items = node["vary"]
        if node.keys() - {"vary", "zip"} or not isinstance(items, (list, tuple)) or not items:
            raise _Entangled  # it is refused
        if any(_zips(item) for item in items):
            raise _Entangled
        inner = {
            k: Alternatives(item, path, self._where, self._called) for k, item in enumerate(items) if _varies(item)
        }
        values = [None if k in inner else _constant(item) for k, item in enumerate(items)]
        ends: Sequence[int] = range(1, len(items) + 1)
        if inner:
            ends = list(itertools.accumulate(len(inner[k]) if k in inner else 1 for k in range(len(items))))
        zipped = str(node["zip"]) if "zip" in node else None
        if zipped is not None and ends[-1] > len(items):
            raise _Entangled
        place = len(self.sites)
        self.sites.append(_Site(place, path, zipped, values, inner, ends))
        return lambda chosen: chosen[place]


def _constant(node: Any) -> Any:
    """Return the only value of a node that does not vary."""
    return expand(node)[0].value if isinstance(node, (Mapping, list, tuple)) else node


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    if isinstance(node, (Mapping, list, tuple)):
        for inner in node.values() if isinstance(node, Mapping) else node:
            yield from _nodes(inner)


def _varies(node: Any) -> bool:
    return any(isinstance(one, Mapping) and "vary" in one for one in _nodes(node))


def _zips(node: Any) -> bool:
    """Return whether a choice somewhere in a node is zipped."""
    return any(isinstance(one, Mapping) and "vary" in one and "zip" in one for one in _nodes(node))
