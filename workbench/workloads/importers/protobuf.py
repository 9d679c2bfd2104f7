"""Messages of Protocol Buffers that a profiler wrote, read without trusting them.

A message of Protocol Buffers is a run of fields, each a key (number and wire type) and a value: a varint, eight bytes,
four bytes, or a length and so many bytes. It is read without a schema and without trust in its lengths. Two profilers
write it, XLA's (`xla`) and Perfetto's (`perfetto`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workbench.errors import InputError
from workbench.workloads.importers.source import Source, taken

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
MOST_MESSAGE_BYTES = 1 << 31
Field = tuple[int, int | bytes]
"""A field's number, and its value: a whole number below 2^64, or the bytes of a text, a message or a packed list."""

_FIXED = {EIGHT_BYTES: (8, struct.Struct("<Q")), FOUR_BYTES: (4, struct.Struct("<I"))}


class WireError(ValueError):
    """The bytes are no message: they end within a field, or a field has no known type."""


def fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a message, in their order.

    >>> list(fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69])))
    [(1, 150), (2, b'hi')]

    Raises
    ------
    WireError
        The bytes are no message.
    """
    place, end = 0, len(message)
    while place < end:
        key, place = varint(message, place)
        number, kind = key >> 3, key & 7
        if not number:
            raise WireError
        if kind == VARINT:
            value, place = varint(message, place)
            yield number, value
        elif kind == BYTES:
            length, place = varint(message, place)
            if length > end - place:
                raise WireError
            yield number, message[place : place + length]
            place += length
        elif kind in _FIXED:
            size, layout = _FIXED[kind]
            if size > end - place:
                raise WireError
            yield number, layout.unpack_from(message, place)[0]
            place += size
        else:
            raise WireError


Schema = Mapping[int, tuple[str, Callable[[int | bytes], Any]]]
"""What a message may hold: the name and the reader of each field by its number; a name that ends in [] may repeat."""


def named_fields(message: bytes, schema: Schema) -> dict[str, Any]:
    """Return the fields of a message that a schema names; of one that must not repeat the last, of others a list.

    >>> named_fields(bytes([0x08, 0x05, 0x12, 0x02, 0x68, 0x69]), {1: ("id", whole_of), 2: ("name", text_of)})
    {'id': 5, 'name': 'hi'}
    """
    result: dict[str, Any] = {name: [] for name, _ in schema.values() if name.endswith("[]")}
    for number, value in fields(message):
        if number in schema:
            name, read = schema[number]
            if name in result and name.endswith("[]"):
                result[name].append(read(value))
            else:
                result[name] = read(value)
    return result


def varint(message: bytes, place: int) -> tuple[int, int]:
    """Return the varint that begins at a place, and the place behind it.

    >>> varint(bytes([0x96, 0x01]), 0)
    (150, 2)
    """
    value = shift = 0
    for at in range(place, min(place + 10, len(message))):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at + 1
        shift += 7
    raise WireError


_MASK = (1 << 64) - 1


def signed_of(value: int | bytes) -> int:
    """Return a varint as an int64.

    >>> signed_of(5), signed_of(2**64 - 1)
    (5, -1)
    """
    if isinstance(value, bytes):
        raise WireError
    return value - (1 << 64) if value >> 63 else value


def whole_of(value: int | bytes) -> int:
    """Return a value that must be a number."""
    if isinstance(value, bytes):
        raise WireError
    return value


def bytes_of(value: int | bytes) -> bytes:
    """Return a value that must be bytes: a text, a message, a packed list."""
    if isinstance(value, int):
        raise WireError
    return value


def text_of(value: int | bytes) -> str:
    """Return a value that must be a text; bytes that are not UTF-8 are replaced."""
    return bytes_of(value).decode(errors="replace")


def top_fields(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a whole file, a field at a time; all must hold bytes.

    Memory holds the largest field, not the file.

    Raises
    ------
    InputError
        The file is no message, or is cut off.
    """
    pending, place, pieces = b"", 0, source.pieces()
    while True:
        try:
            number, start, length = _key(pending, place)
        except WireError:
            number, start, length = 0, place, 0
            if len(pending) - place >= 20:
                raise damaged(source) from None
        if not number or len(pending) - start < length:
            more = taken(pieces, length - (len(pending) - start))
            if not more and place < len(pending):
                raise InputError(f"{source.where}: is cut off; it ends within field {number or '(unknown)'}.")
            if not more:
                return
            pending, place = pending[place:] + more, 0
            continue
        yield number, pending[start : start + length]
        place = start + length


def _key(pending: bytes, place: int) -> tuple[int, int, int]:
    """Return the number of the field at a place, where its bytes begin, and how many they are."""
    key, place = varint(pending, place)
    length, place = varint(pending, place)
    if key & 7 != BYTES or not key >> 3 or length > MOST_MESSAGE_BYTES:
        raise WireError
    return key >> 3, place, length


def damaged(source: Source) -> InputError:
    """Return the refusal of a file that is no sound message."""
    return InputError(f"{source.where}: is no sound protobuf file; it is damaged, get it again.")
