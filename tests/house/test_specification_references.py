"""Every "spec 3, R81" that is written anywhere names an item of a page of docs/specification/."""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from workbench.cli.main import main

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "docs" / "specification"
PAGES = {int(path.name[0]): path for path in FOLDER.glob("[0-9]-*.md")}
SUFFIXES = {".py", ".yaml", ".md", ".ipynb", ".txt", ".tex"}
BETWEEN = ["admission", "clusters", "lacking", "lot", "module_queues", "open_modules", "pace", "residents", "room"]
"""The modules of the engine `dispatch` that specification 7 is about."""
ROOMS = {
    "policies/placement": 1,
    "engines/shared_memory": 1,
    "claims/placement": 1,
    "policies/malloc": 2,
    "engines/malloc": 2,
    "claims/malloc": 2,
    "policies/dispatch/admission": 7,
    "policies/dispatch/die": 7,
    "policies/dispatch": 3,
    "policies/probes": 3,
    **{f"engines/dispatch/{module}": 7 for module in BETWEEN},
    "machine/progress": 7,
    "engines/dispatch": 3,
    "claims/dispatch": 3,
    "claims/dispatch_choice": 3,
    "claims/dispatch_probes": 3,
    "explain/probe_success": 3,
    "policies/translation": 4,
    "engines/translation": 4,
    "claims/translation": 4,
    "policies/pool": 5,
    "engines/pool": 5,
    "claims/pool": 5,
    "pool_service": 5,
}
"""The specification that a number without one belongs to, by the room it is written in."""
BARE = {1: "RVEDT", 4: "RVET"}
"""The letters that stand for items in a room; elsewhere D and T are other things."""

MENTION = re.compile(r"\bspec(?:ification)?s? (\d+)\b", re.IGNORECASE)
SENTENCE_ENDS = re.compile(r'\n\s*\n|"""|\||(?<!Em)(?<!Fig)\.\s+(?=[A-Z"])')
ITEM = re.compile(r"(?<![*-])\b([RVDET])(\d+)(?:(?:-| to )[RVDET]?(\d+))?(?![\w.]\w)")
CLAIM = re.compile(r"\bH(\d+)\.(\d+)(?:(?:-| to )H\1\.(\d+))?")
SECTION = re.compile(r"\bsections? (\d+)(?: and (\d+))?(?![.-]?\d)")
EMBODIMENT = re.compile(r"\bEm(?:bodiments?|\.) (\d+)(?:-(\d+))?(?:(?:,| and) (\d+)(?:-(\d+))?)?")
PARAGRAPHS = re.compile(r"(?:¶|\bparagraphs? )((?:\d+(?:-\d+)?)(?:(?:, | and )\d+(?:-\d+)?)*)")


class Reference(NamedTuple):
    """An item that a text refers to: `Reference(3, "r81")`; a paragraph of a patent is `Reference(3, "¶279")`."""

    spec: int
    anchor: str


def span(first: str, last: str | None) -> range:
    """Expand a range as it is written; without a last number it holds one."""
    return range(int(first), int(last or first) + 1)


def items(text: str, spec: int, letters: str = "RVEDT") -> Iterator[Reference]:
    """Yield the items and paragraphs that a text names of one specification; what is in italics is a patent's step."""
    for letter, first, last in ITEM.findall(text):
        yield from (Reference(spec, f"{letter.lower()}{n}") for n in span(first, last) if letter in letters)
    for listed in PARAGRAPHS.findall(text):
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", listed):
            yield from (Reference(spec, f"¶{n}") for n in {int(first), int(last or first)})


def sections(text: str, spec: int) -> Iterator[Reference]:
    """Yield the sections of one specification that a text names."""
    for numbers in SECTION.findall(text):
        yield from (Reference(spec, f"section-{n}") for n in numbers if n)


def self_contained(text: str) -> Iterator[Reference]:
    """Yield what names its specification by itself: claims (H3.1), embodiments (all of specification 3)."""
    for spec, first, last in CLAIM.findall(text):
        yield from (Reference(int(spec), f"h{spec}-{n}") for n in span(first, last))
    for a, b, c, d in EMBODIMENT.findall(text):
        yield from (Reference(3, f"em-{n}") for n in [*span(a, b), *(span(c, d) if c else ())])


def scope(text: str, begin: int) -> int:
    """Return where the words about a specification end: at the sentence, the cell, or the parenthesis around them."""
    ends = [match.start() for pattern in (SENTENCE_ENDS, MENTION) if (match := pattern.search(text, begin))]
    depth, end = 0, min(ends, default=len(text))
    for at in range(begin, end):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth < 0:
            return at
    return end


@functools.cache
def references(text: str, room: int | None = None) -> set[Reference]:
    """Collect what a text refers to; numbers without a specification are those of its room, or none."""
    result, rest, at = set(self_contained(text)), [], 0
    for mention in MENTION.finditer(text):
        spec, end = int(mention[1]), scope(text, mention.end())
        about = text[mention.end() : end]
        result |= {Reference(spec, ""), *items(about, spec), *sections(about, spec)}
        rest.append(text[at : mention.start()])
        at = end
    if room is not None:
        result |= {reference for part in [*rest, text[at:]] for reference in items(part, room, BARE.get(room, "RVE"))}
    return result


def anchors(page: str) -> list[str]:
    """Return the anchors of a page, in their order."""
    return re.findall(r'<a id="([^"]+)"></a>', page)


