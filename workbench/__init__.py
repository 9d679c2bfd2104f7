"""GPU policy workbench: composable resource-management policies, compiled simulators, paired experiments.

>>> import workbench as wb
>>> results = wb.run({"engine": "shared_memory", "workload": {"regime": "large_uniform"}, "seeds": 3,
...                   "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}}, workers=0)
>>> len(results.table)  # a row a run
6
"""

from __future__ import annotations

from typing import Any

import workbench.former_modules as former_modules
import workbench.loaded_sources as loaded_sources
from workbench.version import IMPORTED_NS, __version__
from workbench.words import WORDS, find

former_modules.install()


def _importing(module: str) -> Any:
    """Return a context that notes what a module of the user's reads as it is imported."""
    from workbench.identity.observed import observed_import

    return observed_import(module)


loaded_sources.watch(_importing)

__all__ = [*WORDS, "policies"]


def __getattr__(name: str) -> Any:
    value = find(name)
    if name in WORDS:
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *WORDS})
