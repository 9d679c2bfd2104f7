"""Routines over a lent tuple, called by address from compiled code that does not know the tuple.

A loop that plays several mechanisms would be compiled together with all of them, and again for each pair of tuples that
they run on. By address it is compiled once, and each mechanism once for itself: an entry is the address of a routine
and the address of the words of its tuple, and a call through it costs some nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.compiled.bound import Referent
from workbench.compiled.kernel import INTERPRETED, kernel
from workbench.compiled.question import RAISED

_WORD: Any = types.voidptr
"""How a reference to a tuple lies in memory."""


class Entry(NamedTuple):
    """A routine and the tuple that it runs on, as two whole numbers; where code is interpreted, it and a `Referent`."""

    routine: Any
    run: Any


def entry_of(routine: Callable[..., int], lent: Referent) -> Entry:
    """Return the entry of a routine, whose first parameter is a tuple by reference and whose others are whole numbers.

    Parameters
    ----------
    routine : function
        Returns one whole number; compiled now, if it never was.
    lent : Referent
        The tuple, which must outlive the entry; renewed, the entry runs on what it lends then.

    Examples
    --------
    >>> from workbench.structures.event_queue import new_agenda, take_place
    >>> agenda = Referent(new_agenda(4))
    >>> take = entry_of(take_place, agenda)
    >>> call(*take, ()), call(*take, ())
    (0, 1)
    """
    if INTERPRETED:
        return Entry(routine, lent)
    machine: Any = routine
    numbers = (types.int64,) * (machine.py_func.__code__.co_argcount - 1)
    arguments = (lent.reference, *numbers)
    machine.compile(arguments)
    result = machine.overloads[arguments]
    if types.unliteral(result.signature.return_type) != types.int64:
        raise TypeError(f"{machine.py_func.__qualname__} must return a whole number")
    return Entry(result.library.get_pointer_to_function(result.fndesc.llvm_func_name), lent.address)


def _plain_call(routine: Any, run: Referent, numbers: tuple[int, ...]) -> int:
    return int(routine(run.whole, *numbers))


@intrinsic
def _call_by_address(typing_context, routine, run, numbers):  # type: ignore[no-untyped-def]
    arguments = (_WORD, *(types.int64,) * len(numbers))

    def code(context, builder, signature, given):  # type: ignore[no-untyped-def]
        shape = context.call_conv.get_function_type(types.int64, arguments)
        pointer = builder.inttoptr(given[0], shape.as_pointer())
        word = builder.inttoptr(given[1], context.get_value_type(_WORD))
        each = [
            context.cast(builder, builder.extract_value(given[2], place), kind, types.int64)
            for place, kind in enumerate(signature.args[2])
        ]
        status, result = context.call_conv.call_function(builder, pointer, types.int64, arguments, [word, *each])
        failed = ir.Constant(ir.IntType(64), RAISED)
        return builder.select(status.is_error, failed, result)

    return types.int64(types.int64, types.int64, numbers), code


_by_address: Any = _call_by_address


@kernel
def _call_compiled(routine: Any, run: Any, numbers: Any) -> int:
    number: int = _by_address(routine, run, numbers)
    return number


call: Any = _plain_call if INTERPRETED else _call_compiled
"""Call an entry: `call(routine, run, (number, ...))` returns its whole number, `RAISED` where it raised."""
