"""`workbench advise FILE`: which settings of an allocator would have carried a recorded program."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.advice.torch_memory.sentences import what_if_sentence
from workbench.cli._output import add_output_arguments, say_json, say_lines, say_table
from workbench.cli.commands import DONE
from workbench.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from workbench.advice.messages.answer import MessageAnswer
    from workbench.advice.resource_advice import ResourceAdvice
    from workbench.advice.torch_memory.advice import Advice
    from workbench.advice.torch_memory.comparison import Comparison
    from workbench.advice.torch_memory.driver_pool import DriverPoolSnapshot
    from workbench.advice.torch_memory.holdings import SegmentSnapshot
    from workbench.advice.torch_memory.trial import Trial
    from workbench.records.torch_allocator import CallCosts


MOST_SETTINGS = 12
"""Settings in the table for a person."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="a memory snapshot: torch.cuda.memory._dump_snapshot; several (ranks, steps) get one setting for all; "
        "two of one process, BEFORE AFTER, are compared by stack. Or an RMM log, or a profile. Or an out-of-memory "
        "message: a log with it, its text, or - for standard input",
    )
    parser.add_argument(
        "--message", metavar="FILE", help="the out-of-memory message of a snapshot: adds the card and other processes"
    )
    parser.add_argument("--all", action="store_true", help="print all that came out, and a table of the settings")
    parser.add_argument(
        "--what-if",
        nargs=2,
        action="append",
        default=[],
        metavar=("free", "FILE:LINE"),
        help="what the peak and the card would be if a line gave back at once what it asks for; repeatable",
    )
    parser.add_argument(
        "--compare", action="store_true", help="compare two snapshots by stack, also those of two processes"
    )
    parser.add_argument("--card-bytes", metavar="BYTES", help="the card that it should fit on, such as 40GiB")
    parser.add_argument("--html", metavar="FILE", help="write a page of its own: curves, segments, every setting")
    parser.add_argument("--csv", metavar="FILE", help="write the settings as CSV")
    parser.add_argument(
        "--figure", metavar="DIR", help="draw curves and settings, and who held what as a flame graph: PDF, PNG and CSV"
    )
    parser.add_argument(
        "--call-us", type=float, metavar="US", help="what a driver call costs (default: 20, an assumption)"
    )
    parser.add_argument("--rmm-version", metavar="VERSION", help="whose rules an RMM log is tried by (default: newest)")
    add_output_arguments(parser, "print one JSON object, as --schema says it; of a message as its $defs/message")
    parser.add_argument("--schema", action=_Schema, help="print the JSON schema of --json, and stop")


class _Schema(argparse.Action):
    """Prints the schema at once: no file needs to be named for it."""

    def __init__(self, option_strings: Sequence[str], dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=kwargs.get("help"))

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from workbench.advice.messages.answer import MESSAGE_SCHEMA
        from workbench.advice.torch_memory.advice_json import JSON_SCHEMA

        say_json({**JSON_SCHEMA, "$defs": {"message": MESSAGE_SCHEMA}})
        parser.exit()


def run(args: argparse.Namespace) -> int:
    """Return the exit status; the garbage collector, a sixth of the time of a long history, waits meanwhile."""
    before = gc.isenabled()
    gc.disable()
    try:
        return _run(args)
    finally:
        if before:
            gc.enable()


