"""The compiler of users' answers: an endless loop raises, and a result that is no whole number is refused.

Compiled code cannot be interrupted. So an answer that is not part of this package is compiled with one more pass,
which refills a counter at its entry and takes one from it at every turn of its loops; at zero the answer raises. A
turn costs 0.3 ns; built-in answers, whose loops are known to end, go without.

What a user's answer returns must be a whole number, and nothing is cut off to make it one. Numba converts what a
function returns to the type that was asked for, so an answer of 0.5 would silently be 0, and NaN the lowest number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba import types
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, FunctionPass, register_pass
from numba.core.ir_utils import mk_unique_var
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import IRProcessing
from numba.extending import intrinsic

MOST_TURNS = 1_000_000_000
"""Loop turns that one answer may take: about a second."""

# Compiled code contains the address of this array, so it must live as long as the process.
_left = np.full(1, MOST_TURNS, np.int64)


class EndlessAnswerError(RuntimeError):
    """An answer took more loop turns than it may."""


def ran_out() -> bool:
    """Return whether the last metered answer was stopped."""
    return bool(_left[0] < 0)


def _counter(builder: Any) -> Any:
    address = llvm.Constant(llvm.IntType(64), _left.ctypes.data)
    return builder.inttoptr(address, llvm.IntType(64).as_pointer())


@intrinsic
def _refill(typing_context):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        builder.store(llvm.Constant(llvm.IntType(64), MOST_TURNS), _counter(builder))
        return context.get_dummy_value()

    return types.none(), code


@intrinsic
def _spend(typing_context):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        counter = _counter(builder)
        left = builder.sub(builder.load(counter), llvm.Constant(llvm.IntType(64), 1))
        builder.store(left, counter)
        empty = builder.icmp_signed("<", left, llvm.Constant(llvm.IntType(64), 0))
        with builder.if_then(empty, likely=False):
            context.call_conv.return_user_exc(builder, EndlessAnswerError, ("too many loop turns",))
        return context.get_dummy_value()

    return types.none(), code


@register_pass(mutates_CFG=False, analysis_only=False)
class _MeterLoops(FunctionPass):
    _name = "meter_loops"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        for loop in compute_cfg_from_blocks(blocks).loops().values():
            # Every turn of a loop passes its header, also after `continue`.
            call_first(state.func_ir, blocks[loop.header], _spend)
        call_first(state.func_ir, blocks[min(blocks)], _refill)
        return True


def call_first(function: Any, block: Any, called: Any) -> None:
    """Put a call without arguments at the beginning of a block."""
    name = ir.Var(block.scope, mk_unique_var("$meter"), block.loc)
    result = ir.Var(block.scope, mk_unique_var("$metered"), block.loc)
    values = [ir.Global("meter", called, block.loc), ir.Expr.call(name, (), (), block.loc)]
    for at, (variable, value) in enumerate(zip((name, result), values, strict=True)):
        block.body.insert(at, ir.Assign(value, variable, block.loc))
        # Later passes look a variable up here, not in the block.
        function._definitions[variable.name].append(value)


class AnswerCompiler(CompilerBase):
    """Numba's usual passes, the meter, and a look at what is returned."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_MeterLoops, IRProcessing)
        passes.add_pass_after(WholeAnswer, NopythonTypeInference)
        passes.finalize()
        return [passes]


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
