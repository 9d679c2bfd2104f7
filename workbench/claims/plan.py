"""The claims that a report is about, judged one after another: each is reported as it finishes, also one that fails."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.claims.claim import FIRST_QUICK_SEED, FIRST_SEED, Claim, Evidence
from workbench.claims.report import Outcome
from workbench.errors import WorkbenchError
from workbench.experiments.runner import Progress
from workbench.identity import one_moment
from workbench.number_text import probability
from workbench.runs.faults import fault
from workbench.statistics.floors import ALPHA, fewest_seeds, least_p

SEEDS, QUICK_SEEDS = 200, 40
"""Paired seeds, at least as many as the source document ran (spec 1, section 6); and of a report that is indicative."""
HAVE_P = ("tested", "measured")
"""The kinds of claim that are members of a family."""


def family_sizes(known: Mapping[str, Claim]) -> dict[str, int]:
    """Return the number of claims with a p-value of each family; what is counted or true by construction has none."""
    return Counter(claim.family for claim in known.values() if claim.kind in HAVE_P)


class ClaimPlan(NamedTuple):
    """Which claims are judged, on how many seeds, and how many claims each is corrected with."""

    claims: Sequence[Claim]
    sizes: Mapping[str, int]
    """The tested claims of each family, also those that are not judged here."""
    seeds: int
    quick: bool
    levers: Mapping[str, Any] = {}
    """Values by dotted path that replace those of every sweep, such as another law; empty as the claims are stated."""

    @property
    def heading(self) -> list[str]:
        """Return the notes before the first run: the families, and how many of their members are left out."""
        members = [claim for claim in self.claims if claim.kind in HAVE_P]
        chosen = Counter(claim.family for claim in members)
        sentences = [
            f"{name}: every p-value times {self.sizes[name]}, the tested claims of the family"
            + (f", of which {self.sizes[name] - count} are not run" if self.sizes[name] > count else "")
            for name, count in chosen.items()
        ]
        quick = f"indicative: {self.seeds} seeds a comparison; a verdict needs a full run, with the real service"
        other = ", ".join(f"{path}={json.dumps(value, default=str)}" for path, value in self.levers.items())
        changed = f"no verdict on the documents: every sweep is run with {other}"
        return [*([changed] if other else []), *([quick] if self.quick else []), *sentences, *self.floors]

    @property
    def floors(self) -> list[str]:
        """Return a sentence for each family of which no gain or loss can be shown, as there are too few seeds."""
        families = dict.fromkeys(claim.family for claim in self.claims if claim.kind == "tested")
        few = [(name, self.sizes[name]) for name in families if least_p(self.seeds, self.sizes[name]) >= ALPHA]
        return [
            f"{name}: at {self.seeds} seeds no gain or loss can be shown, whatever the data are: the smallest p of a "
            f"direction is {probability(least_p(self.seeds, size))} among {size} {'claims' if size > 1 else 'claim'}; "
            f"it takes {fewest_seeds(size)} seeds"
            for name, size in few
        ]

    def outcomes(
        self, out: str | Path | None = None, workers: int | None = None, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """Yield the outcome of each claim, as soon as it is judged; a claim that fails is an outcome, too."""
        first = FIRST_QUICK_SEED if self.quick else FIRST_SEED
        evidence = Evidence(self.seeds, Path(out) if out is not None else None, workers, progress, first, self.levers)
        with one_moment():  # a hundred sweeps share their parts: each is digested once
            for claim in self.claims:
                yield outcome_of(claim, evidence, self.sizes)


def outcome_of(claim: Claim, evidence: Evidence, sizes: Mapping[str, int]) -> Outcome:
    """Judge one claim; whatever it raises becomes the sentence of its outcome."""
    size = max(sizes.get(claim.family, 1), 1)
    try:
        cases, costs = list(claim.parts(evidence)), list(claim.costs(evidence))
        return Outcome(claim, claim.judged(cases, size), cases, costs, size)
    except WorkbenchError as problem:
        sentence = str(problem)
    except Exception as problem:
        sentence = fault(problem, who=f"claim {claim.id}")
    return Outcome(claim, None, [], [], size, sentence)
