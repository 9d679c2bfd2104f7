"""A question with one view, and its answers: plain functions of it, called by engines through an address.

A view is the one value that an answer sees, a named tuple whose fields say their type, shape and meaning. The levers of
a policy are numbers in it, each by its name and by its place. Engines hand over one array of float64, whatever the
policy. Which number is which is part of the type with which an answer is compiled. So `see.levers.shift` is one load,
in whatever order the levers are declared.

An engine is compiled once for every answer there will ever be. It holds an answer as a whole number: the address of the
compiled function, or in interpreted mode the function itself. It calls `question.ask(answer, see)`, a call through a
pointer in Numba's own calling convention, which takes 4 ns with three arrays. The status comes back with the result, so
an answer that raises is seen as `RAISED` and never passes for a result. On that branch alone, the words of the view are
handed back to this module (`keep_failed_call`), which copies what they point to before anything changes it; each thread
has its own.

Levers by name lie in the words of an array. So one address serves answers of a view, with named levers or without.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import intrinsic, lower_builtin, lower_getattr_generic, models, register_model, typeof_impl, unbox

from workbench.compiled.kernel import INTERPRETED, compiled_answer, kernel
from workbench.compiled.versions import Versions
from workbench.errors import PolicyError

_View = TypeVar("_View", bound=type)
_SCALARS = {"int64": types.int64, "uint64": types.uint64, "float64": types.float64}


def writable(dtype: str, shape: str, description: str) -> Any:
    """Declare a field that is an array which an answer may write to."""
    return Field(dtype, shape, True, description)


class Field(NamedTuple):
    """What is declared of one field of a view."""

    dtype: str
    """`int64`, `uint64` or `float64`."""
    shape: str
    """What an array has one element for; empty for a number."""
    writable: bool
    """Whether an answer may write to the array."""
    description: str

    @property
    def is_array(self) -> bool:
        """Return whether the field is an array."""
        return bool(self.shape)

    def __str__(self) -> str:
        """Return the type as documentation writes it: `int64`, `readonly uint64[words]`, `float64[cards]`."""
        if not self.is_array:
            return self.dtype
        return f"{'' if self.writable else 'readonly '}{self.dtype}[{self.shape}]"


def number(description: str, dtype: str = "int64") -> Any:
    """Declare a field that is a number."""
    return Field(dtype, "", False, description)


def readable(dtype: str, shape: str, description: str) -> Any:
    """Declare a field that is an array which an answer may only read."""
    return Field(dtype, shape, False, description)


PARAMS: Any = readable("float64", "levers", "the policy's levers as numbers, in the order of declaration")
"""The field `params` of most views."""

MEMORY: Any = writable("int64", "memory_size", "all that the policy remembers; it belongs to the run")
"""The field `memory` of most views."""


def view(cls: _View) -> _View:
    """Turn a named tuple whose defaults are declarations into a view; its `fields` holds the declarations by name.

    Raises
    ------
    TypeError
        A field is not declared.

    Examples
    --------
    >>> @view
    ... class RingView(NamedTuple):
    ...     free: np.ndarray = readable("uint64", "words", "the free map")
    ...     length: int = number("segments asked for")
    >>> str(RingView.fields["free"]), str(RingView.fields["length"])
    ('readonly uint64[words]', 'int64')
    >>> str(RingView(free=np.zeros(1, np.uint64), length=3))
    'free [0], length 3'
    """
    named: Any = cls
    missing = [name for name in named._fields if not isinstance(named._field_defaults.get(name), Field)]
    if missing:
        raise TypeError(f"{cls.__name__}.{missing[0]} is not declared; use number, readable or writable.")
    named.fields = dict(named._field_defaults)
    named._field_defaults = {}
    if "__str__" not in vars(cls):
        named.__str__ = shown
    named.__new__.__defaults__ = None
    return cls


_SHOWN = 8
"""Elements of an array that a sentence shows."""

_NOT_SHOWN = ("levers", "memory")


def shown(see: Any) -> str:
    """Return the text of a view; levers and memory are left out, long arrays cut."""
    return ", ".join(f"{name} {_value(value)}" for name, value in see._asdict().items() if name not in _NOT_SHOWN)


def _value(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(value)
    more = ", ..." if value.size > _SHOWN else ""
    return f"[{', '.join(map(str, value[:_SHOWN].tolist()))}{more}]"


def fields_of(cls: type) -> Mapping[str, Field]:
    """Return the declarations of a view by name."""
    fields: Mapping[str, Field] = cls.fields  # type: ignore[attr-defined]
    return fields


def view_type(cls: type) -> Any:
    """Return the Numba type of a view as answers see it."""
    return types.NamedTuple([_numba_type(field) for field in fields_of(cls).values()], cls)


def _numba_type(field: Field) -> Any:
    scalar = _SCALARS[field.dtype]
    return types.Array(scalar, 1, "C", readonly=not field.writable) if field.is_array else scalar


def guarded(see: Any) -> Any:
    """Return the same view with its readonly arrays protected from being written, for plain Python."""
    declared = fields_of(type(see))
    return see._make(_guarded(value, declared[name]) for name, value in see._asdict().items())


def _guarded(value: Any, field: Field) -> Any:
    if not field.is_array or field.writable:
        return value
    protected = np.asarray(value).view()
    protected.flags.writeable = False
    return protected


Kinds = tuple[tuple[str, str], ...]
"""The name and the kind of each scalar lever, in the order of their numbers."""

_TYPES = {"integer": types.int64, "choice": types.int64, "number": types.float64, "switch": types.boolean}
_ARRAY = types.Array(types.float64, 1, "C", readonly=True)


class NamedLevers(types.Type):
    """The type of the levers, with the words of an array: each lever is an attribute, and a number by its place.

    A whole number and the place of a choice are `int64`, a switch is a truth value, any other number `float64`.
    """

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = dict(kinds)
        self.places = {name: place for place, (name, _) in enumerate(kinds)}
        super().__init__(name=f"levers({','.join(f'{name}:{kind}' for name, kind in kinds)})")


@register_model(NamedLevers)
class _LeversModel(models.ArrayModel):
    def __init__(self, manager: Any, _: NamedLevers) -> None:
        super().__init__(manager, _ARRAY)


@infer_getattr
class _LeverTypes(AttributeTemplate):
    key = NamedLevers

    def generic_resolve(self, levers: Any, name: str) -> Any:  # type: ignore[override]
        kind = levers.kinds.get(name)
        return None if kind is None else _TYPES[kind]


@infer_global(operator.getitem)
class _LeverByPlace(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 2 and isinstance(args[0], NamedLevers) and isinstance(args[1], types.Integer):
            return signature(types.float64, args[0], types.intp)
        return None


@lower_getattr_generic(NamedLevers)
def _read_lever(context: Any, builder: Any, levers: NamedLevers, value: Any, name: str) -> Any:
    number = _read(context, builder, value, context.get_constant(types.intp, levers.places[name]))
    return context.cast(builder, number, types.float64, _TYPES[levers.kinds[name]])


@lower_builtin(operator.getitem, NamedLevers, types.Integer)
def _read_place(context: Any, builder: Any, key: Any, arguments: Any) -> Any:
    return _read(context, builder, *arguments)


def _read(context: Any, builder: Any, levers: Any, place: Any) -> Any:
    array = context.make_array(_ARRAY)(context, builder, levers)
    return builder.load(cgutils.gep(builder, array.data, place))


class PlainLevers:
    """The same for plain Python."""

    __slots__ = ("_kinds", "_values")

    def __init__(self, values: np.ndarray, kinds: Kinds) -> None:
        self._values, self._kinds = values, kinds

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for place, (lever, kind) in enumerate(self._kinds):
            if lever == name:
                return _PYTHON[kind](self._values[place])
        raise AttributeError(f"there is no lever {name}; there are {', '.join(dict(self._kinds)) or 'none'}")

    def __getitem__(self, place: int) -> float:
        return float(self._values[place])


_PYTHON: dict[str, Any] = {"integer": int, "choice": int, "number": float, "switch": bool}


@typeof_impl.register(PlainLevers)
def _type_of_levers(levers: Any, _: Any) -> NamedLevers:
    """Return the type with which a kernel takes the levers that a plain answer hands to it."""
    return NamedLevers(levers._kinds)


@unbox(NamedLevers)
def _levers_in_a_kernel(_: NamedLevers, levers: Any, context: Any) -> Any:
    values = context.pyapi.object_getattr_string(levers, "_values")
    native = context.unbox(_ARRAY, values)
    context.pyapi.decref(values)  # the levers hold it as long as the call lasts
    return native


def plain_levers(values: np.ndarray, kinds: Kinds) -> PlainLevers | np.ndarray:
    """Return the levers of a policy for its answer in plain Python; without names, the array itself.

    >>> levers = plain_levers(np.array([8.0, 1.0]), (("shift", "integer"), ("wrap", "switch")))
    >>> levers.shift, levers.wrap, levers[0]
    (8, True, 8.0)
    """
    return PlainLevers(values, kinds) if kinds else values


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
        self._number = register(name, see)
        _of_view[see] = self
        self.signature = _RETURNED[returns](view_type(see))
        self._ready = Versions()
        self.ask: Any = self._plain_ask if INTERPRETED else intrinsic(self._typed)

    def __identity__(self) -> tuple[Any, ...]:
        """Return the data for a digest of code that asks this question: the question, not its answers."""
        return self.name, tuple((name, str(field)) for name, field in fields_of(self.see).items())

    def ready(self, answer: Callable[..., int], checked: bool = False, kinds: Kinds = ()) -> Answer:
        """Compile an answer, once for every state of what it refers to, and return what an engine calls it by.

        Parameters
        ----------
        answer : function
            A plain function of the view.
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
        if answer.__code__.co_argcount != 1:
            self._refuse_parameters(answer)
        if INTERPRETED:
            return self.plain(answer, kinds)
        if (known := self._ready.known(answer, (checked, kinds))) is not None:
            return known
        with _compiling:
            compiled = functools.partial(self._compile, answer, checked, kinds)
            return self._ready.now(answer, (checked, kinds), compiled)

    def plain(self, answer: Callable[..., int], kinds: Kinds = ()) -> Callable[[Any], int]:
        """Return an answer as a plain function of the view, in which levers have their names."""
        if LEVERS not in fields_of(self.see):
            return answer
        return AnswerByName(answer, kinds)

    def _refuse_parameters(self, answer: Callable[..., int]) -> None:
        code, name = answer.__code__, answer.__name__
        given = ", ".join(code.co_varnames[: code.co_argcount])
        raise PolicyError(
            f"{answer.__qualname__}: an answer to {self.name!r} takes one view, def {name}(see), whose fields are "
            f"{', '.join(fields_of(self.see))}. Got ({given})."
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
        # A notice returns None.
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


def _one_sentence(problem: Exception) -> str:
    text = str(problem)
    for sign, sentence in _KNOWN_PROBLEMS.items():
        if sign in text:
            return sentence
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("File", "Failed"))]
    return lines[0] if lines else type(problem).__name__


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

    # Seven bytes, so that the number is positive as an int64 too.
    number = int.from_bytes(blake2b(name.encode(), digest_size=7).digest())
    _known[number] = name, see
    return number


def report(builder: Any, number: int, see: Any) -> None:
    """Write the code that hands the words of a view to `keep_failed_call`."""
    # In the entry block: an allocation within a loop would take more of the stack at every turn.
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
        values.append(_from_words(field, words[at:]))
        at += _WORDS_OF_AN_ARRAY if field.is_array else 1
    keep_failed_call(name, see(*values))


def _from_words(field: Field, words: np.ndarray) -> Any:
    """Return the value of a field from its words on, arrays as views of what they point to."""
    if not field.is_array:
        return words[:1].view(field.dtype)[0].item()
    items = int(words[_ITEMS])
    if items == 0:
        return np.zeros(0, field.dtype)
    kind = ctypes.POINTER(np.ctypeslib.as_ctypes_type(field.dtype))
    return np.ctypeslib.as_array(ctypes.cast(int(words[_ADDRESS]), kind), (items,))


llvm.add_symbol(SYMBOL, ctypes.cast(_keep, ctypes.c_void_p).value)
