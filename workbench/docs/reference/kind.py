"""A kind of reference pages: policies, measures, commands ... Each file of this room has one in `KIND`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from workbench.docs.page import Page, address, grouped, sections, table


class Kind(NamedTuple):
    """One kind of part, and what makes the pages of all there are."""

    name: str
    """The folder of its pages, such as `measures`."""
    title: str
    description: str
    pages: Callable[[], Iterator[Page]]
    names: Callable[[], list[str]]
    """The path of the page that each public name must have, from the registries themselves."""

    def contents(self, pages: list[Page]) -> Page:
        """Return the page that lists all of the kind."""
        here = f"reference/{self.name}/index"
        parts = [
            sections(f"## {heading}" if heading else "", _listed(here, members)) for heading, members in grouped(pages)
        ]
        return Page(here, self.title, sections(f"# {self.title}", self.description, *parts))


def _listed(here: str, pages: list[Page]) -> str:
    rows = [[f"[`{page.title}`]({address(here, page.path)})", page.summary] for page in pages]
    return table(["name", "what it is"], rows)


def crumbs(here: str, *steps: tuple[str, str]) -> str:
    """Return the way to a page as a line of links: (words, path) each, below the reference itself."""
    way = [("Reference", "reference/index"), *steps]
    return "{.crumbs}\n" + " › ".join(f"[{words}]({address(here, path)})" for words, path in way)
