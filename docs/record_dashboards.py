"""Record the first state of each dashboard, which its page shows until it has runs: a part of `make pictures`.

`python -m docs.record_dashboards NAME ...` records some of them; without names all.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from workbench.dashboards import DASHBOARDS
from workbench.dashboards._recorded import Recorded, canvases, record
from workbench.dashboards._static_view import static_view

ENGINES = ("shared_memory", "dispatch", "malloc", "pool", "translation", "node")


def state_of(engine: str) -> Recorded:
    """Return the page after all its first runs."""
    page = DASHBOARDS.find(engine)()
    try:
        page.finish()
        view = static_view(page.sidebar.config(), page.sidebar.measure.plain())
        return Recorded([one.scene for one in canvases(page.board)], page.table.value, view["image/png"])
    finally:
        page.close()


def main(names: Sequence[str]) -> None:
    """Record the pages of these names."""
    for name in names or ENGINES:
        path = record(name, state_of(name))
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
