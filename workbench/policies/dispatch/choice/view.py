"""What a choice of a module sees of the modules with space, and what it is told (spec 3, Em. 9 and 10)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view, writable

CLASSES = ("move", "load", "store", "matrix", "compare", "jump")
"""The instruction classes (spec 3, R78)."""
INSTRUCTIONS = len(CLASSES)


@view
class ChoiceView(NamedTuple):
    """A group, and the modules that have space for it."""

    cycle: int = number("the cycle of the round")
    count: int = number("how many candidates there are, at least 1; arrays of candidates may be longer")  # type: ignore[assignment]
    modules: np.ndarray = readable("int64", "candidates", "the candidates, increasing")
    demand: np.ndarray = readable("int64", "resources", "what the whole group takes of each resource of a module")
    free: np.ndarray = readable(
        "int64", "all modules * resources", "free blocks of each module, row by row, summed over its units"
    )
    longest: np.ndarray = readable(
        "int64",
        "all modules * resources",
        "the longest run that is reported of each contiguous resource, of a countable one its free amount: the "
        "smallest over the units of a module",
    )
    totals: np.ndarray = readable("int64", "resources", "blocks of each resource in an empty module")
    recent: np.ndarray = readable(
        "float64",
        "all modules * classes",
        "instructions of each class in the module's recent past, as far back as `history_cycles()` says; else zeros",
    )
    heat: np.ndarray = readable(
        "float64", "all modules", "degrees above the ambient, where heat is simulated; else zeros"
    )
    scores: np.ndarray = writable("float64", "candidates", "to be filled: the score of each candidate, by its position")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class ChoiceNotice(NamedTuple):
    """The module that was taken, told after the group's resources are taken."""

    module: int = number("the module that was taken")
    modules: int = number("how many modules there are in all")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class PagesNotice(NamedTuple):
    """The pages of a group, told before each verdict about it (spec 6, R15)."""

    pages: np.ndarray = readable(
        "int64", "all modules", "how many pages of the group each module holds, in its TLB or in its directory"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
