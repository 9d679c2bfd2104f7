"""What tests of stores share."""

from __future__ import annotations

from pathlib import Path

from workbench.experiments.row import Row
from workbench.experiments.store import Store


def rows_of(path: Path, **options) -> list[Row]:
    """All rows that a store holds; `options` say how it is opened."""
    store = Store(path, **options)
    try:
        return list(store.rows())
    finally:
        store.close()
