"""Which word of its metadata does a request access next? (spec 2, R23-R31)

A parallel heap is a series of accesses a request. An answer takes an `AccessView`: it lets the latest access take
effect on the heap's memory, and names the next one or the block. The engine says how long that takes: accesses to one
word follow one another, accesses to different words do not wait.

A word is an index into the heap's memory, so that what an access changes and what it waits for are one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Question, kernel, number, view, writable
from workbench.policies.malloc.heap import HeapPolicy

PARALLEL = 3
"""The kind of heap."""
ADD, EACH, SWAP, HOLD, WAIT, GRANT, NULL = range(7)
"""Answers: the kind of the next access, or how the request ends."""
WORD, CYCLES = 0, 1
START, GRANULES = 0, 1
"""Places of `out`, for an access and for a grant."""
STAGE = 0
"""The place of `own` that all heaps here use for the latest access."""
POOL_SIZE, POOL_TOP, UNITS, GRANULE_BYTES, FIRST = range(5)
"""Places of the memory: the heap's granules, the pool's pointer, compute units, bytes a granule, and what follows."""
OWN = 4
BITS, FULL = 64, -1


@view
class AccessView(NamedTuple):
    """A request whose latest access takes effect now, or that makes its first one."""

    bytes: int = number("bytes asked for, headers included")
    granules: int = number("granules that hold them, at least 1")
    request: int = number("the number of the request, in the order in which requests come")
    group: int = number("its group: the threads that are served together")
    unit: int = number("the compute unit of the thread that asks")
    own: np.ndarray = writable(
        "int64", "4", "what the request remembers between its accesses, below 2^31; zeros before the first"
    )
    out: np.ndarray = writable(
        "int64", "2", "to be filled: word and cycles of the next access, or first granule and granules of the block"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class ReturnView(NamedTuple):
    """A block that goes back."""

    start: int = number("its first granule")
    granules: int = number("its granules")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


ACCESS = Question(
    "heap",
    AccessView,
    answers="ADD, EACH, SWAP, HOLD or WAIT for the next access, GRANT or NULL for the end",
    wrong="answered {answer}: must be 0 to 6, with a word of its memory and at least 0 cycles, or a block of the heap",
)
RETURNED = Question("heap return", ReturnView, returns="nothing")


class ParallelHeap(HeapPolicy, abstract=True):
    """The base of every heap that serves in parallel.

    A new one needs an `answer`, what it remembers (`start_memory`), and `returned` where blocks go back.
    """

    kind = PARALLEL
    asks: ClassVar[Question] = ACCESS
    tells = {"returned": RETURNED}
    returned: ClassVar[Callable[..., Any] | None] = None

    def start_memory(self, granules: int, granule_bytes: int, units: int) -> np.ndarray:
        """Return the memory of an empty heap: int64[words].

        Parameters
        ----------
        granules : int
            Granules of the heap.
        granule_bytes : int
            Bytes of each.
        units : int
            Compute units of the machine.
        """
        return new_memory(granules, granule_bytes, units, 0)


def new_memory(granules: int, granule_bytes: int, units: int, words: int) -> np.ndarray:
    """Return a memory with a full pool and so many words of zeros behind `FIRST`."""
    memory = np.zeros(FIRST + words, np.int64)
    memory[POOL_SIZE], memory[UNITS], memory[GRANULE_BYTES] = granules, units, granule_bytes
    return memory


@kernel
def from_pool(memory: np.ndarray, granules: int) -> int:
    """Take granules of the pool; return the first one, or -1."""
    start = memory[POOL_TOP]
    if start + granules > memory[POOL_SIZE]:
        return -1
    memory[POOL_TOP] = start + granules
    return start


@kernel
def first_free(memory: np.ndarray, bits: int, count: int, start: int) -> int:
    """Return the first zero bit from `start` on, around, of `count` bits in the words from `bits` on; -1 = none."""
    bit, left = start, count
    while left > 0:
        word = memory[bits + bit // BITS]
        if word == FULL and bit % BITS == 0 and left >= BITS and bit + BITS <= count:
            bit, left = bit + BITS, left - BITS
        elif (word >> (bit % BITS)) & 1:
            bit, left = bit + 1, left - 1
        else:
            return bit
        if bit == count:
            bit = 0
    return -1


@kernel
def flip(memory: np.ndarray, bits: int, bit: int) -> None:
    """Change one bit of the words from `bits` on."""
    memory[bits + bit // BITS] ^= np.int64(1) << (bit % BITS)


@kernel
def words_for(count: int) -> int:
    """Return the number of words that hold so many bits."""
    return (count + BITS - 1) // BITS
