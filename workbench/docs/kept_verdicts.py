"""The verdicts that a full run kept in `data/verdict`, and the numbers of them that pages and README show.

A verdict is of the code of its run. If the question of a claim or its test has changed since, it is marked until the
next full run. Each number is printed with the name of its statistic, as a mean is no median.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.claims import known_claims
from workbench.claims.claim import Claim
from workbench.claims.report import estimate_text, p_text
from workbench.docs import VERDICT

Row = Mapping[str, Any]
"""A verdict, or one of its cases, as `workbench claims --json` gives it."""
CHANGED = "‡"
"""The mark of a verdict of another question or test than its claim has now."""
STATISTICS = {
    "1.058x": "the geometric mean of the paired ratios of a measure that can never be 0: above 1 is better",
    "mean": "the mean of the paired differences, turned so that above 0 is better; of a trend its mean slope",
    "median": "the median over the seeds of a share, a ratio or a difference, which is held against a band",
    "share": "of the cells of a design or of the sets of a law, how many have what the case is about",
    "ratio of means": "the mean of one side over that of the other: in verdicts of version 0.4 alone",
}
"""The names of estimates, and what they are of."""
_METHODS = {"fieller": "ratio of means", "ranks": "pseudo-median"}
"""The statistics of 0.4, by the method that the note of a case names; all others are means."""


class KeptRun(NamedTuple):
    """A full run, as its folder holds it."""

    rows: Mapping[str, Row]
    """The verdicts by the number under which they are kept."""
    provenance: Mapping[str, Any]

    @property
    def version(self) -> str:
        """Return the version of the workbench that did it."""
        return str(self.provenance["environment"]["packages"]["gpu-policy-workbench"])

    @property
    def seeds(self) -> int:
        """Return the number of paired seeds of a comparison."""
        return int(self.provenance["seeds"]["count"])

    def of(self, claim: Claim) -> Row | None:
        """Return the verdict on a claim, also on its former question; None where the claim is younger."""
        return self.rows.get(claim.verdict_id) or self.rows.get(claim.id)


def read_kept(folder: Path) -> KeptRun | None:
    """Return the full run that a folder holds, None where it holds none."""
    if not (folder / "verdict.json").exists():
        return None
    rows = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    return KeptRun({row["id"]: row for row in rows}, provenance)


@functools.cache
def kept_run() -> KeptRun:
    """Return the full run of this checkout."""
    return read_kept(VERDICT) or KeptRun({}, {})


def is_former(row: Row) -> bool:
    """Return whether a verdict is of another question or another test than its claim has now.

    The question: another number, another kind, or a claim that there is no more. The test: the run is older than the
    pair of tests, whose cases name their statistic.
    """
    claim = next((one for one in known_claims().values() if row["id"] in (one.id, one.verdict_id)), None)
    if claim is None or claim.verdict_id != row["id"] or claim.kind != row["kind"]:
        return True
    return any(case.get("p") is not None for case in row.get("cases", ()) if case["part"] == "case")


def statistic_of(case: Row) -> str:
    """Return the estimate of a kept case, nothing of what is counted.

    >>> statistic_of({"p": 0.1, "measure": "m", "note": "mean difference 13.39 [10.03, 16.75] (95 %, t)"})
    'mean'
    """
    if "statistic" in case:
        return str(case["statistic"] or "")
    if case["p"] is None:
        return ""
    if str(case["measure"]).startswith("share of seeds"):
        return "share"
    method = re.search(r"\(\d+ %, (\w+)\)", str(case["note"]))
    return _METHODS.get(method[1] if method else "", "mean")


def count(id: str, what: str) -> str:
    """Return the number of cases of a claim that are `for` it, `against` it or `neither`, or of all (`cases`)."""
    row = row_of(id)
    counts = {side: row[f"cases_{side}"] for side in ("for", "against", "neither")}
    return str({**counts, "cases": sum(counts.values())}[what])


def estimate(id: str, name: str) -> str:
    """Return the estimate of a case, with the name of its statistic and its unit, without its interval."""
    case = _case(id, name)
    return estimate_text(statistic_of(case), case["estimate"], None, None, case["unit"] or "")


def case_line(id: str, name: str) -> str:
    """Return a case as a report prints it."""
    case = _case(id, name)
    text = estimate_text(statistic_of(case), case["estimate"], case["low"], case["high"], case["unit"] or "")
    p = f", p = {case['p']:.2g}" if case.get("p") is not None else ""
    if case.get("p_for") is not None:
        p = p_text(case["p_for"], case["p_against"], case["side"])
    return f"{case['side']}  {name}: {text}{p} ({case['statement']})"


def of_run(what: str) -> str:
    """Return the `version` of the kept run, or its number of `seeds`."""
    facts: dict[str, Callable[[KeptRun], object]] = {"version": lambda run: run.version, "seeds": lambda run: run.seeds}
    return str(facts[what](kept_run()))


def words_of(ids: Sequence[str]) -> dict[str, list[str]]:
    """Return claims under their verdicts, in the order given."""
    under: dict[str, list[str]] = {}
    for id in ids:
        under.setdefault(str(row_of(id)["verdict"]).replace("_", " "), []).append(id)
    return under


def row_of(id: str) -> Row:
    """Return the verdict on a claim, also on one that is part of another by now."""
    claim, run = known_claims().get(id), kept_run()
    row = run.rows.get(id) if claim is None else run.of(claim)
    if row is None:
        raise KeyError(f"the kept run has no verdict on {id}")
    return row


def _case(id: str, name: str) -> Row:
    matches = [case for case in row_of(id)["cases"] if case["case"] == name and case["part"] == "case"]
    if len(matches) != 1:
        raise KeyError(f"the kept run has {len(matches)} cases of {id} called {name!r}")
    return matches[0]
