"""`workbench discover SWEEP | DIR`: where in the space of workload and machine does a policy lose?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json, say_table
from workbench.cli.progress import Bar
from workbench.cli.run import counted, default_folder
from workbench.cli.sweep_arguments import add_sweep_arguments, add_worker_arguments, executor_of, overrides, whole
from workbench.errors import InputError

if TYPE_CHECKING:
    from workbench.studies.discovery import Discovery


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Search a box of limits on levers that holds many of a policy's losses and little else (PRIM)."
    add_sweep_arguments(parser, "a sweep file (YAML), or a results folder")
    parser.add_argument("--measure", metavar="NAME", help="what is looked at (default: the sweep's first measure)")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--lose", action="store_true", help="where it is worse than its baseline (this is the default)")
    wanted.add_argument("--win", action="store_true", help="where it is better than its baseline")
    wanted.add_argument("--above", type=float, metavar="VALUE", help="where the measure's mean is above a value")
    wanted.add_argument("--below", type=float, metavar="VALUE", help="where it is below a value")
    parser.add_argument("--clear", action="store_true", help="count only losses or wins that are decided (5 %%)")
    parser.add_argument("--boxes", type=whole, metavar="N", default=1, help="how many boxes a policy at most")
    parser.add_argument("--density", type=float, metavar="SHARE", help="the largest box that is at least so dense")
    parser.add_argument("--out", metavar="DIR", help="the results folder (default: results/ and the sweep's path)")
    add_worker_arguments(parser)
    parser.add_argument("--csv", metavar="FILE", help="write the points, with their levers and their box, as CSV")
    parser.add_argument("--wide", action="store_true", help="print limits with their tests, and the trajectory")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.experiments.results_folder import write_whole

    is_folder = Path(given.sweep).is_dir()
    if is_folder and (given.set or given.seeds or given.out):
        raise InputError("a results folder is searched as it is: leave out --set, --seeds and --out.")
    folder = Path(given.sweep) if is_folder else Path(given.out) if given.out else default_folder(given.sweep)
    result = _discovery(given, folder, is_folder)
    figures = draw(result, folder / "figures")
    if given.csv:
        write_whole(Path(given.csv), result.cases.to_csv(index=False))
    _report(result, folder, figures, given)
    return SOME_FAILED if result.results.failures else DONE


def _discovery(given: argparse.Namespace, folder: Path, is_folder: bool) -> Discovery:
    from workbench.api import discover, planned

    if not is_folder and not given.json:
        print(counted(planned(given.sweep, set=overrides(given))))
    return discover(
        given.sweep,
        folder,
        measure=given.measure,
        win=given.win,
        clear=given.clear,
        above=given.above,
        below=given.below,
        boxes=given.boxes,
        density=given.density,
        set=overrides(given),
        workers=given.workers,
        executor=executor_of(given),
        progress=Bar(quiet=given.json),
    )


def draw(result: Discovery, folder: Path) -> list[Path]:
    """Draw each box that was found with its trajectory, or the one search that found none."""
    from workbench.figures.save import save
    from workbench.figures.scenario_discovery import FIGURE, drawn

    boxes = [one for one in result.scenarios if one.is_box] or result.scenarios[:1]
    saved: list[Path] = []
    for number, one in enumerate(boxes, 1):
        data = drawn(result.results, one)
        saved += save(FIGURE.draw(data), data, folder, f"{FIGURE.name}_{number}" if number > 1 else FIGURE.name)
    return saved


def _report(result: Discovery, folder: Path, figures: list[Path], given: argparse.Namespace) -> None:
    if given.json:
        tables = {name: getattr(result, name).to_dict("records") for name in ("boxes", "trajectory")}
        facts = {"folder": str(folder), "sentences": result.sentences(), **tables}
        say_json({**facts, "figures": [str(path) for path in figures]})
        return
    say_lines(result.sentences())
    if given.wide:
        say_table(result.boxes, wide=True)
        say_table(result.trajectory, wide=True)
    print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))


COMMAND = Command("discover", "Where in the space of workload and machine a policy loses.", add_arguments, run)
