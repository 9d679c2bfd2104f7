"""A question with one view, and its answers: plain functions of it, called by engines through an address.

An engine is compiled once for every answer there will ever be. It holds an answer as a whole number (the address of the
compiled function; in interpreted mode the function itself) and calls `question.ask(answer, see)`, which is a call
through a pointer in Numba's own calling convention: 4 ns with three arrays, and the status comes back with the result,
so an answer that raises is seen as `RAISED` and never passes for a result.

The words of a view lie as its fields would as parameters, and levers by name in the words of an array. So one address
serves answers of a view, with named levers or without, and those of 0.4, which take the fields one by one.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.compiled.diagnostics import keep_failed_call, register, report
from workbench.compiled.kernel import INTERPRETED, compiled_answer, kernel
from workbench.compiled.versions import Versions
from workbench.compiled.views import Kinds, NamedLevers, fields_of, guarded, plain_levers, view_type
from workbench.errors import PolicyError

RAISED = -(1 << 62)
"""What `ask` returns when the answer raised an exception."""

Answer = int | Callable[..., Any]
"""A ready answer as an engine holds it: the address of compiled code; the function where code is interpreted."""
Answers = np.ndarray | list[Any]
"""Several of them as one argument of a kernel."""

NO_ANSWER: Answer = 0
"""Stands for an optional answer that a policy does not give."""

_compiling = threading.RLock()
"""Two threads that compile one answer would leave the first with the address of code that is thrown away."""

_RETURNED = {"int64": types.int64, "nothing": types.none}
LEVERS = "levers"
"""The field of a view that holds the policy's levers."""

_BEFORE = {LEVERS: "params"}
"""What a field was called when it was a parameter, in 0.4."""


class Question:
    """One decision: what its answers see, and what they return (`int64`, or `nothing` when they are only told).

    Parameters
    ----------
    name : str
        What messages call it.
    see : type
        The view that an answer takes: `def answer(see)`.
    returns : {"int64", "nothing"}
        The type of what an answer returns.
    answers : str
        What that number means, for those who write an answer.
    wrong : str
        What an answer did that its rule does not allow, after the policy's name; `{answer}` is what it returned.
    """

    def __init__(self, name: str, see: type, returns: str = "int64", answers: str = "", wrong: str = "") -> None:
        self.name = name
        self.answers = answers
        self.wrong = wrong
        self.see = see
        self.parameters = tuple(_BEFORE.get(field, field) for field in fields_of(see))
        self._number = register(name, see)
        _of_view[see] = self
        self.signature = _RETURNED[returns](view_type(see))
        self._ready = Versions()
        self.ask: Any = self._plain_ask if INTERPRETED else intrinsic(self._typed)

    def __identity__(self) -> tuple[Any, ...]:
        """Return what a digest of code that asks this question holds: the question, not its answers."""
        return self.name, tuple((name, str(field)) for name, field in fields_of(self.see).items())

    def ready(self, answer: Callable[..., int], checked: bool = False, kinds: Kinds = ()) -> Answer:
        """Compile an answer, once for every state of what it refers to, and return what an engine calls it by.

        Parameters
        ----------
        answer : function
            A plain function of the view; one that takes the fields one by one, as in 0.4, is accepted with a warning.
        checked : bool
            Whether every index of an array is tested.
        kinds : tuple of (name, kind)
            The policy's levers, where its numbers are those of the levers; then `see.levers.NAME` reads them.

        Raises
        ------
        PolicyError
            The function does not take the view, writes to what it may only read, or is not in the subset of Python
            that compiles.
        """
        if answer.__code__.co_argcount != 1 or len(self.parameters) == 1:
            self._refuse_wrong_parameters(answer)
        if INTERPRETED:
            return self.plain(answer, kinds)
        if (known := self._ready.known(answer, (checked, kinds))) is not None:
            return known
        with _compiling:
            compiled = functools.partial(self._compile, answer, checked, kinds)
            return self._ready.now(answer, (checked, kinds), compiled)

    def plain(self, answer: Callable[..., int], kinds: Kinds = ()) -> Callable[[Any], int]:
        """Return an answer as a plain function of the view, in which levers have their names."""
        if self.takes_parameters(answer):
            return lambda see: answer(*see)
        if LEVERS not in fields_of(self.see):
            return answer
        return AnswerByName(answer, kinds)

    def takes_parameters(self, answer: Callable[..., int]) -> bool:
        """Return whether an answer takes the fields one by one, as those of 0.4 did."""
        return _parameters(answer) == self.parameters

    def _refuse_wrong_parameters(self, answer: Callable[..., int]) -> None:
        given, name = _parameters(answer), answer.__name__
        if self.takes_parameters(answer):
            warnings.warn(
                f"{answer.__qualname__} takes ({', '.join(given)}): from the next release on it takes one view, "
                f"def {name}(see), with see.{given[0]} and so on.",
                DeprecationWarning,
                stacklevel=4,
            )
        elif len(given) != 1:
            raise PolicyError(
                f"{answer.__qualname__}: an answer to {self.name!r} takes one view, def {name}(see), whose fields are "
                f"{', '.join(fields_of(self.see))}. Got ({', '.join(given)})."
            )

    def _compile(self, answer: Callable[..., int], checked: bool, kinds: Kinds, digest: str) -> tuple[int, Any]:
        built_in = (answer.__module__ or "").startswith("workbench.")
        signature = self._signature_of(answer, kinds)
        try:
            dispatcher = compiled_answer(answer, signature, built_in, checked, digest)
        except Exception as problem:  # Numba has no common base for what it refuses
            raise PolicyError(f"{answer.__qualname__} does not compile: {self._why_not(problem)}") from None
        result = dispatcher.overloads[signature.args]
        return result.library.get_pointer_to_function(result.fndesc.llvm_func_name), dispatcher

    def _why_not(self, problem: Exception) -> str:
        """Return in one sentence why an answer does not compile."""
        if "No conversion from" in str(problem) and self.signature.return_type == types.none:
            return "it must return nothing."
        return _one_sentence(problem)

    def _signature_of(self, answer: Callable[..., int], kinds: Kinds) -> Any:
        """Return the signature with which an answer is compiled; all of them lie in the same words."""
        (inside,) = self.signature.args
        if self.takes_parameters(answer):
            return self.signature.return_type(*inside.types)
        named = [NamedLevers(kinds) if f == LEVERS and kinds else t for f, t in zip(inside.fields, inside.types)]
        return self.signature.return_type(types.NamedTuple(named, self.see))

    def _plain_ask(self, answer: Callable[..., int], see: Any) -> int:
        try:
            with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                result = answer(guarded(see))
        except Exception as problem:
            keep_failed_call(self.name, see, problem)
            return RAISED
        if isinstance(result, (float, np.floating)):
            raise PolicyError(f"{self.name}: {_NO_NUMBER[:-1]}. Got {result}.")
        return int(result or 0)

    def _typed(self, typing_context: Any, answer: Any, see: Any) -> Any:
        """Return the type of a call in compiled code, and what writes it."""
        return types.int64(types.int64, see), self._written

    def _written(self, context: Any, builder: Any, passed: Any, arguments: Any) -> Any:
        """Write a call through the address, what becomes of one that raises, and what it returns."""
        signature = self.signature
        (inside,) = signature.args
        shape = context.call_conv.get_function_type(signature.return_type, signature.args)
        pointer = builder.inttoptr(arguments[0], shape.as_pointer())
        given = [builder.extract_value(arguments[1], place) for place in range(len(inside))]
        words = [_without_owner(context, builder, *each) for each in zip(passed.args[1], inside, given)]
        see = context.make_tuple(builder, inside, words)
        status, result = context.call_conv.call_function(builder, pointer, signature.return_type, signature.args, [see])
        with builder.if_then(status.is_error, likely=False):
            report(builder, self._number, see)
        fine = result if signature.return_type == types.int64 else ir.Constant(ir.IntType(64), 0)
        return builder.select(status.is_error, ir.Constant(ir.IntType(64), RAISED), fine)


