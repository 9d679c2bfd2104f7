"""Pages of the questions that engines leave to policies, with an entry for every policy.

What an answer sees and returns, who asks; of a policy what it chooses, a drawing, its levers, where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.compiled import fields_of
from workbench.docs.drawings import of_policy, of_question
from workbench.docs.lever_table import lever_table
from workbench.docs.markdown import Kind, Page, code, entry, first_sentence, of_class, ref, sections, table, titled
from workbench.docs.reference.engines import engine_path
from workbench.docs.spec_links import prose
from workbench.mechanisms.mechanism import mechanism, mechanisms
from workbench.policies.catalogue import load_all
from workbench.policies.policy import Policy, base_of, policies, questions


def question_pages() -> Iterator[Page]:
    """Yield a page for every question that has an answer."""
    load_all()
    slots = slots_by_question()
    for question in questions():
        yield _question_page(question, slots.get(question, []))


def slots_by_question() -> dict[str, list[tuple[str, str]]]:
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
        f"# Policies: {question}",
        of_class(base),
        of_question(question),
        table(["policy", "what it chooses"], rows),
        _sees(base),
        _askers(question, slots),
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


def _askers(question: str, slots: Sequence[tuple[str, str]]) -> str:
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
