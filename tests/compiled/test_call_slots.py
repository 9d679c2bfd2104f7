"""Places of calls are left as they are; what a call returns or raises arrives all the same."""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import ir

from tests.slow import compiled_only
from workbench.compiled import kernel, noinline
from workbench.compiled.kernel import leave_unfilled

WORD = ir.IntType(64)


def caller() -> ir.Function:
    """A function as Numba writes one: three places on the stack, two of them of a call, zeros in each."""
    module = ir.Module()
    callee = ir.Function(module, ir.FunctionType(ir.IntType(32), [WORD.as_pointer(), WORD.as_pointer()]), "callee")
    function = ir.Function(module, ir.FunctionType(WORD, []), "caller")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    places = [builder.alloca(WORD, name=name) for name in ("variable", "retval", "excinfo")]
    for place in places:
        builder.store(WORD(0), place)
    body = function.append_basic_block("body")
    builder.branch(body)
    builder.position_at_end(body)
    builder.store(WORD(0), places[1])
    builder.call(callee, places[1:])
    builder.ret(builder.load(places[0]))
    return function


def test_only_places_of_calls_are_left_unfilled_and_only_on_entry():
    function = caller()
    leave_unfilled(function)
    entry, body = function.blocks
    assert [one.operands[1].name for one in entry.instructions if isinstance(one, ir.StoreInstr)] == ["variable"]
    assert [one.operands[1].name for one in body.instructions if isinstance(one, ir.StoreInstr)] == ["retval"]
    assert entry.is_terminated


@noinline
def third(numbers, place):
    if place == 7:
        raise ValueError("seven")
    return numbers[place] // 3


@kernel
def sum_of_thirds(numbers, first, last):
    total = 0
    for place in range(first, last):
        total += third(numbers, place)
    return total


@noinline
def twice(numbers, first, last):
    return sum_of_thirds(numbers, first, last) + sum_of_thirds(numbers, first, first)


def test_results_and_exceptions_pass_through_calls():
    numbers = np.arange(0, 30, 3)
    assert twice(numbers, 0, 7) == sum(range(7))
    with pytest.raises(ValueError, match="seven"):
        twice(numbers, 0, 9)
    assert twice(numbers, 8, 10) == 17


@compiled_only
def test_a_function_of_several_calls_writes_no_zeros_for_them_on_entry():
    numbers = np.arange(9)
    twice(numbers, 0, 1)
    (signature,) = twice.signatures
    whole = twice.inspect_llvm(signature)
    entry = whole[whole.index("define") :].partition("\n\n")[0]
    assert "excinfo" in entry
    assert "store" not in entry
