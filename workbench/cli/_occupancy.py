"""`workbench occupancy`: how many workgroups of a kernel a unit holds, by each limit, and what would lift it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli._output import add_output_arguments, say_json, say_lines, say_notes, say_table
from workbench.cli._trace_import import add_importer, enter_importer
from workbench.cli.commands import DONE
from workbench.errors import InputError

if TYPE_CHECKING:
    from workbench.machine.occupancy import Occupancy

_NUMBERS = {
    "threads": "threads of a workgroup",
    "vgprs": "vector registers of a thread (NVIDIA: registers)",
    "sgprs": "scalar registers of a wave (AMD)",
    "shared": "bytes of shared memory (LDS) of a workgroup",
}
_WORDS = {
    "threads": "threads a workgroup",
    "vgprs": "vector registers a thread",
    "sgprs": "scalar registers a wave",
    "shared_bytes": "bytes of shared memory a workgroup",
}


def _arguments_of_occupancy(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "How many workgroups of a kernel one unit (CU, SM) holds at once: by each limit, which limit binds, and the "
        "nearest smaller demand that gives one workgroup more. From numbers, or from the launches of a trace."
    )
    parser.add_argument(
        "kernel", metavar="KERNEL", nargs="?", default="", help="a kernel's name in the trace, or a part"
    )
    parser.add_argument("--machine", metavar="PRESET", default="", help="the machine (default: the trace's own card)")
    parser.add_argument("--trace", metavar="FILE", help="a trace: Nsight, rocprof, Kineto or another importer's format")
    for name, meaning in _NUMBERS.items():
        parser.add_argument(f"--{name}", metavar="N", type=int, help=meaning)
    add_importer(parser)
    add_output_arguments(parser)
    parser.add_argument("--wide", action="store_true", help="print the table as wide as it is")


def _run_occupancy(args: argparse.Namespace) -> int:
    numbers = {name: getattr(args, name) for name in _NUMBERS if getattr(args, name) is not None}
    if args.trace and numbers:
        raise InputError(
            f"workbench occupancy takes --trace or numbers, not both. Got --trace and --{next(iter(numbers))}."
        )
    if args.trace:
        return _of_trace(args)
    if args.kernel:
        raise InputError(f"workbench occupancy {args.kernel}: say --trace FILE, in which the kernel was recorded.")
    if "threads" not in numbers or not args.machine:
        raise InputError("workbench occupancy takes --machine PRESET and --threads N, or --trace FILE.")
    return _of_numbers(args, numbers)


def _of_numbers(args: argparse.Namespace, numbers: dict[str, int]) -> int:
    from workbench.explain.occupancy import occupancy

    shared = {"shared_bytes": numbers.pop("shared")} if "shared" in numbers else {}
    held = occupancy(args.machine, **numbers, **shared)
    if args.json:
        say_json({"machine": args.machine, **held._asdict()})
    else:
        _say(held, args.machine, args.wide)
        say_lines(_unknown_line([(1, held)]))
    return DONE


def _say(held: Occupancy, machine: str, wide: bool) -> None:
    import pandas as pd

    from workbench.machine.occupancy import LIMITS

    rows = [
        {"limit": LIMITS[label], "workgroups a unit": by, "binds": "binds" if label in held.binding else ""}
        for label, by in held.limits.items()
    ]
    say_table(pd.DataFrame(rows), wide)
    if not held.groups:
        say_lines([f"no workgroup of it fits a unit of {machine}; {_lifts_line(held)}"])
        return
    resident = f"{held.groups} workgroups a unit of {machine}, {held.waves} waves"
    say_lines([f"{resident}: {held.share:.0%} of the wave slots", _lifts_line(held)])


def _unknown_line(launches: list[tuple[int, Occupancy]]) -> list[str]:
    """Return the limits that are left out, because so many of the launches do not tell the demand: one line or none."""
    from workbench.machine.occupancy import LIMITS

    of = sum(count for count, _ in launches)
    lacking = {label: sum(count for count, held in launches if label in held.unknown) for label in LIMITS}
    words = [
        LIMITS[label] + (f" ({count:,} of {of:,} launches)" if of > 1 else "")
        for label, count in lacking.items()
        if count
    ]
    return [f"not known, and so no limit here: {', '.join(words)}; fewer may fit"] if words else []


def _lifts_line(held: Occupancy) -> str:
    """Return the change that would give one workgroup more, in one line."""
    demands = _joined(held.lifts, " or ") or _joined(held.together, " and ")
    if not held.groups:
        return f"one does with {demands}" if demands else "no smaller demand does"
    return f"one more with {demands}" if demands else "no smaller demand gives one more"


def _joined(demands: dict[str, int], word: str) -> str:
    return word.join(f"{count} {_WORDS[name]}" for name, count in demands.items())


def _of_trace(args: argparse.Namespace) -> int:
    import pandas as pd

    from workbench.explain.occupancy import kernel_occupancy

    enter_importer(args.importer, [args.trace])
    result = kernel_occupancy(args.trace, args.kernel, args.machine)
    if args.json:
        launches = [{**one._asdict(), "occupancy": one.occupancy._asdict()} for one in result.launches]
        say_json({"machine": result.machine, "launches": launches, "untold": result.untold})
        return DONE
    if len(result.launches) == 1:
        one = result.launches[0]
        say_lines([f"{one.kernel} on {result.machine}: {', '.join(f'{k} {v}' for k, v in one.demand.items())}"])
        _say(one.occupancy, result.machine, args.wide)
    else:
        say_lines([f"on {result.machine}:"])
        say_table(pd.DataFrame([_row(one) for one in result.launches]), args.wide)
    say_lines(_unknown_line([(one.launches, one.occupancy) for one in result.launches]))
    if result.untold:
        say_notes([f"{result.untold} launches do not tell the threads of a workgroup, and are in no row."])
    return DONE


def _row(one: Any) -> dict[str, Any]:
    from workbench.machine.occupancy import LIMITS

    held = one.occupancy
    return {
        "kernel": one.kernel,
        "launches": one.launches,
        "us": one.microseconds,
        "workgroups": held.groups,
        "waves": held.waves,
        "share": held.share,
        "binds": ", ".join(LIMITS[label] for label in held.binding),
        "one more with": _joined(held.lifts, " or ") or _joined(held.together, " and ") or "-",
    }


OCCUPANCY = _arguments_of_occupancy, _run_occupancy
