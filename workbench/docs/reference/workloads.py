"""Pages of workloads, machine presets and importers: what runs are made of, besides policies.

Of a workload: what it gives, its levers, its source. Of an importer: which files it reads, what writes them, public
files of the format. Of a preset: every figure with its unit, its source and how far the source can be trusted.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import yaml

from workbench.docs.drawings import of_preset
from workbench.docs.lever_table import lever_table
from workbench.docs.markdown import Kind, Page, anchor, code, entry, of_class, ref, sections, table, titled
from workbench.docs.reference.engines import engine_refs
from workbench.docs.spec_links import prose
from workbench.machine.presets import DOUBTFUL, MARKS, Preset, preset, preset_names
from workbench.mechanisms.mechanism import mechanism, mechanisms
from workbench.workloads.catalogue import catalogue
from workbench.workloads.generators import Regime, regimes
from workbench.workloads.importers import Importer, importers
from workbench.workloads.workload import KINDS, Generator
from workbench.workloads.workload import KINDS as WORKLOAD_KINDS


def flow(value: Any) -> str:
    """Return a value as YAML writes it on one line.

    >>> flow({"vary": ["first_fit", {"nearest_boundary": {"tie": "low"}}]})
    '{vary: [first_fit, {nearest_boundary: {tie: low}}]}'
    """
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf)
    return text.removesuffix("\n").removesuffix("\n...")


def workload_pages() -> Iterator[Page]:
    """Yield a page for every kind of requests: the generators and the regimes that give them."""
    members = sorted(Generator.members.all().values(), key=lambda cls: cls.name)
    for kind in KINDS:
        here = f"reference/workloads/{kind}"
        able = [cls for cls in members if cls.gives(kind)]
        own = [cls for cls in able if generator_path(cls).startswith(f"{here}#")]
        others = [ref(f"`{cls.name}`", generator_path(cls)) for cls in able if cls not in own]
        rows = [_regime_row(one) for one in regimes(kind).values()]
        title = kind.replace("_", " ").capitalize()
        engines = [name for name in mechanisms() if mechanism(name).engine.workload_kind == kind]
        text = sections(
            f"# Workloads: {title.lower()}",
            f"Workloads that give {title.lower()}; they serve {engine_refs(engines)}.",
            sections("## Regimes", "A regime is a generator with its laws chosen, `workload: NAME`.") if rows else "",
            table(["regime", "what it is", "stands for", "machine", "source"], rows) if rows else "",
            *map(_generator_entry, own),
            f"Generators that give {title.lower()} too: {', '.join(others)}." if others else "",
        )
        names = (*map(regime_anchor, regimes(kind)), *(cls.name for cls in own))
        yield Page(here, title, text, f"{len(rows)} regimes, {len(able)} generators; for {engine_refs(engines)}", names)


def generator_path(cls: type[Generator]) -> str:
    """Return the entry of a generator, on the page of the first kind of requests that it gives."""
    return f"reference/workloads/{next(kind for kind in WORKLOAD_KINDS if cls.gives(kind))}#{cls.name}"


def regime_anchor(name: str) -> str:
    """Return the anchor of a regime, which may have the name of its generator."""
    return f"{name}-regime" if name in Generator.members.names() else name


def _regime_row(one: Regime) -> list[str]:
    cls, plain = type(one.workload), one.workload.plain()
    levers = ", ".join(f"`{name}: {flow(value)}`" for name, value in plain.items())
    generator = f"{ref(f'`{cls.name}`', generator_path(cls))} with {levers}" if levers else f"`{cls.name}`"
    name = f"{anchor(regime_anchor(one.name))}`{one.name}`"
    return [name, f"{prose(one.says)}.", generator, f"`{flow(one.machine)}`", prose(one.source)]


def _generator_entry(cls: type[Generator]) -> str:
    required = {name: "..." for name, one in cls.levers.items() if one.required}
    return entry(
        cls.name,
        of_class(cls),
        titled("Levers", lever_table(cls, cls.name)),
        code(f"workload: {flow({'synthetic': cls.name, **required})}", "yaml"),
    )


WORKLOAD_KIND = Kind(
    "workloads",
    "Workloads",
    "What is asked of the machine: generators draw requests from named streams of the seed, so that every policy of a "
    "comparison meets the same ones; a regime is a generator with its laws chosen. Traces and files of one's own take "
    "the same place.",
    workload_pages,
)


def importer_pages() -> Iterator[Page]:
    """Yield the one page of all formats that are read, a package of them after the other."""
    rooms = groupby(
        sorted(importers().items(), key=lambda item: type(item[1]).__module__), lambda item: type(item[1]).__module__
    )
    public = [
        [f"`{one.name}`", f"`{one.format}`", one.licence, prose(one.holds)]
        for one in sorted(catalogue().values(), key=lambda one: str(one.format))
    ]
    text = sections(
        "# Importers",
        IMPORTER_KIND.description,
        "In a sweep it is `workload: {trace: FILE}`; `workbench trace import FILE --json` says it in a terminal.",
        *(part for module, members in rooms for part in _entries_of_module(module, members)),
        "## Public files",
        "`workbench trace import --fetch NAME` gets one, checked by its digest.",
        table(["name", "format", "licence", "what it holds"], public),
    )
    yield Page("reference/importers", "Importers", text, names=tuple(importers()))


def _entries_of_module(module: str, members: Iterator[tuple[str, Importer]]) -> Iterator[str]:
    """Yield the entries of the importers that a module holds, the first with what the module says of all."""
    room = inspect.cleandoc(sys.modules[module].__doc__ or "")
    for name, one in members:
        own = vars(type(one)).get("__doc__") or ""
        yield entry(name, f"Reads {prose(one.description)}.", prose(inspect.cleandoc(own)), prose(room))
        room = ""


IMPORTER_KIND = Kind(
    "importers",
    "Importers",
    "How a file becomes a trace: one importer a format, told by the contents. `workbench trace import FILE` says what "
    "a file holds and what it lacks.",
    importer_pages,
)


def preset_pages() -> Iterator[Page]:
    """Yield a page for every kind of machine, with its presets."""
    by_machine: dict[str, dict[str, Preset]] = {}
    for name in preset_names():
        by_machine.setdefault(preset(name).of.name, {})[name] = preset(name)
    for machine, presets in by_machine.items():
        engines = [name for name in mechanisms() if mechanism(name).engine.machine.name == machine]
        title = machine.replace("_", " ")
        used = {figure.mark for one in presets.values() for figure in one.figures.values()}
        text = sections(
            f"# Presets: {title}",
            f"Machines for {engine_refs(engines)}." if engines else "",
            'One is `machine: NAME` in a sweep, and `workbench.machine.preset("NAME").machine()` in Python.',
            "\n".join(f"- **{mark.replace('_', ' ')}**: {words}" for mark, words in MARKS.items() if mark in used),
            *map(_preset_entry, presets, presets.values()),
        )
        yield Page(f"reference/presets/{machine}", title, text, engine_refs(engines), tuple(presets))


_MADE_OF = {
    "hardware": "It describes a card or board.",
    "simulator": "It describes a simulator's model, kept apart from the card that it stands for.",
    "document": "It is what a source document states.",
}


def _preset_entry(name: str, one: Preset) -> str:
    declared = one.of.figures()
    rows = [
        [
            f"`{figure.name}`",
            _figure_value(declared[figure.name].plain(figure.value)),
            figure.unit,
            f"**{figure.mark.replace('_', ' ')}**" if figure.mark in DOUBTFUL else figure.mark,
            prose(figure.source),
        ]
        for figure in one.figures.values()
    ]
    heads = ["figure", "value", "unit", "how it is known", "source"]
    return entry(name, f"{prose(one.title)}. {_MADE_OF[one.kind]}", of_preset(one), table(heads, rows))


def _figure_value(value: Any, most: int = 120) -> str:
    text = flow(value)
    if len(text) <= most or not isinstance(value, list):
        return f"`{text}`"
    return f"{len(value)} of them, `{text[:most].rpartition(', ')[0]}, ...`"


PRESET_KIND = Kind(
    "presets",
    "Machine presets",
    "Frozen descriptions of hardware; every figure has its source, and a mark that says how far the source can be "
    "trusted. Vendors do not document how dispatch and placement are done in hardware: what nobody published is marked "
    "as an assumption.",
    preset_pages,
)
