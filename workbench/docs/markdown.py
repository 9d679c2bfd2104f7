"""Markdown of the site: pages and their tables, and what Sphinx reads from docstrings.

What is in backticks is code, all else means itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import yaml

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
    description: str = ""
    """One sentence for search engines and previews of links; without it the summary serves."""
    keywords: tuple[str, ...] = ()
    """What a reader types to find this page: main entries of the index."""
    orphan: bool = False
    """Whether no table of contents leads to the page."""

    def placed(self) -> str:
        """Return the source of the page: what its head says, then the text with links as seen from the page itself.

        >>> Page("reference/levers", "", ref("R81", "specification/3-dispatch#r81")).placed()
        '[R81](../specification/3-dispatch.html#r81)'
        """
        text = _without_double_ids(re.sub(r'(?<=[("])site:', "../" * self.path.count("/"), self.text))
        return sections(self._head(), text).rstrip("\n") if self._head() else text

    def _head(self) -> str:
        """Return the front matter and the index entries that Sphinx reads."""
        description = plain(self.description or self.summary)
        meta = {"description": description} if description else {}
        if self.keywords:
            meta["keywords"] = ", ".join(self.keywords)
        matter = {"orphan": True} if self.orphan else {}
        front = {**matter, **({"myst": {"html_meta": meta}} if meta else {})}
        index = f"```{{index}} {', '.join(f'! {word}' for word in self.keywords)}\n```" if self.keywords else ""
        dumped = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=math.inf)
        return sections(f"---\n{dumped}---", index) if front else ""


_ANCHORED = re.compile(r'<a id="([^"]+)"></a>\s*\n(#+ +([^\n]+))')


def _without_double_ids(text: str) -> str:
    """Return a text without the anchors that its headings have by themselves.

    >>> _without_double_ids('<a id="h1-1"></a>\\n\\n## H1.1'), _without_double_ids('<a id="a"></a>\\n## B')
    ('## H1.1', '<a id="a"></a>\\n## B')
    """
    return _ANCHORED.sub(lambda match: match[2] if _id_of(match[3]) == match[1] else match[0], text)


def _id_of(heading: str) -> str:
    """Return the id that Sphinx gives a heading."""
    return re.sub(r"[^a-z0-9]+", "-", plain(heading).lower()).strip("-")


def plain(text: str) -> str:
    """Return Markdown as words alone, on one line.

    >>> plain("For [`pool`](site:a.html) and\\n\\\\*")
    'For pool and *'
    """
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")
    return " ".join(re.sub(r"\\(?=[^\w\s])", "", words).split())


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
    """Return a part of an entry below a heading that stands in no table of contents; nothing without a text."""
    return f"{rubric(title)}\n\n{text}" if text.strip() else ""


def rubric(title: str, level: int = 3) -> str:
    """Return a heading that neither a table of contents nor a search lists."""
    return f":::{{rubric}} {title}\n:heading-level: {level}\n:::"


class Kind(NamedTuple):
    """One kind of part, and what makes the pages of all there are."""

    name: str
    """The folder of its pages, such as `policies`, or its only page."""
    title: str
    description: str
    pages: Callable[[], Iterable[Page]]
    overview_of: Callable[[Sequence[Page]], Page] | None = None
    """What makes the page that leads to all of the kind, where a table of entries is not enough."""

    def overview(self, pages: Sequence[Page]) -> Page:
        """Return the page that leads to all of the kind: its only one, or one that lists them with their entries."""
        path = f"reference/{self.name}"
        if self.overview_of is not None:
            return self.overview_of(pages)
        if pages[0].path == path:
            return pages[0]
        rows = [[ref(page.title, page.path), page.summary, refs(page.path, page.names)] for page in pages]
        listed = table(["page", "what it is", "entries"], rows)
        text = sections(f"# {self.title}", self.description, listed, toctree({page.path: page.title for page in pages}))
        return Page(f"{path}/index", self.title, text, self.description)


def toctree(paths: Iterable[str]) -> str:
    """Return a table of contents of pages that are listed above it already, under the titles that a mapping gives."""
    titles = paths if isinstance(paths, Mapping) else {}
    lines = (f"{titles[path]} </{path}>" if titles.get(path) else f"/{path}" for path in paths)
    return "\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1", "", *lines, "```"])
