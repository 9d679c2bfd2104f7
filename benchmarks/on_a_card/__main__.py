"""Measure a card for fifteen minutes, and write files that `workbench validate --from-files DIR` reads.

$ python -m benchmarks.on_a_card DIR               # needs nvcc or hipcc, and a card
$ python -m benchmarks.on_a_card DIR --minutes 5   # experiments that have not begun by then are left out
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.on_a_card.card import Measure, NoCardError, card_of, compiled
from benchmarks.on_a_card.experiments import experiments, write


def main(given: Sequence[str] | None = None, compile_into: Callable[[Path], Measure] = compiled) -> int:
    """Compile, measure and write; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the files go")
    parser.add_argument("--minutes", type=float, default=15, help="no experiment begins later (default: 15)")
    args = parser.parse_args(given)
    try:
        with tempfile.TemporaryDirectory() as built:
            _measure_all(args.folder, compile_into(Path(built)), time.monotonic() + 60 * args.minutes)
    except NoCardError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    sys.stdout.write(f"Now: workbench validate --from-files {args.folder}\n")
    return 0


def _measure_all(folder: Path, measure: Measure, until: float) -> None:
    card = card_of(measure)
    sys.stdout.write(f"{card.name}, {card.units} units, {card.platform} {card.version}\n")
    folder.mkdir(parents=True, exist_ok=True)
    for experiment in experiments(card, measure):
        if time.monotonic() > until:
            sys.stdout.write(f"left out, as time is over: {experiment.file}\n")
            continue
        try:
            sys.stdout.write(f"{write(folder, experiment)}\n")
        except NoCardError as problem:
            sys.stdout.write(f"left out: {experiment.file}: {problem}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
