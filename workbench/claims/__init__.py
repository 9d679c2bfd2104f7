"""Every claim of the source documents, put to a statistical test and reported as it comes out, also when it fails.

The package can be called as its function `claims` is: `workbench.claims(["H1.1"])` is a report.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.claims.claim import Claim
from workbench.claims.plan import QUICK_SEEDS, SEEDS, ClaimPlan, family_sizes
from workbench.claims.report import ClaimReport
from workbench.errors import unknown_name, wrong_value
from workbench.experiments.runner import Progress
from workbench.mechanisms.catalogue import OWN, brought
from workbench.parts import Guests, Registry, entered_by_file, listed

CLAIMS: Registry[Claim] = Registry(
    "claim",
    later=listed((manifest.claims for manifest in OWN.values()), "id"),
    named_by="id",
    guests=Guests(
        "claim",
        lambda value: isinstance(value, Claim),
        named_by="id",
        home=lambda claim: getattr(claim.parts, "__module__", ""),
        more=lambda: brought("claims", "claim"),
    ),
)


def known_claims() -> dict[str, Claim]:
    """Return every claim by its id, in the order of the specifications, then the user's."""
    return CLAIMS.all()


def add_claim(claim: Claim) -> Claim:
    """Enter a user's claim, which `claims` then tests with the others; the same id again replaces it.

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
    return CLAIMS.join(claim.id, claim)


def claims(
    ids: Sequence[str] | str | None = None,
    out: str | Path | None = None,
    *,
    seeds: int | None = None,
    quick: bool = False,
    levers: Mapping[str, Any] | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> ClaimReport:
    """Test claims and report what came out, each corrected over its cases and over all claims of its specification.

    A claim that raises is reported as `failed`, with its sentence; the others go on.

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
        Whether the report is indicative, on seeds of its own (from 2,000,000 on), so that the verdict's seeds stay
        unseen. Without ids it leaves out the real service.
    levers : mapping, optional
        Values by dotted path that replace those of every sweep: `{"options.progress": "constant"}`. So a conclusion can
        be looked at under another law. A claim whose engine lacks such a lever is reported as `failed`.

    Raises
    ------
    InputError
        There is no such claim.

    Examples
    --------
    >>> claims(["H1.8"]).table[["id", "verdict", "kind"]].values.tolist()
    [['H1.8', 'holds', 'counted']]
    """
    plan = plan_claims(ids, seeds=seeds, quick=quick, levers=levers)
    return ClaimReport(list(plan.outcomes(out, workers, progress)), plan.heading)


_SECTIONS = ("machine", "options", "policy", "workload")
"""Sections of a sweep that levers of claims may change."""


def plan_claims(
    ids: Sequence[str] | str | None = None,
    *,
    seeds: int | None = None,
    quick: bool = False,
    levers: Mapping[str, Any] | None = None,
) -> ClaimPlan:
    """Return the plan of a report, as `claims` makes it: its outcomes can be taken one by one.

    Raises
    ------
    InputError
        There is no such claim, or a lever belongs to no section of a sweep.
    """
    for path in levers or {}:
        if (section := path.partition(".")[0]) not in _SECTIONS:
            raise unknown_name("", "section of a sweep", section, _SECTIONS)
    ids = [_named(id) for id in ([ids] if isinstance(ids, str) else ids or ())]
    known = known_claims()
    for id in ids:
        if id not in known:
            raise unknown_name("", "claim", id, known)
    count = seeds if seeds is not None else QUICK_SEEDS if quick else SEEDS
    chosen = [known[id] for id in (ids or _all(known, quick))]
    return ClaimPlan(chosen, family_sizes(known), count, quick, levers or {})


def _all(known: Mapping[str, Claim], quick: bool) -> list[str]:
    """Return every claim; a quick report leaves out what is measured on the real service, by the clock."""
    return [id for id, claim in known.items() if not (quick and claim.on_real_service)]


def _named(id: str) -> str:
    """Return the id of a claim, given that or its verdict's; of one in a file, which is executed and enters it, without
    the file."""
    name = entered_by_file(id, Path(), "", "claim")
    return next((one.id for one in known_claims().values() if one.verdict_id == name), name)


class _Callable(ModuleType):
    __call__ = staticmethod(claims)


sys.modules[__name__].__class__ = _Callable
