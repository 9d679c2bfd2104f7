"""A page for every lever by name: wherever it is declared, its range, default, unit and meaning."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.cli.listings import declared_levers, kind_of_spec
from workbench.docs.levers import default, values
from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import prose
from workbench.docs.reference.kind import Kind, crumbs
from workbench.levers import Lever, Spec
from workbench.policies.policy import Policy


def path(name: str) -> str:
    """Return the path of a lever's page."""
    return f"reference/levers/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every name that a lever has."""
    for name, places in declared_levers().items():
        yield _page(name, places)


def names() -> list[str]:
    """Return the path of every lever's page."""
    return [path(name) for name in declared_levers()]


def _page(name: str, places: list[type[Spec]]) -> Page:
    here = path(name)
    levers = [(cls, cls.levers[name]) for cls in places]
    rows = [
        [owner(cls, here), values(one), default(one), one.unit, prose(one.description, here, cls.__module__)]
        for cls, one in levers
    ]
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Levers", "reference/levers/index")),
            f"# {name}",
            _words(levers),
            table(["of", "values", "default", "unit", "meaning"], rows),
            "A value outside of its range is refused in one sentence that names the nearest that is allowed.",
            sections("## In a terminal", code(f"workbench levers {name}", "bash")),
        ),
        summary=f"{levers[0][1].description and prose(levers[0][1].description, here)}"
        + (f"; and in {len(levers) - 1} more places" if len(levers) > 1 else ""),
        group=name[0].upper(),
    )


def _words(levers: list[tuple[type[Spec], Lever]]) -> str:
    count = "one place" if len(levers) == 1 else f"{len(levers)} places"
    return f"A lever is declared once where it belongs; this name is declared in {count}."


def owner(cls: type[Spec], here: str) -> str:
    """Return the class that has a lever as Markdown: a link to its page where it has one."""
    kind = kind_of_spec(cls)
    words = f"{kind} `{cls.name}`" if kind else f"`{cls.name}`"
    if issubclass(cls, Policy) and cls.question:
        there = f"reference/policies/{cls.question}/{cls.name}"
        return f"[{words}]({address(here, there)})" if _is_entered(cls) else words
    if kind == "workload":
        return f"[{words}]({address(here, f'reference/workloads/{cls.name}')})"
    return words


def _is_entered(cls: type[Policy]) -> bool:
    from workbench.policies.policy import policies

    return policies(cls.question).get(cls.name) is cls


KIND = Kind(
    "levers",
    "Levers",
    "A lever is a parameter that is declared once: its range is the check, the slider, the tuner's distribution, the "
    "axis label and the schema of sweep files. A page a name, with every policy, workload, "
    "machine and option that has it.",
    pages,
    names,
)
