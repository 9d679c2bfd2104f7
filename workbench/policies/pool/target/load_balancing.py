"""Load balancing over cards: in turn, at random, the better of two at random, by consistent hashing (spec 5, 7)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from workbench.compiled import kernel
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetNotice, TargetView
from workbench.streams import Streams
from workbench.structures.rng import below

NEXT = 0
"""Memory: the card behind the one that was taken last."""


class RoundRobin(Target):
    """Take the first candidate behind the card that lent last, cyclically; there are no ties.

    References
    ----------
    spec 5, section 7, H5.2 (round-robin spill).

    Examples
    --------
    >>> RoundRobin().choose(20, [("gpu1", 90, 24), ("gpu2", 90, 24), ("gpu3", 90, 24)], after=("gpu1",))
    'gpu2'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -float((see.cards[k] - see.memory[NEXT]) % see.free.size)

    @staticmethod
    def chosen(see: TargetNotice) -> None:
        see.memory[NEXT] = (see.card + 1) % see.cards


GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class RandomCard(Target):
    """Take any candidate, each as likely as another: it scores 1 and all others 0; there are no ties.

    References
    ----------
    spec 5, section 7.

    Examples
    --------
    >>> RandomCard().choose(20, [("gpu1", 10, 24), ("gpu2", 90, 24)])
    'gpu2'
    """

    draws = True

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        see.scores[below(see.memory, GENERATOR, see.count)] = 1.0

    def start_memory(self, cards: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random_card` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_card"), 1)])


class TwoChoices(Target):
    """Draw two of the candidates and take the one with more free memory; ties as the engine breaks them.

    Every pair is equally likely. The card that is taken scores 2, the other one 1, or 2 as well at a tie, all others 0.

    References
    ----------
    spec 5, section 7. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.

    Examples
    --------
    >>> TwoChoices().choose(20, [("gpu1", 90, 24), ("gpu2", 95, 24)])
    'gpu2'
    """

    draws = True

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        one = below(see.memory, GENERATOR, see.count)
        see.scores[one] = 2.0
        if see.count > 1:
            two = below(see.memory, GENERATOR, see.count - 1)
            two += two >= one
            ahead = see.free[see.cards[one]] - see.free[see.cards[two]]
            see.scores[two] = 2.0 if ahead <= 0 else 1.0
            see.scores[one] = 2.0 if ahead >= 0 else 1.0

    def start_memory(self, cards: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `two_choices` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("two_choices"), 1)])


MULTIPLIER, INCREMENT, BITS = 1103515245, 12345, 31
MASK = (1 << BITS) - 1


@kernel
def random_weight(server: int, key: int) -> int:
    """Return the weight of a server for a key, both below 2**31: below 2**31 as well, and no product leaves 64 bits."""
    mixed = ((MULTIPLIER * server + INCREMENT) & MASK) ^ key
    return (MULTIPLIER * mixed + INCREMENT) & MASK


class ConsistentHashing(Target):
    """Take the card with the highest weight, a hash of its id, the borrower's id and the size as the cache rounds it.

    Requests of one borrower and one size lie on one card while that has space. A card that leaves moves what lay on it,
    and nothing else; one that comes takes what it keeps. Equal weights tie; the engine breaks ties.

    References
    ----------
    spec 5, section 7. D. G. Thaler, C. V. Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM
    Transactions on Networking 6(1), 1998: highest random weight, its function W_rand over digests of 31 bits.

    Examples
    --------
    >>> near = [("gpu1", 90, 150), ("gpu2", 90, 24), ("gpu3", 90, 24)]
    >>> [ConsistentHashing().choose(size, near) for size in (6, 7, 8, 9)]
    ['gpu2', 'gpu1', 'gpu3', 'gpu1']
    >>> [ConsistentHashing().choose(size, near[:2]) for size in (6, 7, 8, 9)]
    ['gpu2', 'gpu1', 'gpu2', 'gpu1']
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        asking = int(see.levers[see.borrower]) if see.borrower < see.levers.size else 0
        key = random_weight(asking, (see.size ^ (see.size >> BITS)) & MASK)
        for k in range(see.count):
            see.scores[k] = float(random_weight(int(see.levers[see.cards[k]]), key))

    def parameters_on(self, ids: Sequence[str]) -> np.ndarray:
        """Return the digest of each card's id: float64[cards], whole numbers below 2**31."""
        return np.array([digest_of(name) for name in ids], np.float64)


def digest_of(name: str) -> int:
    """Return a number below 2**31 that follows from a name alone.

    >>> digest_of("gpu0"), digest_of("gpu1")
    (537597410, 1662053961)
    """
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "little") & MASK