@dataclass(frozen=True)
class AnswerByName:
    """A plain answer whose levers have their names; equal where function and levers are."""

    answer: Callable[..., int]
    kinds: Kinds

    def __call__(self, see: Any) -> int:
        """Answer from a view whose levers are an array."""
        return self.answer(see._replace(levers=plain_levers(see.levers, self.kinds)))


_of_view: dict[type, Question] = {}
"""Every question by what its answers see."""


def _ask(answer: Any, see: Any) -> int:
    return _of_view[type(see)].ask(answer, see)


@intrinsic
def _ask_compiled(typing_context, answer, see):  # type: ignore[no-untyped-def]
    return _of_view[see.instance_class]._typed(typing_context, answer, see)


_any: Any = _ask if INTERPRETED else _ask_compiled


@kernel
def asked(answer: Answer, see: Any) -> int:
    """Ask a ready answer, as an engine does; the question is the one whose answers see this."""
    return _any(answer, see)


def _parameters(answer: Callable[..., int]) -> tuple[str, ...]:
    return answer.__code__.co_varnames[: answer.__code__.co_argcount]


def addresses(answers: Sequence[Any]) -> Answers:
    """Return several ready answers as one argument of a kernel: an array of addresses; functions where code is
    interpreted."""
    return list(answers) if INTERPRETED else np.array(answers, np.int64)


def _without_owner(context: Any, builder: Any, given: Any, kind: Any, value: Any) -> Any:
    """Return an array without the owner whose references are counted: an answer cannot keep it, and counting costs 25
    ns."""
    if not isinstance(kind, types.Array):
        return context.cast(builder, value, given, kind)
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = ir.Constant(array.meminfo.type, None)
    return array._getvalue()


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
