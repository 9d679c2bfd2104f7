"""A results folder is opened in one way, whoever asks: its runs, for its sweep as it was last run there."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import StoreError
from workbench.experiments.folder import STORE, SWEEP
from workbench.experiments.foreign_rows import refuse_foreign
from workbench.experiments.plan import make_plan
from workbench.experiments.run_set import RunSet, gather
from workbench.experiments.store import Store, has_store
from workbench.experiments.sweep import read_sweep


def open_folder(folder: Path) -> RunSet:
    """Return the runs that a folder holds; a measure that was edited since has no values.

    Raises
    ------
    StoreError
        It is no results folder, its store is damaged, or its rows are of another sweep.
    """
    if not has_store(folder, STORE) or not (folder / SWEEP).is_file():
        raise StoreError(f"{folder} is not a results folder: it has no {STORE} or no {SWEEP}.{_rooms(folder)}")
    plan = make_plan(read_sweep(folder / SWEEP))
    store = Store(folder / STORE, read_only=True)
    try:
        refuse_foreign(plan, store, folder)
        plan.sweep.measured_by(anew=True)
        return gather(plan, store, folder)
    finally:
        store.close()


def _rooms(folder: Path) -> str:
    """Return a sentence that names the results folders inside a folder, such as that of the claims."""
    inside = sorted(path.parent.name for path in folder.glob(f"*/{SWEEP}") if has_store(path.parent, STORE))
    made = " `workbench run SWEEP.yaml` makes one and says where."
    return f" It holds some: {', '.join(inside)}." if inside else made
