"""Every claim of the source documents, put to a statistical test and reported as it comes out, also when it fails.

The package can be called as its function `claims` is: `workbench.claims(["H1.1"])` is a report.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from workbench.claims.claim import FIRST_QUICK_SEED, FIRST_SEED, Claim, Evidence
from workbench.claims.report import ClaimReport, Outcome
from workbench.errors import InputError, WorkbenchError, unknown_name, wrong_value
from workbench.experiments.runner import Progress
from workbench.identity import one_moment
from workbench.parts import Registry, entered_by_file
from workbench.runs.faults import fault

_MODULES = tuple(
    f"workbench.claims.{name}" for name in ("placement", "malloc", "dispatch", "translation", "pool", "node")
)
_KNOWN: Registry[Claim] = Registry("claim", named_by="id")
"""Those that were entered, and the package's own once one was."""

SEEDS, QUICK_SEEDS = 200, 40
"""Paired seeds, at least as many as the source document ran (spec 1, section 6); and of a report that is indicative."""


def known_claims() -> dict[str, Claim]:
    """Return every claim by its id, in the order of the specifications, then the user's."""
    built_in = {claim.id: claim for module in _MODULES for claim in importlib.import_module(module).CLAIMS}
    return {**built_in, **_KNOWN}


def add_claim(claim: Claim) -> Claim:
    """Enter a claim of one's own, which `claims` then tests beside the others; the same id again replaces it.

    Parameters
    ----------
    claim : Claim
        Its id, what it asserts, where that is said, and the function that gives its cases from the evidence.

    Raises
    ------
    InputError
        It is no claim, or the workbench has one of that id.

    Examples
    --------
    >>> add_claim("M1")
    Traceback (most recent call last):
    workbench.errors.InputError: a claim must be a Claim(id, statement, source, parts). Got 'M1'.
    """
    if not isinstance(claim, Claim):
        raise wrong_value("", "a claim", "must be a Claim(id, statement, source, parts)", claim)
    for id, one in known_claims().items():
        _KNOWN.setdefault(id, one)
    return _KNOWN.join(claim.id, claim)


def claims(
    ids: Sequence[str] | str | None = None,
    out: str | Path | None = None,
    *,
    seeds: int | None = None,
    quick: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> ClaimReport:
    """Test claims and report what came out, each corrected over its cases and over all claims of its specification.

    Which claims are asked for changes no verdict: every p-value is times the number of tested claims of the
    specification (of the user's own claims: of those that are entered), run or not.

    Parameters
    ----------
    ids : sequence of str, optional
        Such as ["H1.1"], or "my_claims.py:M1" for one that a file enters; left out, all of them.
    out : path, optional
        A folder that keeps the runs: a results folder a sweep, which `open_results` and the commands `results` and
        `export` open. What is kept is not run again.
    seeds : int, optional
        Paired seeds of every comparison: 200, or 40 with `quick`. They begin at 1,000,000, where no pilot was run.
    quick : bool
        Whether the report is indicative, on seeds of its own (from 2,000,000 on), so that nobody has looked at the
        verdict's. Without ids it leaves out the real service and the whole node.

    Raises
    ------
    InputError
        There is no such claim.

    Examples
    --------
    >>> claims(["H1.8"]).table[["id", "verdict", "kind"]].values.tolist()
    [['H1.8', 'holds', 'counted']]
    """
    ids = [_named(id) for id in ([ids] if isinstance(ids, str) else ids or ())]
    known = known_claims()
    for id in ids:
        if id not in known:
            raise unknown_name("", "claim", id, known)
    count = seeds if seeds is not None else QUICK_SEEDS if quick else SEEDS
    first = FIRST_QUICK_SEED if quick else FIRST_SEED
    evidence = Evidence(count, Path(out) if out is not None else None, workers, progress, first)
    sizes = family_sizes(known)
    with one_moment():  # a hundred sweeps share their parts: each is digested once
        outcomes = [_outcome(known[id], evidence, sizes) for id in (ids or _all(known, quick))]
    return ClaimReport(outcomes, count, quick)


def _all(known: Mapping[str, Claim], quick: bool) -> list[str]:
    """Return every claim; a quick report leaves out what takes minutes, or is measured by the clock."""
    return [id for id, claim in known.items() if not (quick and (claim.on_real_service or claim.slow))]


def family_sizes(known: Mapping[str, Claim]) -> dict[str, int]:
    """Return how many claims with a p-value each family has; what is counted or true by construction has none."""
    return Counter(claim.family for claim in known.values() if claim.kind in ("tested", "measured"))


def _outcome(claim: Claim, evidence: Evidence, sizes: Mapping[str, int]) -> Outcome:
    size = max(sizes.get(claim.family, 1), 1)
    try:
        cases, costs = list(claim.parts(evidence)), list(claim.costs(evidence))
    except Exception as problem:
        if claim.built_in or isinstance(problem, WorkbenchError):
            raise
        raise InputError(fault(problem, who=f"claim {claim.id}")) from problem
    return Outcome(claim, claim.judged(cases, size), cases, costs, size)


def _named(id: str) -> str:
    """Return the id of a claim, given that or its verdict's; of one in a file, which is executed and enters it, without
    the file."""
    name = entered_by_file(id, Path(), "", "claim")
    return next((one.id for one in known_claims().values() if one.verdict_id == name), name)


class _Callable(ModuleType):
    __call__ = staticmethod(claims)


sys.modules[__name__].__class__ = _Callable
