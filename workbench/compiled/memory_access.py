"""How compiled code gets at memory: tuples lent by reference, routines bound to them, indices from an array's start.

By reference: Numba passes a named tuple by value, every array as seven words. With the seventy arrays of a
dispatcher's state each of its kernels had some six hundred arguments, and compiling them took 170 s; by reference it
takes a tenth of that. The fields are read as those of the tuple; a field that is a named tuple itself is handed on by
reference too. A reference lives as long as the call of the kernel that took it. The words behind it do not change
meanwhile, which compiled code is told: the empty piece of assembly keeps reads of them behind the moment when they
are written.

Bound: handing Numba a named tuple of eighty arrays and numbers takes some 15 microseconds a call, as each is looked
at and unwrapped. Bound, the tuple's words are written into memory once, and a call hands over their address.

Entry: a loop that plays several mechanisms would be compiled together with all of them, and again for each pair of
tuples that they run on. An entry is the address of a routine and the address of the words of its tuple, so the loop
is compiled once, each mechanism once for itself, and a call through it costs some nanoseconds.

From the start: an index below 0 counts from an array's end, so compiled code compares every index with 0 and reads
the array's length. In the loop of the engine `dispatch` that was a tenth of the time, and no index of it is ever
below 0. Views of such an array are ordinary arrays.

Prefetch: an element of an array will be needed soon, so the machine may bring it into its cache meanwhile. In the
engine `translation` waiting for the rows of the next pages was a third of the time.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache, partial
from itertools import chain, compress
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_cast,
    lower_getattr_generic,
    models,
    overload,
    register_model,
    unbox,
)

from workbench.compiled.kernel import INTERPRETED, kernel
from workbench.compiled.question import RAISED

_Tuple = TypeVar("_Tuple")


class Reference(types.Type):
    """The type of a reference to a named tuple, with a short name: names of types become part of every symbol.

    Numba holds types of one name for one type. So the name tells the fields too: two engines' `Columns`, each of five
    arrays, are not alike.
    """

    is_lent = True

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        kind = whole.instance_class
        signature = " ".join((kind.__module__, kind.__qualname__, *whole.fields, whole.name))
        digest = hashlib.blake2b(signature.encode(), digest_size=8).hexdigest()
        super().__init__(name=f"Reference({kind.__name__} {digest})")


@register_model(Reference)
class _ReferenceModel(models.OpaqueModel):
    """A pointer."""


def _field(reference: Reference, name: str) -> tuple[int, Any]:
    place = reference.whole.fields.index(name)
    inside = reference.whole.types[place]
    if isinstance(inside, types.BaseNamedTuple):
        return place, Reference(inside)
    return place, FromStart(inside) if isinstance(inside, types.Array) else inside


@infer_getattr
class _ReferenceFields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:  # type: ignore[override]
        return _field(reference, name)[1] if name in reference.whole.fields else None


@lower_getattr_generic(Reference)
def _read_field(context: Any, builder: Any, reference: Reference, value: Any, name: str) -> Any:
    place, inside = _field(reference, name)
    whole = builder.bitcast(value, context.get_value_type(reference.whole).as_pointer())
    address = cgutils.gep_inbounds(builder, whole, 0, place)
    if isinstance(inside, Reference):
        return builder.bitcast(address, context.get_value_type(inside))
    return _unchanging(builder, address)


def _unchanging(builder: Any, address: Any) -> Any:
    """Load a word, or each word of an array's head, as one that no store can change.

    Without being told LLVM takes every store to an array for one that may move all the arrays of the tuple.
    """
    kind = address.type.pointee
    if not isinstance(kind, (ir.LiteralStructType, ir.ArrayType)):
        word = builder.load(address)
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        return word
    whole = ir.Constant(kind, ir.Undefined)
    for place in range(len(kind)):
        part = _unchanging(builder, cgutils.gep_inbounds(builder, address, 0, place))
        whole = builder.insert_value(whole, part, place)
    return whole


def _plain(whole: _Tuple) -> _Tuple:
    return whole


@intrinsic
def _address_of(typing_context, whole):  # type: ignore[no-untyped-def]
    reference = Reference(whole)

    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        slot = cgutils.alloca_once_value(builder, arguments[0])
        hidden = ir.FunctionType(slot.type, [slot.type])
        slot = builder.asm(hidden, "", "=r,0,~{memory}", [slot], side_effect=True)
        return builder.bitcast(slot, context.get_value_type(reference))

    return reference(whole), code


by_reference: Any = _plain if INTERPRETED else _address_of
"""The named tuple by reference, to be handed on; where code is interpreted, the tuple itself."""


class Referent:
    """A tuple's words in memory, and the tuple itself, to whose arrays they point."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        self._layout = _layout_of(whole)
        self._words = np.zeros(self._layout.size, np.int64)
        self._layout.write(whole, self._words)
        self.address = self._words.__array_interface__["data"][0]

    @property
    def reference(self) -> Reference:
        """Return the type of a reference to the tuple, which those that it is renewed with have too."""
        return self._layout.reference

    def __deepcopy__(self, memo: dict[int, Any]) -> Referent:
        return Referent(deepcopy(self.whole, memo))

    def renew(self, whole: Any) -> None:
        """Take a tuple of the same type in place of the one before: whoever has the address goes on with it.

        Compiled code that runs on the tuple must have returned.
        """
        self._layout.write(whole, self._words)
        self.whole = whole


