"""The catalogue as a table (policy, question, what it chooses, levers, source), and policies in a user's own file.

A policy in a file is named as `my_fit.py:MyFit`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

from workbench.compiled import fields_of
from workbench.errors import unknown_name
from workbench.guests import guest_package
from workbench.parts import files_named, from_file
from workbench.parts.registry import first_paragraph
from workbench.policies.policy import Policy, base_of, policies, questions


def load_all() -> None:
    """Import every package of policies, so that the catalogue is whole."""
    for room in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if room.ispkg:
            importlib.import_module(f"{__package__}.{room.name}")


def policy_rows(question: str | None = None) -> list[dict[str, Any]]:
    """Return one mapping a policy: question, name, says, levers (name -> its declaration), references, built_in.

    Raises
    ------
    InputError
        There is no such question.
    """
    load_all()
    if question is not None and question not in questions():
        raise unknown_name("", "question", question, questions())
    chosen = [question] if question is not None else questions()
    return [_row(q, policy) for q in chosen for policy in policies(q).values()]


def sees(asks: Any) -> list[str]:
    """Return the text of the view of a question, a line a field, and of its answer.

    >>> from workbench.policies.dispatch.stuck import PARTS
    >>> sees(PARTS)[1]
    'see.independent  int64: 1 where its waves may run apart, 0 where they belong together'
    """
    fields = [f"see.{name}  {field}: {field.description}" for name, field in fields_of(asks.see).items()]
    return [*fields, f"It returns {asks.answers}."]


def question_row(question: str) -> dict[str, Any]:
    """Return the base of the policies that answer a question, the view that an answer gets, and its return value."""
    load_all()
    base = base_of(question)
    lines = sees(base.asks) if base.asks is not None else []
    settings = {name: sorted(fields_of(asks.see)) for name, asks in base.tells.items()}
    return {"question": question, "base": base.__name__, "sees": lines, "tells": settings}


def _row(question: str, policy: type[Policy]) -> dict[str, Any]:
    text = inspect.cleandoc(policy.__doc__ or "")
    return {
        "question": question,
        "name": policy.name,
        "says": first_paragraph(policy.__doc__),
        "levers": {name: lever.schema() for name, lever in policy.levers.items()},
        "references": _section(text, "References"),
        "built_in": policy.built_in,
        **({"package": package} if (package := guest_package(policy.__module__)) else {}),
    }


def _section(text: str, title: str) -> str:
    lines = text.splitlines()
    if title not in lines:
        return ""
    rest = lines[lines.index(title) + 2 :]
    ends = (k for k, line in enumerate(rest) if k + 1 < len(rest) and set(rest[k + 1].strip()) == {"-"})
    return " ".join(" ".join(rest[: next(ends, len(rest))]).split())


_NOUN = "policy class"


def policy_in_file(name: str, folder: Path, where: str) -> type[Policy]:
    """Return the class that `FILE.py:CLASS` names, as `workbench.parts.user_files` does.

    Raises
    ------
    InputError
        There is no such file or class, the file does not run, or the class is not a policy.
    """
    policy: type[Policy] = from_file(name, folder, where, _NOUN, _is_policy)
    return policy


def policy_files(name: str, folder: Path, where: str) -> list[Path]:
    """Return the file that `FILE.py:CLASS` names and every file of its folder that it imports; errors as above."""
    return files_named(name, folder, where, _NOUN)


def _is_policy(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Policy) and bool(value.question)
