"""Facts of the project on pages, from the files that declare them: version, license, counts, measured ratios."""

from __future__ import annotations

import csv
import functools
import re
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from workbench.docs import ROOT, SWEEPS
from workbench.docs.markdown import code, table
from workbench.mechanisms.catalogue import OWN
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies, questions

SPEED = ROOT / "data" / "speed.csv"
CIRCUITS = ROOT / "data" / "circuits"


def fact(name: str) -> str:
    """Return a fact of the project for the middle of a line.

    >>> fact("license"), fact("python")
    ('BSD-3-Clause', '3.11')
    """
    return str(_facts()[name])


@functools.cache
def _facts() -> dict[str, object]:
    project = _project()
    load_all()
    slices = (ROOT / "tests" / "slices.py").read_text(encoding="utf-8")
    return {
        "version": project["version"],
        "license": project["license"],
        "python": project["requires-python"].removeprefix(">="),
        "engines": sum(1 for one in OWN.values() if one.engine),
        "questions": len(questions()),
        "policies": sum(len(policies(question)) for question in questions()),
        "reports": sum(1 for _ in (SWEEPS / "dispatch" / "reports").glob("*.yaml")),
        "slices": re.findall(r"^COUNT = (\d+)$", slices, re.MULTILINE)[0],
        "slices_a_commit": re.findall(r"^DRAWN = (\d+)$", slices, re.MULTILINE)[0],
    }


def _project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def extras() -> str:
    """Return the table of the optional parts of an installation and the packages that each brings."""
    parts = _project()["optional-dependencies"]
    rows = [[f"`{name}`", ", ".join(f"`{one}`" for one in parts[name])] for name in parts if name != "all"]
    return table(["extra", "packages"], [*rows, ["`all`", "all of them but `gpu`"]])


def citation() -> str:
    """Return the entry of a bibliography that CITATION.cff gives."""
    facts = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(f"{{{one['name']}}}" for one in facts["authors"])
    fields = {"title": facts["title"], "version": facts["version"], "note": facts["license"]}
    lines = [f"  author  = {{{authors}}},", *(f"  {name:<7} = {{{value}}}," for name, value in fields.items())]
    return code("\n".join(["@software{gpu_policy_workbench,", *lines, "}"]), "bibtex")


def speed_table() -> str:
    """Return the table of measured ratios of processor time (`python -m benchmarks`)."""
    rows = (
        [
            f"`{row['name']}`",
            row["variant"],
            row["reference"],
            row["ratio"] or "-",
            f"{row['low']} to {row['high']}" if row["ratio"] else "",
        ]
        for row in _rows(SPEED)
    )
    return table(["benchmark", "workbench", "reference", "ratio", "quartiles"], rows)


def proofs_table() -> str:
    """Return the table of proofs that two circuits are equal, by size (`python -m benchmarks.proofs`)."""
    cells = []
    for size, group in groupby(_rows(CIRCUITS / "proofs.csv"), key=lambda row: row["size"]):
        rows = sorted(group, key=lambda row: float(row["seconds"]))
        slowest = rows[-1]
        equal = sum(row["verdict"] == "equal" for row in rows)
        pair = f"`{slowest['first']}`, `{slowest['second']}`"
        cells.append([size, len(rows), equal, slowest["seconds"], pair])
    return table(["blocks or segments", "pairs", "proven equal", "longest proof, s", "of the pair"], cells)


def probes_table() -> str:
    """Return the table of exact probes on the Pareto front of area and delay, with the tree for comparison."""
    front = [row for row in _rows(CIRCUITS / "probe_search.csv") if row["blocks"] == "64"]
    cells = [
        [f"`{row['probe']}`", row["relative_area"], row["relative_delay"], row["verdict"] or "-"]
        for row in sorted(front, key=lambda row: float(row["relative_area"]))
        if row["front"] or row["probe"] == "prefix_suffix_tree"
    ]
    return table(["probe of 64 blocks", "relative area", "relative delay", "against the tree"], cells)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
