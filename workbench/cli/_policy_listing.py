"""`workbench list policies [NAME]`: every policy, those of a question or of an engine, or one of them in full."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from workbench.cli._output import add_output_arguments, say_json, say_lines, say_notes
from workbench.cli._packages import problem_of, problems_of_kind
from workbench.cli.commands import DONE
from workbench.cli.lever_words import lever_line
from workbench.errors import InputError, unknown_name
from workbench.guests import guests


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="a question, such as placement; an engine; or one policy in full"
    )
    add_output_arguments(parser)


def _run(args: argparse.Namespace) -> int:
    rows, question = _rows_and_question(args.name)
    problems = problems_of_kind("policy")
    if args.json:
        further = {"question": question} if question else {}
        say_json({"policies": rows, **further, **({"problems": problems} if problems else {})})
        return DONE
    if question:
        _say_question(question)
    if not rows:
        say_lines([f"the engine {args.name} leaves no decision to a policy"])
    for row in rows:
        _say_policy(row)
    say_notes([f"not listed: {problem}" for problem in problems])
    return DONE


def _rows_and_question(name: str | None) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return the policies that a name stands for, and the question if it is the name of one.

    Raises
    ------
    InputError
        No question, engine or policy has the name, or the package of the policy does not import.
    """
    from workbench.mechanisms.mechanism import mechanism, mechanisms
    from workbench.policies.catalogue import load_all, policy_rows, question_row
    from workbench.policies.policy import questions

    load_all()
    if name in mechanisms():
        engine = mechanism(name).engine
        requested = dict.fromkeys(engine.question_of(slot) for slot in engine.slots)
        return [row for each in requested for row in policy_rows(each)], None
    if name is None or name in questions():
        return policy_rows(name), question_row(name) if name else None
    every = policy_rows()
    if named := [row for row in every if row["name"] == name]:
        return [{**row, **_details(row)} for row in named], None
    if (guest := guests("policy").get(name)) and (problem := problem_of(guest)):
        raise InputError(problem)
    known = {*questions(), *mechanisms(), *(row["name"] for row in every)}
    raise unknown_name("", "question, engine or policy", name, known)


def _details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the engines that ask a policy's question, its levers in words, its form in a sweep, and its class."""
    from workbench.mechanisms.mechanism import slots_by_question
    from workbench.policies.policy import policies

    policy = policies(row["question"])[row["name"]]
    slots = slots_by_question().get(row["question"], [])
    engines = dict.fromkeys(engine for engine, _ in slots)
    return {
        "engines": {engine: [slot for one, slot in slots if one == engine] for engine in engines},
        "levers_in_words": [lever_line(one) for one in policy.levers.values()],
        "in_a_sweep": f"policy: {{{slots[0][1] if slots else row['question']}: {row['name']}}}",
        "source": f"{policy.__module__}:{policy.__qualname__}",
    }


def _say_question(question: Mapping[str, Any]) -> None:
    """Print what a new policy derives from, what its answer sees and returns."""
    say_lines([f"a new one: workbench new policy {question['question']} NAME, derived from {question['base']}"])
    if question["sees"]:
        print("its answer takes one view, def answer(see):")
    say_lines(f"    {line}" for line in question["sees"])
    say_lines(f"it may define {name}(see), told of {', '.join(fields)}" for name, fields in question["tells"].items())
    print()


def _say_policy(row: Mapping[str, Any]) -> None:
    levers = ", ".join(f"{name}={schema.get('default')}" for name, schema in row["levers"].items())
    say_lines([f"{row['question']}: {row['name']}({levers})", f"    {row['says']}"])
    if row["references"]:
        say_lines([f"    [{row['references']}]"])
    if "package" in row:
        say_lines([f"    of the package {row['package']}"])
    if "source" in row:
        _say_details(row)


def _say_details(row: Mapping[str, Any]) -> None:
    slots = (f"{engine} (policy.{', policy.'.join(slots)})" for engine, slots in row["engines"].items())
    parts = {
        f"engines that ask {row['question']}": slots,
        "levers": row["levers_in_words"],
        "in a sweep": [row["in_a_sweep"]],
        "source": [row["source"]],
    }
    for title, lines in parts.items():
        if lines := list(lines):
            say_lines([f"    {title}:", *(f"        {line}" for line in lines)])


POLICIES = _arguments, _run
