"""`workbench tune STUDY`: let a tuner choose, and run the best once more on seeds that no trial has seen.

Then the results of the study, in words: the front compared with the baseline on fresh seeds, and which levers matter.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli._output import add_output_arguments, say_figures, say_json, say_notes
from workbench.cli._run_arguments import add_worker_arguments, executor_of, parse_overrides
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError
from workbench.experiments.progress import Bar
from workbench.experiments.results_folder import default_folder
from workbench.number_text import to_half
from workbench.strict_yaml import read_mapping
from workbench.tuning.front import BEST, POINTS
from workbench.tuning.importances import INERT

if TYPE_CHECKING:
    import pandas as pd

    from workbench.tuning import StudyResults
    from workbench.tuning.contrasts import Decided


PORT = 8080


def _arguments_of_tune(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="a study file (YAML), such as sweeps/tune/dispatch.yaml")
    parser.add_argument("--trials", type=int, metavar="N", help="how many, those that are kept included")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="override by dotted path")
    parser.add_argument("--out", metavar="DIR", help="the results folder (default: results/ and the study's path)")
    parser.add_argument(
        "--hold-out",
        metavar="WORKLOAD",
        help="compare the best with the baseline on a workload that is not tuned on: a regime, a trace, or YAML",
    )
    add_worker_arguments(parser)
    add_output_arguments(parser)
    parser.add_argument(
        "--dashboard", action="store_true", help="tune nothing: show the study in the browser, also while it is tuned"
    )
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"of the dashboard (default: {PORT})")
    parser.add_argument("--token", metavar="TEXT", help="of the dashboard (default: JUPYTER_TOKEN, else a new one)")


def _run_tune(args: argparse.Namespace) -> int:
    folder = Path(args.out) if args.out else default_folder(args.study)
    chosen = parse_overrides(args.set)
    _refuse_sweep(args.study)
    if args.dashboard:
        return _dashboard(args, folder, chosen)
    from workbench.figures import draw_study
    from workbench.tuning import tune

    watch, executor = Bar(quiet=args.json or args.quiet), executor_of(args)
    results = tune(
        args.study,
        folder,
        args.trials,
        args.workers,
        watch,
        set=chosen,
        executor=executor,
        hold_out=args.hold_out,
    )
    figures = draw_study(results, folder / "figures")
    if args.json:
        say_json(study_facts(results, folder, figures))
    else:
        say_study(results, folder, figures)
    return SOME_FAILED if results.any_failed else DONE


def _refuse_sweep(file: str) -> None:
    """Refuse a sweep: for this mistake there is a better sentence than that something is missing."""
    config = read_mapping(Path(file))
    if "objectives" not in config and "engine" in config:
        raise InputError(f"{file}: is a sweep, not a study: it has no objectives; run it with: workbench run {file}")


def _dashboard(args: argparse.Namespace, folder: Path, chosen: dict[str, Any]) -> int:
    from workbench.dashboards.page_access import token_of
    from workbench.tuning import read_study
    from workbench.tuning.dashboard import address, serve

    study, token = read_study(args.study, chosen), token_of(args.token)
    print(f"{address(args.port, token)} (Ctrl-C ends it)", flush=True)
    serve(study, folder, args.port, token)
    return DONE


MOST_ROWS, MOST_LEVERS = 20, 8
"""Of tables that are printed; the files have all."""
NARROWEST = 16
"""Letters of a column of levers."""


def say_study(results: StudyResults, folder: Path, figures: list[Path]) -> None:
    """Print what a study found, for a person."""
    from workbench.tuning.dashboard import OPEN, dashboard_command

    if results.holdout is not None:
        _say_front(results)
        say_levers(results.importances)
        _say_next(results, folder)
    given_up = f", {len(results.pruned)} given up" if results.study.pruning else ""
    if results.all_tried:
        _say_wrapped(results.all_tried)
    tried, different = len(results.all_trials), results.different_settings
    repeats = f" of {different} different settings" if different < tried else ""
    trials = f"{tried} trials{repeats} ({len(results.failures)} failed{given_up})"
    print(f"{trials} in {results.seconds:.1f} s, kept in {folder}")
    for trial in results.failures[:3]:
        print(f"failed: {trial.name}: {trial.error}")
    say_figures(figures)
    is_ours = results.study.storage is None and results.holdout is not None
    ours = f"workbench open dashboard {folder}, or " if is_ours else ""
    _say_wrapped(f"in the browser: {ours}{dashboard_command(results.study, folder)} ({OPEN})")


def _say_front(results: StudyResults) -> None:
    """Print what is still best on fresh seeds, with what it gains over the baseline."""
    front, table = results.front, results.pareto
    names = [one.measure.name for one in results.study.objectives]
    best = table[table["best"]].sort_values(names[0])
    place = {trial.number: k for k, trial in enumerate(front.trials)}
    for row in best.head(MOST_ROWS).to_dict("records"):
        _say_wrapped(f"trial {row['trial']}  {row['policy']}")
        for name in names:
            print(f"    {name} {_mean(row, name)}{_against(front.decided.get((place[row['trial']], name)))}")
    if front.decided:
        interval = "[ ] its 95 % interval" if len(results.study.holdout_seeds) > 1 else "no interval at one seed"
        _say_wrapped(f"( ) against the baseline: a ratio above 1, a difference above 0 is better; {interval}")
    say_notes(_missing(results))
    if len(best) > MOST_ROWS:
        print(f"... and {len(best) - MOST_ROWS} more")
    fresh = f"{len(best)} of them still on {_counted(len(results.study.holdout_seeds), 'fresh seed')}"
    _say_wrapped(f"{_counted(len(table), 'trial')} on the front, {fresh}")
    if front.decided:
        better = ", ".join(str(number) for number in table["trial"][table["beats_baseline"]][:MOST_ROWS]) or "none"
        family = max(one.verdict.comparisons for one in front.decided.values())
        _say_wrapped(
            f"better than the baseline in every objective for sure, among {_counted(family, 'comparison')}: {better}"
        )
    for sentence in results.trades:
        _say_wrapped(sentence)
    if results.history.trials_to(0.95) is not None:
        print(
            f"95 % of the final hypervolume after {results.history.trials_to(0.95)} of {len(results.all_trials)} trials"
        )


def _say_next(results: StudyResults, folder: Path) -> None:
    """Print which point is the one to take, what it gains and loses, how it does where it was held out, and what is
    next."""
    front = results.front
    _say_rivals(results)
    for sentence in results.to_take:
        _say_wrapped(sentence)
    print(f"    workbench run {folder / BEST}")
    if results.held_out is not None:
        _say_wrapped(results.held_out.plan.sweep.config["question"])
        for sentence in held_out_sentences(results):
            _say_wrapped(f"    {sentence}")
    if len(front) > 1:
        print(f"all {len(front)} in the next sweep, or one by one:")
        print(f"    vary: {{front: {folder}}}\n    {folder / POINTS}/")


def _say_rivals(results: StudyResults) -> None:
    """Print the best of each rival, and how many trials it took."""
    if results.rivals:
        print(f"rivals, each tuned in at most {results.study.trials} trials on the same seeds:")
    for name, rival in results.rivals.items():
        tried = rival.all_tried or f"{len(rival.all_trials)} trials"
        best = "no trial keeps the constraints" if rival.holdout is None else f"its best is {_named_study(rival)}"
        _say_wrapped(f"    {name}: {best} ({tried})")


def _named_study(results: StudyResults) -> str:
    front = results.front
    return f"{front.trials[front.chosen].name}, {front.name(front.points[front.chosen])}"


def held_out_sentences(results: StudyResults) -> list[str]:
    """Return the result of the comparison on the held-out workload, in words; none where nothing was held out."""
    from workbench.statistics.sentences import holdout_sentences

    if results.held_out is None:
        return []
    objectives = [one.measure.name for one in results.study.objectives]
    return holdout_sentences(results.held_out, objectives, _named_study(results))


def _missing(results: StudyResults) -> list[str]:
    """Return the gaps of the comparison on fresh seeds."""
    from workbench.statistics.notes import missing_notes

    return [] if results.holdout is None else missing_notes(results.holdout)


def _say_wrapped(text: str) -> None:
    """Print a sentence as wide as the terminal."""
    width, inner = shutil.get_terminal_size().columns, " " * (4 + len(text) - len(text.lstrip()))
    print(textwrap.fill(text, width, subsequent_indent=inner, break_long_words=False, break_on_hyphens=False))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _mean(row: Mapping[Any, Any], name: str) -> str:
    """Return a mean on fresh seeds in the digits that its interval earns."""
    return to_half(row[name], (row[f"{name}_high"] - row[f"{name}_low"]) / 2)


def _against(one: Decided | None) -> str:
    """Return the comparison of a point with the baseline, in brackets; nothing where there is none."""
    if one is None or not one.verdict.of.n:
        return ""
    return f" ({', '.join(filter(None, [one.size, 'sure' if one.verdict.is_sure else one.verdict.word]))})"


def say_levers(table: pd.DataFrame) -> None:
    """Print the shares of the first levers, in per cent, a column a goal, as wide as the terminal; noise as a dash."""
    if not len(table):
        return
    floor = table.set_index("lever").loc[INERT]
    print("what makes a trial good: shares of the levers in % (PED-ANOVA)")
    print("(- = no more than a lever that does nothing reaches by chance)")
    goals = [name for name in table.columns if name != "lever"]
    room = shutil.get_terminal_size().columns - sum(len(goal) + 2 for goal in goals)
    wide = min(max(map(len, table["lever"])), max(room, NARROWEST))
    first = [*table.head(MOST_LEVERS).to_dict("records"), *table[table["lever"] == INERT].to_dict("records")]
    print("  ".join([" " * wide, *goals]))
    for row in {str(row["lever"]): row for row in first}.values():
        noise = {goal: row["lever"] != INERT and row[goal] <= floor[goal] for goal in goals}
        shares = (f"{'-' if noise[goal] else f'{100 * row[goal]:.0f}':>{len(goal)}}" for goal in goals)
        print("  ".join([_short_lever(str(row["lever"]), wide), *shares]))


def _short_lever(lever: str, wide: int) -> str:
    """Return a lever's path that fills a column; of one that is too long its end.

    >>> _short_lever("policy.placement.best_fit.tie", 16), _short_lever("policy.queue", 16)
    ('....best_fit.tie', 'policy.queue    ')
    """
    return f"{lever:<{wide}}" if len(lever) <= wide else f"...{lever[3 - wide :]}"


def study_facts(results: StudyResults, folder: Path, figures: list[Path]) -> dict[str, Any]:
    """Return the facts of a study, the same for a program."""
    return {
        "folder": str(folder),
        "trials": len(results.all_trials),
        "different_settings": results.different_settings,
        "all_tried": results.all_tried,
        "failed": len(results.failures),
        "pruned": len(results.pruned),
        "pareto": results.pareto.to_dict("records") if results.holdout is not None else [],
        "best": {"file": str(folder / BEST), **_best_fact(results)} if results.holdout is not None else None,
        "trades": results.trades,
        "by_workload": results.by_workload.to_dict("records") if _has_workloads(results) else [],
        "rivals": {name: _rival_fact(rival) for name, rival in results.rivals.items()},
        "hold_out": _held_out_fact(results),
        "missing": _missing(results),
        "trials_to_95_percent": results.history.trials_to(0.95),
        "importances": results.importances.to_dict("records"),
        "seconds": results.seconds,
        "tuner_seconds": results.tuner_seconds,
        "figures": [str(path) for path in figures],
    }


def _has_workloads(results: StudyResults) -> bool:
    return results.holdout is not None and len(results.study.workloads) > 1


def _rival_fact(rival: StudyResults) -> dict[str, Any]:
    facts = {"trials": len(rival.all_trials), "failed": len(rival.failures), "all_tried": rival.all_tried}
    best = None if rival.holdout is None else {key: one for key, one in _best_fact(rival).items() if key != "sentences"}
    return {**facts, "best": best}


def _best_fact(results: StudyResults) -> dict[str, Any]:
    front = results.front
    chosen = {"trial": front.trials[front.chosen].number, "policy": front.name(front.points[front.chosen])}
    return {**chosen, "sentences": results.to_take}


def _held_out_fact(results: StudyResults) -> dict[str, Any] | None:
    if results.held_out is None:
        return None
    from workbench.statistics.summary import summary

    rows = summary(results.held_out).to_dict("records")
    return {"folder": str(results.held_out.folder), "sentences": held_out_sentences(results), "summary": rows}


TUNE = _arguments_of_tune, _run_tune
