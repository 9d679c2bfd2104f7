"""What a user's answer returns must be a whole number, and nothing is cut off to make it one.

Numba converts what a function returns to the type that was asked for, so an answer of 0.5 would silently be 0, and NaN
the lowest of all numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler_machinery import AnalysisPass, register_pass


class NotWholeError(TypeError):
    """An answer returns something else than a whole number."""


@register_pass(mutates_CFG=False, analysis_only=True)
class WholeAnswer(AnalysisPass):
    """Refuses a function that returns a fraction on some path; runs when the types are known."""

    _name = "whole_answer"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        if isinstance(state.return_type, types.Integer):
            for kind, line in _returned(state):
                if isinstance(kind, (types.Float, types.Complex)):
                    raise NotWholeError(
                        f"it must return a whole number on every path, and returns a {kind} in line {line}; "
                        "int(...) cuts the fraction off."
                    )
        return False


def _returned(state: Any) -> Iterator[tuple[Any, int]]:
    """Yield the type of each expression that is returned, before it is converted, and its line."""
    for block in state.func_ir.blocks.values():
        for one in block.find_insts(ir.Assign):
            if isinstance(one.value, ir.Expr) and one.value.op == "cast":
                yield state.typemap[one.value.value.name], one.loc.line
