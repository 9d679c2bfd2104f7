"""A page for every engine and for every measure of one.

Of an engine: the decisions that it leaves to policies, its options, its machine, its measures. Of a measure: its unit,
which direction is better, what it is, how it is asked for.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from workbench.docs import SWEEPS
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
    references,
    sections,
    table,
)
from workbench.errors import InputError, WorkbenchError
from workbench.experiments.mechanism import Mechanism, mechanism, mechanisms
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.experiments.user_measures import of_setup
from workbench.metrics.measure import Measure, Measures
from workbench.strict_yaml import read_mapping
from workbench.workloads.synthetic.generators import generators, regimes


def engine_path(name: str) -> str:
    """Return the path of an engine's page."""
    return f"reference/engines/{name}"


def engine_pages() -> Iterator[Page]:
    """Yield a page for every engine."""
    for name in mechanisms():
        yield _engine_page(name, mechanism(name))


def engine_names() -> list[str]:
    """Return the path of every engine's page."""
    return [engine_path(name) for name in mechanisms()]


@functools.cache
def given_to(engine: str) -> dict[str, Any]:
    """Return what an engine can be shown with, as a sweep writes it: a workload, or what a shipped sweep gives it.

    There is nothing for an engine that no workload of the package serves and no shipped sweep names.
    """
    kind = mechanism(engine).engine.workload_kind
    if known := regimes(kind):
        return {"workload": next(iter(known))}
    without = [name for name, cls in generators(kind).items() if not any(one.required for one in cls.levers.values())]
    if without:
        return {"workload": {"synthetic": without[0]}}
    shipped = (read_mapping(file) for file in sorted((SWEEPS / engine).glob("*.yaml")))
    sweeps = [sweep for sweep in shipped if sweep.get("engine") == engine and "vary" not in str(sweep.get("workload"))]
    return {key: sweeps[0][key] for key in ("machine", "workload", "options") if key in sweeps[0]} if sweeps else {}


def small_sweep(engine: str, **parts: Any) -> str:
    """Return a sweep of a few runs that an example page shows, as YAML; empty where no workload serves the engine.

    >>> print(small_sweep("shared_memory", measures=["drain_cycles"]))
    engine: shared_memory
    workload: large_uniform
    seeds: 5
    measures: [drain_cycles]
    """
    if not given_to(engine):
        return ""
    lines = {"engine": engine, **given_to(engine), "seeds": _seeds(engine), **parts}
    return "\n".join(f"{key}: {flow(value)}" for key, value in lines.items() if value not in (None, ""))


@functools.cache
def _seeds(engine: str, most: int = 5) -> int:
    """Return how many seeds an example has: one where the workload is the same under each."""
    try:
        make_plan(read_sweep({"engine": engine, **given_to(engine), "seeds": most}))
    except InputError:
        return 1
    return most


def can_be_planned(sweep: str) -> bool:
    """Return whether a sweep, as YAML, is one that can be run."""
    try:
        return bool(sweep) and len(make_plan(read_sweep({**yaml.safe_load(sweep), "seeds": 1}))) > 0
    except WorkbenchError:
        return False


