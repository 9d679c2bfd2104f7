"""Markdown of the site: pages and their tables, and what Sphinx reads from docstrings.

What is in backticks is code, all else means itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from workbench.parts.registry import first_paragraph


class Page(NamedTuple):
    """One page; `path` is its place in the site without a suffix, such as `reference/policies/placement`."""

    path: str
    title: str
    text: str
    summary: str = ""
    """One line for the table of its kind."""
    names: tuple[str, ...] = ()
    """The entries of the page, each with an anchor of its name."""

    def placed(self) -> str:
        """Return the text with links as seen from the page itself.

        >>> Page("reference/levers", "", ref("R81", "specification/3-dispatch#r81")).placed()
        '[R81](../specification/3-dispatch.html#r81)'
        """
        return re.sub(r'(?<=[("])site:', "../" * self.path.count("/"), self.text)


def ref(words: str, page: str) -> str:
    """Return a link to a page of the site or to an anchor of one, from whatever page it will stand on.

    >>> ref("nearest", "reference/policies/placement#nearest_boundary")
    '[nearest](site:reference/policies/placement.html#nearest_boundary)'
    """
    name, mark, anchor = page.partition("#")
    return f"[{words}](site:{name}.html{mark}{anchor})"


def refs(page: str, names: Iterable[str]) -> str:
    """Return links to entries of a page, as code with commas between."""
    return ", ".join(ref(f"`{name}`", f"{page}#{name}") for name in names)


def anchor(name: str) -> str:
    """Return the anchor that a link `page#name` leads to."""
    return f'<a id="{name}"></a>'


def entry(name: str, *parts: str) -> str:
    """Return the text of a page on one name, below a heading; a plain name is the anchor of its heading as it
    stands."""
    plain = re.fullmatch(r"[a-z0-9_-]+", name)
    return sections("" if plain else anchor(name.replace(" ", "-")), f"## {name}", *parts)


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


_CODE = re.compile(r"(`[^`\n]*`)")


def escaped(text: str) -> str:
    """Return a text in which no character but the backtick has a meaning for Markdown.

    >>> escaped("a*b < `c*d` [1]")
    'a\\\\*b \\\\< `c*d` \\\\[1\\\\]'
    """
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]#$~])", r"\\\1", part) for part in parts)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text on one line.

    >>> first_sentence("Take the lowest. Then\\nthe next.")
    'Take the lowest.'
    """
    line = first_paragraph(text)
    end = re.search(r"(?<!e\.g)(?<!i\.e)(?<!Em)(?<!vs)\.(?=\s+[A-Z`])", line)
    return line[: end.end()] if end else line


def from_docstring(where: str, kind: str = "class", *options: str) -> str:
    """Return the directive by which Sphinx inserts the docstring of a class, a function or a module
    (`module::name`)."""
    return code("\n".join([f".. auto{kind}:: {where}", *(f"   :{option}:" for option in options)]), "{eval-rst}")


def of_class(cls: type) -> str:
    """Return the directive by which Sphinx inserts a class that several places describe."""
    return from_docstring(f"{cls.__module__}::{cls.__qualname__}", "class", "no-index")


def titled(title: str, text: str) -> str:
    """Return a part of an entry below its title, which stands in no table of contents; nothing without a text."""
    return f"**{title}**\n\n{text}" if text.strip() else ""


class Kind(NamedTuple):
    """One kind of part, and what makes the pages of all there are."""

    name: str
    """The folder of its pages, such as `policies`, or its only page."""
    title: str
    description: str
    pages: Callable[[], Iterable[Page]]

    def overview(self, pages: Sequence[Page]) -> Page:
        """Return the page that leads to all of the kind: its only one, or one that lists them with their entries."""
        path = f"reference/{self.name}"
        if pages[0].path == path:
            return pages[0]
        rows = [[ref(page.title, page.path), page.summary, refs(page.path, page.names)] for page in pages]
        listed = table(["page", "what it is", "entries"], rows)
        text = sections(f"# {self.title}", self.description, listed, toctree(page.path for page in pages))
        return Page(f"{path}/index", self.title, text, self.description)


def toctree(paths: Iterable[str]) -> str:
    """Return a table of contents of pages that are listed above it already."""
    return "\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1", "", *(f"/{path}" for path in paths), "```"])
