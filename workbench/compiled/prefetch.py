"""`prefetch`: an element of an array will be needed soon, so the machine may bring it into its cache meanwhile.

For tables that do not fit the nearest cache and are read at places known in advance: in the engine `translation` the
rows of the next pages, each of which was waited for, were a third of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

_READ, _ALL_LEVELS, _DATA = 0, 3, 1
_INLINED: Any = {"_nrt": False, "forceinline": True, "nogil": True}


def prefetch(array: np.ndarray, index: int) -> None:
    """Bring an element nearer; nothing happens if there is none, and no result depends on it.

    >>> prefetch(np.arange(3), 1)
    """


@intrinsic
def _bring(typing_context: Any, array: Any, index: Any) -> Any:
    plain: Any = getattr(array, "plain", array)

    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        first = context.make_array(plain)(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(first, [arguments[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, word, word, word])
        machine = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(machine, [address, *(ir.Constant(word, how) for how in (_READ, _ALL_LEVELS, _DATA))])
        return context.get_dummy_value()

    return types.none(array, types.int64), code


bring: Any = _bring


@overload(prefetch, jit_options=_INLINED)
def _typed(array, index):  # type: ignore[no-untyped-def]
    return lambda array, index: bring(array, index)
