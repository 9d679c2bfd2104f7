"""Bit operations on 64-bit words: one machine instruction when compiled, a plain Python twin when not.

Shift amounts are whole numbers from 0 to 63; words are `numpy.uint64`.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.compiled.kernel import INTERPRETED

NO_BITS = np.uint64(0)
ONE_BIT = np.uint64(1)
ALL_BITS = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

_WORD = types.uint64
_COUNT = types.int64


def _counting(instruction: str):  # type: ignore[no-untyped-def]
    @intrinsic
    def count(typing_context, word):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            undefined_at_zero = [] if instruction == "ctpop" else [ir.Constant(ir.IntType(1), 0)]
            kind = [ir.IntType(64), *(a.type for a in undefined_at_zero)]
            target = builder.module.declare_intrinsic(
                f"llvm.{instruction}", [ir.IntType(64)], ir.FunctionType(ir.IntType(64), kind)
            )
            return builder.call(target, [arguments[0], *undefined_at_zero])

        return _COUNT(_WORD), code

    return count


def _shifting(instruction: str):  # type: ignore[no-untyped-def]
    @intrinsic
    def shift(typing_context, word, amount):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return getattr(builder, instruction)(arguments[0], arguments[1])

        return _WORD(_WORD, _COUNT), code

    return shift


def _plain_trailing_zeros(word: np.uint64) -> int:
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


def _plain_leading_zeros(word: np.uint64) -> int:
    return 64 - int(word).bit_length()


def _plain_ones(word: np.uint64) -> int:
    return int(word).bit_count()


def _plain_left(word: np.uint64, amount: int) -> np.uint64:
    return np.uint64((int(word) << int(amount)) & int(ALL_BITS))


def _plain_right(word: np.uint64, amount: int) -> np.uint64:
    return np.uint64(int(word) >> int(amount))


trailing_zeros = _plain_trailing_zeros if INTERPRETED else _counting("cttz")
"""Zeros below the lowest 1; 64 for a word without one."""

leading_zeros = _plain_leading_zeros if INTERPRETED else _counting("ctlz")
"""Zeros above the highest 1; 64 for a word without one."""

ones = _plain_ones if INTERPRETED else _counting("ctpop")
"""How many bits are 1."""

left = _plain_left if INTERPRETED else _shifting("shl")
"""The word moved toward higher positions, zeros coming in."""

right = _plain_right if INTERPRETED else _shifting("lshr")
"""The word moved toward lower positions, zeros coming in."""