class _Fields(NamedTuple):
    """The fields of one kind, among all fields of all tuples of a whole."""

    which: list[bool]
    first: np.ndarray
    """int64[fields of the kind], the first word of each."""


class _Layout(NamedTuple):
    """Where the words of every tuple of one type stand, as Numba lays them out; none where code is interpreted.

    A whole number and a float are one word. An array has two words for its owner, which are 0. Then come its number
    of elements, the bytes of one, its address, its shape and its strides.
    """

    reference: Any
    size: int
    inner: Callable[[Any], Sequence[Any]]
    """Returns all tuples inside, of a tuple of this type."""
    arrays: _Fields
    numbers: _Fields
    floats: _Fields

    def write(self, whole: Any, words: np.ndarray) -> None:
        """Write the words of a tuple of this type."""
        if not self.size:
            return
        fields = [*chain(whole, *self.inner(whole))]
        _write_arrays(np.fromiter(map(id, compress(fields, self.arrays.which)), np.int64), self.arrays.first, words)
        words[self.numbers.first] = np.fromiter(compress(fields, self.numbers.which), np.int64)
        words.view(np.float64)[self.floats.first] = np.fromiter(compress(fields, self.floats.which), np.float64)


_layouts: dict[Any, _Layout] = {}
"""By what decides them: Numba takes milliseconds to find the type of a tuple of eighty arrays."""


def _layout_of(whole: Any) -> _Layout:
    if INTERPRETED:
        nothing = _Fields([], np.zeros(0, np.int64))
        return _Layout(None, 0, _inner_of([]), nothing, nothing, nothing)
    # The types tell apart classes of one name whose fields have the same names and types; the fingerprint does not.
    key = type(whole), *map(type, whole), compute_fingerprint(whole)
    if key not in _layouts:
        _layouts[key] = _new_layout(whole)
    return _layouts[key]


def _new_layout(whole: Any) -> _Layout:
    tuples, paths, first, size = [whole], [""], dict[tuple[int, int], int](), 0

    def walk(number: int) -> None:
        nonlocal size
        for place, field in enumerate(tuples[number]):
            first[number, place] = size
            if isinstance(field, tuple):
                tuples.append(field)
                paths.append(f"{paths[number]}.{tuples[number]._fields[place]}".lstrip("."))
                walk(len(tuples) - 1)
            else:
                size += _words_of(field)

    walk(0)
    fields = [((number, place), field) for number, one in enumerate(tuples) for place, field in enumerate(one)]

    def of_kind(*kinds: type) -> _Fields:
        which = [isinstance(field, kinds) for _, field in fields]
        return _Fields(which, np.array([first[at] for at, _ in compress(fields, which)], np.int64))

    return _Layout(
        Reference(typeof(whole)),
        size,
        _inner_of([name for name in paths if name]),
        of_kind(np.ndarray),
        of_kind(int, np.integer),
        of_kind(float),
    )


def _inner_of(names: list[str]) -> Callable[[Any], Sequence[Any]]:
    """Return a function that gives the fields of these dotted names, in one call of the interpreter."""
    if not names:
        return lambda _: ()
    get = operator.attrgetter(*names)
    return get if len(names) > 1 else lambda whole: (get(whole),)


def _words_of(field: Any) -> int:
    """Return the number of words of a field that is no tuple."""
    if isinstance(field, np.ndarray):
        return _BEFORE_SHAPE + 2 * field.ndim
    # A bool is an int to Python, but no word of 64 bits to Numba.
    if isinstance(field, (int, np.integer, float)) and not isinstance(field, bool):
        return 1
    raise TypeError(f"a bound tuple holds arrays, whole numbers and floats; got {field!r}")


_OWNER, _BEFORE_SHAPE = 1, 5
"""Of an array's words: the one for the object that owns it, and how many stand before its shape."""