def flow(value: Any) -> str:
    """Return a value as YAML writes it on one line.

    >>> flow({"vary": ["first_fit", {"nearest_boundary": {"tie": "low"}}]})
    '{vary: [first_fit, {nearest_boundary: {tie: low}}]}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(flow(inner) for inner in value) + "]"
    if isinstance(value, str):
        plain = value.replace("_", "").replace(".", "").replace("/", "").isalnum() and not value[0].isdigit()
        return value if plain and value not in ("true", "false", "null") else json.dumps(value)
    return json.dumps(value)


def _engine_page(name: str, there: Mechanism) -> Page:
    here, engine = engine_path(name), there.engine
    cls = type(engine)
    options = lever_table(engine.options, here)
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Engines", "reference/engines/index")),
            f"# {name}",
            docstring_page(cls, here, whole=False),
            _engine_facts(there, here),
            _slots(there, here),
            f"## Options\n\nWritten below `options:` of a sweep.\n\n{options}" if options else "",
            "## Machine\n\nWritten below `machine:`, as levers or as a preset's name.\n\n"
            + lever_table(engine.machine, here),
            _measures_of(name, there, here),
            references(cls, here),
            sections("## A sweep", code(sweep, "yaml")) if (sweep := small_sweep(name)) else "",
        ),
        summary=first_sentence(prose(cls.__doc__ or "", here, cls.__module__)),
    )


def _engine_facts(there: Mechanism, here: str) -> str:
    engine = there.engine
    rows = [
        [
            "workloads",
            f"those that give `{engine.workload_kind}` ([list]({address(here, 'reference/workloads/index')}))",
        ],
        ["revision", f"{engine.revision}: raised whenever the same setup and seed give other results"],
    ]
    return table(["", ""], rows)


def _slots(there: Mechanism, here: str) -> str:
    engine = there.engine
    rows = [
        [
            f"`{slot}`",
            f"[`{engine.question_of(slot)}`]({address(here, f'reference/questions/{engine.question_of(slot)}')})",
            f"`{neutral}`",
        ]
        for slot, neutral in engine.slots.items()
    ]
    if not rows:
        return ""
    return sections("## Decisions", table(["slot", "question", "default, or the slot whose policy is taken"], rows))


def _measures_of(name: str, there: Mechanism, here: str) -> str:
    rows = [
        [
            f"[`{one.name}`]({address(here, f'reference/measures/{name}/{one.name}')})",
            one.unit,
            prose(one.description, here),
        ]
        for one in there.measures.values()
    ]
    return sections("## Measures", table(["measure", "unit", "what it is"], rows))


ENGINE_KIND = Kind(
    "engines",
    "Engines",
    "A simulator each: one compiled loop that owns time and truth, and asks policies for every decision.",
    engine_pages,
    engine_names,
)

MEASURES_INDEX = "reference/measures/index"


def measure_path(engine: str, name: str) -> str:
    """Return the path of a measure's page."""
    return f"reference/measures/{engine}/{name}"


def measure_pages() -> Iterator[Page]:
    """Yield a page for every measure of every engine."""
    for engine in mechanisms():
        there = mechanism(engine)
        for measure in _measures_with_setup(engine):
            yield _measure_page(engine, there, measure)


def measure_names() -> list[str]:
    """Return the path of every measure's page."""
    return [measure_path(engine, measure.name) for engine in mechanisms() for measure in _measures_with_setup(engine)]


def _measures_with_setup(engine: str) -> list[Measure]:
    """Return the measures of an engine: of its records, then of its setups."""
    return [*mechanism(engine).measures.values(), *(one.declared for one in of_setup(engine).values())]


def _measure_page(engine: str, there: Mechanism, measure: Measure) -> Page:
    here = measure_path(engine, measure.name)
    return Page(
        here,
        measure.name,
        sections(
            crumbs(here, ("Measures", "reference/measures/index"), (engine, f"reference/engines/{engine}")),
            f"# {measure.name}",
            f"{prose(measure.description, here)}.",
            _measure_facts(engine, measure, here),
            _parts(there, measure),
            _in_a_sweep(engine, measure.name),
        ),
        summary=f"{prose(measure.description, MEASURES_INDEX)}{f' ({measure.unit})' if measure.unit else ''}",
        group=engine,
    )


def _in_a_sweep(engine: str, name: str) -> str:
    sweep = small_sweep(engine, measures=[name]) or f"measures: [{name}]"
    return sections("## In a sweep", code(sweep, "yaml"))


def _measure_facts(engine: str, measure: Measure, here: str) -> str:
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


MEASURE_KIND = Kind(
    "measures",
    "Measures",
    "A measure is a number that is computed from the record of a run; it knows neither engine nor policy. The area and "
    "the delay of circuits are of a setup, and computed where a sweep names them. Those of one's own join with "
    "`wb.add_measure`.",
    measure_pages,
    measure_names,
)
