"""A verdict on a user's code: its repeated runs agreed, differed, or are open, and what the code read.

What the code reads of files and of the environment is kept with the verdict and compared whenever its rows are looked
up.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.digests import canonical, digest
from workbench.engines.kit.engine import Setup
from workbench.identity.observed import Reads
from workbench.mechanisms.measured_by import MeasuredBy

if TYPE_CHECKING:
    pass

Outcome = Literal["agreed", "differs", "open"]


class Verdict(NamedTuple):
    """What became of the runs of some code that were repeated."""

    outcome: Outcome
    """`agreed`, `differs` (rows that were not withdrawn are to be repeated), or `open`: they could not be repeated, or
    nothing can stand for what the code does."""
    reason: str = ""
    """Why not agreed, as a part of a sentence."""
    reads: Reads = Reads()
    """What the code read, as it was then."""
    when: str = ""
    runs: int = 0
    """How many runs gave the same when they were repeated."""

    def text(self) -> str:
        """Return the verdict as a store keeps it.

        >>> Verdict.read(Verdict("open", "it could not be repeated").text()).reason
        'it could not be repeated'
        """
        return canonical({**self._asdict(), "reads": self.reads._asdict()})

    @staticmethod
    def read(text: str) -> Verdict:
        """Return a verdict from its text."""
        facts = json.loads(text)
        reads = facts["reads"]
        return Verdict(**{**facts, "reads": Reads(reads["files"], reads["variables"], tuple(reads["acts"]))})


def code_of(setup: Setup, measured: MeasuredBy) -> str:
    """Return 32 hexadecimal digits for the user's code in a run, whatever its levers; empty where there is none."""
    codes = sorted(code for _, code in setup.code)
    if not (codes or setup.engine_code or measured.user_measures):
        return ""
    return digest(canonical([setup.engine, setup.engine_code, codes, measured.engine, dict(measured.user_measures)]))
