"""What a tuning study found, in words: the front on fresh seeds beside the baseline, and which levers matter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import say_notes, say_table

if TYPE_CHECKING:
    import pandas as pd

    from workbench.studies.tuning import StudyResults

MOST_ROWS, MOST_LEVERS = 20, 8
"""Of tables that are printed; the files have all."""


def say_study(found: StudyResults, folder: Path, figures: list[Path]) -> None:
    """Print what a study found, for a person."""
    from workbench.studies.tuning.dashboard import dashboard_command

    if found.holdout is not None:
        _say_front(found)
        _say_levers(found)
    print(f"{_counted(found)} in {found.seconds:.1f} s, kept in {folder}")
    for trial in found.failures[:3]:
        print(f"failed: trial {trial.number}: {trial.error}")
    print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))
    print(f"in the browser: {dashboard_command(found.study, folder)}")


def _say_front(found: StudyResults) -> None:
    """What is still best on fresh seeds, with what it gains over the baseline."""
    table, names = found.pareto, [one.measure.name for one in found.study.objectives]
    best = table[table["best"]].sort_values(names[0])
    gains = {name: [_gain(row, name) for _, row in best.iterrows()] for name in names}
    shown = best[["trial", "policy"]].assign(**gains)
    say_table(shown.head(MOST_ROWS))
    say_notes(_missing(found))
    if len(shown) > MOST_ROWS:
        print(f"... and {len(shown) - MOST_ROWS} more")
    fresh = f"{len(best)} of them still on {len(found.study.holdout_seeds)} fresh seeds"
    print(f"{len(table)} trials are on the front, {fresh}")
    if "beats_baseline" in table:
        better = ", ".join(str(number) for number in table["trial"][table["beats_baseline"]][:MOST_ROWS]) or "none"
        print(f"better than the baseline in every objective, all intervals clear of zero: {better}")
    if found.history.trials_to(0.95) is not None:
        print(f"95 % of the final hypervolume after {found.history.trials_to(0.95)} of {len(found.found)} trials")


def _missing(found: StudyResults) -> list[str]:
    """What the comparison on fresh seeds lacks."""
    from workbench.studies.missing import missing_notes

    return [] if found.holdout is None else missing_notes(found.holdout)


def _gain(row: pd.Series, name: str) -> str:
    """A mean on fresh seeds, and its difference to the baseline with the interval; positive = better."""
    if f"{name}_difference" not in row or row[f"{name}_difference"] != row[f"{name}_difference"]:
        return f"{row[name]:.5g}"
    low, high = row[f"{name}_difference_low"], row[f"{name}_difference_high"]
    return f"{row[name]:.5g} ({row[f'{name}_difference']:+.3g} [{low:+.3g}, {high:+.3g}])"


def _say_levers(found: StudyResults) -> None:
    table = found.importances
    if len(table):
        print("shares of the levers in what makes a trial good (PED-ANOVA):")
        say_table(table.head(MOST_LEVERS).round(3))


def _counted(found: StudyResults) -> str:
    given_up = f", {len(found.pruned)} given up" if found.study.pruning else ""
    return f"{len(found.found)} trials ({len(found.failures)} failed{given_up})"


def study_facts(found: StudyResults, folder: Path, figures: list[Path]) -> dict[str, Any]:
    """The same for a program."""
    return {
        "folder": str(folder),
        "trials": len(found.found),
        "failed": len(found.failures),
        "pruned": len(found.pruned),
        "pareto": found.pareto.to_dict("records") if found.holdout is not None else [],
        "missing": _missing(found),
        "trials_to_95_percent": found.history.trials_to(0.95),
        "importances": found.importances.to_dict("records"),
        "seconds": found.seconds,
        "tuner_seconds": found.tuner_seconds,
        "figures": [str(path) for path in figures],
    }