def _run(args: argparse.Namespace) -> int:
    from workbench.units import parse_bytes

    if args.figure and Path(args.figure).exists() and not Path(args.figure).is_dir():
        raise InputError(f"--figure must name a folder. Got {args.figure}, which is a file.")
    for place in (args.html, args.csv):
        if place and not Path(place).absolute().parent.is_dir():
            raise InputError(f"the folder of {place} does not exist; make it, or name another file.")
    size = parse_bytes(args.card_bytes, "--card-bytes") if args.card_bytes is not None else None
    wrong = [word for word, _ in args.what_if if word != "free"]
    if wrong:
        raise InputError(f"--what-if knows free FILE:LINE. Got {wrong[0]}.")
    costs = _costs(args.call_us)
    messages = _take_messages(args, size)
    if messages is not None and not args.files:
        _report_messages(args, messages)
        return DONE
    from workbench.workloads.importers.torch_snapshot import is_snapshot

    args.file = args.files[0]
    others = [file for file in args.files if not is_snapshot(file)]
    if others and messages is not None:
        raise InputError(f"{others[0]}: is no memory snapshot of PyTorch; a message adds to the advice on such alone.")
    if others and len(args.files) > 1:
        raise InputError(f"{others[0]}: is no memory snapshot of PyTorch; only such are advised on together.")
    if others:
        from workbench.advice.program_settings import NEWEST_RMM
        from workbench.advice.resource_advice import advise_resources

        if args.html or args.figure or args.what_if:
            needing = "--html, --figure and --what-if"
            raise InputError(f"{args.file}: is no memory snapshot of PyTorch, which {needing} need.")
        _report_resources(args, advise_resources(args.file, size, costs, args.rmm_version or NEWEST_RMM))
        return DONE
    if args.rmm_version:
        raise InputError(f"{args.file}: is a memory snapshot of PyTorch; --rmm-version is for logs of RMM.")
    from workbench.advice.messages.answer import bounds_of
    from workbench.advice.torch_memory.advice import advice_or_segments
    from workbench.advice.torch_memory.driver_pool import DriverPoolSnapshot
    from workbench.advice.torch_memory.holdings import SegmentSnapshot

    args.messages = messages
    if messages is not None and size is None:
        size = bounds_of(messages).usable_bytes
    if args.compare and len(args.files) != 2:
        raise InputError(f"--compare takes two snapshots, BEFORE and AFTER. Got {len(args.files)}.")
    if len(args.files) == 2:
        _report_two(args, size, costs)
        return DONE
    files = args.files[0] if len(args.files) == 1 else args.files
    advice = advice_or_segments(files, size, say=None if args.json else _say, costs=costs)
    if isinstance(advice, (SegmentSnapshot, DriverPoolSnapshot)):
        _report_segments(args, advice)
    else:
        _report(args, advice)
    return DONE


def _take_messages(args: argparse.Namespace, size: int | None) -> MessageAnswer | None:
    """Take the messages from what is to be read, and leave snapshots and traces."""
    from workbench.advice.messages.answer import answers_of

    messages, args.files = answers_of([*args.files, *([args.message] if args.message else [])], size)
    if args.message in args.files:
        raise InputError(f"--message must name a text with an out-of-memory message. Got {args.message}.")
    return messages


def _report_messages(args: argparse.Namespace, messages: MessageAnswer) -> None:
    if args.html or args.csv or args.figure or args.what_if:
        raise InputError("--html, --csv, --figure and --what-if need a memory snapshot; a message holds no history.")
    if args.json:
        say_json(messages.plain())
    else:
        say_lines(messages.lines())


def _message_part(args: argparse.Namespace) -> dict[str, Any]:
    return {} if args.messages is None else {"message": args.messages.plain()}


def _message_lines(args: argparse.Namespace) -> list[str]:
    """Return the facts that a message adds to the advice on a snapshot."""
    from workbench.advice.messages.answer import bounds_of, bounds_sentence

    it = args.messages
    return [] if it is None else [bounds_sentence(bounds_of(it)), *(finding.line for finding in it.findings)]


