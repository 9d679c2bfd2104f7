"""`workbench trace import`: what a real trace or topology holds, and a trace as workload columns.

With the option `--importer` of all commands that read traces: an importer in a file of the user's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.cli._output import add_output_arguments, say_json, say_lines
from workbench.cli._run_arguments import parse_overrides
from workbench.cli.commands import DONE
from workbench.errors import InputError, wrong_value

_WORKLOAD_KINDS = {
    "shared_memory": "workgroups",
    "dispatch": "groups",
    "translation": "accesses",
    "pool": "pool_requests",
}
"""What the engines serve that a trace can be asked for."""

_USUAL_BOARD = "dgx_1v"
"""The machine of a pool file where none is named: only the ids of its GPUs are in the file."""


def _arguments_of_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a trace or topology file, or a public one's name")
    add_output_arguments(parser)
    parser.add_argument("--out", metavar="CSV", help="write a workload file for a machine")
    parser.add_argument(
        "--engine", choices=list(_WORKLOAD_KINDS), default="shared_memory", help="the engine that --out is for"
    )
    parser.add_argument("--machine", metavar="PRESET", help="the machine that --out is for (default: the trace's card)")
    parser.add_argument("--set", action="append", default=[], metavar="LEVER=VALUE", help="levers of the conversion")
    parser.add_argument("--fetch", metavar="NAME", help="get a public trace from its repository first")
    parser.add_argument("--list", action="store_true", help="list the public traces and whether they are here")
    add_importer(parser)


def add_importer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--importer", metavar="FILE.py:CLASS", help="an importer of yours, which is to read the traces")


def enter_importer(named: str | None, traces: Sequence[str]) -> None:
    """Enter an importer from a file of the user's, after which it reads files as any other; refuse what another reads.

    Raises
    ------
    InputError
        There is no such file or importer, or a trace is not read by it.
    """
    if named is None:
        return
    from workbench.parts import from_file, is_in_file
    from workbench.workloads.catalogue import trace_file
    from workbench.workloads.importers import Importer, importer_of

    def is_importer(value: object) -> bool:
        return isinstance(value, type) and issubclass(value, Importer) and value is not Importer

    if not is_in_file(named):
        raise wrong_value("", "--importer", "must be FILE.py:CLASS", named)
    importer: type[Importer] = from_file(named, Path(), "--importer", "importer", is_importer)
    for trace in traces:
        reader = importer_of(trace_file(trace))
        if not isinstance(reader, importer):
            raise InputError(
                f"--importer: {trace} is read by {reader.format}; {named} must recognize it, and have a format that "
                f"comes before {reader.format} in the alphabet. Got {importer.format}."
            )


def _run_import(args: argparse.Namespace) -> int:
    from workbench.workloads.catalogue import fetch

    if args.list:
        return _list_traces(args.json)
    file = args.file or args.fetch
    if not file:
        raise InputError("workbench trace import takes a trace file, or --fetch NAME, or --list.")
    if args.fetch:
        fetch(args.fetch)
    enter_importer(args.importer, [file])
    if args.out:
        return _write(args, file)
    return _describe(file, args.json)


def _describe(file: str, as_json: bool) -> int:
    facts = _facts_of_trace(file)
    if as_json:
        say_json(facts)
    else:
        for name, value in facts.items():
            print(f"{name}: {value}")
    return DONE


def _facts_of_trace(file: str) -> dict[str, Any]:
    """Return the content of a trace or a topology."""
    from workbench.machine.topologies import is_topology, read_topology
    from workbench.workloads.catalogue import trace_file
    from workbench.workloads.trace_import import describe, origin

    path = trace_file(file)
    return {**origin(path), **read_topology(path).facts()} if is_topology(path) else describe(file)


def _write(args: argparse.Namespace, file: str) -> int:
    from workbench.workloads.trace_import import write_columns
    from workbench.workloads.workload_key import outside

    kind: Any = outside("trace", _WORKLOAD_KINDS[args.engine])
    workload = kind.read({"trace": file, **parse_overrides(args.set)}, "--set", "workbench trace import")
    machine, described = _machine(args, file)
    facts = write_columns(workload, described, args.out)
    if args.json:
        say_json({"out": args.out, "machine": machine, **facts})
    else:
        print(
            f"wrote {args.out} for {machine}: "
            + ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in facts.items())
        )
    return DONE


def _machine(args: argparse.Namespace, file: str) -> tuple[str, Any]:
    """Return the machine that the file is for, by name and itself."""
    from workbench.experiments.setups import read_machine
    from workbench.machine import Board, Machine, TranslationMachine

    if args.engine == "pool":
        name = args.machine or _USUAL_BOARD
        return name, read_machine(Board, name, Path(), "--machine")
    name = args.machine or _card_of(file)
    of = TranslationMachine if args.engine == "translation" else Machine
    return name, read_machine(of, name, Path(), "--machine")


def _card_of(file: str) -> str:
    """Return the preset of the card that a trace was recorded on."""
    from workbench.machine import preset_for_device
    from workbench.machine.presets import NEW_PRESET
    from workbench.workloads.catalogue import trace_file
    from workbench.workloads.importers import read_trace

    names = [card.name for card in read_trace(trace_file(file)).cards]
    preset_name = next((preset for preset in map(preset_for_device, names) if preset), None)
    if preset_name is None:
        recorded_on = ", ".join(names) or "no card that it names"
        raise InputError(
            f"{file} was recorded on {recorded_on}; say --machine PRESET, or write one: {NEW_PRESET.format('machine')}"
        )
    return preset_name


def _list_traces(as_json: bool) -> int:
    from workbench.workloads.catalogue import available, catalogue

    rows = [
        {"name": e.name, "format": e.format, "licence": e.licence, "here": available(e.name)}
        for e in catalogue().values()
    ]
    if as_json:
        say_json({"traces": rows})
    else:
        for row in rows:
            say_lines([f"{row['name']:<28} {'here' if row['here'] else '-':<5} {row['format']:<27} {row['licence']}"])
    return DONE


IMPORT = _arguments_of_import, _run_import
