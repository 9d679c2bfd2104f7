"""`workbench advise FILE`: which settings of an allocator would have carried a recorded program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.command import DONE, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json, say_table
from workbench.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from workbench.records.torch_allocator import CallCosts
    from workbench.studies.pool.resource_advice import ResourceAdvice
    from workbench.studies.torch_memory import Advice, Still
    from workbench.studies.torch_memory.trial import Trial

SHOWN = 12
"""Settings in the table for a person."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a memory snapshot: torch.cuda.memory._dump_snapshot; or an RMM log, or a profile"
    )
    parser.add_argument("--card-bytes", metavar="BYTES", help="the card that it should fit on, such as 40GiB")
    parser.add_argument("--html", metavar="FILE", help="write a page of its own: curves, segments, every setting")
    parser.add_argument("--csv", metavar="FILE", help="write the settings as CSV")
    parser.add_argument("--figure", metavar="DIR", help="draw curves and settings for a paper, as PDF, PNG and CSV")
    parser.add_argument(
        "--call-us", type=float, metavar="US", help="what a driver call costs (default: 20, an assumption)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.units import parse_bytes
    from workbench.workloads.importers.torch_snapshot import is_snapshot

    if given.figure and Path(given.figure).exists() and not Path(given.figure).is_dir():
        raise InputError(f"--figure must name a folder. Got {given.figure}, which is a file.")
    for place in (given.html, given.csv):
        if place and not Path(place).absolute().parent.is_dir():
            raise InputError(f"the folder of {place} does not exist; make it, or name another file.")
    size = parse_bytes(given.card_bytes, "--card-bytes") if given.card_bytes is not None else None
    costs = _costs(given.call_us)
    if not is_snapshot(given.file):
        from workbench.studies.pool.resource_advice import advise_resources

        _check_no_picture(given)
        _report_resources(given, advise_resources(given.file, size, costs))
        return DONE
    from workbench.studies.torch_memory import Still, advice_or_still

    advice = advice_or_still(given.file, size, say=None if given.json else _say, costs=costs)
    if isinstance(advice, Still):
        _report_still(given, advice)
    else:
        _report(given, advice)
    return DONE


def _costs(call_us: float | None) -> CallCosts:
    """Return what the driver's calls cost, one that gets memory as much as one that gives it back."""
    from workbench.records.torch_allocator import CallCosts

    if call_us is None:
        return CallCosts()
    if not 0 <= call_us <= 1e6:
        raise InputError(f"--call-us must be from 0 to 1000000 microseconds. Got {call_us:g}.")
    return CallCosts(alloc_ns=round(call_us * 1000), free_ns=round(call_us * 1000))


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _check_no_picture(given: argparse.Namespace) -> None:
    """Refuse a page and a figure of what is no memory snapshot of PyTorch."""
    if given.html or given.figure:
        raise InputError(f"{given.file}: is no memory snapshot of PyTorch, which --html and --figure need; use --csv.")


def _report_resources(given: argparse.Namespace, advice: ResourceAdvice) -> None:
    from workbench.experiments.folder import write_whole

    if given.csv:
        write_whole(Path(given.csv), advice.table.to_csv(index=False))
    if given.json:
        say_json(advice.plain())
        return
    for sentence in advice.sentences():
        print(sentence)
    say_table(_resources_said(advice))


def _resources_said(advice: ResourceAdvice) -> pd.DataFrame:
    """Return the resources for a person."""
    import pandas as pd

    from workbench.units import bytes_said

    table = advice.table.copy()
    table["reserved_peak_bytes"] = [bytes_said(size) for size in table["reserved_peak_bytes"]]
    table["driver_ns"] = [f"{cost / 1e6:,.1f} ms" for cost in table["driver_ns"]]
    names = {"reserved_peak_bytes": "reserved peak", "driver_calls": "driver calls", "driver_ns": "their cost"}
    displayed = table.rename(columns=names)
    return pd.DataFrame(displayed if displayed["fits"].notna().all() else displayed.drop(columns="fits"))


def _report_still(given: argparse.Namespace, still: Still) -> None:
    if given.html or given.csv or given.figure:
        raise InputError(f"{given.file}: holds no history, so there is nothing for --html, --csv and --figure.")
    if given.json:
        say_json(still.plain())
    else:
        for sentence in still.sentences():
            print(sentence)


def _report(given: argparse.Namespace, advice: Advice) -> None:
    from workbench.experiments.folder import write_whole

    if given.html:
        write_whole(Path(given.html), advice.html())
    if given.csv:
        write_whole(Path(given.csv), advice.table.to_csv(index=False))
    drawn = _drawn(given.figure, advice) if given.figure else []
    if given.json:
        say_json({**advice.plain(), "html": given.html, "figures": drawn})
        return
    for sentence in advice.sentences():
        print(sentence)
    say_table(_said(advice))
    say_lines([f"a row for all settings with the same figures, {len(advice.trials)} in all; every one: --csv FILE"])
    if given.html:
        print(f"page: {given.html}")
    for place in drawn:
        if place.endswith(".png"):
            print(f"figure: {place}")


def _drawn(folder: str, advice: Advice) -> list[str]:
    from workbench.figures.advice import save_advice

    return [str(place) for place in save_advice(advice, Path(folder))]


def _told_apart(advice: Advice) -> list[tuple[Trial, int]]:
    """Return the best settings, one of all with the same figures and how many these are; and what a person looks for:
    the defaults, the recorded settings and expandable segments alone."""
    groups: dict[tuple[object, ...], list[Trial]] = {}
    for trial in advice.trials:
        groups.setdefault(trial.outcome, []).append(trial)
    looked_for = {"", advice.own_trial.conf, "expandable_segments:True"}
    displayed = [group[0] for group in groups.values()][:SHOWN]
    more = [trial for trial in advice.trials if trial.conf in looked_for and trial not in displayed]
    return [(trial, len(groups[trial.outcome])) for trial in [*displayed, *more]]


def _said(advice: Advice) -> pd.DataFrame:
    """Return the settings that differ, the best first, as a table for a person."""
    import pandas as pd

    from workbench.units import bytes_said

    rows = []
    for trial, alike in _told_apart(advice):
        card = trial.smallest_card_bytes
        row = {
            "PYTORCH_ALLOC_CONF": trial.conf or "(defaults)",
            "reserved peak": bytes_said(trial.reserved_peak_bytes),
            "driver calls": f"{trial.driver_calls:,}",
            "their cost": f"{trial.driver_ns / 1e6:,.1f} ms",
            "smallest card": "-" if card is None else bytes_said(card),
            "alike": f"{alike:,}",
        }
        rows.append(row if trial.fits is None else {**row, "fits": "yes" if trial.fits else "no"})
    return pd.DataFrame(rows)


COMMAND = Command("advise", "Which settings of an allocator would have carried a recorded program.", add_arguments, run)
