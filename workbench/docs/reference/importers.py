"""A page for every importer: which files it reads, what writes them, public files of the format, how it is used."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from workbench.docs.page import Page, code, sections, table
from workbench.docs.prose import first_sentence, prose
from workbench.docs.reference.kind import Kind, crumbs
from workbench.workloads.catalogue import catalogue
from workbench.workloads.importers import Importer, importers


def path(name: str) -> str:
    """Return the path of an importer's page."""
    return f"reference/importers/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every format that is read."""
    for name, importer in importers().items():
        yield _page(name, importer)


def names() -> list[str]:
    """Return the path of every importer's page."""
    return [path(name) for name in importers()]


def _page(name: str, importer: Importer) -> Page:
    here, cls = path(name), type(importer)
    module = sys.modules[cls.__module__]
    text = inspect.cleandoc(cls.__doc__ or "") if "__doc__" in vars(cls) and cls.__doc__ else ""
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Importers", "reference/importers/index")),
            f"# {name}",
            f"Reads {prose(importer.says, here)}.",
            "\n\n".join(prose(part, here) for part in text.split("\n\n")),
            "\n\n".join(prose(part, here) for part in inspect.cleandoc(module.__doc__ or "").split("\n\n")),
            _public(name, here),
            sections("## What a file holds", code("workbench import FILE --json", "bash")),
            sections("## In a sweep", code("workload: {trace: FILE}", "yaml")),
        ),
        summary=first_sentence(prose(importer.says, here)),
    )


def _public(name: str, here: str) -> str:
    rows: list[list[Any]] = [
        [f"`{one.name}`", one.licence, prose(one.holds, here)] for one in catalogue().values() if one.format == name
    ]
    if not rows:
        return ""
    fetch = "`workbench import --fetch NAME` gets one, checked by its digest."
    return sections("## Public files of this format", table(["name", "licence", "what it holds"], rows), fetch)


KIND = Kind(
    "importers",
    "Importers",
    "How a file becomes a trace: one importer a format, told by the contents. `workbench import FILE` says what a file "
    "holds and what it lacks.",
    pages,
    names,
)
