"""Layouts of a request's key-value cache in memory: reserved for the longest, a power of two, exactly, or paged."""

from __future__ import annotations

from typing import ClassVar

from workbench.levers import Family, lever


class CacheLayout(Family, noun="cache layout", example="{paged: 16}"):
    """The base of every layout."""

    block: ClassVar[int] = 0
    """Tokens of a block; 0 = a request has one region."""

    def tokens(self, prompt: int, answer: int, longest: int) -> int:
        """Return the tokens of the one region that a request gets."""
        raise NotImplementedError


class ReserveLongest(CacheLayout):
    """One region for the longest sequence that the model takes, whatever comes.

    References
    ----------
    arXiv 2309.06180, section 6.1: Orca (Max).
    """

    def tokens(self, prompt: int, answer: int, longest: int) -> int:
        return longest


class ReservePowerOfTwo(CacheLayout):
    """One region for the prompt and the next power of two above the answer: at most twice what the answer needs.

    References
    ----------
    arXiv 2309.06180, section 6.1: Orca (Pow2).

    Examples
    --------
    >>> ReservePowerOfTwo().tokens(100, 25, 2048)
    132
    """

    def tokens(self, prompt: int, answer: int, longest: int) -> int:
        return min(prompt + (1 << (answer - 1).bit_length()), longest)


class ReserveExact(CacheLayout):
    """One region for prompt and answer, as if it were known how long the answer will be.

    References
    ----------
    arXiv 2309.06180, section 6.1: Orca (Oracle), infeasible in practice.
    """

    def tokens(self, prompt: int, answer: int, longest: int) -> int:
        return prompt + answer


class Paged(CacheLayout):
    """Blocks of some tokens, got as the sequence grows; blocks of a prefix that several share are there once.

    References
    ----------
    arXiv 2309.06180, section 4.3; 16 tokens is its default (section 7.2).
    """

    brief = ("block_tokens",)
    block_tokens: int = lever(16, least=1, most=4096, scale="power_of_two", unit="tokens", description="of a block")

    @property
    def block(self) -> int:  # type: ignore[override]
        return self.block_tokens
