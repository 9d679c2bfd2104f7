"""A page for every policy: what it chooses, its levers, where it comes from, a drawing, an example."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.docs.docstring import docstring_page, example, references
from workbench.docs.drawings import of_policy
from workbench.docs.levers import lever_table
from workbench.docs.page import Page, address, code, sections
from workbench.docs.prose import first_sentence, prose
from workbench.docs.reference.engines import can_be_planned, small_sweep
from workbench.docs.reference.kind import Kind, crumbs
from workbench.docs.reference.questions import asked_by
from workbench.policies.catalogue import load_all
from workbench.policies.policy import Policy, policies, questions


def path(question: str, name: str) -> str:
    """Return the path of a policy's page."""
    return f"reference/policies/{question}/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every policy of every question."""
    load_all()
    slots = asked_by()
    for question in questions():
        for name, cls in policies(question).items():
            yield _page(question, name, cls, slots.get(question, []))


def names() -> list[str]:
    """Return the path of every policy's page."""
    load_all()
    return [path(question, name) for question in questions() for name in policies(question)]


def _page(question: str, name: str, cls: type[Policy], slots: list[tuple[str, str]]) -> Page:
    here = path(question, name)
    levers = lever_table(cls, here)
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Policies", "reference/policies/index"), (question, f"reference/questions/{question}")),
            f"# {name}",
            f"`{cls.__name__}` answers the question "
            f"[`{question}`]({address(here, f'reference/questions/{question}')}).",
            docstring_page(cls, here, whole=False),
            of_policy(cls),
            f"## Levers\n\n{levers}" if levers else "It has no levers.",
            example(cls),
            _in_a_sweep(cls, slots),
            references(cls, here),
            f"Defined in `{cls.__module__.replace('.', '/')}.py`." if cls.__module__.startswith("workbench.") else "",
        ),
        summary=first_sentence(prose(cls.__doc__ or "", "reference/policies/index", cls.__module__)),
        group=question,
    )


def _in_a_sweep(cls: type[Policy], slots: list[tuple[str, str]]) -> str:
    """Return a sweep of the first engine that runs the policy as it is; else the line that names it."""
    lines = [f"policy: {{{slot}: {cls.name}}}    # engine: {engine}" for engine, slot in slots]
    sweeps = (small_sweep(engine, policy={slot: cls.name}) for engine, slot in slots)
    runs = next(filter(can_be_planned, sweeps), "")
    others = "\n".join(lines[1:] if runs else lines)
    return sections(
        "## In a sweep" if slots else "",
        code(runs, "yaml") if runs else "",
        "Elsewhere:" if runs and others else "",
        code(others, "yaml") if others else "",
    )


KIND = Kind(
    "policies",
    "Policies",
    "Every policy by the question that it answers: the mechanisms of the patents beside their rivals.",
    pages,
    names,
)
