"""Pages of engines, of the questions that they leave to policies, and of levers.

Of an engine: the decisions that it leaves to policies, its measures (unit, which direction is better, axis label), its
options and its machine, lever by lever. Of a question: what an answer sees and returns, who asks, and an entry for
every policy: what it chooses, a drawing, its levers, an example, where it comes from. Of a lever: wherever it is
declared.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from workbench.cli.listings import declared_levers, kind_of_spec
from workbench.compiled import fields_of
from workbench.docs import ROOT, SWEEPS
from workbench.docs.drawings import of_policy, of_question
from workbench.docs.markdown import (
    LEVER_FACTS,
    Kind,
    Page,
    anchor,
    code,
    entry,
    first_sentence,
    lever_facts,
    lever_table,
    of_class,
    prose,
    ref,
    refs,
    sections,
    table,
    titled,
)
from workbench.figures.registry import FIGURES
from workbench.levers import Family, Spec
from workbench.machine.presets import preset, preset_names
from workbench.mechanisms.measures import of_setup
from workbench.mechanisms.mechanism import Mechanism, mechanism, mechanisms
from workbench.metrics.measure import Measure, Measures
from workbench.policies.catalogue import load_all
from workbench.policies.policy import Policy, base_of, policies, questions
from workbench.workloads.workload import KINDS as WORKLOAD_KINDS
from workbench.workloads.workload import Generator


def engine_path(name: str) -> str:
    """Return the path of an engine's page."""
    return f"reference/engines/{name}"


def engine_refs(names: Sequence[str]) -> str:
    """Return links to the pages of engines."""
    return ", ".join(ref(f"`{name}`", engine_path(name)) for name in names)


def shipped_sweep(engine: str) -> str:
    """Return the shortest sweep of an engine that is shipped, below the name of its file; empty where there is none."""
    files = {file: file.read_text(encoding="utf-8") for file in sorted(SWEEPS.rglob("*.yaml"))}
    of_engine = [file for file, text in files.items() if f"engine: {engine}" in text.splitlines()]
    if not of_engine:
        return ""
    shortest = min(of_engine, key=lambda file: len(files[file]))
    return sections(f"`{shortest.relative_to(ROOT)}`:", code(files[shortest], "yaml"))


def engine_pages() -> Iterator[Page]:
    """Yield a page for every engine."""
    for name in mechanisms():
        yield _engine_page(name, mechanism(name))


_MEASURE_FACTS = ("measure", "unit", "better", "axis label", "what it is")


def _engine_page(name: str, there: Mechanism) -> Page:
    engine, cls, sweep = there.engine, type(there.engine), shipped_sweep(name)
    measures = measures_of(name)
    text = sections(
        f"# {name}",
        of_class(cls),
        _engine_facts(name, there),
        _slots(there),
        sections("## Measures", table(_MEASURE_FACTS, [_measure_row(there, one) for one in measures])),
        _levers_below("Options", "options", engine.options),
        _levers_below("Machine", "machine", engine.machine),
        sections("## A sweep", sweep) if sweep else "",
    )
    summary = first_sentence(prose(cls.__doc__ or "", cls.__module__))
    return Page(engine_path(name), name, text, summary, tuple(one.name for one in measures))


def _engine_facts(name: str, there: Mechanism) -> str:
    engine, kind = there.engine, there.engine.workload_kind
    presets = [one for one in preset_names() if preset(one).of.name == engine.machine.name]
    figures = [figure for figure, one in FIGURES.all().items() if one.engine == name]
    rows = [
        ["workloads", ref(f"those that give {kind.replace('_', ' ')}", f"reference/workloads/{kind}")],
        ["machines", refs(f"reference/presets/{engine.machine.name}", presets)],
        ["figures", refs(f"reference/figures/{name}", figures)],
        ["revision", f"{engine.revision}: raised whenever the same setup and seed give other results"],
    ]
    return table(["", ""], [row for row in rows if row[1]])


def _slots(there: Mechanism) -> str:
    asks = {slot: there.engine.question_of(slot) for slot in there.engine.slots}
    rows = [
        [f"`{slot}`", ref(f"`{asks[slot]}`", f"reference/policies/{asks[slot]}"), f"`{neutral}`"]
        for slot, neutral in there.engine.slots.items()
    ]
    heads = ["slot", "question", "default, or the slot whose policy is taken"]
    return sections("## Decisions", table(heads, rows)) if rows else ""


def measures_of(engine: str) -> list[Measure]:
    """Return the measures of an engine: of its records, then of its setups."""
    return [*mechanism(engine).measures.values(), *(one.declared for one in of_setup(engine).values())]


def _measure_row(there: Mechanism, one: Measure) -> list[str]:
    """Return a measure as a row, with what brackets may hold behind its name, such as a priority."""
    families = getattr(there.measures, "_families", ()) if isinstance(there.measures, Measures) else ()
    parts = [
        f"Also of {family.of.replace('{}', 'n')} alone, as `{one.name}[n]` with n like `{family.part}`."
        for family in families
        if one.name in family.stems
    ]
    better = one.better if one.better in ("lower", "higher") else "neither"
    words = " ".join([f"{prose(one.description)}.", *parts])
    return [f"{anchor(one.name)}`{one.name}`", one.unit or "a pure number", better, prose(one.label), words]


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


def question_pages() -> Iterator[Page]:
    """Yield a page for every question that has an answer."""
    load_all()
    slots = asked_by()
    for question in questions():
        yield _question_page(question, slots.get(question, []))


