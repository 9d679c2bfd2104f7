"""What a tuning study found, in words: the front on fresh seeds beside the baseline, and which levers matter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import say_notes, say_table
from workbench.studies.tuning.point_sweeps import BEST, POINTS

if TYPE_CHECKING:
    import pandas as pd

    from workbench.studies.tuning import StudyResults

MOST_ROWS, MOST_LEVERS = 20, 8
"""Of tables that are printed; the files have all."""


def say_study(results: StudyResults, folder: Path, figures: list[Path]) -> None:
    """Print what a study found, for a person."""
    from workbench.studies.tuning.dashboard import dashboard_command

    if results.holdout is not None:
        _say_front(results)
        _say_levers(results)
        _say_next(results, folder)
    print(f"{_counted(results)} in {results.seconds:.1f} s, kept in {folder}")
    for trial in results.failures[:3]:
        print(f"failed: trial {trial.number}: {trial.error}")
    print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))
    ours = f"workbench dashboard {folder}, or " if results.study.storage is None and results.holdout is not None else ""
    print(f"in the browser: {ours}{dashboard_command(results.study, folder)}")


def _say_front(results: StudyResults) -> None:
    """Print what is still best on fresh seeds, with what it gains over the baseline."""
    table, names = results.pareto, [one.measure.name for one in results.study.objectives]
    best = table[table["best"]].sort_values(names[0])
    gains = {name: [_gain(row, name) for _, row in best.iterrows()] for name in names}
    displayed = best[["trial", "policy"]].assign(**gains)
    say_table(displayed.head(MOST_ROWS))
    say_notes(_missing(results))
    if len(displayed) > MOST_ROWS:
        print(f"... and {len(displayed) - MOST_ROWS} more")
    fresh = f"{len(best)} of them still on {len(results.study.holdout_seeds)} fresh seeds"
    print(f"{len(table)} trials are on the front, {fresh}")
    if "beats_baseline" in table:
        better = ", ".join(str(number) for number in table["trial"][table["beats_baseline"]][:MOST_ROWS]) or "none"
        print(f"better than the baseline in every objective, all intervals clear of zero: {better}")
    if results.history.trials_to(0.95) is not None:
        print(f"95 % of the final hypervolume after {results.history.trials_to(0.95)} of {len(results.found)} trials")


def _say_next(results: StudyResults, folder: Path) -> None:
    """Print which point is the one to take, how it does where it was held out, and how to go on from here."""
    front = results.front
    print(f"the one to take: {_named(results)}; run it: workbench run {folder / BEST}")
    if results.held_out is not None:
        print(results.held_out.plan.sweep.said["question"])
        say_notes(held_out_sentences(results))
    if len(front) > 1:
        print(f"all {len(front)} in the next sweep: vary: {{front: {folder}}}; one by one: {folder / POINTS}/")


def _named(results: StudyResults) -> str:
    front = results.front
    return f"trial {front.trials[front.chosen].number}, {front.name(front.points[front.chosen])}"


def held_out_sentences(results: StudyResults) -> list[str]:
    """Return what the comparison on the held-out workload came to, in words; none where nothing was held out."""
    from workbench.studies.sentences import held_up

    if results.held_out is None:
        return []
    objectives = [one.measure.name for one in results.study.objectives]
    return held_up(results.held_out, objectives, _named(results))


def _missing(results: StudyResults) -> list[str]:
    """Return what the comparison on fresh seeds lacks."""
    from workbench.studies.missing import missing_notes

    return [] if results.holdout is None else missing_notes(results.holdout)


def _gain(row: pd.Series, name: str) -> str:
    """Return a mean on fresh seeds, and its difference to the baseline with the interval; positive = better."""
    if f"{name}_difference" not in row or row[f"{name}_difference"] != row[f"{name}_difference"]:
        return f"{row[name]:.5g}"
    low, high = row[f"{name}_difference_low"], row[f"{name}_difference_high"]
    return f"{row[name]:.5g} ({row[f'{name}_difference']:+.3g} [{low:+.3g}, {high:+.3g}])"


def _say_levers(results: StudyResults) -> None:
    table = results.importances
    if len(table):
        print("shares of the levers in what makes a trial good (PED-ANOVA):")
        say_table(table.head(MOST_LEVERS).round(3))


def _counted(results: StudyResults) -> str:
    given_up = f", {len(results.pruned)} given up" if results.study.pruning else ""
    return f"{len(results.found)} trials ({len(results.failures)} failed{given_up})"


def study_facts(results: StudyResults, folder: Path, figures: list[Path]) -> dict[str, Any]:
    """Return the facts of a study, the same for a program."""
    return {
        "folder": str(folder),
        "trials": len(results.found),
        "failed": len(results.failures),
        "pruned": len(results.pruned),
        "pareto": results.pareto.to_dict("records") if results.holdout is not None else [],
        "best": {"file": str(folder / BEST), **_best(results)} if results.holdout is not None else None,
        "hold_out": _held_out(results),
        "missing": _missing(results),
        "trials_to_95_percent": results.history.trials_to(0.95),
        "importances": results.importances.to_dict("records"),
        "seconds": results.seconds,
        "tuner_seconds": results.tuner_seconds,
        "figures": [str(path) for path in figures],
    }


def _best(results: StudyResults) -> dict[str, Any]:
    front = results.front
    return {"trial": front.trials[front.chosen].number, "policy": front.name(front.points[front.chosen])}


def _held_out(results: StudyResults) -> dict[str, Any] | None:
    if results.held_out is None:
        return None
    from workbench.studies.summary import summary

    rows = summary(results.held_out).to_dict("records")
    return {"folder": str(results.held_out.folder), "sentences": held_out_sentences(results), "summary": rows}
