"""The policies: each is one answer to a question, and a module holds a question, or a family of its answers.

The room itself can be called: `workbench.policies("placement")` is the table of what there is.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class _Room(ModuleType):
    def __call__(self, question: str | None = None) -> pd.DataFrame:
        from workbench.policies.catalogue import policy_rows
        from workbench.policies.whole_table import WholeTable

        return WholeTable([{**row, "levers": ", ".join(row["levers"])} for row in policy_rows(question)])


sys.modules[__name__].__class__ = _Room
