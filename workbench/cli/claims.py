"""`workbench claims [ID]...`: test the claims of the source documents and say what came out."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.command import DONE, Command
from workbench.cli.output import say_json
from workbench.cli.progress import Bar
from workbench.cli.sweep_arguments import whole
from workbench.errors import StoreError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="such as H1.1 (default: all)")
    parser.add_argument("--out", metavar="DIR", help="keep the report here, and the runs in a results folder a sweep")
    parser.add_argument("--seeds", type=whole, default=200, metavar="N", help="paired seeds (default 200)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.experiments.folder import write_whole
    from workbench.studies.claims import claims

    if given.out:
        _refuse_results(Path(given.out))
    watch = Bar(quiet=given.json)
    report = claims(given.ids or None, given.out, seeds=given.seeds, workers=given.workers, progress=watch)
    if given.out:
        write_whole(Path(given.out) / "claims.csv", report.table.to_csv(index=False))
        write_whole(Path(given.out) / "cases.csv", report.case_table.to_csv(index=False))
    if given.json:
        say_json({"claims": report.table.to_dict("records"), "cases": report.case_table.to_dict("records")})
    else:
        print(report.text)
    return DONE


def _refuse_results(folder: Path) -> None:
    """Claims keep a folder a sweep; they are not mixed with the results of one."""
    from workbench.experiments.folder import STORE, SWEEP
    from workbench.experiments.store import has_store

    if has_store(folder, STORE) or (folder / SWEEP).exists():
        raise StoreError(f"{folder} holds the results of a sweep or a study; choose another folder for the claims.")


COMMAND = Command("claims", "Put the claims of the source documents to the test.", add_arguments, run)
