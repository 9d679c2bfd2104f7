"""`workbench occupancy`: how many workgroups of a kernel a unit holds, by each limit, and what would lift it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli._output import say_json, say_lines, say_notes, say_table
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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
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
        _say(held, args.wide)
    return DONE


def _say(held: Occupancy, wide: bool) -> None:
    import pandas as pd

    from workbench.machine.occupancy import LIMITS

    rows = [
        {"limit": LIMITS[label], "workgroups a unit": by, "binds": "binds" if label in held.binding else ""}
        for label, by in held.limits.items()
    ]
    say_table(pd.DataFrame(rows), wide)
    say_lines(
        [f"{held.groups} workgroups a unit, {held.waves} waves: {held.share:.0%} of the wave slots", lifts_line(held)]
    )


def lifts_line(held: Occupancy) -> str:
    """Return what would give one workgroup more, in one line."""
    if held.lifts:
        return f"one more with {_joined(held.lifts, ' or ')}"
    return f"one more with {_joined(held.together, ' and ')}" if held.together else "no smaller demand gives one more"


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
        _say(one.occupancy, args.wide)
    else:
        say_table(pd.DataFrame([_row(one) for one in result.launches]), args.wide)
    if result.untold:
        say_notes([f"{result.untold} launches do not tell the threads of a workgroup, and are in no row."])
    return DONE


def _row(one: Any) -> dict[str, Any]:
    held = one.occupancy
    return {
        "kernel": one.kernel,
        "launches": one.launches,
        "us": one.microseconds,
        "workgroups": held.groups,
        "waves": held.waves,
        "share": held.share,
        "binds": ", ".join(held.binding),
        "one more with": _joined(held.lifts, " or ") or _joined(held.together, " and ") or "-",
    }


OCCUPANCY = _arguments_of_occupancy, _run_occupancy
