"""Points of a front as sweeps: each a file that runs one point beside the baseline, on seeds that no trial has seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from workbench.experiments.folder import write_own, write_whole
from workbench.experiments.keep import named, shortest
from workbench.experiments.named_files import with_files
from workbench.experiments.sweep import KEYS
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Trial

if TYPE_CHECKING:
    from workbench.studies.tuning.front import Front

BEST, POINTS = "best.yaml", "front"
"""The file of the one point to take, and the folder with a file for each point of the front."""


def point_sweep(study: Study, trial: Trial, seeds: list[int]) -> dict[str, Any]:
    """Return the sweep of one trial: what it chose, the study's workload and baseline, some of its fresh seeds.

    Policies may be values, as they were given in Python; paths of files are absolute.
    """
    config = {key: value for key, value in study.said.items() if key in KEYS}
    config |= {key: value for key, value in trial.proposal.said.items() if value}
    config |= {"seeds": shortest(seeds), "measures": study.sweep.said_measures()}
    ordered = {key: config[key] for key in KEYS if key in config}
    return with_files(ordered, study.sweep.folder, lambda path: str(path.resolve()))


def file_of(trial: Trial) -> str:
    """Return the name of a trial's file in the folder of the front's points."""
    return f"trial_{trial.number}.yaml"


def keep_points(front: Front, best: Mapping[str, Any], folder: Path) -> None:
    """Write a sweep file for each point of a front, and the one for the point to take; those of an earlier front go."""
    points = folder / POINTS
    points.mkdir(exist_ok=True)
    texts = {
        file_of(trial): _text(front.heading(place), front[place], points / file_of(trial))
        for place, trial in enumerate(front.trials)
    }
    for name, text in texts.items():
        write_whole(points / name, text)
    for path in points.glob("trial_*.yaml"):
        if path.name not in texts:
            path.unlink()
    write_own(folder / BEST, _text(front.heading(front.chosen), best, folder / BEST))


def _text(heading: str, sweep: Mapping[str, Any], file: Path) -> str:
    """Return a sweep file with a heading that says what it is of."""
    text = yaml.safe_dump(named(dict(sweep)), sort_keys=False, allow_unicode=True)
    return f"# {heading}\n# workbench run {file}\n{text}"
