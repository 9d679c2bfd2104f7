"""A page for every generator and every regime: what it gives, its levers, its source, a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.docs.docstring import docstring_page
from workbench.docs.levers import lever_table
from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import first_sentence, prose
from workbench.docs.reference.engines import flow
from workbench.docs.reference.kind import Kind, crumbs
from workbench.experiments.mechanism import mechanism, mechanisms
from workbench.workloads.synthetic.generators import Generator
from workbench.workloads.synthetic.regimes import Regime, regimes
from workbench.workloads.workload import KINDS


def path(name: str) -> str:
    """Return the path of a workload's page."""
    return f"reference/workloads/{name}"


def path_of_regime(name: str) -> str:
    """Return the path of a regime's page: below that of the generator, where both have one name."""
    return path(f"{name}/regime" if name in Generator.members.names() else name)


def pages() -> Iterator[Page]:
    """Yield a page for every generator, then for every regime."""
    for cls in Generator.members.all().values():
        yield _generator(cls)
    for kind in KINDS:
        for one in regimes(kind).values():
            yield _regime(one, kind)


def names() -> list[str]:
    """Return the path of every workload's page."""
    spoken = [path_of_regime(name) for kind in KINDS for name in regimes(kind)]
    return [*map(path, Generator.members.names()), *spoken]


def _served(cls: type[Generator], here: str) -> str:
    served = [name for name in mechanisms() if cls.gives(mechanism(name).engine.workload_kind)]
    links = ", ".join(f"[`{name}`]({address(here, f'reference/engines/{name}')})" for name in served)
    return f"It serves {links}." if links else ""


def _generator(cls: type[Generator]) -> Page:
    here = path(cls.name)
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


def _regime(one: Regime, kind: str) -> Page:
    here, cls = path_of_regime(one.name), type(one.workload)
    plain: dict[str, Any] = one.workload.plain()
    levers = [[f"`{name}`", f"`{flow(value)}`"] for name, value in plain.items()]
    generator = f"[`{cls.name}`]({address(here, path(cls.name))})"
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


KIND = Kind(
    "workloads",
    "Workloads",
    "What is asked of the machine: generators draw requests from named streams of the seed, so that every policy of a "
    "comparison meets the same ones; a regime is a generator with its laws chosen. Traces and files of one's own take "
    "the same place.",
    pages,
    names,
)
