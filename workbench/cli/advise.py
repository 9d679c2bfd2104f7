"""`workbench advise FILE`: which settings of PyTorch's allocator would have carried a recorded program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.command import DONE, Command
from workbench.cli.output import say_json, say_table
from workbench.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from workbench.studies.torch_memory import Advice, Still

SHOWN = 12
"""Settings in the table for a person."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a memory snapshot: torch.cuda.memory._dump_snapshot")
    parser.add_argument("--card-bytes", metavar="BYTES", help="the card that it should fit on, such as 40GiB")
    parser.add_argument("--html", metavar="FILE", help="write a page of its own: curves, segments, every setting")
    parser.add_argument("--csv", metavar="FILE", help="write the settings as CSV")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.studies.torch_memory import Still, advice_or_still
    from workbench.units import parse_bytes

    for place in (given.html, given.csv):
        if place and not Path(place).absolute().parent.is_dir():
            raise InputError(f"the folder of {place} does not exist; make it, or name another file.")
    size = parse_bytes(given.card_bytes, "--card-bytes") if given.card_bytes is not None else None
    found = advice_or_still(given.file, size, say=None if given.json else _say)
    if isinstance(found, Still):
        _report_still(given, found)
    else:
        _report(given, found)
    return DONE


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _report_still(given: argparse.Namespace, still: Still) -> None:
    if given.html or given.csv:
        raise InputError(f"{given.file}: holds no history, so there is nothing for --html and --csv.")
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
    if given.json:
        say_json({**advice.plain(), "html": given.html})
        return
    for sentence in advice.sentences():
        print(sentence)
    say_table(_said(advice))
    if given.html:
        print(f"page: {given.html}")


def _said(advice: Advice) -> pd.DataFrame:
    """The best settings for a person."""
    import pandas as pd

    from workbench.units import bytes_said

    rows = []
    for trial in advice.trials[:SHOWN]:
        card = trial.smallest_card_bytes
        row = {
            "PYTORCH_ALLOC_CONF": trial.conf or "(defaults)",
            "reserved peak": bytes_said(trial.reserved_peak_bytes),
            "driver calls": f"{trial.driver_calls:,}",
            "smallest card": "-" if card is None else bytes_said(card),
        }
        rows.append(row if trial.fits is None else {**row, "fits": "yes" if trial.fits else "no"})
    return pd.DataFrame(rows)


COMMAND = Command(
    "advise", "Which settings of PyTorch's allocator would have carried a recorded program.", add_arguments, run
)
