"""What compiled code reports: which functions Numba compiles, and what an answer saw in the call in which it raised.

Compiled code reports that an answer raised, and nothing else. On that branch alone, the words of the view are handed
to this module, which copies what they point to before anything changes it; each thread has its own. What is compiled
is reported once anything of this room is imported; what comes from the cache is not compiled.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, event

from workbench.compiled.views import Field, fields_of
from workbench.process import COMPILING, Compiling

SYMBOL = "workbench_keep_failed_call"
"""What compiled code calls; a symbol, so that code kept on disk finds it in every process."""

_WORDS_OF_AN_ARRAY = 7
"""Numba's layout: owner, parent, items, bytes an item, address, length, stride."""
_ITEMS, _ADDRESS = 2, 4

_kept = threading.local()


class FailedCall(NamedTuple):
    """One call of an answer that raised."""

    question: str
    see: Any
    """The view, its arrays copied."""
    problem: BaseException | None
    """The exception, where the answer ran in plain Python."""


def failed_call() -> FailedCall | None:
    """Return the last call of an answer that raised in this thread; None if there was none since it was forgotten."""
    call: FailedCall | None = getattr(_kept, "call", None)
    return call


def forget_failed_call() -> None:
    """Forget the failed call of this thread."""
    _kept.call = None


def keep_failed_call(question: str, see: Any, problem: BaseException | None = None) -> None:
    """Keep a failed call of this thread."""
    _kept.call = FailedCall(question, see._make(map(_copied, see)), problem)


def _copied(value: Any) -> Any:
    """Return an array of its own, or a number as plain Python has it."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return value.item() if isinstance(value, np.generic) else value


_known: dict[int, tuple[str, type]] = {}
"""Every question's name and view by the number under which compiled code reports it."""


def register(name: str, see: type) -> int:
    """Return the number under which compiled code reports a question: a digest, the same in every process."""
    from hashlib import blake2b

    number = int.from_bytes(blake2b(name.encode(), digest_size=7).digest())
    _known[number] = name, see
    return number


def report(builder: Any, number: int, see: Any) -> None:
    """Write the code that hands the words of a view to `keep_failed_call`."""
    with builder.goto_entry_block():
        address = builder.alloca(see.type)
    builder.store(see, address)
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    called = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [word, byte]), SYMBOL)
    builder.call(called, [ir.Constant(word, number), builder.bitcast(address, byte)])


@ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_void_p)
def _keep(number: int, address: int) -> None:
    name, see = _known[number]
    declared = fields_of(see).values()
    size = sum(_WORDS_OF_AN_ARRAY if field.is_array else 1 for field in declared)
    words = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_int64)), (size,))
    values, at = [], 0
    for field in declared:
        values.append(_value(field, words[at:]))
        at += _WORDS_OF_AN_ARRAY if field.is_array else 1
    keep_failed_call(name, see(*values))


def _value(field: Field, words: np.ndarray) -> Any:
    """Return the value of a field from its words on, arrays as views of what they point to."""
    if not field.is_array:
        return words[:1].view(field.dtype)[0].item()
    items = int(words[_ITEMS])
    if items == 0:
        return np.zeros(0, field.dtype)
    kind = ctypes.POINTER(np.ctypeslib.as_ctypes_type(field.dtype))
    return np.ctypeslib.as_array(ctypes.cast(int(words[_ADDRESS]), kind), (items,))


llvm.add_symbol(SYMBOL, ctypes.cast(_keep, ctypes.c_void_p).value)

SELDOM = (50_000, 20, 100)
"""How seldom garbage is collected while something is compiled: what a compiler makes is kept until it is done, and
looking through it again and again was a twelfth of its time."""


class _Times(event.Listener):
    """Reports when a thread wants the compiler, and when it has done with it."""

    def __init__(self, known: Compiling) -> None:
        self._known = known

    def on_start(self, event: Any) -> None:
        self._known.begins()

    def on_end(self, event: Any) -> None:
        self._known.ends()


class _Functions(event.Listener):
    """Reports what is compiled, but not what is compiled for its sake; the compiler's lock is held meanwhile."""

    def __init__(self, known: Compiling) -> None:
        self._known, self._depth = known, 0
        self._thresholds = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._thresholds = gc.get_threshold()
            gc.set_threshold(*SELDOM)
            self._known.compiles(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._thresholds)


def report_compiling(known: Compiling = COMPILING) -> None:
    """Report from now on what is compiled."""
    event.register("numba:compiler_lock", _Times(known))
    event.register("numba:compile", _Functions(known))
