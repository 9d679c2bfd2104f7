"""Markdown of the site: pages and their tables, docstrings in NumPy's form, levers, links to the specifications.

What is in backticks is code, all else means itself. Every `spec 3, R81` of a text becomes a link to the item of that
number. A mention counts until its sentence, its cell or the parenthesis around it ends: `spec 3, R7-R9; E1-E2` are four
items. Claims (H3.1) and embodiments (Em. 8, all of specification 3) name their page themselves; other items without a
specification are those of the room in which the text stands, or none.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from workbench.cli import listings
from workbench.levers import Lever, Spec


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


_CODE = re.compile(r"(`[^`\n]*`)")
_ADDRESS = re.compile(r"(?<![(<])\bhttps?://[^\s)>\]]*[^\s)>\].,;]")


def escaped(text: str) -> str:
    """Return a text in which no character but the backtick has a meaning for Markdown.

    >>> escaped("a*b < `c*d` [1]")
    'a\\\\*b \\\\< `c*d` \\\\[1\\\\]'
    """
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]#$~])", r"\\\1", part) for part in parts)


def prose(text: str, here: str, module: str = "") -> str:
    """Return a paragraph as Markdown, its references to specifications and addresses linked.

    Parameters
    ----------
    text : str
        One or more paragraphs.
    here : str
        The path of the page that it stands on.
    module : str
        The module that it comes from: its room tells the specification of numbers without one.
    """
    clean = escaped(text.replace("``", "`"))
    linked_addresses = _ADDRESS.sub(lambda match: f"<{match[0].replace(chr(92), '')}>", clean)
    return linked(linked_addresses, lambda page: address(here, page), room_of(module))


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
    line = " ".join((text or "").split("\n\n")[0].split())
    end = re.search(r"(?<!e\.g)(?<!i\.e)(?<!Em)(?<!vs)\.(?=\s+[A-Z`])", line)
    return line[: end.end()] if end else line


_TABLES = ("Parameters", "Returns", "Yields", "Raises", "Attributes")


def docstring_page(of: Any, here: str, whole: bool = True) -> str:
    """Return what a class or function says of itself: prose and tables; of the whole also references and examples."""
    parts = parsed(of)
    module = getattr(of, "__module__", "") or ""
    body = "\n".join([*parts["Summary"], "", *parts["Extended Summary"]])
    return sections(
        _paragraphs(body, here, module),
        *(_table_of_entries(name, parts[name], here, module) for name in _TABLES),
        _titled("Notes", _paragraphs("\n".join(parts["Notes"]), here, module)),
        *((references(of, here), example(of)) if whole else ()),
    )


def references(of: Any, here: str) -> str:
    """Return where something comes from: its `References`."""
    parts = parsed(of)
    return _titled("References", _paragraphs("\n".join(parts["References"]), here, getattr(of, "__module__", "") or ""))


def example(of: Any) -> str:
    """Return the example of a docstring; empty where it has none. All of them are run as tests."""
    lines = parsed(of)["Examples"]
    text = "\n".join(line.partition("  # doctest:")[0] for line in lines)
    return _titled("Example", code(text, "pycon")) if text.strip() else ""


def parsed(of: Any) -> Any:
    """Return the sections of a docstring by name; something without one has empty sections."""
    from numpydoc.docscrape import NumpyDocString

    text = inspect.cleandoc(_own_docstring(of))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NumpyDocString(_examples_in_a_section(text))


def _own_docstring(of: Any) -> str:
    return (vars(of).get("__doc__") if isinstance(of, type) else getattr(of, "__doc__", "")) or ""


def _examples_in_a_section(text: str) -> str:
    """Let an example that simply stands below the words be one of the section `Examples`."""
    if "Examples\n---" in text or ">>>" not in text:
        return text
    before, mark, after = text.partition(">>>")
    return f"{before.rstrip()}\n\nExamples\n--------\n{mark}{after}"


def _paragraphs(text: str, here: str, module: str) -> str:
    return "\n\n".join(_blocks(text, here, module))


def _blocks(text: str, here: str, module: str) -> Iterator[str]:
    """Yield the paragraphs of a text; what is set in columns or indented stays as it is."""
    for block in text.strip("\n").split("\n\n"):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") or "   " in line.strip() for line in lines):
            yield code(inspect.cleandoc("\n".join(lines)), "text")
        elif lines and any(line.lstrip().startswith(("- ", "* ")) for line in lines):
            yield "\n".join(_item(line, here, module) for line in lines)
        elif block.strip():
            yield prose(block, here, module)


def _item(line: str, here: str, module: str) -> str:
    mark = line.lstrip()[:2] if line.lstrip().startswith(("- ", "* ")) else "  "
    return mark + prose(line.strip().removeprefix(mark), here, module)


def _table_of_entries(name: str, entries: Any, here: str, module: str) -> str:
    if not entries:
        return ""
    rows = [
        [
            f"`{entry.name or entry.type}`",
            prose(entry.type if entry.name else "", here, module),
            prose(" ".join(" ".join(entry.desc).split()), here, module),
        ]
        for entry in entries
    ]
    return _titled(name, table(["name", "type", "meaning"], rows))


def _titled(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text.strip() else ""


def lever_table(cls: type[Spec], here: str) -> str:
    """Return the levers of a class, a row each; empty where it has none."""
    rows = [
        [
            f"[`{one.name}`]({address(here, f'reference/levers/{one.name}')})",
            lever_values(one),
            lever_default(one),
            one.unit or "",
            prose(one.description, here, cls.__module__),
        ]
        for one in cls.levers.values()
    ]
    return table(["lever", "values", "default", "unit", "meaning"], rows) if rows else ""


def lever_values(one: Lever) -> str:
    """Return what a lever may be, as Markdown: choices as code.

    >>> lever_values(Lever("tie", "choice", "low", choices=("low", "high")))
    '`low`, `high`'
    """
    if one.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in one.choices)
    return escaped(listings.values_of_lever(one))


def lever_default(one: Lever) -> str:
    """Return the default of a lever as it is written in a sweep, as Markdown."""
    return f"`{listings.default_of_lever(one)}`" if not one.required else "must be given"


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


def linked(text: str, to: Callable[[str], str], room: int | None = None) -> str:
    """Return a text in which the items that it names are links.

    Parameters
    ----------
    text : str
        Markdown.
    to : function
        From a page of the site with an anchor to its address.
    room : int, optional
        The specification that a number without one belongs to.

    Examples
    --------
    >>> linked("Round robin (spec 3, R82).", "x/{}".format)
    'Round robin ([spec 3](x/specification/3-dispatch), [R82](x/specification/3-dispatch#r82)).'
    """
    result, spec, until = [], room, 0
    for part in _APART.split(text):
        if part.startswith(("`", "<", "#")) or re.match(r"\[.*\]\(", part, re.DOTALL):
            result.append(part)
        else:
            done, spec, until = _linked_part(part, to, room, spec, until)
            result.append(done)
    return "".join(result)


def _linked_part(
    text: str, to: Callable[[str], str], room: int | None, spec: int | None, depth: int
) -> tuple[str, int | None, int]:
    """Return one part between pieces of code with its links, and the specification that goes on behind it."""
    pieces, at = [], 0
    for mark in _marks(text):
        before = text[at : mark.start()]
        spec, depth = _after(before, room, spec, depth)
        pieces.append(before)
        at = mark.end()
        if mark.re is _MENTION:
            spec, depth = int(mark[1]), 0
        pieces.append(_link(mark, spec, room, to))
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


def _link(mark: re.Match[str], spec: int | None, room: int | None, to: Callable[[str], str]) -> str:
    words = mark.groupdict()
    if words.get("claim"):
        spec, anchor = int(words["spec"]), f"h{words['spec']}-{words['claim']}"
    elif words.get("em"):
        spec, anchor = 3, f"em-{words['em']}"
    elif words.get("section"):
        anchor = f"section-{words['section']}"
        if spec == room:
            return mark[0]
    elif words.get("letter"):
        anchor = f"{words['letter']}{words['number']}".lower()
        if spec == room and words["letter"] not in _LETTERS.get(spec or 0, "RVE"):
            return mark[0]
    else:
        anchor = ""
    if spec not in PAGES:
        return mark[0]
    return f"[{mark[0]}]({to(f'specification/{PAGES[spec]}' + (f'#{anchor}' if anchor else ''))})"
