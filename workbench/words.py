"""The public words of `import workbench as wb`: the module of each, and the words of version 0.5 that moved.

Type checkers and editors read the words from `workbench/__init__.pyi`.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from typing import Any

from workbench.policies.bases import BASES

WORDS = {
    "Results": "workbench.api",
    "advise": "workbench.advice.torch_memory.advice",
    "advise_message": "workbench.advice.messages.answer",
    "advice_figure": "workbench.figures.advice",
    "blame": "workbench.api",
    "discover": "workbench.api",
    "figure": "workbench.api",
    "gather": "workbench.api",
    "coresident": "workbench.explain.coresident",
    "occupancy": "workbench.explain.occupancy",
    "open_results": "workbench.api",
    "plan": "workbench.api",
    "presets": "workbench.api",
    "run": "workbench.api",
    "sensitivity": "workbench.api",
    "step": "workbench.api",
    "status": "workbench.experiments.progress",
    "claims": "workbench.claims",
    "tune": "workbench.tuning",
    "open_study": "workbench.tuning",
    "objective": "workbench.tuning",
    "dashboard": "workbench.dashboards",
    "headline": "workbench.notebooks.headline",
    "lever": "workbench.levers",
    "measure": "workbench.mechanisms.user_measure",
    "add_measure": "workbench.mechanisms.measures",
    "Recipe": "workbench.figures",
    "add_figure": "workbench.figures",
    "Claim": "workbench.claims",
    "add_claim": "workbench.claims",
    "Generator": "workbench.workloads.generators",
    "add_generator": "workbench.workloads.generators",
    "Importer": "workbench.workloads.importers",
    "add_dashboard": "workbench.dashboards",
    "remove": "workbench.parts",
    "kernel": "workbench.compiled",
    "is_free": "workbench.structures.bitmaps",
    "first_start": "workbench.structures.bitmaps",
    "last_start": "workbench.structures.bitmaps",
}
"""Every public word but the package `policies`, with its module, which is imported when the word is first used.

`claims` is the package itself, which can be called.
"""

RENAMED = {
    "planned": "plan",
    **{base: f"policies.{base}" for base in BASES if base not in ("Admission", "Die")},
}
"""The words of version 0.5 that moved, each with its place in the package today; version 0.7 drops them.

The bases that 0.5 did not have are no words of the package itself.
"""


def find(word: str) -> Any:
    """Return the value of a word of the package; warn where it is a word of version 0.5.

    Raises
    ------
    AttributeError
        The package has no such word.

    Examples
    --------
    >>> find("run").__name__
    'run'
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     find("Placement").question
    'placement'
    >>> str(caught[0].message)
    'workbench.Placement is now workbench.policies.Placement; version 0.7 drops the old word.'
    """
    if word == "policies":
        return importlib.import_module("workbench.policies")
    if word in WORDS:
        module = importlib.import_module(WORDS[word])
        return module if module.__name__ == f"workbench.{word}" else getattr(module, word)
    if word not in RENAMED:
        raise AttributeError(f"module 'workbench' has no attribute {word!r}")
    today = f"workbench.{RENAMED[word]}"
    text = f"workbench.{word} is now {today}; version 0.7 drops the old word."
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    return pkgutil.resolve_name(today)
