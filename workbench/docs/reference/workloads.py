"""A page for every generator, regime, importer and machine preset: what runs are made of, besides policies.

Of a workload: what it gives, its levers, its source, a sweep. Of an importer: which files it reads, what writes them,
public files of the format, how it is used. Of a preset: every figure with its unit, its source and how far the source
can be trusted.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from workbench.docs.drawings import of_preset
from workbench.docs.markdown import (
    Kind,
    Page,
    address,
    code,
    crumbs,
    docstring_page,
    first_sentence,
    lever_table,
    prose,
    sections,
    table,
)
from workbench.docs.reference.engines import flow
from workbench.experiments.mechanism import mechanism, mechanisms
from workbench.machine.presets import DOUBTFUL, MARKS, Preset, preset, preset_names
from workbench.workloads.catalogue import catalogue
from workbench.workloads.importers import Importer, importers
from workbench.workloads.synthetic.generators import Generator, Regime, regimes
from workbench.workloads.workload import KINDS


def workload_path(name: str) -> str:
    """Return the path of a workload's page."""
    return f"reference/workloads/{name}"


def path_of_regime(name: str) -> str:
    """Return the path of a regime's page: below that of the generator, where both have one name."""
    return workload_path(f"{name}/regime" if name in Generator.members.names() else name)


def workload_pages() -> Iterator[Page]:
    """Yield a page for every generator, then for every regime."""
    for cls in Generator.members.all().values():
        yield _generator_page(cls)
    for kind in KINDS:
        for one in regimes(kind).values():
            yield _regime_page(one, kind)


def workload_names() -> list[str]:
    """Return the path of every workload's page."""
    spoken = [path_of_regime(name) for kind in KINDS for name in regimes(kind)]
    return [*map(workload_path, Generator.members.names()), *spoken]


def _served(cls: type[Generator], here: str) -> str:
    served = [name for name in mechanisms() if cls.gives(mechanism(name).engine.workload_kind)]
    links = ", ".join(f"[`{name}`]({address(here, f'reference/engines/{name}')})" for name in served)
    return f"It serves {links}." if links else ""


def _generator_page(cls: type[Generator]) -> Page:
    here = workload_path(cls.name)
    required = {name: "..." for name, one in cls.levers.items() if one.required}
    sweep = f"workload: {flow({'synthetic': cls.name, **required})}"
    return Page(
        here,
        cls.name,
        sections(
            crumbs(here, ("Workloads", "reference/workloads/index")),
            f"# {cls.name}",
            docstring_page(cls, here),
            _served(cls, here),
            f"## Levers\n\n{lever_table(cls, here)}" if cls.levers else "",
            sections("## In a sweep", code(sweep, "yaml")),
        ),
        summary=first_sentence(prose(cls.__doc__ or "", here)),
        group="Generators",
    )


def _regime_page(one: Regime, kind: str) -> Page:
    here, cls = path_of_regime(one.name), type(one.workload)
    plain: dict[str, Any] = one.workload.plain()
    levers = [[f"`{name}`", f"`{flow(value)}`"] for name, value in plain.items()]
    generator = f"[`{cls.name}`]({address(here, workload_path(cls.name))})"
    return Page(
        here,
        one.name,
        sections(
            crumbs(here, ("Workloads", "reference/workloads/index")),
            f"# {one.name}",
            f"{prose(one.says, here)}.",
            f"A regime: the generator {generator} with its laws chosen. {_served(cls, here)}",
            f"Source: {prose(one.source, here)}.",
            table(["lever", "value"], levers),
            sections("## In a sweep", code(f"workload: {one.name}\nmachine: {flow(one.machine)}", "yaml")),
        ),
        summary=prose(one.says, here),
        group=f"Regimes that give {kind.replace('_', ' ')}",
    )


WORKLOAD_KIND = Kind(
    "workloads",
    "Workloads",
    "What is asked of the machine: generators draw requests from named streams of the seed, so that every policy of a "
    "comparison meets the same ones; a regime is a generator with its laws chosen. Traces and files of one's own take "
    "the same place.",
    workload_pages,
    workload_names,
)


def importer_path(name: str) -> str:
    """Return the path of an importer's page."""
    return f"reference/importers/{name}"


def importer_pages() -> Iterator[Page]:
    """Yield a page for every format that is read."""
    for name, importer in importers().items():
        yield _importer_page(name, importer)


def importer_names() -> list[str]:
    """Return the path of every importer's page."""
    return [importer_path(name) for name in importers()]


def _importer_page(name: str, importer: Importer) -> Page:
    here, cls = importer_path(name), type(importer)
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
            _public_files(name, here),
            sections("## What a file holds", code("workbench trace import FILE --json", "bash")),
            sections("## In a sweep", code("workload: {trace: FILE}", "yaml")),
        ),
        summary=first_sentence(prose(importer.says, here)),
    )


def _public_files(name: str, here: str) -> str:
    rows: list[list[Any]] = [
        [f"`{one.name}`", one.licence, prose(one.holds, here)] for one in catalogue().values() if one.format == name
    ]
    if not rows:
        return ""
    fetch = "`workbench trace import --fetch NAME` gets one, checked by its digest."
    return sections("## Public files of this format", table(["name", "licence", "what it holds"], rows), fetch)


IMPORTER_KIND = Kind(
    "importers",
    "Importers",
    "How a file becomes a trace: one importer a format, told by the contents. `workbench trace import FILE` says what "
    "a file holds and what it lacks.",
    importer_pages,
    importer_names,
)


def preset_path(name: str) -> str:
    """Return the path of a preset's page."""
    return f"reference/presets/{name}"


def preset_pages() -> Iterator[Page]:
    """Yield a page for every preset."""
    mechanisms_of = _engines()
    for name in preset_names():
        one = preset(name)
        yield _preset_page(name, one, mechanisms_of.get(one.of.name, []))


def preset_page_names() -> list[str]:
    """Return the path of every preset's page."""
    return [preset_path(name) for name in preset_names()]


def _engines() -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for name in mechanisms():
        result.setdefault(mechanism(name).engine.machine.name, []).append(name)
    return result


def _preset_page(name: str, one: Preset, engines: list[str]) -> Page:
    here, declared = preset_path(name), one.of.figures()
    rows = [
        [
            f"`{figure.name}`",
            _figure_value(declared[figure.name].plain(figure.value)),
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
            f"A machine for {links}. " * bool(links) + _kind_of_preset(one),
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


def _figure_value(value: Any, most: int = 120) -> str:
    text = flow(value)
    if len(text) <= most or not isinstance(value, list):
        return f"`{text}`"
    return f"{len(value)} of them, `{text[:most].rpartition(', ')[0]}, ...`"


def _kind_of_preset(one: Preset) -> str:
    words = {
        "hardware": "It describes a card or board.",
        "simulator": "It describes a simulator's model, kept apart from the card that it stands for.",
        "document": "It is what a source document states.",
    }
    return words[one.kind]


def _marks(one: Preset) -> str:
    used = {figure.mark for figure in one.figures.values()}
    return "\n".join(f"- **{mark.replace('_', ' ')}**: {words}" for mark, words in MARKS.items() if mark in used)


PRESET_KIND = Kind(
    "presets",
    "Machine presets",
    "Frozen descriptions of hardware; every figure has its source, and a mark that says how far the source can be "
    "trusted. Vendors do not document how dispatch and placement are done in hardware: what nobody published is marked "
    "as an assumption.",
    preset_pages,
    preset_page_names,
)
