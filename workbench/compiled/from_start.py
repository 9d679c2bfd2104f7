"""An array whose indices count from its start alone, as those of lent tuples do.

An index below 0 counts from an array's end, so compiled code compares every index with 0 and reads the array's length.
In the loop of the engine `dispatch` that was a tenth of the time, and no index of it is ever below 0. Views of such an
array are ordinary arrays.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core.typing import signature
from numba.extending import lower_builtin, lower_cast, models, register_model


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
def _plain(context: Any, builder: Any, ours: Any, plain: Any, value: Any) -> Any:
    return value


def _unsigned(index: Any) -> Any:
    if isinstance(index, types.Integer):
        return types.uintp
    return types.Tuple([_unsigned(each) for each in index.types]) if hasattr(index, "types") else index


@lower_builtin(operator.getitem, FromStart, types.Integer)
@lower_builtin(operator.getitem, FromStart, types.BaseTuple)
@lower_builtin(operator.setitem, FromStart, types.Integer, types.Any)
@lower_builtin(operator.setitem, FromStart, types.BaseTuple, types.Any)
def _indexed(context: Any, builder: Any, request: Any, arguments: Any) -> Any:
    """Read as an ordinary array is read with an unsigned index."""
    array, index, *value = request.args
    function = operator.setitem if value else operator.getitem
    there = context.cast(builder, arguments[1], index, _unsigned(index))
    unsigned = signature(request.return_type, array.plain, _unsigned(index), *value)
    return context.get_function(function, unsigned)(builder, (arguments[0], there, *arguments[2:]))
