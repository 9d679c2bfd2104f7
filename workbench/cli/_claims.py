"""`workbench claims`: which claims of the source documents hold."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli._output import add_output_arguments, say_json, say_lines
from workbench.cli._run_arguments import parse_overrides, positive_int
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError, StoreError
from workbench.experiments.progress import Bar

if TYPE_CHECKING:
    from workbench.claims.report import ClaimReport

CLAIMS_FOLDER = Path("results/claims")
"""Where a full run for `--write` keeps its runs when no folder is named, so that it can be stopped and gone on with."""


def _arguments_of_claims(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="such as H1.1; FILE.py:ID of yours (default: all)")
    parser.add_argument("--out", metavar="DIR", help="keep the report here, and the runs in a results folder a sweep")
    parser.add_argument("--seeds", type=positive_int, metavar="N", help="paired seeds (default 200; 40 with --quick)")
    parser.add_argument("--quick", action="store_true", help="few seeds of their own: an indicative report in minutes")
    parser.add_argument(
        "--write", metavar="DIR", help=f"a full run; its verdicts go here (runs are kept in {CLAIMS_FOLDER})"
    )
    parser.add_argument(
        "--set", metavar="PATH=VALUE", action="append", default=[], help="another value in every sweep, such as a law"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes")
    add_output_arguments(parser, "print one JSON list, an object a claim")


def _run_claims(args: argparse.Namespace) -> int:
    from workbench.claims import plan_claims
    from workbench.claims.report import FAILED, ClaimReport, claim_line, claim_lines

    if args.write and (args.quick or args.ids or args.set):
        raise InputError("--write takes a full run of every claim; leave --quick, --set and the ids out.")
    out = Path(args.out) if args.out else CLAIMS_FOLDER if args.write else None
    if out is not None:
        _refuse_results(out)
    plan = plan_claims(args.ids or None, seeds=args.seeds, quick=args.quick, levers=parse_overrides(args.set))
    report = ClaimReport([], plan.heading)
    lines = (lambda one: [claim_line(one)]) if args.quick and not args.ids else claim_lines
    _say(args, report.heading)
    if args.json:
        for line in plan.floors:
            print(line, file=sys.stderr)
    try:
        for outcome in plan.outcomes(out, args.workers, Bar(quiet=args.json or args.quiet)):
            report.verdicts.append(outcome)
            _say(args, lines(outcome))
    except KeyboardInterrupt:
        _end(args, report, out)
        stopped = f"stopped; {len(report.verdicts)} of {len(plan.claims)} claims are judged."
        raise KeyboardInterrupt(stopped) from None
    _end(args, report, out)
    failed = [one.id for one in report.verdicts if one.verdict == FAILED]
    if args.write and failed:
        kept = f"nothing is written to {args.write}, as claims failed: {', '.join(failed)}; {out} keeps the runs."
        print(f"workbench: {kept}", file=sys.stderr)
        return SOME_FAILED
    if args.write:
        _write_claims(Path(args.write), report, plan.seeds)
    return SOME_FAILED if failed else DONE


def _say(args: argparse.Namespace, lines: Sequence[str]) -> None:
    """Print lines at once, for a reader who waits; with --json nothing but the document at the end."""
    if not args.json:
        say_lines(lines)
        sys.stdout.flush()


def _end(args: argparse.Namespace, report: ClaimReport, out: Path | None) -> None:
    """Print the table, or the document, of the claims that are judged, and keep the report."""
    from workbench.experiments.results_folder import write_whole

    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / "claims.csv", report.table.to_csv(index=False))
        write_whole(out / "cases.csv", report.case_table.to_csv(index=False))
    if args.json:
        say_json(report.plain())
    elif len(report.verdicts) > 1:
        say_lines(["", *report.by_verdict])


def _write_claims(folder: Path, report: ClaimReport, count: int) -> None:
    """Write the verdicts as JSON and as tables, with where they come from."""
    import json

    from workbench.claims.cases import MARGINS
    from workbench.claims.claim import FIRST_SEED
    from workbench.experiments.results_folder import write_whole
    from workbench.runs.origin import environment

    seeds = {"first": FIRST_SEED, "count": count}
    margins = {name: one._asdict() for name, one in MARGINS.items()}
    origin = {"environment": environment(), "seeds": seeds, "margins": margins}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "verdict.json", json.dumps(report.plain(), indent=1, allow_nan=False) + "\n")
    write_whole(folder / "verdict.csv", report.table.to_csv(index=False))
    write_whole(folder / "verdict.md", report.markdown)
    write_whole(folder / "cases.csv", report.case_table.to_csv(index=False))
    write_whole(folder / "provenance.json", json.dumps(origin, indent=1, default=str) + "\n")


def _refuse_results(folder: Path) -> None:
    """Refuse a folder that holds the results of a sweep: claims keep a folder a sweep, never mixed with those."""
    from workbench.experiments.results_folder import SWEEP, has_store

    if has_store(folder) or (folder / SWEEP).exists():
        raise StoreError(f"{folder} holds the results of a sweep or a study; choose another folder for the claims.")


CLAIMS = _arguments_of_claims, _run_claims
