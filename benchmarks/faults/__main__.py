"""Run the campaign and print its table; the exit status is 1 if anything was lost, repeated or wrongly blamed."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.faults.campaign import campaign
from benchmarks.faults.site import Books

KILLS, SHORT_KILLS = 30, 2
HEAD = f"{'fault':<52} {'happened':>8} {'rows lost':>9} {'rows repeated':>13} {'wrong blame':>11}  final table"


def line(books: Books, seconds: float) -> str:
    tables = "identical" if books.identical else "DIFFERENT"
    counts = f"{books.happened:>8} {books.lost:>9} {books.repeated:>13} {books.wrong_blame:>11}"
    return f"{books.fault:<52} {counts}  {tables:<10} {seconds:>5.0f} s"


def as_json(books: Books, seconds: float) -> str:
    return json.dumps({**books._asdict(), "seconds": round(seconds, 1), "fine": books.fine})


def read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--short", action="store_true", help=f"{SHORT_KILLS} kills a fault in place of {KILLS}")
    parser.add_argument("--json", action="store_true", help="a JSON object a line in place of the table")
    return parser.parse_args()


def main() -> int:
    requested = read()
    kills, displayed = (SHORT_KILLS if requested.short else KILLS), (as_json if requested.json else line)
    if displayed is line:
        print(HEAD)
    fine, began = True, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="workbench-faults-") as folder:
        for books in campaign(Path(folder), kills):
            print(displayed(books, time.monotonic() - began), flush=True)
            fine, began = fine and books.fine, time.monotonic()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
