"""What is never copied into its callers is called by its symbol: callers do not bring its code along.

Numba hands LLVM a function together with all that it calls, optimises the whole, makes machine code of the whole, and
does all of that again at each level above. Where a callee may not be copied nothing is gained by it: a caller's machine
code needs the callee's symbol alone, which the machine's linker resolves. A function that comes from the cache on disk
says which others it calls so, and they are loaded before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import NativeLowering


class Needed(NamedTuple):
    """A function that compiled code calls by a symbol."""

    symbol: str
    module: str
    name: str
    arguments: tuple[Any, ...]
    """The types of its arguments."""

    def __call__(self) -> None:
        """Load the function, or compile it; the symbol leads to it, also where another process named it otherwise."""
        _known[self.symbol] = self
        function = getattr(import_module(self.module), self.name)
        function.compile(self.arguments)
        result = function.overloads[self.arguments]
        symbol = result.fndesc.llvm_func_name
        if symbol != self.symbol:
            llvm.add_symbol(self.symbol, result.library.get_pointer_to_function(symbol))


_known: dict[str, Needed] = {}
"""Every function that is called by its symbol in this process."""


def called_by_symbol(function: Any, signature: Any) -> Any | None:
    """Return the library of a function that is called by its symbol; None for all others."""
    if not isinstance(function, types.Dispatcher) or not _may_be(function.dispatcher):
        return None
    dispatcher, arguments = function.dispatcher, tuple(signature.args)
    result = dispatcher.overloads[arguments]
    symbol = result.fndesc.llvm_func_name
    _known[symbol] = Needed(symbol, dispatcher.__module__, dispatcher.__qualname__, arguments)
    return result.library


def _may_be(dispatcher: Any) -> bool:
    """Return whether a function is never copied, and another process would know it by its name."""
    if not getattr(dispatcher._compiler.pipeline_class, "by_symbol", False):
        return False
    module = import_module(dispatcher.__module__)
    return getattr(module, dispatcher.__qualname__, None) is dispatcher


def needed_by(library: Any) -> Iterator[Needed]:
    """Yield what the code of a library calls by symbols."""
    for function in library._final_module.functions:
        if function.is_declaration and function.name in _known:
            yield _known[function.name]


@register_pass(mutates_CFG=False, analysis_only=True)
class KeepNeeded(AnalysisPass):
    """Keeps with a compiled function what it calls by symbols, for whoever loads it; runs behind lowering."""

    _name = "keep_needed"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.reload_init[:] = [*state.reload_init, *needed_by(state.library)]
        return False


class KeepingCompiler(CompilerBase):
    """Numba's usual passes, and what is needed is kept: for what may call kernels and is kept on disk itself."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(KeepNeeded, NativeLowering)
        passes.finalize()
        return [passes]
