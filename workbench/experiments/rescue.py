"""Bring the rows of a store to safety whose files were removed, replaced or moved while its driver wrote to them.

They are still in the open file, or in memory: nothing is lost unless they cannot be written anywhere.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from workbench.errors import StoreError
from workbench.experiments.mending import finish_mending, free_name, write_all, write_mended
from workbench.experiments.row_files import RowFiles
from workbench.experiments.salvage import Salvaged
from workbench.experiments.sqlite_rows import Damaged, SqliteRows


def vanished(rows: SqliteRows | RowFiles, sweep: str) -> StoreError:
    """Write rows to their path again, or beside it where something else is; return the error that says so.

    Parameters
    ----------
    rows : SqliteRows or RowFiles
        Rows that are no longer `in_place`.
    sweep : str
        The name of their sweep: row files of another one are left alone.
    """
    path = rows.path
    assert path is not None
    finished = f"finished rows ({rows.count()})"
    if now := rows.moved_to():
        return StoreError(
            f"{_named(rows)} moved away while the sweep ran; its {finished} are in {now}. "
            "Move it back, and the same command goes on from there."
        )
    happened = f"{_named(rows)} {'replaced' if rows.replaced() else 'removed'} while the sweep ran"
    try:
        written = _written(rows, path, sweep)
    except (OSError, sqlite3.Error, Damaged) as problem:
        why = getattr(problem, "strerror", None) or str(problem) or "they cannot be read any more"
        return StoreError(f"{happened}, and the {finished} are lost ({why}). The same command begins anew.")
    if written == path:
        return StoreError(
            f"{happened}; the {finished} were written there again, and the same command goes on from there."
        )
    return StoreError(
        f"{happened}; the {finished} were written to {written}. "
        f"As {path.name} of a folder of their own, they are where the same command goes on from."
    )


def _named(rows: SqliteRows | RowFiles) -> str:
    return f"row files in {rows.path} were" if isinstance(rows, RowFiles) else f"{rows.path} was"


def _written(rows: SqliteRows | RowFiles, path: Path, sweep: str) -> Path:
    salvaged = Salvaged(list(rows.rows()), rows.points(), rows.meta(), rows.origins())
    path.parent.mkdir(parents=True, exist_ok=True)
    return _in_files(path, salvaged, sweep) if isinstance(rows, RowFiles) else _in_database(path, salvaged)


def _in_database(path: Path, salvaged: Salvaged) -> Path:
    mended = write_mended(path, salvaged)
    finish_mending(path)
    if not mended.exists():
        return path
    aside = free_name(path, ".rescued")
    os.rename(mended, aside)
    return aside


def _in_files(path: Path, salvaged: Salvaged, sweep: str) -> Path:
    if RowFiles(path, read_only=True).meta().get("sweep", sweep) != sweep:
        path = free_name(path, ".rescued")
    new = RowFiles(path)
    try:
        write_all(new, salvaged)
    finally:
        new.close()
    return path