def resolves(reference: Reference, pages: dict[int, str]) -> bool:
    """Return True if a page has the item, or the patent behind it so many paragraphs."""
    page = pages.get(reference.spec)
    if page is None or not reference.anchor:
        return page is not None
    if reference.anchor.startswith("¶"):
        paragraphs = re.search(r"^Numbered paragraphs: 1 to (\d+)\.", page, re.MULTILINE)
        return paragraphs is not None and 1 <= int(reference.anchor[1:]) <= int(paragraphs[1])
    return reference.anchor in anchors(page)


@functools.cache
def read(path: Path) -> str:
    """Read a file as prose: of a notebook the sources of its cells."""
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])


def files(*folders: str) -> list[Path]:
    """List the files of prose and code below some folders of the repository."""
    results = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted(path for path in results if path != Path(__file__) and ".ipynb_checkpoints" not in path.parts)


def room_of(path: Path) -> int | None:
    """Return the specification of the room that a file of the package or a page is in."""
    if path.parent == FOLDER:
        return int(path.name[0]) if path.name[0].isdigit() else None
    inside = path.relative_to(ROOT).as_posix().removeprefix("workbench/")
    return next((spec for room, spec in ROOMS.items() if inside.startswith((f"{room}/", f"{room}."))), None)


TEXTS = {number: path.read_text(encoding="utf-8") for number, path in PAGES.items()}
SOURCES = [*files("workbench", "sweeps", "notebooks", "benchmarks", "docs/specification")]
SOURCES += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
SOURCES += files("docs/pages")


def dangling(path: Path, room: int | None) -> list[str]:
    """Name the references of a file that resolve to nothing."""
    wrong = sorted(r for r in references(read(path), room) if not resolves(r, TEXTS))
    return [f"{path.relative_to(ROOT)}: spec {spec}, {anchor or 'no such page'}" for spec, anchor in wrong]


@pytest.mark.slow
def test_every_reference_of_the_package_and_its_papers_names_an_item():
    assert [line for path in SOURCES for line in dangling(path, room_of(path))] == []


@pytest.mark.slow
def test_every_reference_of_the_tests_names_an_item():
    """In tests only what is said of a specification counts: `V6` may be a name, H9.9 a claim that is not there."""
    assert [line for path in files("tests") for line in dangling(path, None) if ", h9-" not in line] == []


def test_there_are_many_references():
    """A collector that finds nothing would find nothing wrong."""
    collected = [reference for path in SOURCES for reference in references(read(path), room_of(path))]
    assert len(collected) > 1500
    assert {reference.spec for reference in collected} == set(PAGES)


@pytest.mark.parametrize("number", PAGES)
def test_a_page_holds_each_number_once_and_leaves_none_out(number):
    numbered: dict[str, list[int]] = {}
    for anchor in anchors(TEXTS[number]):
        if match := re.fullmatch(r"([rvdet]|h\d-|section-|em-)(\d+)", anchor):
            numbered.setdefault(match[1], []).append(int(match[2]))
    assert {"r", "v", "e", f"h{number}-", "section-"} <= set(numbered)
    assert all(result == list(range(1, len(result) + 1)) for result in numbered.values()), numbered
    assert len(set(anchors(TEXTS[number]))) == len(anchors(TEXTS[number]))


def test_links_between_pages_resolve():
    for path in FOLDER.glob("*.md"):
        for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", path.read_text(encoding="utf-8")):
            there = (path.parent / target).resolve()
            assert there.exists(), f"{path.name}: {target}"
            assert not anchor or anchor in anchors(there.read_text(encoding="utf-8")), f"{path.name}: {target}#{anchor}"


def test_the_readme_leads_to_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in PAGES.values() if f"docs/specification/{path.name}" not in readme] == []


@pytest.mark.parametrize("words", [["--help"], ["list", "--help"], ["list", "policies", "--help"]])
def test_the_help_says_where_the_pages_are(words, capsys):
    with contextlib.suppress(SystemExit):
        main(words)
    message = " ".join(capsys.readouterr().out.split())
    assert "'spec 3, R81' in a text is item R81 of page 3 of docs/specification/" in message
    assert FOLDER == ROOT / "docs/specification"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""Round robin (spec 3, R82)."""', {"r82"}),
        ("spec 3, R7-R9 (A4, A41); E1-E2; V25.", {"r7", "r8", "r9", "e1", "e2", "v25"}),
        ("(spec 3, section 7)", {"section-7"}),
        ("(spec 3, sections 6 and 7)", {"section-6", "section-7"}),
        ("specification 3, H3.14 to H3.16", {"h3-14", "h3-15", "h3-16"}),
        ("spec 3, section 7; Knuth, volume 1, section 2.5.", {"section-7"}),
        ("(spec 3, Em. 9 and 10)", {"em-9", "em-10"}),
        ("(spec 3, ¶151-154)", {"¶151", "¶154"}),
        ("spec 3, R12; source document paragraphs 6-17, 61 and 78.", {"r12", "¶6", "¶17", "¶61", "¶78"}),
        ("(spec 3, E20). V100 and R9 are cards.", {"e20"}),
    ],
)
def test_references_are_collected(text, expected):
    assert references(text) == {Reference(3, anchor) for anchor in {"", *expected}}


def test_a_number_without_a_specification_belongs_to_its_room():
    assert references("a lock (R15); any policy of spec 1 instead | E3 |", 2) == {
        Reference(2, "r15"),
        Reference(1, ""),
        Reference(2, "e3"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "(spec 3, R999)",
        "(spec 3, R80-R83)",
        "(spec 8, R1)",
        "H3.19",
        "(spec 6, section 12)",
        "Em. 11",
        "(spec 5, ¶68)",
        "(spec 2, D1)",
    ],
)
def test_what_names_no_item_is_found_out(text):
    assert not all(resolves(reference, TEXTS) for reference in references(text))
