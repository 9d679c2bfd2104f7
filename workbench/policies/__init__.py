"""The policies: each is one answer to a question, and a module holds a question, or a family of its answers.

The package itself can be called: `workbench.policies("placement")` is the table of what there is. Its words are the
bases that policies derive from, such as `workbench.policies.Placement`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workbench.policies.bases import BASES

if TYPE_CHECKING:
    import pandas as pd


class _Room(ModuleType):
    def __call__(self, question: str | None = None) -> pd.DataFrame:
        from workbench.policies.catalogue import policy_rows
        from workbench.policies.whole_table import WholeTable

        return WholeTable([{**row, "levers": ", ".join(row["levers"])} for row in policy_rows(question)])


sys.modules[__name__].__class__ = _Room


def __getattr__(name: str) -> Any:
    if name not in BASES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(BASES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *BASES})
