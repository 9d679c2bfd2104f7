"""Facts of the project on pages: version, license, extras, citation, from the files that declare them."""

from __future__ import annotations

import tomllib
from typing import Any

import yaml

from workbench.docs import ROOT
from workbench.docs.markdown import code, table


def fact(name: str) -> str:
    """Return a fact of the project for the middle of a line.

    >>> fact("license"), fact("python")
    ('BSD-3-Clause', '3.11')
    """
    project = _project()
    facts = {
        "version": project["version"],
        "license": project["license"],
        "python": project["requires-python"].removeprefix(">="),
        "modules": f"{sum(1 for _ in (ROOT / 'workbench').rglob('*.py')):,}",
    }
    return str(facts[name])


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


def license_text() -> str:
    """Return the text of the license."""
    return code((ROOT / "LICENSE").read_text(encoding="utf-8"), "text")
