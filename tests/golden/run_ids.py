"""The ids of shipped sweeps by minor version of Python: an edit that changes no result must change no id.

`python -m tests.golden.run_ids` writes those of the present version. Compare them before a message or a helper is
edited in `levers`, `machine`, `policies` or `workloads`: ids are digests of the code there, its messages included.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import workbench as wb

FILE = Path(__file__).with_name("run_ids.json")
SWEEPS = Path(__file__).parents[2] / "sweeps"
NAMES = (
    "dispatch/head_of_line.yaml",
    "malloc/heaps.yaml",
    "node/additive.yaml",
    "placement/six_open_gpus.yaml",
    "pool/full_card.yaml",
    "translation/eviction.yaml",
)
"""One sweep an engine; each id is of a point."""
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def ids() -> dict[str, list[str]]:
    """Return the ids of the points of each sweep."""
    return {name: [point.id for point in wb.plan(str(SWEEPS / name)).points] for name in NAMES}


def kept() -> dict[str, dict[str, list[str]]]:
    """Return the kept ids by version of Python."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    FILE.write_text(json.dumps({**kept(), VERSION: ids()}, indent=1) + "\n", encoding="utf-8")
