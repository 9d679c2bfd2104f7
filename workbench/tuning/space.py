"""The search space of a study: the sweep's mapping with choices in it, one dimension a lever that is tuned.

A trial draws from it. The levers of a policy matter only in the trials that choose this policy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from workbench.experiments.saved_results import named
from workbench.identity import digest_of
from workbench.levers import Spec, identity_of
from workbench.tuning.dimension import Dimension


class Fixed(NamedTuple):
    """A value that is not tuned."""

    value: Any
    of: type[Spec] | None = None
    """The class that it names."""


class Levers(NamedTuple):
    """A mapping, some of whose values are tuned."""

    parts: Mapping[str, Node]
    of: type[Spec] | None = None
    """The class that these are levers of."""


class Several(NamedTuple):
    """A list of a fixed length, some of whose entries are tuned."""

    parts: tuple[Node, ...]


class OneOf(NamedTuple):
    """A choice of one policy, whose own levers matter only when it is chosen."""

    dimension: Dimension
    candidates: Mapping[str, Node]


Node = Fixed | Levers | Several | OneOf | Dimension
Choose = Callable[[Dimension], Any]


def draw(node: Node, choose: Choose) -> Any:
    """Return the sweep's mapping once `choose` has answered every dimension that matters, in order.

    >>> tie = Dimension("tie", "category", 0, 0, None, False, ("low", "high"), "low")
    >>> draw(Levers({"tie": tie, "width": Fixed(3)}), lambda dimension: "high")
    {'tie': 'high', 'width': 3}
    """
    if isinstance(node, Dimension):
        return choose(node)
    if isinstance(node, Levers):
        return {name: draw(part, choose) for name, part in node.parts.items()}
    if isinstance(node, Several):
        return [draw(part, choose) for part in node.parts]
    if isinstance(node, OneOf):
        return draw(node.candidates[choose(node.dimension)], choose)
    return node.value


def dimensions(node: Node) -> Iterator[Dimension]:
    """Yield every dimension, those of policies that may not be chosen included."""
    if isinstance(node, Dimension):
        yield node
    elif isinstance(node, OneOf):
        yield node.dimension
        for candidate in node.candidates.values():
            yield from dimensions(candidate)
    elif isinstance(node, (Levers, Several)):
        for part in node.parts.values() if isinstance(node, Levers) else node.parts:
            yield from dimensions(part)


def size(node: Node) -> float:
    """Return the number of different settings of a space; infinite where a number has no steps.

    Levers of a policy count only with this policy.

    >>> tie = Dimension("fit.tie", "category", 0, 0, None, False, ("low", "high"), "low")
    >>> fit = tie._replace(path="fit", values=("first_fit", "best_fit"))
    >>> size(OneOf(fit, {"first_fit": Fixed(0), "best_fit": tie}))
    3
    """
    if isinstance(node, Dimension):
        return node.size
    if isinstance(node, OneOf):
        return sum(size(candidate) for candidate in node.candidates.values())
    if isinstance(node, (Levers, Several)):
        return math.prod(size(part) for part in (node.parts.values() if isinstance(node, Levers) else node.parts))
    return 1


def settings(node: Node) -> Iterator[dict[str, Any]]:
    """Yield every setting of a finite space, in order: the values of the dimensions that matter, by path.

    >>> tie = Dimension("fit.tie", "category", 0, 0, None, False, ("low", "high"), "low")
    >>> fit = tie._replace(path="fit", values=("first_fit", "best_fit"))
    >>> list(settings(OneOf(fit, {"first_fit": Fixed(0), "best_fit": tie})))
    [{'fit': 'first_fit'}, {'fit': 'best_fit', 'fit.tie': 'low'}, {'fit': 'best_fit', 'fit.tie': 'high'}]
    """
    if isinstance(node, Dimension):
        yield from ({node.path: value} for value in node.every_value())
    elif isinstance(node, OneOf):
        for name, candidate in node.candidates.items():
            yield from ({node.dimension.path: name, **inner} for inner in settings(candidate))
    else:
        parts = node.parts.values() if isinstance(node, Levers) else node.parts if isinstance(node, Several) else ()
        for combination in itertools.product(*(list(settings(part)) for part in parts)):
            yield {path: value for chosen in combination for path, value in chosen.items()}


def groups(node: Node) -> Iterator[list[Dimension]]:
    """Yield the dimensions that always matter together: first those of every trial, then those of each choice.

    >>> tie = Dimension("fit.tie", "category", 0, 0, None, False, ("low", "high"), "low")
    >>> fit = tie._replace(path="fit", values=("first_fit", "best_fit"))
    >>> [[one.path for one in group] for group in groups(OneOf(fit, {"first_fit": Fixed(0), "best_fit": tie}))]
    [['fit'], [], ['fit.tie']]
    """
    own: list[Dimension] = []
    later: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, Dimension):
            own.append(one)
        elif isinstance(one, OneOf):
            own.append(one.dimension)
            later.extend(one.candidates.values())
        elif isinstance(one, (Levers, Several)):
            waiting.extend(one.parts.values() if isinstance(one, Levers) else one.parts)
    yield own
    for candidate in later:
        yield from groups(candidate)


def plain(node: Node) -> Any:
    """Return the space in plain types; two studies with the same text search the same space."""
    if isinstance(node, Dimension):
        return node.plain()
    if isinstance(node, Levers):
        return {**{name: plain(part) for name, part in node.parts.items()}, **_code(node.of)}
    if isinstance(node, Several):
        return [plain(part) for part in node.parts]
    if isinstance(node, OneOf):
        return {"one of": {name: plain(candidate) for name, candidate in node.candidates.items()}}
    value = _identified(node.value)
    return value if node.of is None else {"value": value, **_code(node.of)}


def _code(cls: type[Spec] | None) -> dict[str, str]:
    return {} if cls is None else {"code": digest_of(cls)}


def _identified(value: Any) -> Any:
    """Return a fixed value in plain types; of a spec or its class with the digest of its code."""
    if isinstance(value, Spec):
        return identity_of(value)
    if isinstance(value, type) and issubclass(value, Spec):
        return {value.name: digest_of(value)}
    return named(value)
