"""What a study keeps beside its store: itself, its trials, its front, a sweep file for each point of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from workbench.experiments.folder import FILES, write_own
from workbench.experiments.keep import keep_files, named
from workbench.experiments.kept_front import STUDY, TRIALS
from workbench.experiments.named_files import with_files
from workbench.studies.tuning.point_sweeps import BEST, keep_points
from workbench.studies.tuning.results import StudyResults
from workbench.studies.tuning.storage import hidden
from workbench.studies.tuning.study import Study

FRONT, HISTORY, LEVERS = "front.csv", "hypervolume.csv", "importances.csv"
STUDY_FILES = (*FILES, STUDY, TRIALS, HISTORY, LEVERS, FRONT, BEST)
"""What a study leaves beside its store."""


def keep_results(results: StudyResults, folder: Path) -> None:
    """Write what belongs beside the store: the trials, the front, and the hold-out sweep with its table."""
    write_own(folder / TRIALS, results.trials.to_csv(index=False))
    write_own(folder / HISTORY, results.hypervolume.to_csv(index=False))
    write_own(folder / LEVERS, results.importances.to_csv(index=False))
    if results.holdout is not None:
        write_own(folder / FRONT, results.pareto.to_csv(index=False))
        keep_files(results.holdout, folder)
        keep_points(results.front, results.best, folder)


def keep_study(study: Study, folder: Path) -> None:
    """Write the study as it is tuned: with it, the trials can be looked at while it goes on, and however it ends."""
    config = with_files(named(study.said), study.sweep.folder, lambda path: str(path.resolve()))
    if "storage" in config:
        config["storage"] = _without_password(config["storage"])
    write_own(folder / STUDY, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))


def _without_password(storage: Any) -> Any:
    """Return what is kept of an address; the password comes from the environment (PGPASSWORD) or ~/.pgpass."""
    return {**storage, "url": hidden(storage["url"])} if isinstance(storage, Mapping) else hidden(storage)
