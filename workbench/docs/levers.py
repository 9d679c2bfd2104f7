"""Levers as tables: what each may be, what it is by default, in which unit, and what it means."""

from __future__ import annotations

from typing import Any

from workbench.docs.page import address, table
from workbench.docs.prose import prose
from workbench.levers import Lever, Spec


def lever_table(cls: type[Spec], here: str) -> str:
    """Return the levers of a class, a row each; empty where it has none."""
    rows = [
        [
            f"[`{one.name}`]({address(here, f'reference/levers/{one.name}')})",
            values(one),
            default(one),
            one.unit or "",
            prose(one.description, here, cls.__module__),
        ]
        for one in cls.levers.values()
    ]
    return table(["lever", "values", "default", "unit", "meaning"], rows) if rows else ""


def values(one: Lever) -> str:
    """Return what a lever may be, as Markdown.

    >>> values(Lever("lines", "integer", 64, least=1, most=4096, scale="power_of_two"))
    'whole number from 1 to 4096, powers of two'
    """
    if one.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in one.choices)
    if one.kind == "switch":
        return "`true`, `false`"
    if one.kind in ("spec", "specs"):
        return f"{'list of ' if one.kind == 'specs' else ''}`{_spec_name(one.spec)}`"
    words = {"integer": "whole number", "number": "number", "integers": "list of whole numbers"}
    kind = {**words, "numbers": "list of numbers", "text": "text"}[one.kind]
    return f"{kind}{_range(one)}{_scale(one)}"


def _spec_name(spec: Any) -> str:
    noun = getattr(spec, "noun", "") or getattr(spec, "question", "") or getattr(spec, "name", "")
    return str(noun).replace("_", " ")


def _range(one: Lever) -> str:
    if one.least is not None and one.most is not None:
        return f" from {_number(one.least)} to {_number(one.most)}"
    if one.least is not None:
        return f" of at least {_number(one.least)}"
    return f" of at most {_number(one.most)}" if one.most is not None else ""


def _scale(one: Lever) -> str:
    step = f", in steps of {_number(one.step)}" if one.step is not None else ""
    return step + {"linear": "", "log": ", logarithmic", "power_of_two": ", powers of two"}[one.scale]


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e9 else f"{value:.10g}"


def default(one: Lever) -> str:
    """Return the default of a lever as it is written in a sweep, as Markdown."""
    if one.required:
        return "must be given"
    text = one.shortly(one.check(one.default))
    return f"`{text.lower() if one.kind == 'switch' else text or chr(34) * 2}`"
