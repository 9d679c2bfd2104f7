"""A measure is declared once: its unit, which direction is better, what it describes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

Better = Literal["lower", "higher", "neither"]
ComparedBy = Literal["ratio", "difference"]
COMPARED_BY: tuple[ComparedBy, ...] = ("ratio", "difference")
LEAST = 0.01
"""The least effect that counts, unless a measure declares another: 1 % of a ratio, one hundredth of a share."""


class Measure(NamedTuple):
    """One number that is computed of every run of an engine."""

    name: str
    unit: str
    better: Better
    description: str
    of: str = ""
    """The part of the run that it is about, such as `priority 4`; empty = all of it."""
    refusals: str = ""
    """The measure that counts what was refused: where it is above 0 this one is missing (NaN), and the worst in a
    comparison, for less work is done sooner; empty = nothing can be refused."""
    compared_by: ComparedBy = "difference"
    """`ratio` if it can never be 0: completion times, throughputs, bytes reserved; its comparisons are speed-ups."""
    least_effect: float | None = None
    """The least size that counts: a share of 1 for ratios, the unit for differences; None = LEAST, or none at all for
    a difference that is no share."""

    @property
    def is_share(self) -> bool:
        """Return whether it lies between 0 and 1, by its name."""
        return not self.unit and self.stem.endswith(("_rate", "_share"))

    @property
    def least(self) -> float | None:
        """Return the least effect that counts, None where none is declared.

        >>> one = Measure("hit_rate", "", "higher", "")
        >>> one.least, one._replace(name="wait_cycles", unit="cycles").least
        (0.01, None)
        """
        if self.least_effect is None and (self.compared_by == "ratio" or self.is_share):
            return LEAST
        return self.least_effect

    def facts(self) -> dict[str, Any]:
        """Return its declaration, without its name, as manifests and listings hold it."""
        facts: dict[str, Any] = {"unit": self.unit, "better": self.better, "description": self.description}
        if self.better != "neither":
            facts |= {"compared_by": self.compared_by, "least_effect": self.least}
        return facts

    @property
    def label(self) -> str:
        """Return the axis label.

        >>> Measure("mean_queue", "workgroups", "lower", "").label
        'mean queue (workgroups)'
        >>> Measure("wait_p99_cycles[4]", "cycles", "lower", "", "priority 4").label
        'wait p99, priority 4 (cycles)'
        """
        words = self.with_part(self.stem.removesuffix("_cycles").replace("_", " "))
        return f"{words} ({self.unit})" if self.unit else words

    @property
    def stem(self) -> str:
        """Return the name without its part: `wait_p99_cycles` of `wait_p99_cycles[4]`."""
        return self.name.partition("[")[0]

    def with_part(self, words: str) -> str:
        """Return the words for the stem, followed by the part that the measure is about."""
        return f"{words}, {self.of}" if self.of else words


class Family(NamedTuple):
    """Measures that a run has for each part of some kind as well as for the whole: `wait_p99_cycles[4]`."""

    part: str
    """What stands in the brackets, as a regular expression."""
    of: str
    """What the part is called, `{}` standing for it."""
    stems: tuple[str, ...]
    """The measures that there are of each part."""


class Measures(Mapping[str, Measure]):
    """Measures by name, and those of parts, which are found by name but not listed: there may be any number of parts.

    >>> known = Measures(declared(Measure("wait", "cycles", "lower", "till dispatch")),
    ...                  Family("[1-8]", "priority {}", ("wait",)))
    >>> list(known), known["wait[4]"].description, "wait[9]" in known
    (['wait'], 'till dispatch, of priority 4', False)
    """

    def __init__(self, whole: Mapping[str, Measure], *families: Family) -> None:
        self._whole = whole
        self._families = families

    def __getitem__(self, name: str) -> Measure:
        if name in self._whole:
            return self._whole[name]
        stem, _, part = name.removesuffix("]").partition("[")
        for family, pattern in zip(self._families, self.patterns(), strict=True):
            if re.fullmatch(pattern, name):
                of = family.of.format(part)
                whole = self._whole[stem]
                return whole._replace(name=name, description=f"{whole.description}, of {of}", of=of)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    def patterns(self) -> list[str]:
        """Return the names of the measures of parts, as a regular expression a family."""
        return [rf"({'|'.join(family.stems)})\[({family.part})\]" for family in self._families]


def declared(*measures: Measure) -> dict[str, Measure]:
    """Return measures by name."""
    return {measure.name: measure for measure in measures}
