"""Markdown of the site: pages and their tables, what Sphinx reads from docstrings, levers, links to the specifications.

What is in backticks is code, all else means itself. Every `spec 3, R81` of a text becomes a link to the item of that
number. A mention counts until its sentence, its cell or the parenthesis around it ends: `spec 3, R7-R9; E1-E2` are four
items. Claims (H3.1) and embodiments (Em. 8, all of specification 3) name their page themselves; other items without a
specification are those of the room in which the text stands, or none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from workbench.cli import listings
from workbench.levers import Lever, Spec
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
    """Return what a page says of one name, below a heading; a plain name is the anchor of its heading as it stands."""
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
_ADDRESS = re.compile(r"(?<![(<])\bhttps?://[^\s)>\]]*[^\s)>\].,;]")


def escaped(text: str) -> str:
    """Return a text in which no character but the backtick has a meaning for Markdown.

    >>> escaped("a*b < `c*d` [1]")
    'a\\\\*b \\\\< `c*d` \\\\[1\\\\]'
    """
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]#$~])", r"\\\1", part) for part in parts)


def prose(text: str, module: str = "") -> str:
    """Return a paragraph as Markdown, its references to specifications and addresses linked.

    Parameters
    ----------
    text : str
        One or more paragraphs.
    module : str
        The module that it comes from: its room tells the specification of numbers without one.
    """
    clean = escaped(text.replace("``", "`"))
    return linked(_ADDRESS.sub(lambda match: f"<{match[0].replace(chr(92), '')}>", clean), room_of(module))


PAGES = {1: "1-placement", 2: "2-malloc", 3: "3-dispatch", 4: "4-translation", 5: "5-pool", 6: "6-node"}
ROOMS = {
    **dict.fromkeys(("placement", "shared_memory"), 1),
    "malloc": 2,
    **dict.fromkeys(("dispatch", "probes"), 3),
    "translation": 4,
    **dict.fromkeys(("pool", "pool_service"), 5),
    "node": 6,
}
"""The specification of a room of policies or engines, whose numbers stand there without one."""


def room_of(module: str) -> int | None:
    """Return the specification of a module's room.

    >>> room_of("workbench.policies.dispatch.choice.packing"), room_of("workbench.figures.pareto")
    (3, None)
    """
    words = module.split(".")
    if words[:1] != ["workbench"] or words[1:2] not in (["policies"], ["engines"], ["pool_service"]):
        return None
    return next((ROOMS[word] for word in words if word in ROOMS), None)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text on one line.

    >>> first_sentence("Take the lowest. Then\\nthe next.")
    'Take the lowest.'
    """
    line = first_paragraph(text)
    end = re.search(r"(?<!e\.g)(?<!i\.e)(?<!Em)(?<!vs)\.(?=\s+[A-Z`])", line)
    return line[: end.end()] if end else line


def from_docstring(where: str, kind: str = "class", *options: str) -> str:
    """Return what lets Sphinx put in what a class, a function or a module (`module::name`) says of itself."""
    return code("\n".join([f".. auto{kind}:: {where}", *(f"   :{option}:" for option in options)]), "{eval-rst}")


def of_class(cls: type) -> str:
    """Return what lets Sphinx put in a class that is told at several places."""
    return from_docstring(f"{cls.__module__}::{cls.__qualname__}", "class", "no-index")


def titled(title: str, text: str) -> str:
    """Return a part of an entry below its title, which stands in no table of contents; nothing without a text."""
    return f"**{title}**\n\n{text}" if text.strip() else ""


def lever_table(cls: type[Spec], within: str) -> str:
    """Return the levers of a class, a row each with the anchor `within.lever`; empty where it has none."""
    rows = [
        [
            f"{anchor(f'{within}.{one.name}')}{ref(f'`{one.name}`', f'reference/levers#{one.name}')}",
            *lever_facts(cls, one),
        ]
        for one in cls.levers.values()
    ]
    return table(["lever", *LEVER_FACTS], rows) if rows else ""


LEVER_FACTS = ("meaning", "values; default")


def lever_facts(cls: type[Spec], one: Lever) -> list[str]:
    """Return the meaning of a lever of a class, and what it may be with its unit and default, as Markdown."""
    default = "must be given" if one.required else f"default `{listings.default_of_lever(one)}`"
    unit = f" ({one.unit})" if one.unit else ""
    return [prose(one.description, cls.__module__), f"{lever_values(one)}{unit}; {default}"]


