"""Every claim of the source documents, put to a statistical test and reported as it comes out, also when it fails."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import unknown_name
from workbench.experiments.runner import Progress
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.report import ClaimReport
from workbench.studies.statistics import judge

_ROOMS = tuple(
    f"workbench.studies.claims.{room}" for room in ("placement", "malloc", "dispatch", "translation", "pool")
)
SEEDS = 200
"""Paired seeds, at least as many as the source document ran (spec 1, section 6)."""


def known_claims() -> dict[str, Claim]:
    """Every claim by its id, in the order of the specifications."""
    return {claim.id: claim for room in _ROOMS for claim in importlib.import_module(room).CLAIMS}


def claims(
    ids: Sequence[str] | str | None = None,
    out: str | Path | None = None,
    *,
    seeds: int = SEEDS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> ClaimReport:
    """Test claims together (Holm's correction over those asked for) and report what came out.

    Parameters
    ----------
    ids : sequence of str, optional
        Such as ["H1.1"]; left out, all of them.
    out : path, optional
        A folder that keeps the runs: a results folder a sweep, which `open_results` and the commands `results` and
        `export` open.
    seeds : int
        Paired seeds of every comparison.

    Raises
    ------
    InputError
        There is no such claim.

    Examples
    --------
    >>> claims(["H1.8"]).table[["id", "holds"]].values.tolist()
    [['H1.8', 'yes']]
    """
    known = known_claims()
    ids = [ids] if isinstance(ids, str) else ids
    for id in ids or ():
        if id not in known:
            raise unknown_name("", "claim", id, known)
    evidence = Evidence(seeds, Path(out) if out is not None else None, workers, progress)
    found = {id: known[id].found(evidence) for id in (ids or known)}
    verdicts = judge([whole for whole, _ in found.values()])
    costs = {id: list(known[id].costs(evidence)) for id in found}
    return ClaimReport(verdicts, {id: cases for id, (_, cases) in found.items()}, costs)


__all__ = ["ClaimReport", "claims", "known_claims"]
