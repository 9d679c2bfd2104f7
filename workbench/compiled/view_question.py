"""A question whose answers see one view: `def answer(see)`.

The words of a view lie as its fields would as parameters, so an answer that takes them one by one (`def answer(free,
segments, length, params, memory)`, the form of 0.4) is called through the same pointer; it is accepted for one release.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.compiled import black_box
from workbench.compiled.kernel import INTERPRETED
from workbench.compiled.named_levers import Kinds, NamedLevers, plain_levers
from workbench.compiled.question import RAISED, Question, _lent
from workbench.compiled.views import fields_of, guarded, view_type
from workbench.errors import PolicyError

LEVERS = "levers"
"""The field of a view that holds the policy's levers."""

_BEFORE = {LEVERS: "params"}
"""What a field was called as a parameter of 0.4."""

_RETURNED = {"int64": types.int64, "nothing": types.none}


class ViewQuestion(Question):
    """One decision: what its answers see, and what they return (`int64`, or `nothing` when they are only told)."""

    def __init__(self, name: str, see: type, returns: str = "int64") -> None:
        self.name = name
        self.see = see
        self.parameters = tuple(_BEFORE.get(field, field) for field in fields_of(see))
        self._number = black_box.register(name, see)
        self.signature = _RETURNED[returns](view_type(see, inside=True))
        self._ready = {}
        self.ask = self._plain_ask if INTERPRETED else self._native_ask()

    def ready(self, answer: Callable[..., int], checked: bool = False, kinds: Kinds = ()) -> Any:
        """Compile an answer (once) and return what an engine calls it by.

        Parameters
        ----------
        kinds : tuple of (name, kind)
            The policy's levers, if its numbers are those of the levers; then `see.levers.NAME` reads them.

        Raises
        ------
        PolicyError
            The function does not take the view, writes to what it may only read, or is not in the subset of Python
            that compiles.
        """
        self._refuse_wrong_parameters(answer)
        if INTERPRETED:
            return self.plain(answer, kinds)
        raise NotImplementedError

    def plain(self, answer: Callable[..., int], kinds: Kinds = ()) -> Callable[[Any], int]:
        """Return the answer as a plain function of the view, in which levers have their names."""
        if self.takes_parameters(answer):
            return lambda see: answer(*see)
        if LEVERS not in fields_of(self.see):
            return answer
        return lambda see: answer(see._replace(levers=plain_levers(see.levers, kinds)))

    def takes_parameters(self, answer: Callable[..., int]) -> bool:
        """Whether an answer takes the fields one by one, as those of 0.4 did."""
        return _parameters(answer) == self.parameters

    def _refuse_wrong_parameters(self, answer: Callable[..., int]) -> None:
        given = _parameters(answer)
        if given == self.parameters:
            warnings.warn(
                f"{answer.__qualname__} takes ({', '.join(given)}); from the next release on an answer takes one "
                f"view: def {answer.__name__}(see), with see.{given[0]} and so on.",
                DeprecationWarning,
                stacklevel=4,
            )
        elif len(given) != 1:
            raise PolicyError(
                f"{answer.__qualname__}: an answer to {self.name!r} takes one view, def {answer.__name__}(see). "
                f"Got ({', '.join(given)})."
            )

    def _plain_ask(self, answer: Callable[..., int], see: Any) -> int:
        try:
            with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                result = answer(guarded(see))
        except Exception as problem:
            black_box.keep(self.name, see, problem)
            return RAISED
        if isinstance(result, (float, np.floating)):
            raise PolicyError(f"{self.name}: it must return a whole number on every path. Got {result}.")
        return int(result or 0)

    def _native_ask(self) -> Any:
        signature, number = self.signature, self._number
        (inside,) = signature.args
        passed = types.int64(types.int64, view_type(self.see, inside=False))

        def code(context, builder, _, arguments):  # type: ignore[no-untyped-def]
            shape = context.call_conv.get_function_type(signature.return_type, signature.args)
            pointer = builder.inttoptr(arguments[0], shape.as_pointer())
            words = [_lent(context, builder, k, builder.extract_value(arguments[1], i)) for i, k in enumerate(inside)]
            see = context.make_tuple(builder, inside, words)
            status, result = context.call_conv.call_function(
                builder, pointer, signature.return_type, signature.args, [see]
            )
            with builder.if_then(status.is_error, likely=False):
                black_box.report(builder, number, see)
            fine = result if signature.return_type == types.int64 else ir.Constant(ir.IntType(64), 0)
            return builder.select(status.is_error, ir.Constant(ir.IntType(64), RAISED), fine)

        def ask(typing_context, answer, see):  # type: ignore[no-untyped-def]
            return passed, code

        return intrinsic(ask)

    def signature_of(self, answer: Callable[..., int], kinds: Kinds) -> Any:
        """Return the signature with which an answer is compiled; each is called through the same pointer."""
        (inside,) = self.signature.args
        if self.takes_parameters(answer):
            return self.signature.return_type(*inside.types)
        named = [NamedLevers(kinds) if f == LEVERS and kinds else t for f, t in zip(inside.fields, inside.types)]
        return self.signature.return_type(types.NamedTuple(named, self.see))


def _parameters(answer: Callable[..., int]) -> tuple[str, ...]:
    return answer.__code__.co_varnames[: answer.__code__.co_argcount]