def _report_two(args: argparse.Namespace, size: int | None, costs: CallCosts) -> None:
    """Report what grew between two snapshots of one process, then one setting for both histories."""
    from workbench.advice.torch_memory.advice import advise_histories, history_of
    from workbench.advice.torch_memory.comparison import are_of_one_process, comparison_of
    from workbench.advice.torch_memory.snapshot import has_history

    before, after = (history_of(file) for file in args.files)
    have = [has_history(logs) for logs in (before, after)]
    comparison = None
    first, second = args.files
    if args.compare or not any(have) or are_of_one_process(before, after):
        comparison = comparison_of((first, second), (before, after))
    elif are_of_one_process(after, before):
        comparison = comparison_of((second, first), (after, before))
    if comparison is not None and not all(have):
        _report_comparison(args, comparison)
        return
    both = [(first, before), (second, after)]
    _report(args, advise_histories(both, size, say=None if args.json else _say, costs=costs), comparison)


def _report_comparison(args: argparse.Namespace, comparison: Comparison) -> None:
    """Report two snapshots of which at least one holds no history."""
    from workbench.experiments.results_folder import write_whole

    if args.html or args.figure or args.what_if:
        raise InputError("--html, --figure and --what-if need two histories; these snapshots do not both hold one.")
    if args.csv:
        write_whole(Path(args.csv), comparison.table.to_csv(index=False))
    if args.json:
        say_json({"comparison": comparison.plain()})
    else:
        _say_comparison(comparison)


def _say_comparison(comparison: Comparison) -> None:
    import pandas as pd

    from workbench.advice.torch_memory.comparison import MOST_STACKS
    from workbench.number_text import bytes_said

    for sentence in comparison.sentences():
        print(sentence)
    table = comparison.rows(MOST_STACKS)
    names = [(row["device"], row["site"]) for row in table]
    rows = [
        {
            "requested by": row["site"] if len(comparison.cards) < 2 else f"GPU {row['device']}: {row['site']}",
            "change": f"{'-' if row['change_bytes'] < 0 else '+'}{bytes_said(abs(row['change_bytes']))}",
            "before": bytes_said(row["before_bytes"]),
            "after": bytes_said(row["after_bytes"]),
            "blocks": f"{row['before_blocks']:,} to {row['after_blocks']:,}",
            **({"called from": row["called_from"]} if names.count(name) > 1 else {}),
        }
        for row, name in zip(table, names, strict=True)
    ]
    say_table(pd.DataFrame(rows).fillna(""))


def _costs(call_us: float | None) -> CallCosts:
    """Return the cost of the driver's calls, one that gets memory as much as one that gives it back."""
    from workbench.records.torch_allocator import CallCosts

    if call_us is None:
        return CallCosts()
    if not 0 <= call_us <= 1e6:
        raise InputError(f"--call-us must be from 0 to 1000000 microseconds. Got {call_us:g}.")
    return CallCosts(alloc_ns=round(call_us * 1000), free_ns=round(call_us * 1000))


def _say(sentence: str) -> None:
    """Say on what the advice will rest while it is being made; the answer itself goes to standard output."""
    print(sentence, file=sys.stderr, flush=True)


def _report_resources(args: argparse.Namespace, advice: ResourceAdvice) -> None:
    from workbench.experiments.results_folder import write_whole

    if args.csv:
        write_whole(Path(args.csv), advice.table.to_csv(index=False))
    if args.json:
        say_json(advice.plain())
        return
    for sentence in advice.sentences():
        print(sentence)
    say_table(_resource_table(advice))


def _resource_table(advice: ResourceAdvice) -> pd.DataFrame:
    """Return the resources for a person."""
    import pandas as pd

    from workbench.number_text import bytes_said, to_decimals

    table = advice.table.copy()
    table["reserved_peak_bytes"] = [bytes_said(size) for size in table["reserved_peak_bytes"]]
    table["driver_ns"] = [f"{to_decimals(cost / 1e6, 1)} ms" for cost in table["driver_ns"]]
    table["settable"] = ["yes" if settable else "no, for comparison" for settable in table["settable"]]
    names = {"reserved_peak_bytes": "reserved peak", "driver_calls": "driver calls", "driver_ns": "their cost"}
    displayed = table.rename(columns={**names, "settable": "can be set"})
    return pd.DataFrame(displayed if displayed["fits"].notna().all() else displayed.drop(columns="fits"))


