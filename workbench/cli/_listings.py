"""`workbench list KIND`: the measures, figures, workloads, levers and presets that a sweep may name.

Each lists all there is, the user's own of the files that the command names included, or shows all that is known of one.
The schema of sweep files is one more kind, with which an editor completes and checks them.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.cli._output import add_output_arguments, add_table_arguments, say_json, say_lines, say_notes, say_table
from workbench.cli._packages import problems_of_kind
from workbench.cli.commands import DONE, Arguments, Run
from workbench.cli.lever_words import (
    declared_levers,
    default_words,
    guest_levers,
    kind_of_spec,
    lever_line,
    values_of_lever,
)
from workbench.errors import InputError, nearest_name, unknown_name
from workbench.guests import Guest, guest_package, guests
from workbench.levers import Lever, Spec
from workbench.number_text import number
from workbench.parts.user_files import file_of

Rows = Callable[[Sequence[ModuleType]], list[dict[str, Any]]]
"""From the modules of the user's files to one mapping a part."""
Details = Callable[[Mapping[str, Any]], dict[str, Any]]
"""From the row of a part to what else is known of it: a value, or a list of lines."""
MOST_NAMES = 40
_IN_FRONT = ("name", "description", "built_in", "compared_by", "least_effect")


def listing(
    name: str, rows: Rows, details: Details = lambda row: {}, named_by: Sequence[str] = ("name",)
) -> tuple[Arguments, Run]:
    """Return the command that lists the parts of a kind, or of an engine, or shows those of a name in full.

    Parameters
    ----------
    name : str
        The kind, as the command says it.
    rows : function
        What there is, with the user's own.
    details : function
        What else is known of one part.
    named_by : sequence of str
        The columns that a name may stand in.
    """

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "parts",
            metavar="NAME | FILE.py | FILE.py:NAME",
            nargs="*",
            help=f"one of them in full; {'an engine; ' if 'engine' in named_by else ''}files with {name} of your own",
        )
        add_output_arguments(parser)

    def run(args: argparse.Namespace) -> int:
        problems = [sentence for kind in _kinds_of_parts(name) for sentence in problems_of_kind(kind)]
        lines, names = _rows_and_names(args.parts, rows, name.removesuffix("s"))
        if names:
            rows_named = _rows_named(lines, names, named_by, name.removesuffix("s"))
            lines = [row if row.get("engine") in names else {**row, **details(row)} for row in rows_named]
        if args.json:
            say_json({name: lines, **({"problems": problems} if problems else {})})
        else:
            say_lines(_lines(row) for row in lines)
            say_notes([f"not listed: {problem}" for problem in problems])
        return DONE

    return add_arguments, run


def _kinds_of_parts(name: str) -> tuple[str, ...]:
    """Return the kinds of parts of installed packages that a listing holds."""
    several = {"workloads": ("generator",), "levers": ("policy", "engine", "generator")}
    return several.get(name, (name.removesuffix("s"),))


