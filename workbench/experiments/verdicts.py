"""A verdict on the rows that one invocation made of a user's code: its repeated runs agreed, differed, or are open."""

from __future__ import annotations

import json
from typing import Literal, NamedTuple

from workbench.digests import canonical, digest
from workbench.engines.kit.engine import Setup
from workbench.identity.reads import Reads
from workbench.mechanisms.measured_by import MeasuredBy

Outcome = Literal["agreed", "differs", "open"]

_DIGITS = 16


class Verdict(NamedTuple):
    """What became of the runs of some code that were repeated."""

    outcome: Outcome
    """`agreed`, `differs` (rows that were not withdrawn are to be repeated), or `open`: they could not be repeated, or
    nothing can stand for what the code does."""
    reason: str = ""
    """Why not agreed, as a part of a sentence."""
    reads: Reads = Reads()
    """What the code read in the runs of the invocation and in those that were repeated, as it was then."""
    when: str = ""
    repeated: tuple[str, ...] = ()
    """The runs that gave the same when they were repeated, by the beginning of their ids."""
    place: str = ""
    """Where the results folder lay then, as a digest: in another place code may read other files."""

    def has_repeated(self, run: str) -> bool:
        """Return whether a run gave the same when it was repeated."""
        return run[:_DIGITS] in self.repeated

    def text(self) -> str:
        """Return the verdict as a store keeps it.

        >>> Verdict.read(Verdict("open", "it could not be repeated").text()).reason
        'it could not be repeated'
        """
        return canonical({**self._asdict(), "reads": self.reads.text()})

    @staticmethod
    def read(text: str) -> Verdict:
        """Return a verdict from its text."""
        facts = json.loads(text)
        return Verdict(**{**facts, "reads": Reads.read(facts["reads"]), "repeated": tuple(facts["repeated"])})


def shortened_ids(runs: list[str]) -> tuple[str, ...]:
    """Return the ids of runs as a verdict names them."""
    return tuple(run[:_DIGITS] for run in runs)


def code_of(setup: Setup, measured: MeasuredBy) -> str:
    """Return 32 hexadecimal digits for the user's code in a run, whatever its levers; empty where there is none."""
    codes = sorted(code for _, code in setup.code)
    if not (codes or setup.engine_code or measured.user_measures):
        return ""
    return digest(canonical([setup.engine, setup.engine_code, codes, measured.engine, dict(measured.user_measures)]))
