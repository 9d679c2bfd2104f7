"""The forms of out-of-memory messages, and the numbers that each tells.

| form | where it is from |
| --- | --- |
| `(GPU 0; 8 GiB total capacity; ... cached)` | PyTorch 1.0 to 1.3; `cached` is not allocated (pull request 13751) |
| `(GPU 0; ... reserved in total by PyTorch)` | PyTorch 1.4 to 2.0; `reserved` holds what is allocated |
| `GPU 0 has a total capacity of ...` | PyTorch from 2.1, with a misspelt word until 2.2; CUDA, HIP, XPU and others |
| `Allocation on device 0 would exceed allowed memory` | PyTorch with `backend:cudaMallocAsync` |
| `MPS backend out of memory` | PyTorch on Apple's GPUs; its GB are GiB |
| `Allocator (GPU_0_bfc) ran out of memory`, `RESOURCE_EXHAUSTED` | JAX, and TensorFlow's allocator |
| `Ran out of memory in memory space hbm`, `Attempting to allocate` | JAX on a TPU; its G are GiB |
| `std::bad_alloc`, `Maximum pool size exceeded`, `Exceeded memory limit` | RMM |

In PyTorch's newest form "allocated in private pools" counts blocks of such pools that are free
(`CUDACachingAllocator.cpp`, where `allocated_in_private_pools` sums `pool.blocks`, the free blocks). They are part of
what the message calls allocated, and not of what it calls reserved but unallocated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.advice.messages.log_lines import Excerpt, asked_by, excerpt_at

_SIZE = r"(?<![\d.,])(\d[\d,]{0,24}(?:\.\d{1,9})?)\s*(bytes|B|[KMGTPE]i?B|[KMGTPE])\b"
_POWERS = {letter: 10 * power for power, letter in enumerate("KMGTPE", 1)}
UNKNOWABLE = 1 << 60
"""PyTorch prints a count below zero as 17179869184 GiB (WSL, where the driver does not tell); such a number is none."""
_MARKS = re.compile(
    r"out of memory|RESOURCE_EXHAUSTED|would exceed allowed memory|bad_alloc|cudaErrorMemoryAllocation"
    r"|Maximum pool size exceeded|Exceeded memory limit|CUDA_ERROR_OUT_OF_MEMORY|HIP_ERROR_OutOfMemory"
    r"|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED|you tried to allocate|Tried to allocate",
    re.I,
)
"""What a line with a message holds."""


class Message(NamedTuple):
    """The numbers of one out-of-memory message; None = the message does not tell it. All sizes are in bytes."""

    program: str
    """Who wrote the message: PyTorch, JAX or RMM."""
    backend: str
    """CUDA, HIP, XPU, MPS, TPU, cudaMallocAsync, BFC, pool or host."""
    requested: int | None = None
    capacity: int | None = None
    """Bytes of the card, or of the pool that the request has to fit into (`place`)."""
    free: int | None = None
    """Bytes that the driver would still give."""
    allocated: int | None = None
    """Bytes of blocks in use, and of free blocks in private pools."""
    unallocated: int | None = None
    """Bytes that the allocator holds besides: free blocks next to live ones."""
    allowed: int | None = None
    """The most that this process may reserve (`set_per_process_memory_fraction`)."""
    private: int | None = None
    """Bytes of free blocks in private pools, such as those of CUDA graphs."""
    others: int | None = None
    """Bytes that the message says other processes hold."""
    device: int | None = None
    place: str = "the card"
    """The memory that `capacity` is of."""
    need: str = "request"
    """What asked: a request, or a compiled program as a whole."""
    variable: str = ""
    """The environment variable of settings that the message names."""
    age: str = ""
    """PyTorch's form: cached, reserved or newest; empty for others."""
    label: str = ""
    asked_by: str = ""
    is_windows: bool = False
    """Whether a path of the log is one of Windows."""

    @property
    def outside(self) -> int | None:
        """Return the bytes of the card outside this allocator: other processes, contexts, libraries."""
        known = (self.capacity, self.free, self.allocated, self.unallocated)
        if any(size is None for size in known) or self.place != "the card":
            return self.others
        capacity, free, allocated, unallocated = (size or 0 for size in known)
        return max(capacity - free - allocated - unallocated, self.others or 0, 0)


