"""Pages of engines: their decisions, measures, options and machine, lever by lever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.docs import ROOT, SWEEPS
from workbench.docs.lever_table import lever_table
from workbench.docs.markdown import (
    Kind,
    Page,
    anchor,
    code,
    first_sentence,
    of_class,
    ref,
    refs,
    sections,
    table,
    titled,
)
from workbench.docs.spec_links import prose
from workbench.figures.registry import FIGURES
from workbench.levers import Family, Spec
from workbench.machine.presets import preset, preset_names
from workbench.mechanisms.catalogue import OWN
from workbench.mechanisms.measures import of_setup
from workbench.mechanisms.mechanism import Mechanism, mechanism, mechanisms
from workbench.metrics.measure import Measure, Measures
from workbench.policies.policy import Policy

_MEASURE_FACTS = ("measure", "unit", "better", "axis label", "what it is")


def engine_path(name: str) -> str:
    """Return the path of an engine's page."""
    return f"reference/engines/{name}"


def engine_refs(names: Sequence[str]) -> str:
    """Return links to the pages of engines."""
    return ", ".join(ref(f"`{name}`", engine_path(name)) for name in names)


def shipped_sweep(engine: str) -> str:
    """Return the shortest sweep of an engine that is shipped, below the name of its file; empty where there is none.

    Sweeps of public reports are left out: they need their files of groups.
    """
    files = {file: file.read_text(encoding="utf-8") for file in sorted(SWEEPS.glob("*/*.yaml"))}
    of_engine = [file for file, text in files.items() if f"engine: {engine}" in text.splitlines()]
    if not of_engine:
        return ""
    shortest = min(of_engine, key=lambda file: len(files[file]))
    return sections(f"`{shortest.relative_to(ROOT)}`:", code(files[shortest], "yaml"))


def engine_pages() -> Iterator[Page]:
    """Yield a page for every engine."""
    for name in mechanisms():
        yield _engine_page(name, mechanism(name))


def _engine_page(name: str, registered: Mechanism) -> Page:
    engine, cls, sweep = registered.engine, type(registered.engine), shipped_sweep(name)
    measures = measures_of(name)
    text = sections(
        f"# Engine: {name}",
        of_class(cls),
        _engine_facts(name, registered),
        _slots(registered),
        sections("## Measures", table(_MEASURE_FACTS, [_measure_row(registered, one) for one in measures])),
        _levers_below("Options", "options", engine.options),
        _levers_below("Machine", "machine", engine.machine),
        sections("## A sweep", sweep) if sweep else "",
    )
    summary = first_sentence(prose(cls.__doc__ or "", cls.__module__))
    return Page(engine_path(name), name, text, summary, tuple(one.name for one in measures))


def _engine_facts(name: str, registered: Mechanism) -> str:
    engine, kind = registered.engine, registered.engine.workload_kind
    presets = [one for one in preset_names() if preset(one).of.name == engine.machine.name]
    figures = [figure for figure, one in FIGURES.all().items() if one.engine == name]
    page = OWN[name].page.removesuffix(".md") if name in OWN else ""
    rows = [
        ["mechanism", ref("what is simulated, and after what", page) if page else ""],
        ["workloads", ref(f"those that give {kind.replace('_', ' ')}", f"reference/workloads/{kind}")],
        ["machines", refs(f"reference/presets/{engine.machine.name}", presets)],
        ["figures", refs(f"reference/figures/{name}", figures)],
        ["revision", f"{engine.revision}: raised whenever the same setup and seed give other results"],
    ]
    return table(["", ""], [row for row in rows if row[1]])


def _slots(registered: Mechanism) -> str:
    questions = {slot: registered.engine.question_of(slot) for slot in registered.engine.slots}
    rows = [
        [f"`{slot}`", ref(f"`{questions[slot]}`", f"reference/policies/{questions[slot]}"), f"`{neutral}`"]
        for slot, neutral in registered.engine.slots.items()
    ]
    heads = ["slot", "question", "default, or the slot whose policy is taken"]
    return sections("## Decisions", table(heads, rows)) if rows else ""


def measures_of(engine: str) -> list[Measure]:
    """Return the measures of an engine: of its records, then of its setups."""
    return [*mechanism(engine).measures.values(), *(one.declared for one in of_setup(engine).values())]


def _measure_row(registered: Mechanism, one: Measure) -> list[str]:
    """Return a measure as a row, with what brackets may hold behind its name, such as a priority."""
    families = getattr(registered.measures, "_families", ()) if isinstance(registered.measures, Measures) else ()
    parts = [
        f"Also of {family.of.replace('{}', 'n')} alone, as `{one.name}[n]` with n like `{family.part}`."
        for family in families
        if one.name in family.stems
    ]
    better = one.better if one.better in ("lower", "higher") else "neither"
    words = " ".join([f"{prose(one.description)}.", *parts])
    return [f"{anchor(one.name)}`{one.name}`", one.unit or "a pure number", better, prose(one.label), words]


def measure_pages() -> Iterator[Page]:
    """Yield the one page that lists the measures of all engines by name."""
    by_name: dict[str, list[str]] = {}
    for engine in mechanisms():
        for one in measures_of(engine):
            by_name.setdefault(one.name, []).append(engine)
    rows = [_shared_row(name, engines) for name, engines in sorted(by_name.items())]
    text = sections("# Measures", MEASURE_KIND.description, table(["measure", "engines", "unit", "what it is"], rows))
    names = tuple(sorted(by_name))
    yield Page("reference/measures", "Measures", text, names=names, keywords=names)


def _shared_row(name: str, engines: Sequence[str]) -> list[str]:
    """Return a measure as a row, with a link to its entry of each engine that has it."""
    first = next(one for one in measures_of(engines[0]) if one.name == name)
    links = ", ".join(ref(f"`{engine}`", f"{engine_path(engine)}#{name}") for engine in engines)
    return [f"{anchor(name)}`{name}`", links, first.unit or "a pure number", f"{prose(first.description)}."]


MEASURE_KIND = Kind(
    "measures",
    "Measures",
    "Every number that a run gives, by name. The page of an engine says which direction is better, and has the label "
    "of its axis. `workbench list measures` prints the same.",
    measure_pages,
)


def _levers_below(title: str, key: str, cls: type[Spec]) -> str:
    """Return the levers of options or a machine, then those of the specs that they may hold, a table each."""
    levers = lever_table(cls, key)
    inner = [titled(f"`{one.name}`, {words}", lever_table(one, one.name)) for words, one in inner_specs(cls)]
    return sections(f"## {title}", f"Written below `{key}:` of a sweep.", levers, *inner) if levers else ""


def inner_specs(cls: type[Spec], words: str = "") -> Iterator[tuple[str, type[Spec]]]:
    """Yield the specs with levers that the levers of a class may hold, with what leads to each; policies have pages."""
    for one in cls.levers.values():
        held = getattr(one, "spec", None)
        if isinstance(held, type) and issubclass(held, Spec) and not issubclass(held, Policy):
            for member in held.members.all().values() if issubclass(held, Family) else (held,):
                way = f"{words} › `{one.name}`" if words else f"of `{one.name}`"
                if member.levers and member is not cls:
                    yield way, member
                    yield from inner_specs(member, way)


ENGINE_KIND = Kind(
    "engines",
    "Engines",
    "A simulator each: one compiled loop that owns time and truth, and asks policies for every decision. A measure is "
    "a number that is computed from the record of a run, and knows neither engine nor policy; the area and the delay "
    "of circuits are of a setup, and computed where a sweep names them. Those of one's own join with `wb.add_measure`.",
    engine_pages,
)
