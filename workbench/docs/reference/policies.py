"""A page for every policy, for every question that policies answer, and for every lever by name.

Of a policy: what it chooses, its levers, where it comes from, a drawing, an example. Of a question: what an answer
sees, what it returns, who answers it, which engines ask it. Of a lever: wherever it is declared, its range, default,
unit and meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.cli.listings import declared_levers, kind_of_spec
from workbench.compiled import fields_of
from workbench.docs.drawings import of_policy, of_question
from workbench.docs.markdown import (
    Kind,
    Page,
    address,
    code,
    crumbs,
    docstring_page,
    example,
    first_sentence,
    lever_default,
    lever_table,
    lever_values,
    prose,
    references,
    sections,
    table,
)
from workbench.docs.reference.engines import can_be_planned, small_sweep
from workbench.levers import Lever, Spec
from workbench.policies.catalogue import load_all
from workbench.policies.policy import Policy, base_of, policies, questions


def policy_path(question: str, name: str) -> str:
    """Return the path of a policy's page."""
    return f"reference/policies/{question}/{name}"


def policy_pages() -> Iterator[Page]:
    """Yield a page for every policy of every question."""
    load_all()
    slots = asked_by()
    for question in questions():
        for name, cls in policies(question).items():
            yield _policy_page(question, name, cls, slots.get(question, []))


def policy_names() -> list[str]:
    """Return the path of every policy's page."""
    load_all()
    return [policy_path(question, name) for question in questions() for name in policies(question)]


def _policy_page(question: str, name: str, cls: type[Policy], slots: list[tuple[str, str]]) -> Page:
    here = policy_path(question, name)
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
            _policy_in_a_sweep(cls, slots),
            references(cls, here),
            f"Defined in `{cls.__module__.replace('.', '/')}.py`." if cls.__module__.startswith("workbench.") else "",
        ),
        summary=first_sentence(prose(cls.__doc__ or "", "reference/policies/index", cls.__module__)),
        group=question,
    )


def _policy_in_a_sweep(cls: type[Policy], slots: list[tuple[str, str]]) -> str:
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


def asked_by() -> dict[str, list[tuple[str, str]]]:
    """Return the engines and slots that ask each question, the engine with fewest slots first."""
    from workbench.experiments.mechanism import mechanism, mechanisms

    result: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(mechanisms(), key=lambda name: len(mechanism(name).engine.slots)):
        engine = mechanism(name).engine
        for slot in engine.slots:
            result.setdefault(engine.question_of(slot), []).append((name, slot))
    return result


POLICY_KIND = Kind(
    "policies",
    "Policies",
    "Every policy by the question that it answers: the mechanisms of the patents beside their rivals.",
    policy_pages,
    policy_names,
)


def question_path(question: str) -> str:
    """Return the path of a question's page."""
    return f"reference/questions/{question}"


def question_pages() -> Iterator[Page]:
    """Yield a page for every question that has an answer."""
    load_all()
    for question in questions():
        yield _question_page(question)


def question_names() -> list[str]:
    """Return the path of every question's page."""
    load_all()
    return [question_path(question) for question in questions()]


def _question_page(question: str) -> Page:
    here, base = question_path(question), base_of(question)
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
    lines = f"workbench new policy {question} my_{question}\npython -m pytest -q test_my_{question}.py"
    return sections("## A policy of one's own", f"Derived from `{base.__name__}`:", code(lines, "bash"))


QUESTION_KIND = Kind(
    "questions",
    "Questions",
    "Every decision is a question with one fixed signature; a policy is a value that answers it. An engine calls the "
    "answer through its address, so that it is compiled once for every policy there will ever be.",
    question_pages,
    question_names,
)


def lever_path(name: str) -> str:
    """Return the path of a lever's page."""
    return f"reference/levers/{name}"


def lever_pages() -> Iterator[Page]:
    """Yield a page for every name that a lever has."""
    for name, places in declared_levers().items():
        yield _lever_page(name, places)


def lever_names() -> list[str]:
    """Return the path of every lever's page."""
    return [lever_path(name) for name in declared_levers()]


def _lever_page(name: str, places: list[type[Spec]]) -> Page:
    here = lever_path(name)
    levers = [(cls, cls.levers[name]) for cls in places]
    rows = [
        [
            owner_of_lever(cls, here),
            lever_values(one),
            lever_default(one),
            one.unit,
            prose(one.description, here, cls.__module__),
        ]
        for cls, one in levers
    ]
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Levers", "reference/levers/index")),
            f"# {name}",
            _lever_words(levers),
            table(["of", "values", "default", "unit", "meaning"], rows),
            "A value outside of its range is refused in one sentence that names the nearest that is allowed.",
            sections("## In a terminal", code(f"workbench list levers {name}", "bash")),
        ),
        summary=f"{levers[0][1].description and prose(levers[0][1].description, here)}"
        + (f"; and in {len(levers) - 1} more places" if len(levers) > 1 else ""),
        group=name[0].upper(),
    )


def _lever_words(levers: list[tuple[type[Spec], Lever]]) -> str:
    count = "one place" if len(levers) == 1 else f"{len(levers)} places"
    return f"A lever is declared once where it belongs; this name is declared in {count}."


def owner_of_lever(cls: type[Spec], here: str) -> str:
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


LEVER_KIND = Kind(
    "levers",
    "Levers",
    "A lever is a parameter that is declared once: its range is the check, the slider, the tuner's distribution, the "
    "axis label and the schema of sweep files. A page a name, with every policy, workload, "
    "machine and option that has it.",
    lever_pages,
    lever_names,
)
