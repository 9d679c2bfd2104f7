"""Traffic to servers of language models: arrivals, tokens of prompts and answers, shared prefixes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.streams import Streams

NO_PREFIX = -1


class Traffic(NamedTuple):
    """Requests to a server; one row a request, arrivals not decreasing."""

    arrival: np.ndarray
    """int64[requests], nanoseconds."""
    prompt: np.ndarray
    """int64[requests], tokens, at least 1."""
    answer: np.ndarray
    """int64[requests], tokens, at least 1."""
    prefix: np.ndarray
    """int64[requests], the number of the prefix that begins the prompt, -1 = its own words."""

    def cut(self, longest: int) -> Traffic:
        """Return the same for a model that keeps so many tokens: a longer prompt is cut, then the answer.

        >>> one = np.array([0])
        >>> Traffic(one, one + 90, one + 20, one).cut(100).answer.tolist()
        [10]
        """
        prompt = np.minimum(self.prompt, longest - 1)
        return self._replace(prompt=prompt, answer=np.minimum(self.answer, longest - prompt))

    def dealt(self, servers: int, number: int) -> Traffic:
        """Return the part of one of several servers when they take turns."""
        return Traffic(*(column[number::servers] for column in self))


def prefixes(prompt: np.ndarray, tokens: int, kinds: int, share: float, streams: Streams) -> np.ndarray:
    """Return the prefix of each prompt; one that is not longer than the prefix begins with its own words.

    Parameters
    ----------
    prompt : int64[requests]
        Tokens of each.
    tokens, kinds : int
        How long prefixes are, and how many there are.
    share : float
        How many prompts begin with one, as a share.
    """
    if not tokens or not share:
        return np.full(len(prompt), NO_PREFIX)
    has = (streams.uniforms("has prefix", len(prompt)) < share) & (prompt > tokens)
    which = (streams.uniforms("prefixes", len(prompt)) * kinds).astype(np.int64)
    return np.where(has, which, NO_PREFIX)
