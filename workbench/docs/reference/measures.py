"""A page for every measure of every engine: its unit, which direction is better, what it is, how it is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import prose
from workbench.docs.reference.engines import small_sweep
from workbench.docs.reference.kind import Kind, crumbs
from workbench.experiments.mechanism import Mechanism, mechanism, mechanisms
from workbench.experiments.user_measures import of_setup
from workbench.metrics.measure import Measure, Measures

INDEX = "reference/measures/index"


def path(engine: str, name: str) -> str:
    """Return the path of a measure's page."""
    return f"reference/measures/{engine}/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every measure of every engine."""
    for engine in mechanisms():
        there = mechanism(engine)
        for measure in _all(engine):
            yield _page(engine, there, measure)


def names() -> list[str]:
    """Return the path of every measure's page."""
    return [path(engine, measure.name) for engine in mechanisms() for measure in _all(engine)]


def _all(engine: str) -> list[Measure]:
    """Return the measures of an engine: of its records, then of its setups."""
    return [*mechanism(engine).measures.values(), *(one.declared for one in of_setup(engine).values())]


def _page(engine: str, there: Mechanism, measure: Measure) -> Page:
    here = path(engine, measure.name)
    return Page(
        here,
        measure.name,
        sections(
            crumbs(here, ("Measures", "reference/measures/index"), (engine, f"reference/engines/{engine}")),
            f"# {measure.name}",
            f"{prose(measure.description, here)}.",
            _facts(engine, measure, here),
            _parts(there, measure),
            _in_a_sweep(engine, measure.name),
        ),
        summary=f"{prose(measure.description, INDEX)}{f' ({measure.unit})' if measure.unit else ''}",
        group=engine,
    )


def _in_a_sweep(engine: str, name: str) -> str:
    sweep = small_sweep(engine, measures=[name]) or f"measures: [{name}]"
    return sections("## In a sweep", code(sweep, "yaml"))


def _facts(engine: str, measure: Measure, here: str) -> str:
    rows = [
        ["engine", f"[`{engine}`]({address(here, f'reference/engines/{engine}')})"],
        ["unit", measure.unit or "none: a pure number"],
        ["better", {"lower": "lower", "higher": "higher"}.get(measure.better, "neither direction")],
        ["axis label", prose(measure.label, here)],
    ]
    return table(["", ""], rows)


def _parts(there: Mechanism, measure: Measure) -> str:
    """Return what brackets may hold behind the name, such as a priority."""
    known = there.measures
    families = getattr(known, "_families", ()) if isinstance(known, Measures) else ()
    lines = [
        f"It is also there of {family.of.replace('{}', 'n')} alone, as `{measure.name}[n]` with n like `{family.part}`."
        for family in families
        if measure.name in family.stems
    ]
    return "\n\n".join(lines)


KIND = Kind(
    "measures",
    "Measures",
    "A measure is a number that is computed from the record of a run; it knows neither engine nor policy. The area and "
    "the delay of circuits are of a setup, and computed where a sweep names them. Those of one's own join with "
    "`wb.add_measure`.",
    pages,
    names,
)
