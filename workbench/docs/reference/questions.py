"""A page for every question: what an answer sees, what it returns, who answers it, which engines ask it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.compiled import fields_of
from workbench.docs.docstring import docstring_page, references
from workbench.docs.drawings import of_question
from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import first_sentence, prose
from workbench.docs.reference.kind import Kind, crumbs
from workbench.policies.catalogue import load_all
from workbench.policies.policy import Policy, base_of, policies, questions


def path(question: str) -> str:
    """Return the path of a question's page."""
    return f"reference/questions/{question}"


def pages() -> Iterator[Page]:
    """Yield a page for every question that has an answer."""
    load_all()
    for question in questions():
        yield _page(question)


def names() -> list[str]:
    """Return the path of every question's page."""
    load_all()
    return [path(question) for question in questions()]


def asked_by() -> dict[str, list[tuple[str, str]]]:
    """Return the engines and slots that ask each question, the engine with fewest slots first."""
    from workbench.experiments.mechanism import mechanism, mechanisms

    result: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(mechanisms(), key=lambda name: len(mechanism(name).engine.slots)):
        engine = mechanism(name).engine
        for slot in engine.slots:
            result.setdefault(engine.question_of(slot), []).append((name, slot))
    return result


def _page(question: str) -> Page:
    here, base = path(question), base_of(question)
    return Page(
        here,
        question,
        sections(
            crumbs(here, ("Questions", "reference/questions/index")),
            f"# {question}",
            docstring_page(base, here, whole=False),
            of_question(question),
            _sees(base, here),
            _asked(question, here),
            _answers(question, here),
            _new(question, base),
            references(base, here),
        ),
        summary=first_sentence(prose(base.__doc__ or _returns(base), here, base.__module__)),
    )


def _returns(base: type[Policy]) -> str:
    return f"Answers {base.asks.answers}." if base.asks is not None else ""


def _sees(base: type[Policy], here: str) -> str:
    if base.asks is None:
        return ""
    rows = [[f"`see.{name}`", f"`{field}`", prose(field.description, here)] for name, field in _fields(base)]
    tells = "\n".join(
        f"- It may define `{name}(see)`, which is told of {', '.join(f'`{field}`' for field in fields_of(asks.see))}."
        for name, asks in base.tells.items()
    )
    returned = f"It returns {prose(base.asks.answers, here, base.__module__)}."
    return sections("## What an answer sees", table(["field", "type", "meaning"], rows), returned, tells)


def _fields(base: type[Policy]) -> list[tuple[str, Any]]:
    return [*fields_of(base.asks.see).items()]


def _asked(question: str, here: str) -> str:
    slots = asked_by().get(question, [])
    lines = [
        f"- engine [`{engine}`]({address(here, f'reference/engines/{engine}')}), slot `{slot}`"
        for engine, slot in slots
    ]
    return sections("## Who asks", "\n".join(lines)) if lines else ""


def _answers(question: str, here: str) -> str:
    rows = [
        [
            f"[`{name}`]({address(here, f'reference/policies/{question}/{name}')})",
            first_sentence(prose(cls.__doc__ or "", here)),
        ]
        for name, cls in policies(question).items()
    ]
    return sections("## Policies", table(["policy", "what it chooses"], rows))


def _new(question: str, base: type[Policy]) -> str:
    lines = f"workbench new-policy {question} my_{question}\npython -m pytest -q test_my_{question}.py"
    return sections("## A policy of one's own", f"Derived from `{base.__name__}`:", code(lines, "bash"))


KIND = Kind(
    "questions",
    "Questions",
    "Every decision is a question with one fixed signature; a policy is a value that answers it. An engine calls the "
    "answer through its address, so that it is compiled once for every policy there will ever be.",
    pages,
    names,
)
