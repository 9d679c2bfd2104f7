"""Links from texts to the items of the specifications.

Every `spec 3, R81` of a text becomes a link to the item of that number. A mention counts until its sentence, its cell
or the parenthesis around it ends: `spec 3, R7-R9; E1-E2` are four items. Claims (H3.1) and embodiments (Em. 8, all of
specification 3) name their page themselves; other items without a specification are those of the package in which the
text stands, or none.
"""

from __future__ import annotations

import re

from workbench.docs.markdown import escaped, ref

PAGES = {
    1: "1-placement",
    2: "2-malloc",
    3: "3-dispatch",
    4: "4-translation",
    5: "5-pool",
    6: "6-node",
    7: "7-between-queue-and-unit",
}

SPEC_OF = {
    **dict.fromkeys(("placement", "shared_memory"), 1),
    "malloc": 2,
    **dict.fromkeys(("dispatch", "probes"), 3),
    "translation": 4,
    **dict.fromkeys(("pool", "pool_service"), 5),
    "node": 6,
}
"""The specification of a package of policies or engines, whose numbers stand there without one."""
BETWEEN = ("workbench.policies.dispatch.admission", "workbench.policies.dispatch.die")
"""Modules of specification 7 in the package of specification 3."""

_ADDRESS = re.compile(r"(?<![(<])\bhttps?://[^\s)>\]]*[^\s)>\].,;]")
_MENTION = re.compile(r"\bspec(?:ification)?s? (\d+)\b", re.IGNORECASE)
_ENDS = re.compile(r"\n\s*\n|\||(?<!Em)(?<!Fig)\.\s+(?=[A-Z\"])")
_ITEM = re.compile(
    r"(?<![*\w-])(?P<letter>[RVDET])(?P<number>\d+)(?:(?:-| to )[RVDET]?\d+)?(?![\w.]\w)"
    r"|\bsections? (?P<section>\d+)(?![.-]?\d)"
)
_CLAIM = re.compile(r"\bH(?P<spec>\d)\.(?P<claim>\d+)\b(?!\w)|\bEm(?:bodiments?|\.) (?P<em>\d+)\b")
_LETTERS = {1: "RVEDT", 4: "RVET"}
"""Those that stand for items of a package; elsewhere D and T are other things."""
_UNTOUCHED = re.compile(r"((?m:^#{1,6} [^\n]*)|```.*?```|`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)|<[^>\n]+>)", re.DOTALL)
"""Headings, code, links and tags, which stay as they are."""


def prose(text: str, module: str = "") -> str:
    """Return a paragraph as Markdown, its references to specifications and addresses linked.

    Parameters
    ----------
    text : str
        One or more paragraphs.
    module : str
        The module that it comes from: its package tells the specification of numbers without one.
    """
    clean = escaped(text.replace("``", "`"))
    return linked(_ADDRESS.sub(lambda match: f"<{match[0].replace(chr(92), '')}>", clean), spec_of(module))


def spec_of(module: str) -> int | None:
    """Return the specification that a module of policies or engines belongs to.

    >>> spec_of("workbench.policies.dispatch.choice.packing"), spec_of("workbench.figures.registry")
    (3, None)
    >>> spec_of("workbench.policies.dispatch.die")
    7
    """
    if module in BETWEEN:
        return 7
    words = module.split(".")
    if words[:1] != ["workbench"] or words[1:2] not in (["policies"], ["engines"], ["pool_service"]):
        return None
    return next((SPEC_OF[word] for word in words if word in SPEC_OF), None)


def linked(text: str, room: int | None = None) -> str:
    """Return a text in which the items that it names are links.

    Parameters
    ----------
    text : str
        Markdown.
    space : int, optional
        The specification that a number without one belongs to.

    Examples
    --------
    >>> linked("(spec 3, R82)")
    '([spec 3](site:specification/3-dispatch.html), [R82](site:specification/3-dispatch.html#r82))'
    """
    result, spec, until = [], room, 0
    for part in _UNTOUCHED.split(text):
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
