"""Which part of a sweep a shard is: a pure function of the sweep, of how many shards there are, and of its number.

A comparison stays whole: points that differ only in the policies that the baseline replaces are of one shard, at one
seed. Such units are dealt like cards, so that shards have points from all over the sweep. Their numbers of units differ
by one at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from workbench.errors import InputError, at, wrong_value

MOST_SHARDS = 1_000_000
_WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


class Shard(NamedTuple):
    """One of several parts of a sweep."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def name(self) -> str:
        """Return its name in sentences.

        >>> Shard(2, 4).name
        'shard 2 of 4'
        """
        return f"shard {self.number} of {self.of}"


def read_shard(text: str) -> Shard:
    """Return the shard that a user names as K/N.

    >>> read_shard("2/4")
    Shard(number=2, of=4)

    Raises
    ------
    InputError
        It is not two whole numbers, or K is not from 1 to N.
    """
    written = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
    if written is None:
        raise wrong_value("", "--shard", "must be K/N, such as 2/4 for the second of four parts", text)
    shard = Shard(int(written[1]), int(written[2]))
    if not 1 <= shard.number <= shard.of <= MOST_SHARDS:
        array = f": a Slurm array takes --array=1-{shard.of}" if shard.number == 0 < shard.of else ""
        most = "" if shard.of <= MOST_SHARDS else f", N at most {MOST_SHARDS:,}"
        raise InputError(f"--shard K/N counts K from 1 to N{most}{array}. Got {text!r}.")
    return shard


def dealt(groups: int, seeds: int, shard: Shard, where: str = "") -> dict[int, tuple[int, int]]:
    """Return the groups of a shard, each with the places of its first seed and behind its last one.

    >>> dealt(groups=4, seeds=3, shard=Shard(1, 2)), dealt(groups=1, seeds=3, shard=Shard(2, 2))
    ({0: (0, 3), 2: (0, 3)}, {0: (1, 3)})

    Raises
    ------
    InputError
        There are more shards than groups at one seed.
    """
    units = groups * seeds
    if shard.of > units:
        why = f"the sweep has {units:,} comparisons of one seed, and each is run by one shard"
        raise InputError(at(where, f"--shard {shard}: N must be at most {units:,}; {why}."))
    first, end = (units * k // shard.of for k in (shard.number - 1, shard.number))
    parts: dict[int, tuple[int, int]] = {}
    for place in range(first // seeds, (end - 1) // seeds + 1):
        parts[_card(place, groups, shard.of)] = (
            max(first - place * seeds, 0),
            min(end - place * seeds, seeds),
        )
    return parts


def _card(place: int, cards: int, hands: int) -> int:
    """Return the card at a place, if cards are dealt to hands in turn and the hands are laid behind each other."""
    # The first `longer` hands have one card more than the others.
    less, longer = divmod(cards, hands)
    if place < longer * (less + 1):
        hand, turn = divmod(place, less + 1)
    else:
        hand, turn = divmod(place - longer * (less + 1), less)
        hand += longer
    return hand + turn * hands


class Part(NamedTuple):
    """What a plan has of a sweep, if it is the plan of a shard."""

    shard: Shard
    places: Mapping[str, tuple[int, int]]
    """By the id of a point: the index of its alternative, and 1 if it is that alternative's baseline, else 0."""
    seeds: Mapping[str, frozenset[int]]
    """By the id of a point: its seeds, where they are not all that the sweep has."""
