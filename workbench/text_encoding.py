"""The encoding that a text announces by its first bytes, taken away: a byte order mark, or UTF-16 made UTF-8.

Windows' editors put a mark before UTF-8, and `>` of its PowerShell writes UTF-16. No binary format that is read here
begins so.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def as_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a text without its byte order mark, in UTF-8 where they were in UTF-16.

    What is no UTF-16 is replaced, as it is wherever text is read here.

    >>> list(as_utf8([codecs.BOM_UTF8 + b"GPU0"])), list(as_utf8([codecs.BOM_UTF16_LE + b"G", b"\\0P\\0"]))
    ([b'GPU0'], [b'', b'GP', b''])
    """
    rest = iter(pieces)
    first = next(rest, b"")
    encoding = _UTF16.get(first[:2])
    if encoding is None:
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from rest
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    yield decoder.decode(first[2:]).encode()
    for piece in rest:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()  # a lone half at the end
