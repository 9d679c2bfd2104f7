"""A page for every machine preset: every figure with its unit, its source and how far the source can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.docs.drawings import of_preset
from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import prose
from workbench.docs.reference.engines import flow
from workbench.docs.reference.kind import Kind, crumbs
from workbench.experiments.mechanism import mechanism, mechanisms
from workbench.machine.presets import DOUBTFUL, MARKS, Preset, preset, preset_names


def path(name: str) -> str:
    """Return the path of a preset's page."""
    return f"reference/presets/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every preset."""
    mechanisms_of = _engines()
    for name in preset_names():
        one = preset(name)
        yield _page(name, one, mechanisms_of.get(one.of.name, []))


def names() -> list[str]:
    """Return the path of every preset's page."""
    return [path(name) for name in preset_names()]


def _engines() -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for name in mechanisms():
        result.setdefault(mechanism(name).engine.machine.name, []).append(name)
    return result


def _page(name: str, one: Preset, engines: list[str]) -> Page:
    here, declared = path(name), one.of.figures()
    rows = [
        [
            f"`{figure.name}`",
            _value(declared[figure.name].plain(figure.value)),
            figure.unit,
            f"**{figure.mark.replace('_', ' ')}**" if figure.mark in DOUBTFUL else figure.mark,
            prose(figure.source, here),
        ]
        for figure in one.figures.values()
    ]
    links = ", ".join(f"[`{engine}`]({address(here, f'reference/engines/{engine}')})" for engine in engines)
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Presets", "reference/presets/index")),
            f"# {name}",
            f"{prose(one.title, here)}.",
            f"A machine for {links}. " * bool(links) + _kind(one),
            of_preset(one),
            table(["figure", "value", "unit", "how it is known", "source"], rows),
            _marks(one),
            sections("## In a sweep", code(f"machine: {one.name}", "yaml")),
            sections(
                "## In Python",
                code(f'>>> from workbench.machine import preset\n>>> preset("{name}").machine()', "pycon"),
            ),
        ),
        summary=prose(one.title, here),
        group=one.of.name.replace("_", " "),
    )


def _value(value: Any, most: int = 120) -> str:
    text = flow(value)
    if len(text) <= most or not isinstance(value, list):
        return f"`{text}`"
    return f"{len(value)} of them, `{text[:most].rpartition(', ')[0]}, ...`"


def _kind(one: Preset) -> str:
    words = {
        "hardware": "It describes a card or board.",
        "simulator": "It describes a simulator's model, kept apart from the card that it stands for.",
        "document": "It is what a source document states.",
    }
    return words[one.kind]


def _marks(one: Preset) -> str:
    used = {figure.mark for figure in one.figures.values()}
    return "\n".join(f"- **{mark.replace('_', ' ')}**: {words}" for mark, words in MARKS.items() if mark in used)


KIND = Kind(
    "presets",
    "Machine presets",
    "Frozen descriptions of hardware; every figure has its source, and a mark that says how far the source can be "
    "trusted. Vendors do not document how dispatch and placement are done in hardware: what nobody published is marked "
    "as an assumption.",
    pages,
    names,
)
