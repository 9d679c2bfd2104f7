"""Pages of the questions that engines leave to policies, with an entry for every policy.

What an answer sees and returns, who asks; of a policy what it chooses, a drawing, its levers, where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.compiled import fields_of
from workbench.docs.drawings import of_policy, of_question
from workbench.docs.lever_table import lever_table
from workbench.docs.markdown import (
    Kind,
    Page,
    code,
    entry,
    first_sentence,
    of_class,
    ref,
    refs,
    sections,
    table,
    titled,
    toctree,
)
from workbench.docs.reference.engines import engine_path
from workbench.docs.reference.questions import QUESTIONS
from workbench.docs.spec_links import prose
from workbench.mechanisms.mechanism import mechanism, slots_by_question
from workbench.policies.catalogue import load_all
from workbench.policies.policy import Policy, base_of, policies, questions

_ABOUT = (
    "Each engine leaves some decisions to policies. A decision is a question with a fixed signature, and a policy is "
    "one answer. Those of the source documents stand next to their rivals."
)


def question_pages() -> Iterator[Page]:
    """Yield a page for every question that has an answer."""
    load_all()
    slots = slots_by_question()
    for question in questions():
        yield _question_page(question, slots.get(question, []))


def _question_page(question: str, slots: Sequence[tuple[str, str]]) -> Page:
    base, here = base_of(question), f"reference/policies/{question}"
    rows = [
        [ref(f"`{name}`", f"{here}#{name}"), first_sentence(prose(cls.__doc__ or "", cls.__module__))]
        for name, cls in policies(question).items()
    ]
    text = sections(
        f"# Policies: {question}",
        _asked(question, slots),
        of_question(question),
        table(["policy", "what it chooses"], rows),
        _sees(base),
        _askers(question, slots),
        _new(question, base),
        *(_policy_entry(cls) for cls in policies(question).values()),
    )
    return Page(here, question, text, _words_of(question), tuple(policies(question)))


def _words_of(question: str) -> str:
    """Return the text of a question; of a question that a user entered, only its name is known."""
    return QUESTIONS[question].asks if question in QUESTIONS else f"The question {question}."


def _asked(question: str, slots: Sequence[tuple[str, str]]) -> str:
    """Return the question, the default answers and those of the source documents."""
    own = _own_answers(question)
    sentences = [f"**{_words_of(question)}**"]
    if defaults := _defaults(question, slots):
        sentences.append(f"Default: {defaults}.")
    sentences.append(f"The source document answers {own}." if own else "No source document answers it.")
    return " ".join(sentences)


def _own_answers(question: str) -> str:
    own = QUESTIONS[question].own if question in QUESTIONS else ()
    return refs(f"reference/policies/{question}", own)


def _defaults(question: str, slots: Sequence[tuple[str, str]]) -> str:
    """Return the policies that engines take where a sweep names none."""
    names = dict.fromkeys(mechanism(engine).engine.slots[slot] for engine, slot in slots)
    return refs(f"reference/policies/{question}", [name for name in names if name in policies(question)])


def policies_overview(pages: Sequence[Page]) -> Page:
    """Return the page of all questions: who asks each, the default answer and the source document's own."""
    slots = slots_by_question()
    rows = [
        [
            ref(page.title, page.path),
            page.summary,
            ", ".join(
                dict.fromkeys(ref(f"`{engine}`", engine_path(engine)) for engine, _ in slots.get(page.title, []))
            ),
            _defaults(page.title, slots.get(page.title, [])),
            _own_answers(page.title) or "none",
            refs(page.path, page.names),
        ]
        for page in pages
    ]
    heads = ["question", "what it asks", "engines", "default", "the source document's own", "all answers"]
    contents = toctree({page.path: page.title for page in pages})
    text = sections("# Policies", _ABOUT, table(heads, rows), contents)
    return Page("reference/policies/index", "Policies", text, _ABOUT)


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
    """Return the engines that ask, and the name in a sweep of a policy that answers."""
    lines = [f"- engine {ref(f'`{engine}`', engine_path(engine))}, slot `{slot}`" for engine, slot in slots]
    sweep = "\n".join(
        f"policy: {{{slot}: {next(iter(policies(question)))}}}    # engine: {engine}" for engine, slot in slots
    )
    return sections("## Who asks", "\n".join(lines), code(sweep, "yaml")) if lines else ""


def _new(question: str, base: type[Policy]) -> str:
    lines = f"workbench new policy {question} my_{question}\npython -m pytest -q test_my_{question}.py"
    return sections("## A policy of your own", code(lines, "bash"), of_class(base))


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
    _ABOUT,
    question_pages,
    policies_overview,
)
