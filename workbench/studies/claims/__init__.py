"""Every claim of the source documents, put to a statistical test and reported as it comes out, also when it fails."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import unknown_name, wrong_value
from workbench.experiments.runner import Progress
from workbench.parts import Registry, file_and_name, is_in_file, module_in_file
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.report import ClaimReport
from workbench.studies.statistics import judge

_ROOMS = tuple(
    f"workbench.studies.claims.{room}" for room in ("placement", "malloc", "dispatch", "translation", "pool")
)
_KNOWN: Registry[Claim] = Registry("claim", named_by="id")
"""Those that were entered, and the package's own once one was."""

SEEDS = 200
"""Paired seeds, at least as many as the source document ran (spec 1, section 6)."""


def known_claims() -> dict[str, Claim]:
    """Every claim by its id, in the order of the specifications, then the user's."""
    built_in = {claim.id: claim for room in _ROOMS for claim in importlib.import_module(room).CLAIMS}
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
    seeds: int = SEEDS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> ClaimReport:
    """Test claims together (Holm's correction over those asked for) and report what came out.

    Parameters
    ----------
    ids : sequence of str, optional
        Such as ["H1.1"], or "my_claims.py:M1" for one that a file enters; left out, all of them.
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
    ids = [_named(id) for id in ([ids] if isinstance(ids, str) else ids or ())]
    known = known_claims()
    for id in ids:
        if id not in known:
            raise unknown_name("", "claim", id, known)
    evidence = Evidence(seeds, Path(out) if out is not None else None, workers, progress)
    found = {id: known[id].found(evidence) for id in (ids or known)}
    verdicts = judge([whole for whole, _ in found.values()])
    costs = {id: list(known[id].costs(evidence)) for id in found}
    return ClaimReport(verdicts, {id: cases for id, (_, cases) in found.items()}, costs)


def _named(id: str) -> str:
    """Return the id; of one in a file, which is executed and enters it, without the file."""
    if not is_in_file(id):
        return id
    file, name = file_and_name(id)
    module_in_file(file, Path(), "", "claim")
    return name


__all__ = ["Claim", "ClaimReport", "Evidence", "add_claim", "claims", "known_claims"]
