"""`workbench claims [ID]...`: test the claims of the source documents and say what came out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.command import DONE, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json
from workbench.cli.progress import Bar
from workbench.cli.sweep_arguments import whole
from workbench.errors import InputError, StoreError

KEPT = Path("results/claims")
"""Where a full run for `--write` keeps its runs when no folder is named, so that it can be stopped and gone on with."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="such as H1.1 (default: all)")
    parser.add_argument("--out", metavar="DIR", help="keep the report here, and the runs in a results folder a sweep")
    parser.add_argument("--seeds", type=whole, metavar="N", help="paired seeds (default 200; 40 with --quick)")
    parser.add_argument("--quick", action="store_true", help="few seeds of their own: an indicative report in minutes")
    parser.add_argument("--write", metavar="DIR", help=f"a full run; its verdicts go here (runs are kept in {KEPT})")
    parser.add_argument("--workers", type=int, metavar="N", help="processes")
    parser.add_argument("--json", action="store_true", help="print one JSON list, an object a claim")


def run(given: argparse.Namespace) -> int:
    from workbench.experiments.results_folder import write_whole
    from workbench.studies.claims import claims

    if given.write and (given.quick or given.ids):
        raise InputError("--write takes a full run of every claim; leave --quick and the ids out.")
    out = Path(given.out) if given.out else KEPT if given.write else None
    if out is not None:
        _refuse_results(out)
    watch, seeds = Bar(quiet=given.json), given.seeds
    report = claims(given.ids or None, out, seeds=seeds, quick=given.quick, workers=given.workers, progress=watch)
    if out is not None:
        write_whole(out / "claims.csv", report.table.to_csv(index=False))
        write_whole(out / "cases.csv", report.case_table.to_csv(index=False))
    if given.write:
        _write(Path(given.write), report)
    if given.json:
        say_json(report.plain())
    else:
        say_lines((report.short if given.quick and not given.ids else report.text).splitlines())
    return DONE


def _write(folder: Path, report: Any) -> None:
    """Write the verdicts as JSON and as tables, with where they come from."""
    import json

    from workbench.experiments.provenance import environment
    from workbench.experiments.results_folder import write_whole
    from workbench.studies.claims.evidence import FIRST_SEED
    from workbench.studies.claims.registered import MARGINS

    seeds = {"first": FIRST_SEED, "count": report.seeds}
    margins = {name: one._asdict() for name, one in MARGINS.items()}
    came = {"environment": environment(), "seeds": seeds, "margins": margins}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "verdict.json", json.dumps(report.plain(), indent=1, allow_nan=False) + "\n")
    write_whole(folder / "verdict.csv", report.table.to_csv(index=False))
    write_whole(folder / "verdict.md", report.markdown)
    write_whole(folder / "cases.csv", report.case_table.to_csv(index=False))
    write_whole(folder / "provenance.json", json.dumps(came, indent=1, default=str) + "\n")


def _refuse_results(folder: Path) -> None:
    """Refuse a folder that holds the results of a sweep: claims keep a folder a sweep, never mixed with those."""
    from workbench.experiments.results_folder import STORE, SWEEP
    from workbench.experiments.store import has_store

    if has_store(folder, STORE) or (folder / SWEEP).exists():
        raise StoreError(f"{folder} holds the results of a sweep or a study; choose another folder for the claims.")


COMMAND = Command("claims", "Put the claims of the source documents to the test.", add_arguments, run)
