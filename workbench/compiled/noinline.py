"""Functions that are never inlined: the machine's code of their callers has a call in it, never a copy of them.

Numba hands LLVM a function together with all that it calls, and LLVM copies what is called in one place only into its
caller. Of the path of an access through a translation hierarchy, some sixty functions, it thus made one function that
took two minutes to optimise; not inlined it takes a sixth of that, and a call costs a nanosecond.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import IRProcessing
from numba.extending import intrinsic

from workbench.compiled.call_slots import passes_of_kernels
from workbench.compiled.meter import call_first


@intrinsic
def _forbid_inlining(typing_context):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), code


@register_pass(mutates_CFG=False, analysis_only=False)
class _NoInline(FunctionPass):
    _name = "no_inline"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        call_first(state.func_ir, blocks[min(blocks)], _forbid_inlining)
        return True


class NoInlineCompiler(CompilerBase):
    """The passes of kernels, and the attribute that forbids copies."""

    by_symbol = True
    within_compiled_code = True

    def define_pipelines(self) -> list[Any]:
        passes = passes_of_kernels(self.state)
        passes.add_pass_after(_NoInline, IRProcessing)
        passes.finalize()
        return [passes]


class EntryPointCompiler(NoInlineCompiler):
    """The same for what Python calls too."""

    within_compiled_code = False