@intrinsic
def _adapt(typing_context, array, words, first):  # type: ignore[no-untyped-def]
    def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        address = context.make_array(words)(context, builder, arguments[1]).data
        there = builder.bitcast(builder.gep(address, [arguments[2]]), cgutils.voidptr_t)
        kind = ir.FunctionType(ir.IntType(32), [cgutils.voidptr_t, cgutils.voidptr_t])
        function = cgutils.get_or_insert_function(builder.module, kind, "numba_adapt_ndarray")
        builder.call(function, [builder.inttoptr(arguments[0], cgutils.voidptr_t), there])
        return context.get_dummy_value()

    return types.none(types.int64, words, types.int64), code


@kernel
def _write_arrays(arrays: np.ndarray, first: np.ndarray, words: np.ndarray) -> None:
    """Write the words of arrays, given by the addresses of their objects, which the caller holds."""
    for k in range(arrays.size):
        _adapt(arrays[k], words, first[k])  # type: ignore[call-arg]
        words[first[k] + _OWNER] = 0


def bound(function: Callable[..., Any], whole: Any) -> Callable[..., Any]:
    """Return a routine with its first parameter, a tuple by reference, filled in; those that follow are whole numbers.

    The fields of the tuple stay as they are, but for those of one that is lent already (`Referent`), which may be
    renewed; what its arrays hold may change, from either side.
    Compiled, the routine is an `entry_point`.
    """
    lent = whole if isinstance(whole, Referent) else Referent(whole)
    if INTERPRETED:
        return partial(_interpreted, function, lent)
    return partial(_called_by_python(function, lent.reference), lent)


@cache
def _called_by_python(machine: Any, reference: Reference) -> Any:
    result = _compiled_for(machine, reference)
    if not result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name):
        raise TypeError(f"{machine.py_func.__qualname__} is called from compiled code alone; make it an entry_point")
    return result.entry_point


def _compiled_for(machine: Any, reference: Reference) -> Any:
    """Compile a routine for a tuple by reference and whole numbers, or load it; return what came of it."""
    arguments = (reference, *[types.int64] * (machine.py_func.__code__.co_argcount - 1))
    machine.compile(arguments)
    return machine.overloads[arguments]


def _interpreted(function: Callable[..., Any], lent: Referent, *numbers: int) -> Any:
    return function(lent.whole, *numbers)


@unbox(Reference)
def _address(lent: Any, kept: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(kept, "address")
    word = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.bitcast(word, c.context.get_value_type(lent)))


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
    >>> from workbench.structures.event_queue import new_event_queue, take_place
    >>> queue = Referent(new_event_queue(4))
    >>> take = entry_of(take_place, queue)
    >>> call(*take, ()), call(*take, ())
    (0, 1)
    """
    return Entry(routine_of(routine, lent.reference), run_of(lent))


def routine_of(routine: Callable[..., int], reference: Reference) -> Any:
    """Return the first half of an entry, which is the same for all tuples of one type."""
    return routine if INTERPRETED else _address_in_memory(routine, reference)


def run_of(lent: Referent) -> Any:
    """Return the second half of an entry."""
    return lent if INTERPRETED else lent.address


@cache
def _address_in_memory(machine: Any, reference: Reference) -> int:
    """Return the address of the machine code of a routine."""
    result = _compiled_for(machine, reference)
    if types.unliteral(result.signature.return_type) != types.int64:
        raise TypeError(f"{machine.py_func.__qualname__} must return a whole number")
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


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


class FromStart(types.Array):
    """The type of the array, with the words of an ordinary one."""

    is_lent = True

    def __init__(self, plain: Any) -> None:
        self.plain = plain
        super().__init__(
            plain.dtype, plain.ndim, plain.layout, not plain.mutable, f"from the start {plain.name}", plain.aligned
        )


register_model(FromStart)(models.ArrayModel)


@lower_cast(FromStart, types.Array)
def _as_plain_array(context: Any, builder: Any, ours: Any, plain: Any, value: Any) -> Any:
    return value


def _unsigned(index: Any) -> Any:
    if isinstance(index, types.Integer):
        return types.uintp
    return types.Tuple([_unsigned(each) for each in index.types]) if hasattr(index, "types") else index


@lower_builtin(operator.getitem, FromStart, types.Integer)
@lower_builtin(operator.getitem, FromStart, types.BaseTuple)
@lower_builtin(operator.setitem, FromStart, types.Integer, types.Any)
@lower_builtin(operator.setitem, FromStart, types.BaseTuple, types.Any)
def _indexed_from_start(context: Any, builder: Any, request: Any, arguments: Any) -> Any:
    """Read as an ordinary array is read with an unsigned index."""
    array, index, *value = request.args
    function = operator.setitem if value else operator.getitem
    there = context.cast(builder, arguments[1], index, _unsigned(index))
    unsigned = signature(request.return_type, array.plain, _unsigned(index), *value)
    return context.get_function(function, unsigned)(builder, (arguments[0], there, *arguments[2:]))


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
