"""The scene of a card's choice in plain Python: what it is shown, how scores are summed, how a tie is broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.policies.arguments import listed, one_of, reals, seed_of, whole, wholes
from workbench.policies.pool.target.view import TargetNotice, TargetView

_SHOWN = ("hops", "held", "totals", "hosts")
Cards = Sequence[tuple[str, int, float]]


class Scene(NamedTuple):
    """What a choice of a card is shown, as arrays."""

    borrower: int
    cards: np.ndarray
    size: int
    free: np.ndarray
    gbps: np.ndarray
    hops: np.ndarray
    lent: np.ndarray
    held: np.ndarray
    totals: np.ndarray
    hosts: np.ndarray

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of an answer, from `borrower` to `hosts`."""
        return self.borrower, self.cards.size, *self[1:]


def choose(
    target: Any,
    size: int,
    cards: Cards,
    history: Mapping[str, int],
    tie: str,
    after: Sequence[str],
    seed: int,
    seen: Mapping[str, Any],
) -> str | None:
    """Choose the card that lends; `Target.choose` says with what."""
    tie = one_of("tie", tie, ("lowest_id", "most_free"))
    scores = scored(target, size, cards, history=history, after=after, seed=seed, **seen)
    most = max(scores.values(), default=-np.inf)
    if most == -np.inf:
        return None
    free = {name: amount for name, amount, _ in cards}
    tied = [name for name, score in scores.items() if score == most]
    return max(tied, key=lambda name: free[name]) if tie == "most_free" else tied[0]


def scored(
    target: Any,
    size: int,
    cards: Cards,
    history: Mapping[str, int] | None = None,
    after: Sequence[str] = (),
    seed: int = 0,
    **seen: Any,
) -> dict[str, float]:
    """Return the score of each candidate by name; empty where no card can hold the request."""
    size, seed, cards = whole("size", size), seed_of(seed), _checked(cards)
    names = [name for name, _, _ in cards]
    inputs = _scene(size, cards, names, {} if history is None else history, seen, target.filters())
    if not inputs.cards.size:
        return {}
    before = [_known("after", it, names) for it in listed("after", after, "must be a list of names of cards")]
    each = [(_scores_of(term, inputs, names, before, seed), weight) for term, weight in target.terms()]
    total = summed(each, target.normalises())
    return {names[card]: float(score) for card, score in zip(inputs.cards, total, strict=True)}


def summed(each: Sequence[tuple[np.ndarray, float]], normalises: bool) -> np.ndarray:
    """Return one score as it is; several divided by the largest of the candidates, weighted and added in their order.

    >>> summed([(np.array([40.0, 60.0]), 1.0), (np.array([0.0, 0.0]), 1.0)], True).round(3)
    array([0.667, 1.   ])
    """
    if len(each) == 1:
        return each[0][0]
    total = np.zeros(each[0][0].size)
    for scores, weight in each:
        largest = scores.max()
        total += weight * (scores / largest if normalises and largest > 0 else scores)
    return total


def _scene(size: int, cards: Cards, names: list[str], history: Mapping[str, int], seen: Any, filters: bool) -> Scene:
    for name in seen:
        if name not in _SHOWN:
            raise unknown_name("", "thing that a choice of a card is shown", name, _SHOWN)
    if not names:
        raise InputError("choose needs at least one card. Got none.")
    if not isinstance(history, Mapping):
        raise wrong_value("", "history", "must be a mapping of names of cards to numbers", history)
    for name, times in history.items():
        _known("history", name, names)
        whole(f"history[{name!r}]", times)
    count = len(cards)
    free = np.array([int(amount) for _, amount, _ in cards], np.int64)
    held = _column("held", seen, [0] * count)
    return Scene(
        borrower=len(cards),
        cards=np.flatnonzero(free >= size) if filters else np.arange(len(cards)),
        size=size,
        free=free,
        gbps=np.array([float(speed) for _, _, speed in cards]),
        hops=_column("hops", seen, [1] * count),
        lent=np.array([float(history.get(name, 0)) for name in names]),
        held=held,
        totals=_column("totals", seen, free + held),
        hosts=_column("hosts", seen, [int(name.startswith("cpu")) for name in names]),
    )


def _column(name: str, seen: Mapping[str, Any], usual: Any) -> np.ndarray:
    """Return the given values of each card, or the usual ones: int64[cards]."""
    given = [int(item) if isinstance(item, bool) else item for item in listed(name, seen.get(name, usual))]
    return np.array(wholes(name, given, count=len(usual)), np.int64)


def _checked(cards: Any) -> list[tuple[str, int, float]]:
    """Return the cards, each a name, its free bytes and its bandwidth."""
    entries = []
    for k, card in enumerate(listed("cards", cards, "must be a list of (name, free bytes, GB/s)")):
        if not isinstance(card, (tuple, list)) or len(card) != 3 or not isinstance(card[0], str):
            raise wrong_value("", f"cards[{k}]", "must be (name, free bytes, GB/s)", card)
        (gbps,) = reals(f"cards[{k}]: GB/s", [card[2]])
        entries.append((card[0], whole(f"cards[{k}]: free bytes", card[1]), gbps))
    return entries


def _known(what: str, name: Any, names: Sequence[str]) -> int:
    """Return the place of a card that is named."""
    if not isinstance(name, str) or name not in names:
        raise unknown_name(what, "card", name, names)
    return list(names).index(name)


def _scores_of(term: Any, inputs: Scene, names: Sequence[str], after: Sequence[int], seed: int) -> np.ndarray:
    count = len(names)
    memory, params, scores = term.start_memory(count, seed), term.parameters_on(names), np.zeros(inputs.cards.size)
    for card in after:
        term.tell("chosen", TargetNotice(card, count, params, memory))
    term.plain_answer()(TargetView._make((*inputs.arguments(), scores, params, memory)))
    return scores
