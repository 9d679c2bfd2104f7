"""A question with one fixed signature, and its answers: plain functions, called by engines through an address.

An engine is compiled once for every answer there will ever be. It holds an answer as a whole number (the address of the
compiled function; in interpreted mode the function itself) and calls `question.ask(answer, ...)`, which is a call
through a pointer in Numba's own calling convention: 4 ns with three arrays, and the status comes back with the result,
so an answer that raises is seen as `RAISED` and never passes for a result.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.compiled.kernel import INTERPRETED, compiled_answer
from workbench.compiled.versions import Versions
from workbench.errors import PolicyError

RAISED = -(1 << 62)
"""What `ask` returns when the answer raised an exception."""

NO_ANSWER: Any = 0
"""Stands for an optional answer that a policy does not give."""

_compiling = threading.RLock()
"""Two threads that compile one answer would leave the first with the address of code that is thrown away."""

_RETURNED = {"int64": types.int64, "nothing": types.none}
_SCALARS = {"int64": types.int64, "uint64": types.uint64, "float64": types.float64}


class Question:
    """One decision with a fixed signature; answers return a whole number (`int64`), or nothing when only told.

    Parameters are given as words: `int64`, `float64`, `readonly uint64[]` (an array that answers may only read) or
    `int64[]` (an array that they may write).
    """

    def __init__(self, name: str, returns: str = "int64", **parameters: str) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self._words = tuple(parameters.values())
        self.signature = _RETURNED[returns](*(_numba_type(word) for word in self._words))
        self._ready = Versions()
        self.ask = self._plain_ask if INTERPRETED else self._native_ask()

    def __identity__(self) -> tuple[Any, ...]:
        """Return what a digest of code that asks this question holds: the question, not its answers."""
        return self.name, self.parameters, self._words

    def ready(self, answer: Callable[..., int], checked: bool = False) -> Any:
        """Compile an answer, once for every state of what it refers to, and return what an engine calls it by.

        Raises
        ------
        PolicyError
            The function does not take this question's parameters, writes to what it may only read, or is not in the
            subset of Python that compiles.
        """
        self._refuse_wrong_parameters(answer)
        if INTERPRETED:
            return answer
        with _compiling:
            return self._ready.now(answer, checked, functools.partial(self._compile, answer, checked))

    def _refuse_wrong_parameters(self, answer: Callable[..., int]) -> None:
        given = answer.__code__.co_varnames[: answer.__code__.co_argcount]
        if given != self.parameters:
            raise PolicyError(
                f"{answer.__qualname__}: an answer to {self.name!r} takes ({', '.join(self.parameters)}). "
                f"Got ({', '.join(given)})."
            )

    def _compile(self, answer: Callable[..., int], checked: bool, digest: str) -> tuple[int, Any]:
        built_in = (answer.__module__ or "").startswith("workbench.")
        try:
            dispatcher = compiled_answer(answer, self.signature, built_in, checked, digest)
        except Exception as problem:  # Numba has no common base for what it refuses
            raise PolicyError(f"{answer.__qualname__} does not compile: {_one_sentence(problem)}") from None
        result = dispatcher.overloads[self.signature.args]
        return result.library.get_pointer_to_function(result.fndesc.llvm_func_name), dispatcher

    def _plain_ask(self, answer: Callable[..., int], *arguments: Any) -> int:
        guarded = [_guarded(a, word) for a, word in zip(arguments, self._words, strict=True)]
        try:
            with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                found = answer(*guarded)
        except Exception:
            return RAISED
        if isinstance(found, (float, np.floating)):
            raise PolicyError(f"{answer.__qualname__}: {_NO_NUMBER[:-1]}. Got {found}.")
        return int(found or 0)

    def _native_ask(self) -> Any:
        signature = self.signature
        passed = types.int64(types.int64, *(_writable(t) for t in signature.args))

        def code(context, builder, _, arguments):  # type: ignore[no-untyped-def]
            shape = context.call_conv.get_function_type(signature.return_type, signature.args)
            pointer = builder.inttoptr(arguments[0], shape.as_pointer())
            lent = [_lent(context, builder, kind, value) for kind, value in zip(signature.args, arguments[1:])]
            status, result = context.call_conv.call_function(
                builder, pointer, signature.return_type, signature.args, lent
            )
            fine = result if signature.return_type == types.int64 else ir.Constant(ir.IntType(64), 0)
            return builder.select(status.is_error, ir.Constant(ir.IntType(64), RAISED), fine)

        names = ", ".join(self.parameters)
        space: dict[str, Any] = {"passed": passed, "code": code}
        exec(f"def ask(typing_context, answer, {names}):\n    return passed, code", space)
        return intrinsic(space["ask"])


def addresses(answers: Sequence[Any]) -> Any:
    """Several ready answers as one argument of a kernel: an array of addresses; functions where code is interpreted."""
    return list(answers) if INTERPRETED else np.array(answers, np.int64)


def _numba_type(word: str) -> Any:
    scalar = _SCALARS[word.removeprefix("readonly ").removesuffix("[]")]
    return types.Array(scalar, 1, "C", readonly=word.startswith("readonly")) if word.endswith("[]") else scalar


def _lent(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An array without the owner whose references are counted: an answer cannot keep it, and counting costs 25 ns."""
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = ir.Constant(array.meminfo.type, None)
    return array._getvalue()


def _writable(numba_type: Any) -> Any:
    return types.Array(numba_type.dtype, 1, "C") if isinstance(numba_type, types.Array) else numba_type


def _guarded(argument: Any, word: str) -> Any:
    if not word.startswith("readonly"):
        return argument
    view = np.asarray(argument).view()
    view.flags.writeable = False
    return view


_NO_NUMBER = "it must return a whole number on every path."
_KNOWN_PROBLEMS = {
    "readonly": "it writes to an array that it may only read; only memory may be written.",
    "read-only": "it writes to an array that it may only read; only memory may be written.",
    "IMPORT_NAME": "it imports within the function; import above the class instead.",
    "No conversion from none": _NO_NUMBER,
    "No conversion from Literal": _NO_NUMBER,
    "No conversion from unicode": _NO_NUMBER,
}
"""A part of Numba's message -> what a person needs to know."""


def _one_sentence(problem: Exception) -> str:
    text = str(problem)
    for sign, sentence in _KNOWN_PROBLEMS.items():
        if sign in text:
            return sentence
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("File", "Failed"))]
    return lines[0] if lines else type(problem).__name__
