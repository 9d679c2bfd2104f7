"""`workbench plan SWEEP`: the number of runs and points, and how many are kept already; runs nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.command import DONE, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json
from workbench.cli.run import counted, default_folder
from workbench.cli.sweep_arguments import add_sweep_arguments, overrides
from workbench.experiments.designs import draw
from workbench.experiments.plan import Plan
from workbench.experiments.results_folder import STORE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sweep_arguments(parser)
    parser.add_argument("--out", metavar="DIR", help="the results folder to look into")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.api import planned
    from workbench.studies.reachable import family_of

    plan = planned(given.sweep, set=overrides(given))
    kept, note = _kept(plan, Path(given.out) if given.out else default_folder(given.sweep))
    drawn, family = draw(plan.sweep), family_of(plan)
    if given.json:
        points = [{"id": point.id, "baseline": point.baseline, **point.coordinates} for point in plan.points]
        design = {"design": drawn.plain()} if drawn else {}
        noted = {"note": note} if note else {}
        size = {"comparisons": family.comparisons, "seeds": family.seeds, "seeds_needed": family.seeds_needed}
        facts = {"sweep": plan.sweep.name, **design, "points": points, "runs": len(plan), "kept": kept}
        say_json({**facts, "family": {**size, "least_p_holm": family.least_p, "reaches": family.reaches}, **noted})
    else:
        if drawn:
            say_lines([drawn.says()])
        print(f"{counted(plan)}, {kept} of them kept")
        say_lines(line for line in (note, family.note) if line)
    return DONE


def _kept(plan: Plan, folder: Path) -> tuple[int, str]:
    """Return how many runs are kept, measured by the code that there is now, and why none is where others made the
    rows."""
    from workbench.experiments.row import lacking
    from workbench.experiments.saved_results import stale_sentence
    from workbench.experiments.store import Store, has_store

    if not has_store(folder, STORE):
        return 0, ""
    store = Store(folder / STORE, read_only=True)
    try:
        done, measured = store.measured(), plan.sweep.measured_by(anew=True)
        kept = sum(not lacking(done.get(run.id), measured) for run in plan.runs())
        return kept, stale_sentence(plan, store, done)
    finally:
        store.close()


COMMAND = Command("plan", "How many runs a sweep has and how many are kept; runs nothing.", add_arguments, run)