def messages_in(text: str) -> tuple[list[Message], list[str]]:
    """Return the messages of a text in their order, and a sentence on each message that is cut off.

    Messages with the same numbers, label and line are one: programs print an error where it is raised and once more
    where it is caught.

    >>> (message,), _ = messages_in("CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 8.00 GiB total capacity; "
    ...     "5.00 GiB already allocated; 1.00 GiB free; 6.50 GiB reserved in total by PyTorch)")
    >>> message.device, message.requested >> 20, message.unallocated >> 20
    (1, 2048, 1536)
    """
    lines = text.splitlines()
    known: dict[Message, None] = {}
    vague: dict[Message, None] = {}
    cut: dict[str, None] = {}
    read_until = -1
    for place in (k for k, line in enumerate(lines) if _MARKS.search(line)):
        if place <= read_until:
            continue
        excerpt = _with_statistics(excerpt_at(lines, place), lines, place)
        for form in _forms():
            message = form(excerpt.text)
            if isinstance(message, str):
                cut[message] = None
                break
            if message is not None:
                read_until = place + _wrapped(excerpt.text)
                whole = message._replace(
                    label=excerpt.label,
                    asked_by=asked_by(excerpt),
                    is_windows=any(re.search(r'File "[A-Za-z]:[\\/]', line) for line in excerpt.before),
                )
                (vague if message.requested is None and message.capacity is None else known)[whole] = None
                break
    return _merged(list(known) or list(vague)), [] if known or vague else list(cut)


def _wrapped(text: str) -> int:
    """Return the lines behind the first that repeat a mark of the same message, which was broken into lines."""
    lines = text.split("\n", 4)[1:4]
    return next((k for k, line in enumerate(lines, 1) if re.match(r"\s*Tried\s+to\s+allocate", line)), 0)


def _with_statistics(excerpt: Excerpt, lines: Sequence[str], place: int) -> Excerpt:
    """Return an excerpt with the statistics of TensorFlow's allocator, which stand behind a list of all its blocks."""
    if "_bfc) ran out of memory" not in lines[place]:
        return excerpt
    behind = range(place + 1, len(lines))
    end = next((k for k in behind if "_bfc) ran out of memory" in lines[k]), len(lines))
    begin = next((k for k in range(place + 1, end) if re.match(r"\s*Limit:\s+\d", lines[k])), end)
    return excerpt._replace(text="\n".join([excerpt.text, *lines[begin : min(begin + 8, end)]]))


def _merged(messages: list[Message]) -> list[Message]:
    """Return each failure once: an error is printed with its traceback, and once more without it."""
    kept: list[Message] = []
    places: dict[Message, dict[str, int]] = {}
    for message in messages:
        if kept and _is_same_of_jax(kept[-1], message):
            first, second = sorted((kept[-1], message), key=_known_numbers, reverse=True)
            kept[-1] = first._replace(asked_by=first.asked_by or second.asked_by)
            continue
        sites = places.setdefault(message._replace(asked_by="", is_windows=False), {})
        if message.asked_by in sites or (sites and not message.asked_by):
            continue
        place = sites.pop("", len(kept))
        kept[place : place + 1] = [message]
        sites[message.asked_by] = place
    return kept


def _known_numbers(message: Message) -> int:
    return sum(value is not None for value in message)


def _is_same_of_jax(one: Message, other: Message) -> bool:
    """Return whether the allocator and the runtime of JAX print one failure; sizes are rounded in one of them."""
    if one.program != "JAX" or other.program != "JAX" or one.label != other.label:
        return False
    sizes = one.requested, other.requested
    return None not in sizes and abs((sizes[0] or 0) - (sizes[1] or 0)) <= (sizes[0] or 0) >> 7


def _size(pattern: str, text: str) -> int | None:
    """Return the bytes at the first place of a pattern, in which `SIZE` stands for a number with its unit."""
    match = re.search(pattern.replace("SIZE", _SIZE).replace(" ", r"\s+"), text)
    return None if match is None else parse_size(match[1], match[2])


def parse_size(number: str, unit: str) -> int | None:
    """Return the bytes of a printed size; allocators print powers of 1024, whatever the unit is called.

    >>> parse_size("1.50", "GiB"), parse_size("512", "bytes"), parse_size("17179869184.00", "GiB")
    (1610612736, 512, None)
    """
    size = round(float(number.replace(",", "")) * (1 << _POWERS.get(unit[0], 0)))
    return None if size >= UNKNOWABLE else size


def _first(text: str, ends: Sequence[str]) -> str:
    """Return the text up to the first of some endings behind its beginning."""
    places = [match.start() for end in ends if (match := re.search(end, text[40:]))]
    return text[: 40 + min(places)] if places else text


