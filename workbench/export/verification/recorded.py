"""What a manifest says and no run gives: compared with `provenance.json`, which holds the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.experiments.folder import PROVENANCE
from workbench.experiments.row import Row
from workbench.experiments.row_origins import origins_of
from workbench.export.manifest import MANIFEST
from workbench.export.verification.cells import Change, changed_values


def unlike_provenance(folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row]) -> Iterator[Change]:
    """Yield what the manifest says otherwise of the sweep's name, origins, what is needed, and what drew the pictures.

    A file that is not there, or no such one, is told by its digest.
    """
    try:
        there = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        recorded: dict[str, Any] = {"origins": _untimed(there["runs"]["origins"])}
        recorded |= {key: there["runs"][key] for key in ("sweep",) if key in there["runs"]}
        made = there["export"]
        recorded |= {key: made[key] for key in ("needs", "drawn_with") if key in made}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    config: dict[str, Any] = {"origins": _untimed(one.plain() for one in origins_of(rows.values()))}
    config |= {key: manifest.get(key) for key in recorded if key != "origins"}
    yield from changed_values(MANIFEST, config, recorded)


def _untimed(origins: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return origins without how long their runs took, which a bundle's rows do not say."""
    return [{name: fact for name, fact in origin.items() if name != "seconds"} for origin in origins]
