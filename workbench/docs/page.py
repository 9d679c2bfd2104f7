"""A page of the site before it is built: where it stands, what it is called, its Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Page(NamedTuple):
    """One page; `path` is its place in the site without a suffix, such as `reference/policies/placement/best_fit`."""

    path: str
    title: str
    text: str
    summary: str = ""
    """One line for the table of its kind."""
    group: str = ""
    """The heading below which its kind lists it."""

    def link(self, page: str) -> str:
        """Return the address of a page (with an anchor, if any) as seen from this one.

        >>> Page("reference/measures/wait", "", "").link("specification/3-dispatch#r81")
        '../../specification/3-dispatch.html#r81'
        """
        return address(self.path, page)


def address(here: str, page: str) -> str:
    """Return the relative address of a page of the site, with an anchor if any, from another one.

    >>> address("index", "reference/levers/count"), address("reference/index", "start")
    ('reference/levers/count.html', '../start.html')
    """
    name, mark, anchor = page.partition("#")
    return "../" * here.count("/") + f"{name}.html{mark}{anchor}"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; cells are Markdown already.

    >>> print(table(["a", "b"], [[1, "x|y"]]))
    | a | b |
    | --- | --- |
    | 1 | x\\|y |
    """
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).replace("\\|", "|").replace("|", "\\|").split())


def code(text: str, language: str = "python") -> str:
    """Return a block of code, fenced longer than any fence inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def sections(*parts: str | None) -> str:
    """Return parts of a page below each other, the empty ones left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def grouped(pages: Iterable[Page]) -> Iterator[tuple[str, list[Page]]]:
    """Yield the headings of a kind with their pages, in the order in which they first come."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        groups.setdefault(page.group, []).append(page)
    yield from groups.items()
