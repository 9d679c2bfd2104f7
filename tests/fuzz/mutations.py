"""Seeded mutations of a file: what a damaged disk, a careless editor and a hostile user do to one."""

from __future__ import annotations

import gzip
import re

import numpy as np

TOKENS = (
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", "²".encode()),
    *b'" \\ { [ ] } , -1 0 1e400 1e-400 nan inf -inf null true 0x0 ../x %s <a>'.split(b" "),
    *(b"9" * digits for digits in (19, 25, 400, 5000)),
    *(str(edge).encode() for edge in (1 << 63, (1 << 63) - 1, -(1 << 63), 1 << 64)),
    *(b"\n", b"\t", b" ", b"a" * 300, b"&a [*a]"),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")


def mutated(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """The content after one to four changes; `other` is a file whose parts may get into it."""
    packed = content.startswith(b"\x1f\x8b")
    if packed and rng.integers(4):
        return gzip.compress(mutated(gzip.decompress(content), other, rng), compresslevel=1)
    for _ in range(int(rng.integers(1, 5))):
        change = _CHANGES[int(rng.integers(len(_CHANGES)))]
        content = change(content, other, rng)
    return content


def _place(content: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(len(content) + 1))


def _part(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = _place(content, rng)
    return start, start + int(2 ** rng.uniform(0, 8))


def _flip(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    if not content:
        return content
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]


def _cut_off(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return content[: _place(content, rng)]


def _leave_out(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    start, end = _part(content, rng)
    return content[:start] + content[end:]


def _repeat(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    start, end = _part(content, rng)
    return content[:end] + content[start:end] * int(rng.integers(1, 4)) + content[end:]


def _put_in(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    at = _place(content, rng)
    return content[:at] + TOKENS[int(rng.integers(len(TOKENS)))] + content[at:]


def _splice(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    at, (start, end) = _place(content, rng), _part(other, rng)
    return content[:at] + other[start:end] + content[at:]


def _swap_lines(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    lines = content.split(b"\n")
    one, two = (int(rng.integers(len(lines))) for _ in range(2))
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def _replace(pattern: re.Pattern[bytes], content: bytes, rng: np.random.Generator) -> bytes:
    result = list(pattern.finditer(content))
    if not result:
        return content
    one = result[int(rng.integers(len(result)))]
    return content[: one.start()] + TOKENS[int(rng.integers(len(TOKENS)))] + content[one.end() :]


def _another_number(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return _replace(_NUMBER, content, rng)


def _another_word(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return _replace(_WORD, content, rng)


_CHANGES = (
    *(_flip, _cut_off, _leave_out, _repeat, _put_in, _splice),
    *(_swap_lines, _another_number, _another_number, _another_word),
)
