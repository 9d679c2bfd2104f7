"""A named tuple handed to kernels by reference: one pointer, however many arrays it holds.

Numba passes a tuple by value, every array as seven words. With the seventy arrays of a dispatcher's state each of its
kernels had some six hundred arguments, and compiling them took 170 s; by reference it takes a tenth of that. The fields
are read as those of the tuple; a field that is a named tuple itself is handed on by reference too. A reference lives as
long as the call of the kernel that took it. The words behind it do not change meanwhile, which compiled code is told:
the empty piece of assembly keeps reads of them behind the moment when they are written.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from workbench.compiled.from_start import FromStart
from workbench.compiled.kernel import INTERPRETED

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
