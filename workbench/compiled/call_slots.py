"""The places where calls leave what they return are not filled with zeros when their function is entered.

Numba fills every place on the stack with zeros on entry, in case it is read before it is written. A call has two, one
for its result and one for what it raises, both of which the callee writes before they are read. Of a function that is
called, not copied, they stay in memory: the routine of the engine `translation` that handles an event wrote 35 zeros
each time, a quarter of what an event took.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite.ir.instructions import AllocaInstr, CallInstr, StoreInstr
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import AnnotateTypes, BaseNativeLowering, NativeLowering

from workbench.compiled.by_symbol import KeepNeeded, called_by_symbol

_RAISED = "excinfo"
"""What Numba calls the place for what a callee raises; it is the second argument, behind the place for the result."""


def leave_unfilled(function: Any) -> None:
    """Take the stores of zeros to the places of calls out of a function's first block, which stand there alone."""
    places = {id(place) for place in _places(function)}
    first = function.entry_basic_block
    first.instructions = [
        one for one in first.instructions if not (isinstance(one, StoreInstr) and id(one.operands[1]) in places)
    ]


def _places(function: Any) -> Iterator[Any]:
    """Yield the places for the result and the exception of every call of a compiled function."""
    for block in function.blocks:
        for one in block.instructions:
            if isinstance(one, CallInstr) and len(one.args) > 1:
                result, raised = one.args[:2]
                if isinstance(raised, AllocaInstr) and raised.name.startswith(_RAISED):
                    yield from (result, raised)


class _Lower(Lower):
    """Numba's own; places of calls are left as they are, and what is never copied is called by its symbol."""

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        result = super()._lower_call_normal(fnty, expr, signature)
        theirs = called_by_symbol(fnty, signature)
        if theirs is not None:
            self.library._linking_libraries.remove(theirs)
        return result

    def post_lower(self) -> None:
        super().post_lower()
        leave_unfilled(self.function)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):
    _name: Any = "lowering_of_kernels"

    def run_pass(self, state: Any) -> bool:
        """Compile a function, without what Python would call it by where it never does: it has no references."""
        within = state.flags.forceinline or getattr(state.pipeline, "within_compiled_code", False)
        if within and any(getattr(kind, "is_lent", False) for kind in state.args):
            state.flags.no_cpython_wrapper = True
        return bool(super().run_pass(state))

    @property
    def lowering_class(self) -> type[Lower]:
        return _Lower


def passes_of_kernels(state: Any) -> Any:
    """Return Numba's usual passes over a kernel, with places of calls left as they are and no annotated listing; they
    are still to be finalized."""
    passes = DefaultPassBuilder.define_nopython_pipeline(state)
    each = [(one, what) for one, what in passes.passes if one is not AnnotateTypes]
    passes.passes = [(_Lowering if one is NativeLowering else one, what) for one, what in each]
    passes.add_pass_after(KeepNeeded, _Lowering)
    return passes


class KernelCompiler(CompilerBase):
    """Numba's usual passes, and places of calls left as they are."""

    def define_pipelines(self) -> list[Any]:
        passes = passes_of_kernels(self.state)
        passes.finalize()
        return [passes]
