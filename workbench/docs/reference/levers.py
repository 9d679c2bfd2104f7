"""The page of levers: each wherever it is declared."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from workbench.cli.lever_words import declared_levers, kind_of_spec
from workbench.docs.lever_table import LEVER_FACTS, lever_facts
from workbench.docs.markdown import Kind, Page, anchor, ref, sections, table
from workbench.docs.reference.engines import engine_path, inner_specs
from workbench.docs.reference.workloads import generator_path
from workbench.levers import Spec
from workbench.mechanisms.mechanism import mechanism, mechanisms
from workbench.policies.policy import Policy, policies
from workbench.workloads.workload import Generator

_ABOUT_LEVERS = (
    "A lever is a parameter that is declared once: its range is the check, the slider, the tuner's distribution, the "
    "axis label and the schema of sweep files. Each name stands here with every policy, workload, machine and option "
    "that has it."
)


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


LEVER_KIND = Kind("levers", "Levers", _ABOUT_LEVERS, lever_pages)