def asked_by() -> dict[str, list[tuple[str, str]]]:
    """Return the engines and slots that ask each question, the engine with fewest slots first."""
    result: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(mechanisms(), key=lambda name: len(mechanism(name).engine.slots)):
        for slot in (engine := mechanism(name).engine).slots:
            result.setdefault(engine.question_of(slot), []).append((name, slot))
    return result


def _question_page(question: str, slots: Sequence[tuple[str, str]]) -> Page:
    base, here = base_of(question), f"reference/policies/{question}"
    rows = [
        [ref(f"`{name}`", f"{here}#{name}"), first_sentence(prose(cls.__doc__ or "", cls.__module__))]
        for name, cls in policies(question).items()
    ]
    text = sections(
        f"# {question}",
        of_class(base),
        of_question(question),
        table(["policy", "what it chooses"], rows),
        _sees(base),
        _asked(question, slots),
        _new(question, base),
        *(_policy_entry(cls) for cls in policies(question).values()),
    )
    summary = first_sentence(prose(base.__doc__ or _returns(base), base.__module__))
    return Page(here, question, text, summary, tuple(policies(question)))


def _returns(base: type[Policy]) -> str:
    return f"Answers {base.asks.answers}." if base.asks is not None else ""


def _sees(base: type[Policy]) -> str:
    if base.asks is None:
        return ""
    rows = [
        [f"`see.{name}`", f"`{field}`", prose(field.description)] for name, field in fields_of(base.asks.see).items()
    ]
    tells = "\n".join(
        f"- It may define `{name}(see)`, which is told of {', '.join(f'`{field}`' for field in fields_of(asks.see))}."
        for name, asks in base.tells.items()
    )
    returned = f"It returns {prose(base.asks.answers, base.__module__)}."
    return sections("## What an answer sees", table(["field", "type", "meaning"], rows), returned, tells)


def _asked(question: str, slots: Sequence[tuple[str, str]]) -> str:
    """Return which engines ask, and how a sweep names a policy that answers."""
    lines = [f"- engine {ref(f'`{engine}`', engine_path(engine))}, slot `{slot}`" for engine, slot in slots]
    sweep = "\n".join(
        f"policy: {{{slot}: {next(iter(policies(question)))}}}    # engine: {engine}" for engine, slot in slots
    )
    return sections("## Who asks", "\n".join(lines), code(sweep, "yaml")) if lines else ""


def _new(question: str, base: type[Policy]) -> str:
    lines = f"workbench new policy {question} my_{question}\npython -m pytest -q test_my_{question}.py"
    return sections("## A policy of one's own", f"Derived from `{base.__name__}`:", code(lines, "bash"))


def _policy_entry(cls: type[Policy]) -> str:
    return entry(
        cls.name,
        of_class(cls),
        of_policy(cls),
        titled("Levers", lever_table(cls, cls.name)) or "It has no levers.",
    )


POLICY_KIND = Kind(
    "policies",
    "Policies",
    "Every policy by the question that it answers: the mechanisms of the patents beside their rivals. A question "
    "has one fixed signature; a policy is a value that answers it. An engine calls the answer through its address, so "
    "that it is compiled once for every policy there will ever be.",
    question_pages,
)


_ABOUT_LEVERS = (
    "A lever is a parameter that is declared once: its range is the check, the slider, the tuner's distribution, the "
    "axis label and the schema of sweep files. Each name stands here with every policy, workload, machine and option "
    "that has it."
)
"""The first words of the page of levers, which the index of all kinds repeats."""


def lever_pages() -> Iterator[Page]:
    """Yield the one page of all levers."""
    rows = [
        [f"{anchor(name)}`{name}`" if first else "", owner_of_lever(cls), *lever_facts(cls, cls.levers[name])]
        for name, classes in declared_levers().items()
        for first, cls in ((cls is classes[0], cls) for cls in classes)
    ]
    text = sections(
        "# Levers",
        _ABOUT_LEVERS,
        "A value outside of its range is refused in one sentence that names the nearest that is allowed. "
        "`workbench list levers NAME` says the same in a terminal.",
        table(["lever", "of", *LEVER_FACTS], rows),
    )
    yield Page("reference/levers", "Levers", text, names=tuple(declared_levers()))


def owner_of_lever(cls: type[Spec]) -> str:
    """Return the class that has a lever as Markdown: a link to its entry where it has one."""
    kind = kind_of_spec(cls)
    words = f"{kind} `{cls.name}`" if kind else f"`{cls.name}`"
    if issubclass(cls, Policy):
        entered = policies(cls.question).get(cls.name) is cls if cls.question else False
        return ref(words, f"reference/policies/{cls.question}#{cls.name}") if entered else words
    if issubclass(cls, Generator):
        return ref(words, generator_path(cls))
    engine = _engine_with().get(cls)
    return ref(words, engine) if engine else words


@functools.cache
def _engine_with() -> dict[type[Spec], str]:
    """Return the heading of an engine's page below which each class of options and machines stands."""
    return {
        cls: f"{engine_path(name)}#{key}"
        for name in reversed(mechanisms())
        for key, top in (("options", mechanism(name).engine.options), ("machine", mechanism(name).engine.machine))
        for cls in (*(inner for _, inner in inner_specs(top)), top)
    }


def generator_path(cls: type[Generator]) -> str:
    """Return the entry of a generator, on the page of the first kind of requests that it gives."""
    return f"reference/workloads/{next(kind for kind in WORKLOAD_KINDS if cls.gives(kind))}#{cls.name}"


LEVER_KIND = Kind(
    "levers",
    "Levers",
    _ABOUT_LEVERS,
    lever_pages,
)