def _torch(text: str) -> Message | str | None:
    """Read the message of PyTorch's own allocator; a message that lacks its numbers is returned as a sentence."""
    start = re.search(r"(?:(\w+) out of memory\.\s+)?Tried\s+to\s+allocate\s+", text[:200])
    if start is None or "MPS backend" in text[: start.end()]:
        return None
    text = _first(text[start.start() :], [r"Tried\s+to\s+allocate\s+\d", r"Traceback \(most recent"])
    backend = start[1] or "CUDA"
    if "more than 1EB memory" in text[:120]:
        return Message("PyTorch", backend, requested=UNKNOWABLE)
    requested = _size("Tried to allocate SIZE", text)
    if requested is None and re.match(rf"[^.]*\.?\s*Tried\s+to\s+allocate\s+{_SIZE}", text):
        requested = UNKNOWABLE
    capacity = _size("SIZE total capacity", text)
    capacity = _size(r"total capaci?ty of SIZE", text) if capacity is None else capacity
    is_newest = re.search(r"has\s+a\s+total\s+capac", text) is not None
    allocated = _size("SIZE is allocated by PyTorch" if is_newest else "SIZE already allocated", text)
    reserved, cached = _size("SIZE reserved in total", text), _size("SIZE cached", text)
    unallocated = _size("SIZE is reserved by PyTorch but unallocated", text) if is_newest else cached
    if unallocated is None and reserved is not None and allocated is not None:
        unallocated = max(reserved - allocated, 0)
    if requested is None or ((capacity is None or allocated is None) and not _is_decided(requested, capacity)):
        words = " ".join(text.split())
        return f"is cut off after '{words[:60].strip()}'; paste the message to its end, with what is allocated"
    device = re.search(r"\b(?:[A-Z]PU|MUSA|GCU|MLU)\s+(\d+)", text)
    processes = re.findall(rf"Process\s+\d+\s+has\s+{_SIZE}\s+memory\s+in\s+use", text)
    variable = re.search(r"PYTORCH(?:_[A-Z]+)?_ALLOC_CONF", text)
    return Message(
        program="PyTorch",
        backend=backend,
        requested=requested,
        capacity=capacity,
        free=_size("of which SIZE is free" if is_newest else "SIZE free", text),
        allocated=allocated,
        unallocated=unallocated,
        allowed=_size("SIZE allowed", text),
        private=_size("with SIZE allocated in private pools", text),
        others=_of_others(processes, text, (allocated or 0) + (unallocated or 0)),
        device=int(device[1]) if device else None,
        variable=variable[0] if variable else "",
        age="newest" if is_newest else "reserved" if reserved is not None else "cached",
    )


def _is_decided(requested: int, capacity: int | None) -> bool:
    return capacity is not None and requested > capacity


def _of_others(processes: Sequence[tuple[str, str]], text: str, reserved: int) -> int | None:
    """Return the bytes of other processes.

    In a container PyTorch does not know its own number, and lists itself among the others. If no line says "this
    process", the smallest process that can hold what is reserved is this one.
    """
    sizes = sorted(size for it in processes if (size := parse_size(*it)) is not None)
    if not sizes:
        return None
    if not re.search(r"this\s+process\s+has", text):
        itself = next((size for size in sizes if size >= reserved), None)
        if itself is not None:
            sizes.remove(itself)
    return sum(sizes)


def _malloc_async(text: str) -> Message | None:
    if not re.search(r"Allocation on device\s+\d*.{0,40}would exceed allowed memory", text[:200]):
        return None
    device = re.search(r"Allocation on device\s+(\d+)", text)
    return Message(
        program="PyTorch",
        backend="cudaMallocAsync",
        requested=_size(r"Requested\s*: SIZE", text),
        capacity=_size(r"Device limit\s*: SIZE", text),
        free=_size(r"Free \(according to CUDA\): SIZE", text),
        allocated=_size(r"Currently allocated\s*: SIZE", text),
        allowed=_size(r"PyTorch limit[^:]{0,80}: SIZE", text),
        device=int(device[1]) if device else None,
        variable="PYTORCH_CUDA_ALLOC_CONF",
        age="newest",
    )


def _mps(text: str) -> Message | None:
    if "MPS backend out of memory" not in text[:200]:
        return None
    allocated, more = _size("MPS allocated: SIZE", text), _size("other allocations: SIZE", text)
    capacity = _size("max allowed: SIZE", text)
    used = None if allocated is None else allocated + (more or 0)
    return Message(
        program="PyTorch",
        backend="MPS",
        requested=_size("Tried to allocate SIZE", text),
        capacity=capacity,
        free=None if used is None or capacity is None else max(capacity - used, 0),
        allocated=used,
        unallocated=0,
        place="PyTorch's limit on MPS",
        variable="PYTORCH_MPS_HIGH_WATERMARK_RATIO",
    )