def lever_values(one: Lever) -> str:
    """Return what a lever may be, as Markdown: choices as code.

    >>> lever_values(Lever("tie", "choice", "low", choices=("low", "high")))
    '`low`, `high`'
    """
    if one.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in one.choices)
    return escaped(listings.values_of_lever(one))


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


_MENTION = re.compile(r"\bspec(?:ification)?s? (\d+)\b", re.IGNORECASE)
_ENDS = re.compile(r"\n\s*\n|\||(?<!Em)(?<!Fig)\.\s+(?=[A-Z\"])")
_ITEM = re.compile(
    r"(?<![*\w-])(?P<letter>[RVDET])(?P<number>\d+)(?:(?:-| to )[RVDET]?\d+)?(?![\w.]\w)"
    r"|\bsections? (?P<section>\d+)(?![.-]?\d)"
)
_CLAIM = re.compile(r"\bH(?P<spec>\d)\.(?P<claim>\d+)\b(?!\w)|\bEm(?:bodiments?|\.) (?P<em>\d+)\b")
_LETTERS = {1: "RVEDT", 4: "RVET"}
"""Those that stand for items of a room; elsewhere D and T are other things."""
_APART = re.compile(r"((?m:^#{1,6} [^\n]*)|```.*?```|`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)|<[^>\n]+>)", re.DOTALL)
"""Headings, code, links and tags, which stay as they are."""


def linked(text: str, room: int | None = None) -> str:
    """Return a text in which the items that it names are links.

    Parameters
    ----------
    text : str
        Markdown.
    room : int, optional
        The specification that a number without one belongs to.

    Examples
    --------
    >>> linked("(spec 3, R82)")
    '([spec 3](site:specification/3-dispatch.html), [R82](site:specification/3-dispatch.html#r82))'
    """
    result, spec, until = [], room, 0
    for part in _APART.split(text):
        if part.startswith(("`", "<", "#")) or re.match(r"\[.*\]\(", part, re.DOTALL):
            result.append(part)
        else:
            done, spec, until = _linked_part(part, room, spec, until)
            result.append(done)
    return "".join(result)


def _linked_part(text: str, room: int | None, spec: int | None, depth: int) -> tuple[str, int | None, int]:
    """Return one part between pieces of code with its links, and the specification that goes on behind it."""
    pieces, at = [], 0
    for mark in _marks(text):
        before = text[at : mark.start()]
        spec, depth = _after(before, room, spec, depth)
        pieces.append(before)
        at = mark.end()
        if mark.re is _MENTION:
            spec, depth = int(mark[1]), 0
        pieces.append(_link(mark, spec, room))
    spec, depth = _after(text[at:], room, spec, depth)
    return "".join([*pieces, text[at:]]), spec, depth


def _marks(text: str) -> list[re.Match[str]]:
    marks = [mark for pattern in (_MENTION, _ITEM, _CLAIM) for mark in pattern.finditer(text)]
    return sorted(marks, key=lambda mark: mark.start())


def _after(text: str, room: int | None, spec: int | None, depth: int) -> tuple[int | None, int]:
    """Return the specification that counts behind some words: a mention ends with its sentence or parenthesis."""
    if spec is None or spec == room:
        return spec, 0
    if _ENDS.search(text):
        return room, 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            return room, 0
    return spec, depth


def _link(mark: re.Match[str], spec: int | None, room: int | None) -> str:
    words = mark.groupdict()
    if words.get("claim"):
        spec, item = int(words["spec"]), f"h{words['spec']}-{words['claim']}"
    elif words.get("em"):
        spec, item = 3, f"em-{words['em']}"
    elif words.get("section"):
        item = f"section-{words['section']}"
        if spec == room:
            return mark[0]
    elif words.get("letter"):
        item = f"{words['letter']}{words['number']}".lower()
        if spec == room and words["letter"] not in _LETTERS.get(spec or 0, "RVE"):
            return mark[0]
    else:
        item = ""
    if spec not in PAGES:
        return mark[0]
    return ref(mark[0], f"specification/{PAGES[spec]}" + (f"#{item}" if item else ""))