def _report_segments(args: argparse.Namespace, still: SegmentSnapshot | DriverPoolSnapshot) -> None:
    if args.html or args.csv or args.figure or args.what_if:
        why = "holds no history" if hasattr(still, "holders") else "is not of PyTorch's own allocator"
        raise InputError(f"{args.file}: {why}, so there is nothing for --html, --csv, --figure, --what-if.")
    if args.json:
        say_json({**still.plain(), **_message_part(args)})
    else:
        for sentence in [*still.sentences(), *_message_lines(args)]:
            print(sentence)


def _report(args: argparse.Namespace, advice: Advice, comparison: Comparison | None = None) -> None:
    from workbench.experiments.results_folder import write_whole

    changes = [advice.what_if_freed(line) for _, line in args.what_if]
    if args.html:
        write_whole(Path(args.html), advice.html())
    if args.csv:
        write_whole(Path(args.csv), advice.table.to_csv(index=False))
    drawn: list[str] = []
    if args.figure:
        from workbench.figures.advice import save_advice

        drawn = list(map(str, save_advice(advice, Path(args.figure))))
    if args.json:
        what_if = [{**it._asdict(), "own": it.own.row(), "best": it.best.row()} for it in changes]
        compared = {} if comparison is None else {"comparison": comparison.plain()}
        drawn_part = {"what_if": what_if, "html": args.html, "figures": drawn}
        say_json({**advice.plain(), **compared, **drawn_part, **_message_part(args)})
        return
    if comparison is not None:
        _say_comparison(comparison)
        print("One setting for both:")
    for sentence in [
        *(advice.sentences() if args.all else advice.lines()),
        *_message_lines(args),
        *(what_if_sentence(advice, it) for it in changes),
    ]:
        print(sentence)
    if args.all:
        if len(advice.cards) > 1:
            say_lines([f"{advice.cards[0].name} of {len(advice.cards)} cards; every one: --csv FILE"])
        say_table(_settings_table(advice))
        say_lines([f"a row for all settings with the same figures, {len(advice.trials)} in all; every one: --csv FILE"])
    if args.html:
        print(f"page: {args.html}")
    for place in drawn:
        if place.endswith(".png"):
            print(f"figure: {place}")


def _distinct_settings(advice: Advice) -> list[tuple[Trial, int]]:
    """Return the best settings, one of all with the same figures and how many these are; and what a person looks for:
    the defaults, the recorded settings and expandable segments alone."""
    groups: dict[tuple[object, ...], list[Trial]] = {}
    for trial in advice.trials:
        groups.setdefault(trial.outcome, []).append(trial)
    looked_for = {"", advice.own_trial.conf, "expandable_segments:True"}
    displayed = [group[0] for group in groups.values()][:MOST_SETTINGS]
    more = [trial for trial in advice.trials if trial.conf in looked_for and trial not in displayed]
    return [(trial, len(groups[trial.outcome])) for trial in [*displayed, *more]]


def _settings_table(advice: Advice) -> pd.DataFrame:
    """Return the settings that differ, the best first, as a table for a person."""
    import pandas as pd

    from workbench.number_text import bytes_said, to_decimals

    rows = []
    for trial, alike in _distinct_settings(advice):
        card = trial.cards[0].smallest_card_bytes
        row = {
            advice.variable: trial.conf or "(defaults)",
            "reserved peak": bytes_said(trial.cards[0].reserved_peak_bytes),
            "driver calls": f"{trial.cards[0].driver_calls:,}",
            "their cost": f"{to_decimals(trial.cards[0].driver_ns / 1e6, 1)} ms",
            "smallest card": "-" if card is None else bytes_said(card),
            "alike": f"{alike:,}",
        }
        rows.append(row if trial.fits is None else {**row, "fits": "yes" if trial.fits else "no"})
    return pd.DataFrame(rows)


ADVISE = add_arguments, run
