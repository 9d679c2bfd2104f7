"""Bit operations on 64-bit words: one machine instruction when compiled, a plain twin in plain Python.

Shift amounts are whole numbers from 0 to 63; words are `numpy.uint64`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

NO_BITS = np.uint64(0)
ONE_BIT = np.uint64(1)
ALL_BITS = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

_WORD = types.uint64
_COUNT = types.int64
_INLINED: Any = {"_nrt": False, "forceinline": True, "nogil": True}


def trailing_zeros(word: np.uint64) -> int:
    """Count the zeros below the lowest 1; 64 for a word without one.

    >>> trailing_zeros(np.uint64(8)), trailing_zeros(NO_BITS)
    (3, 64)
    """
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


def leading_zeros(word: np.uint64) -> int:
    """Count the zeros above the highest 1; 64 for a word without one.

    >>> leading_zeros(np.uint64(8)), leading_zeros(NO_BITS)
    (60, 64)
    """
    return 64 - int(word).bit_length()


def ones(word: np.uint64) -> int:
    """Count the bits that are 1.

    >>> ones(ALL_BITS)
    64
    """
    return int(word).bit_count()


def left(word: np.uint64, amount: int) -> np.uint64:
    """Return the word moved toward higher positions, zeros coming in.

    >>> int(left(ONE_BIT, 63)) == 2**63, int(left(np.uint64(3), 63)) == 2**63
    (True, True)
    """
    return np.uint64((int(word) << int(amount)) & int(ALL_BITS))


def right(word: np.uint64, amount: int) -> np.uint64:
    """Return the word moved toward lower positions, zeros coming in.

    >>> int(right(ALL_BITS, 63))
    1
    """
    return np.uint64(int(word) >> int(amount))


def wrapped_sum(one: np.uint64, other: np.uint64) -> np.uint64:
    """Return the lower 64 bits of a sum.

    >>> int(wrapped_sum(ALL_BITS, np.uint64(3)))
    2
    """
    return np.uint64((int(one) + int(other)) & int(ALL_BITS))


def wrapped_product(one: np.uint64, other: np.uint64) -> np.uint64:
    """Return the lower 64 bits of a product.

    >>> int(wrapped_product(ALL_BITS, np.uint64(3))) == 2**64 - 3
    True
    """
    return np.uint64(int(one) * int(other) & int(ALL_BITS))


def _counting(instruction: str) -> Any:
    @intrinsic
    def count(typing_context, word):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            defined_at_zero = [] if instruction == "ctpop" else [ir.Constant(ir.IntType(1), 0)]
            kind = [ir.IntType(64), *(a.type for a in defined_at_zero)]
            target = builder.module.declare_intrinsic(
                f"llvm.{instruction}", [ir.IntType(64)], ir.FunctionType(ir.IntType(64), kind)
            )
            return builder.call(target, [arguments[0], *defined_at_zero])

        return _COUNT(_WORD), code

    return count


def _shifting(instruction: str) -> Any:
    @intrinsic
    def shift(typing_context, word, amount):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return getattr(builder, instruction)(arguments[0], arguments[1])

        return _WORD(_WORD, _COUNT), code

    return shift


def _calculating(instruction: str) -> Any:
    @intrinsic
    def calculate(typing_context, one, other):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return getattr(builder, instruction)(arguments[0], arguments[1])

        return _WORD(_WORD, _WORD), code

    return calculate


def _compiles_to(plain: Callable[..., Any], machine: Any, *names: str) -> None:
    """Let compiled code that calls the plain function use the machine's instruction."""
    space: dict[str, Any] = {"machine": machine}
    words = ", ".join(names)
    exec(f"def typed({words}):\n    return lambda {words}: machine({words})", space)
    overload(plain, jit_options=_INLINED)(space["typed"])


_compiles_to(trailing_zeros, _counting("cttz"), "word")
_compiles_to(leading_zeros, _counting("ctlz"), "word")
_compiles_to(ones, _counting("ctpop"), "word")
_compiles_to(left, _shifting("shl"), "word", "amount")
_compiles_to(right, _shifting("lshr"), "word", "amount")
_compiles_to(wrapped_sum, _calculating("add"), "one", "other")
_compiles_to(wrapped_product, _calculating("mul"), "one", "other")