def _rows_and_names(parts: Sequence[str], rows: Rows, kind: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return all rows, those of the files that were named included, and the names."""
    from workbench.parts import file_and_name, is_in_file, module_in_file

    split = [file_and_name(part) if is_in_file(part) else (part, "") for part in parts]
    files = dict.fromkeys(file for file, _ in split if file.endswith(".py"))
    every = rows([module_in_file(file, Path(), "", kind) for file in files])
    return every, [name or first for first, name in split if name or first not in files]


def _rows_named(
    rows: Sequence[dict[str, Any]], names: Iterable[str], named_by: Sequence[str], kind: str
) -> list[dict[str, Any]]:
    """Return the rows of some names.

    Raises
    ------
    InputError
        There is none of a name.
    """
    result: list[dict[str, Any]] = []
    for name in names:
        chosen = next((c for c in named_by if any(row[c] == name for row in rows)), None)
        if chosen is None:
            raise _unknown(kind, name, {str(row[column]) for column in named_by for row in rows})
        result += [row for row in rows if row[chosen] == name]
    return result


def _unknown(kind: str, name: str, known: set[str]) -> InputError:
    """Return the sentence about a name that there is not; of many names it shows the nearest alone."""
    if len(known) <= MOST_NAMES:
        return unknown_name("", kind, name, known)
    guess = nearest_name(name, sorted(known))
    cure = f" Did you mean {guess}?" if guess else ""
    return InputError(f"unknown {kind} {name!r}; `workbench list {kind}s` lists all {len(known)}.{cure}")


def _lines(row: dict[str, Any]) -> str:
    """Return a part in two lines, its name with what is short, and what it is; below them its details."""
    plain = {key: value for key, value in row.items() if not isinstance(value, (list, dict))}
    short = [str(value) for key, value in plain.items() if key not in _IN_FRONT and value]
    yours = [] if row["built_in"] or row.get("package") else ["yours"]
    head = f"{row['name']} ({', '.join([*short, *yours])})"
    return "\n".join([head, f"    {row['description']}", *_details(row)])


def _details(row: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in row.items():
        if isinstance(value, list) and value:
            lines += [f"    {key.replace('_', ' ')}:", *(f"        {line}" for line in value)]
    return lines


def measure_rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a measure: those of every engine, then the user's, also those that no engine has yet."""
    from workbench.mechanisms.measures import measures_of, of_setup
    from workbench.mechanisms.mechanism import mechanism, mechanisms
    from workbench.mechanisms.user_measure import UserMeasure

    entries = [
        _row_of_measure(engine, measure, built_in)
        for engine in mechanisms()
        for built_in, known in (
            (mechanism(engine).built_in, mechanism(engine).measures),
            (True, _declared(of_setup(engine))),
            (False, _declared(measures_of(engine).all())),
        )
        for measure in known.values()
    ]
    entered = {row["name"] for row in entries if not row["built_in"]}
    own = (one for module in modules for one in vars(module).values() if isinstance(one, UserMeasure))
    return [*entries, *(_row_of_measure("", one.declared, False) for one in own if one.name not in entered)]


def _declared(own: Any) -> dict[str, Any]:
    return {name: one.declared for name, one in own.items()}


def _row_of_measure(engine: str, measure: Any, built_in: bool) -> dict[str, Any]:
    from workbench.mechanisms.mechanism import MECHANISMS

    row = {"engine": engine, "name": measure.name, **measure.facts(), "built_in": built_in}
    if built_in:
        return row
    return row | (_of_package(guests("measure", engine), measure.name) or _of_package(MECHANISMS.guests(), engine))


def _of_package(brought: Mapping[str, Guest], name: str) -> dict[str, str]:
    """Return the package that brings a part, as a column; none for a part of this package or of the user's."""
    return {"package": brought[name].package} if name in brought else {}


def measure_details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the way to name a measure, and the parts of a run that alone have it."""
    from workbench.mechanisms.mechanism import mechanism, mechanisms

    of_file = not row["built_in"] and not row["engine"]
    lines = [f'measures: ["FILE.py:{row["name"]}"]' if of_file else f"measures: [{row['name']}]"]
    known = mechanism(row["engine"]).measures if row["engine"] in mechanisms() else {}
    patterns = known.patterns() if hasattr(known, "patterns") else []
    compared = [_COMPARED[row["compared_by"]] + _least(row)] if row.get("compared_by") else []
    return {
        "compared": compared,
        "in_a_sweep": lines,
        "of_parts": [pattern for pattern in patterns if row["name"] in pattern],
    }


_COMPARED = {
    "ratio": "by ratios: the speed-up is the geometric mean of the paired ratios",
    "difference": "by differences: the mean of the paired differences",
}


def _least(row: Mapping[str, Any]) -> str:
    """Return the least effect of a measure in words."""
    least = row["least_effect"]
    if least is None:
        return "; no least effect is declared"
    text = f"{number(100 * least)} %" if row["compared_by"] == "ratio" else f"{number(least)} {row['unit']}".strip()
    return f"; {text} is the least effect that counts"


MEASURES = listing("measures", measure_rows, measure_details, ("name", "engine"))


def figure_rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a figure; those of the user's files joined as the files were executed."""
    from workbench.figures.registry import CALCULATIONS, STUDY_FIGURES
    from workbench.figures.registry import FIGURES as RUN_FIGURES

    kinds = (("runs", RUN_FIGURES), ("a study", STUDY_FIGURES), ("nothing but its choices", CALCULATIONS))
    return [
        {
            "name": part.name,
            "drawn_of": drawn_of,
            "engine": getattr(known[part.name], "engine", ""),
            "description": part.description,
            "built_in": part.built_in,
            **_of_package({} if part.built_in else known.guests(), part.name),
        }
        for drawn_of, known in kinds
        for part in known.parts()
    ]


def figure_details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of a figure with their defaults, and how it is asked for."""
    from workbench.figures.registry import CALCULATIONS, STUDY_FIGURES
    from workbench.figures.registry import FIGURES as RUN_FIGURES

    known: Any = {"runs": RUN_FIGURES, "a study": STUDY_FIGURES}.get(row["drawn_of"], CALCULATIONS)
    parameters = inspect.signature(known.find(row["name"]).data).parameters.values()
    choices = [f"{one.name}={one.default!r}" for one in parameters if one.default is not inspect.Parameter.empty]
    if known is RUN_FIGURES:
        return {"choices": choices, "in_a_sweep": [f"figures: [{_written(row['name'], known.find(row['name']).data)}]"]}
    if known is CALCULATIONS and CALCULATIONS.find(row["name"]).example:
        return {"choices": choices, "in_python": CALCULATIONS.find(row["name"]).example.splitlines()}
    command = f"workbench figure {row['name']}" if known is CALCULATIONS else "workbench tune STUDY.yaml"
    return {"choices": choices, "in_a_terminal": [command]}


FIGURES = listing("figures", figure_rows, figure_details, ("name", "engine"))


def workload_rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a generator or regime, by what they give; generators by name, the user's among them."""
    from workbench.mechanisms.mechanism import mechanism, mechanisms
    from workbench.workloads.generators import regimes
    from workbench.workloads.workload import KINDS, Generator

    engines = {mechanism(name).engine.workload_kind: name for name in mechanisms()}
    generators = [
        {
            "name": part.name,
            "kind": "generator",
            "gives": kind,
            "engine": engines.get(kind, ""),
            "description": part.description,
            "built_in": part.built_in,
            **_of_package({} if part.built_in else Generator.members.guests(), part.name),
        }
        for kind in KINDS
        for part in sorted(Generator.members.parts(), key=lambda part: part.name)
        if Generator.members[part.name].gives(kind)
    ]
    return generators + [
        {
            "name": one.name,
            "kind": "regime",
            "gives": kind,
            "engine": engines.get(kind, ""),
            "description": one.says,
            "built_in": True,
        }
        for kind in KINDS
        for one in regimes(kind).values()
    ]


def workload_details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the levers of a generator, or the source and the values of a regime."""
    from workbench.workloads.generators import regimes
    from workbench.workloads.workload import Generator

    if row["kind"] == "regime":
        one = regimes(row["gives"])[row["name"]]
        return {"source": [one.source], "stands_for": [one.workload.short()], "in_a_sweep": [f"workload: {one.name}"]}
    generator = Generator.members.find(row["name"])
    lines = [lever_line(one) for one in generator.levers.values()]
    name = row["name"] if generator.built_in or "package" in row else _written(generator.__name__, generator)
    return {"levers": lines, "in_a_sweep": [f"workload: {{synthetic: {name}}}"]}


def _written(name: str, part: Any) -> str:
    """Return the name of a part in a sweep: one of a file of the user's with its file."""
    file = file_of(part)
    return name if file is None else f'"{file.name}:{name}"'


WORKLOADS = listing("workloads", workload_rows, workload_details, ("name", "engine"))


def lever_rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a lever and class that has it: of this package, of installed packages, of the user's files."""

    inside = [(value, module.__name__) for module in modules for value in vars(module).values()]
    own = [one for one, name in inside if isinstance(one, type) and issubclass(one, Spec) and one.__module__ == name]
    known = (*declared_levers().items(), *guest_levers().items())
    places = [(name, cls) for name, classes in known for cls in classes]
    places += [(name, cls) for cls in own for name in cls.levers]
    return [_row_of_lever(cls, cls.levers[name]) for name, cls in dict.fromkeys(places)]


def _row_of_lever(cls: type[Spec], one: Lever) -> dict[str, Any]:

    return {
        "name": one.name,
        "of": cls.name,
        "kind": kind_of_spec(cls),
        "values": values_of_lever(one),
        "default": default_words(one),
        "unit": one.unit,
        "description": one.description,
        "built_in": cls.built_in,
        **({"package": package} if (package := guest_package(cls.__module__)) else {}),
    }


LEVERS = listing("levers", lever_rows, named_by=("name", "of"))


def _arguments_of_presets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="one, or a FILE.yaml of yours, with the source of each figure"
    )
    add_table_arguments(parser)


def _run_presets(args: argparse.Namespace) -> int:
    import pandas as pd

    from workbench.machine import presets_table, unreadable_presets

    rows = presets_table(args.name)
    problems = [] if args.name else [*unreadable_presets(), *problems_of_kind("preset")]
    if args.json:
        say_json({"preset": args.name, "figures": rows} if args.name else {"presets": rows, "unreadable": problems})
    else:
        say_table(pd.DataFrame(rows), args.wide, args.csv)
        say_notes([f"not listed: {problem}" for problem in problems])
    return DONE


PRESETS = _arguments_of_presets, _run_presets


def _arguments_of_schema(parser: argparse.ArgumentParser) -> None:
    add_output_arguments(parser, "(always JSON)")


def _run_schema(args: argparse.Namespace) -> int:
    import json

    from workbench.experiments.schema import sweep_schema

    print(json.dumps(sweep_schema(), indent=2))
    return DONE


SCHEMA = _arguments_of_schema, _run_schema
