"""Rows written to a file anew: it is complete before it comes into its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

from workbench.experiments.row_files import RowFiles
from workbench.experiments.salvage import Salvaged, salvage
from workbench.experiments.sqlite_rows import Damaged, SqliteRows, is_sound

FORMAT = 3
"""Raised when older versions of the workbench could not read the store any more; 3: every row has its origin."""


def proved(path: Path) -> SqliteRows:
    """Return the rows of a file, each of which was found to be what was written, with all else in it; raises
    Damaged.
    """
    rows = SqliteRows(path)
    try:
        if rows.meta():
            for text in rows.points().values():
                json.loads(text)
        rows.origins()
        for _ in rows.rows():
            pass
    except ValueError:
        rows.close()
        raise Damaged from None
    except BaseException:
        rows.close()
        raise
    return rows


def mend(path: Path, log: bytes) -> str:
    """Put a damaged file aside and write what is intact of it anew; says so in a sentence.

    The new file is complete before the old one is moved, so that a crash at any moment leaves one of them.
    """
    salvaged = salvage(path.read_bytes(), log)
    if not is_sound(salvaged.meta):  # who opens it says it anew
        salvaged = salvaged._replace(meta={})
    write_mended(path, salvaged)
    aside = free_name(path, ".damaged")
    os.replace(path, aside)
    finish_mending(path)
    count = len(salvaged.rows)
    if not count:  # perhaps it never was a store of ours
        return f"{path} held no row that the workbench could read: it is kept as {aside}, and a new file was begun."
    kept = f"{count} intact rows were" if count > 1 else "1 intact row was"
    return f"{path} was damaged: {kept} kept, and the damaged file is {aside.name}."


def write_mended(path: Path, salvaged: Salvaged) -> Path:
    """Write rows to a new file beside a path, from where `finish_mending` puts it in its place; return that file."""
    mended = beside(path, ".mended")
    for leftover in (mended, beside(mended, "-wal"), beside(mended, "-shm")):
        leftover.unlink(missing_ok=True)
    new = SqliteRows(mended)
    try:
        write_all(new, salvaged)
    finally:
        new.close()
    return mended


def write_all(new: SqliteRows | RowFiles, salvaged: Salvaged) -> None:
    """Write rows with all that belongs to them."""
    new.upgrade({**salvaged.meta, "format": str(FORMAT)})
    new.add_points(salvaged.points.items())
    new.add(salvaged.rows, salvaged.origins)


def finish_mending(path: Path) -> None:
    """Put a file that was mended in its place, if nothing is there."""
    mended = beside(path, ".mended")
    if mended.is_file() and not path.exists():
        for left in ("-wal", "-shm"):
            beside(path, left).unlink(missing_ok=True)
        os.replace(mended, path)


def free_name(path: Path, ending: str) -> Path:
    """Return a path beside another one, with an ending and a number, where nothing is."""
    return next(a for k in range(1, 10**6) if not (a := beside(path, f"{ending}-{k}")).exists())


def beside(path: Path, ending: str) -> Path:
    """Return a path with something added to its name."""
    return path.with_name(path.name + ending)