def _tpu(text: str) -> Message | None:
    if (match := re.search(r"Ran out of memory in memory space hbm", text[:400])) is not None:
        used, capacity = _size("Used SIZE of", text), _size("Used [^ ]+ of SIZE hbm", text)
        return Message("JAX", "TPU", requested=used, capacity=capacity, need="program") if match else None
    match = re.search(r"Attempting\s+to\s+(?:allocate|reserve)\s+", text[:400])
    if match is None:
        return None
    text = text[match.start() :]
    capacity = _size(r"HBM capacity SIZE", text)
    free = _size("There are SIZE free", text)
    largest = _size("largest contiguous region of free memory is SIZE", text)
    holes = 0 if largest is None or free is None else free - largest
    return Message(
        program="JAX",
        backend="TPU",
        requested=_size("Attempting to (?:allocate|reserve) SIZE", text),
        capacity=capacity,
        free=None if free is None else free - holes,
        unallocated=holes,
    )


def _bfc(text: str) -> Message | None:
    """Read what the allocator of TensorFlow and JAX logs: its limit is that of its pool, a share of the card."""
    match = re.search(r"Allocator \((\w+)\) ran out of memory trying to allocate", text[:400])
    if match is None or "not a failure" in text.split("\n", 1)[0]:
        return None
    exact = re.search(r"rounded to (\d+)\)", text[:600])
    limit, used = (re.search(rf"^\W*(?:.*\] )?{name}:\s+(\d+)", text, re.M) for name in ("Limit", "InUse"))
    capacity = int(limit[1]) if limit and 0 < int(limit[1]) < UNKNOWABLE else None
    allocated = int(used[1]) if used else None
    device = re.search(r"_(\d+)_", match[1])
    return Message(
        program="JAX",
        backend="BFC",
        requested=int(exact[1]) if exact else _size("trying to allocate SIZE", text),
        capacity=capacity,
        free=0 if capacity is not None and allocated is not None else None,
        allocated=allocated,
        unallocated=None if capacity is None or allocated is None else max(capacity - allocated, 0),
        device=int(device[1]) if device else None,
        place="the allocator's pool",
    )


def _xla(text: str) -> Message | None:
    if "RESOURCE_EXHAUSTED" not in text[:400] and "Resource exhausted" not in text[:400]:
        return None
    requested = _size("(?:trying to allocate|allocate request for) SIZE", text)
    exact = re.search(r"allocate request for \S+ \((\d+)B\)", text)
    total = _size("total allocation: SIZE", text)
    device = re.search(r"device ordinal (\d+)", text)
    message = Message("JAX", "BFC", int(exact[1]) if exact else requested, device=int(device[1]) if device else None)
    return message if total is None else message._replace(allocated=max(total - (message.requested or 0), 0))


def _rmm(text: str) -> Message | None:
    head = text[:600]
    if re.search(r"Maximum pool size exceeded|Exceeded memory limit", head):
        requested = _size(r"\(failed to allocate SIZE\)", text)
        sizes = re.search(rf"current/max/try size = {_SIZE}, {_SIZE}, {_SIZE}", text)
        if sizes is None:
            return Message("RMM", "pool", requested, place="RMM's pool")
        current, most, tried = (parse_size(*sizes.group(k, k + 1)) for k in (1, 3, 5))
        return Message(
            program="RMM",
            backend="pool",
            requested=tried if requested is None else requested,
            capacity=most,
            free=None if most is None or current is None else max(most - current, 0),
            place="RMM's pool",
        )
    if "bad_alloc" not in head and "RMM failure" not in head:
        return None
    if not re.search(r"rmm|cuda|MemoryError", head, re.I):
        return Message("C++", "host")
    return Message("RMM", "CUDA", _size(r"failed to allocate SIZE\)", text))


def _host(text: str) -> Message | None:
    match = re.search(r"Allocator: (?:can't allocate memory|not enough memory): you tried to allocate", text[:300])
    return None if match is None else Message("PyTorch", "host", _size("you tried to allocate SIZE", text))


def _bare(text: str) -> Message | None:
    line = text.split("\n", 1)[0]
    if "not a failure" in line or not re.search(
        r"(?:CUDA|HIP|hip|cuda|XPU)\w*[ :].{0,40}out of memory|CUDA_ERROR_OUT_OF_MEMORY|HIP_ERROR_OutOfMemory"
        r"|cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED|OutOfMemoryError: ",
        line,
    ):
        return None
    return Message("PyTorch" if "OutOfMemoryError" in line or "RuntimeError" in line else "CUDA", "CUDA")


def has_mark(text: str) -> bool:
    """Return whether a text holds words of an out-of-memory message."""
    return _MARKS.search(text) is not None


def _forms() -> tuple[Callable[[str], Message | str | None], ...]:
    """Return the readers of each form, the most particular first."""
    return (_mps, _torch, _malloc_async, _bfc, _tpu, _xla, _rmm, _host, _bare)
