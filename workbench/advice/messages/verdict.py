"""The verdict of an out-of-memory message: the cause, from its numbers alone.

With `requested`, `capacity`, `free`, `allocated` and `unallocated` (free blocks next to live ones, which the allocator
holds) the first rule that holds decides:

1. `requested > capacity`: the request alone is larger than the card. No setting and no release helps.
2. `allocated + unallocated > capacity`: more is allocated than the card has, so part of it lies in the host's memory.
   A driver for Windows (WDDM, WSL) does so, and so does managed memory.
3. `free >= requested`: memory was left. PyTorch gives all whole segments back and tries once more before it fails, so
   neither the allocator nor fragmentation refused the request. A limit outside did. If the message has `allowed`, that
   limit is the process fraction. Otherwise it can be what Windows may commit, a MIG slice, a quota, or another process
   that held memory just then. Less than `FULL` above the request is as good as nothing: the driver does not give its
   last pages.
4. `available + unallocated < requested`: no setting helps. Of the memory that this process may have, a setting can turn
   only `unallocated` into free memory. So `requested - available - unallocated` must go. `available` is `free`; with
   `allowed` it is no more than `allowed - allocated - unallocated`.
5. Otherwise a setting can help. It very likely helps, if the request also fits when the setting leaves `WASTE` of what
   is allocated unused. A few per cent of idle memory can be what every setting leaves.

What these numbers hold and do not hold:

- `capacity - free - allocated - unallocated` lies outside this allocator: other processes, contexts, libraries. It is
  part of no setting, so rules 4 and 5 need not know it; the sentence names it where it is large.
- Free blocks of private pools (CUDA graphs, `MemPool`) are counted in `allocated`, since no other request gets them.
  Versions that do not name them count them in `unallocated`, and rule 5 is then too hopeful.
- The tail of a block that was not split, up to 1 MiB a block, is counted in `allocated` too. Expandable segments have
  no tails, so rule 4 says so where less than `TAILS` of the allocated memory must go.
- `requested` is the segment that the driver refused (2 MiB, 20 MiB, or the request rounded up to 2 MiB), so it is
  compared with `free` as it stands.
- Sizes are printed to 0.01 of their unit. Rule 2 allows for that.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.advice.messages.forms import UNKNOWABLE, Message
from workbench.advice.messages.statistics import Statistics

LARGER, SHARED, LEFT, NO_SETTING, CAN_HELP, LIKELY_HELPS, UNKNOWN, HOST = (
    "larger_than_card",
    "more_than_card",
    "memory_left",
    "no_setting_helps",
    "setting_can_help",
    "setting_very_likely_helps",
    "unknown",
    "host_memory",
)
VERDICTS = (LARGER, SHARED, LEFT, NO_SETTING, CAN_HELP, LIKELY_HELPS, UNKNOWN, HOST)
FULL = 64 << 20
"""Bytes above a request that the driver may keep for itself."""
WASTE = 0.1
"""The share of the allocated memory that a setting may leave unused. On 8 recorded cards expandable segments left 0.1
to 17 % of it unused, on 7 of them below 7 %."""
TAILS = 0.04
"""The share of the allocated memory that tails of blocks can be."""
_OUTSIDE = 1 << 30
"""Bytes outside the allocator from which a sentence names them; a context and libraries take less."""
_MIB, _GIB = 1 << 20, 1 << 30


class Verdict(NamedTuple):
    """What a message says about the cause."""

    kind: str
    """One of `VERDICTS`."""
    sentence: str
    """The verdict in words, with the numbers that decide it."""
    must_go: int | None = None
    """Bytes that must be released, or not be requested, on this card."""
    details: tuple[str, ...] = ()
    """More facts of the message that change what to do."""


def verdict_of(message: Message) -> Verdict:
    """Return the verdict of a message; the rules stand at the head of this module."""
    if message.backend == "host":
        return Verdict(HOST, "The host's memory ran out, not the card's.")
    decided = _larger(message) or _shared(message) or _left(message) or _by_available(message)
    if decided is not None:
        return decided._replace(details=(*decided.details, *_notable(message, decided)))
    return Verdict(UNKNOWN, _vague(message))


def _larger(message: Message) -> Verdict | None:
    requested, capacity = message.requested, message.capacity
    if requested is not None and requested >= UNKNOWABLE:
        sentence = "The request alone is larger than any card: its size is wrong, or its computation overflowed."
        return Verdict(LARGER, sentence)
    if requested is None or capacity is None or requested <= capacity:
        return None
    unit = _unit(requested)
    if message.need == "program":
        more = size_text(requested - capacity, unit)
        sentence = f"The compiled program alone needs more than the card has: {size_text(requested)} of "
        return Verdict(LARGER, f"{sentence}{size_text(capacity)}, {more} too much.", requested - capacity)
    where = f"larger than {message.place}"
    return Verdict(LARGER, f"The request alone is {where}: {size_text(requested)} asked of {size_text(capacity)}.")


def _shared(message: Message) -> Verdict | None:
    capacity, allocated = message.capacity, message.allocated
    if capacity is None or allocated is None or message.place != "the card":
        return None
    held = allocated + (message.unallocated or 0)
    if held <= capacity + sum(map(_rounding, (capacity, allocated, message.unallocated or 0))):
        return None
    noun, size = ("allocated", allocated) if allocated > capacity else ("reserved", held)
    sentence = (
        f"More is {noun} than the card has: {size_text(size)} of {size_text(capacity)}, so part of it lies in shared "
        "host memory (Windows, WSL)."
    )
    return Verdict(SHARED, sentence, max(allocated + (message.requested or 0) - capacity, 0))


def _left(message: Message) -> Verdict | None:
    requested, free = message.requested, message.free
    if requested is None or free is None or free < requested or message.place != "the card":
        return None
    sentence = f"Memory was left: {size_text(requested)} asked with {size_text(free)} free"
    limit = message.allowed
    if limit is not None and (message.allocated or 0) + (message.unallocated or 0) + requested > limit:
        inner = _by_available(message)
        details: tuple[str, ...] = ()
        if inner is not None:
            can = inner.kind in (CAN_HELP, LIKELY_HELPS)
            help_ = "a setting can help" if can else f"{size_text(inner.must_go or 0, _unit(requested))} must go"
            details = (f"Below that limit, {help_}.",)
        return Verdict(LEFT, f"{sentence}; the process may take only {size_text(limit)}.", None, details)
    if free - requested < FULL and message.backend != "XPU":
        details = (
            f"That is {size_text(free - requested)} more than asked, which the driver can keep: the card is full.",
        )
        return Verdict(LEFT, f"{sentence}.", None, details)
    return Verdict(LEFT, f"{sentence}, so a limit outside the allocator refused it.")


def _by_available(message: Message) -> Verdict | None:
    """Return the verdict by what was free and what the allocator could give back."""
    requested, idle = message.requested, message.unallocated
    available = _available(message)
    if requested is None or (available is None and idle is None):
        return None
    if idle is None:
        return _without_idle(message, requested, available or 0)
    numbers = _numbers(message, requested, idle)
    if available is None:
        return None
    if available + idle < requested:
        must_go = requested - available - idle
        sentence = f"No setting helps: {size_text(must_go, _unit(requested))} must go ({numbers})."
        return Verdict(NO_SETTING, sentence, must_go, _of_shortage(message, must_go))
    likely = message.place == "the card" and available + idle - WASTE * (message.allocated or 0) >= requested
    kind, word = (LIKELY_HELPS, "very likely helps") if likely else (CAN_HELP, "can help")
    return Verdict(kind, f"A setting {word}: {numbers}.")


def _available(message: Message) -> int | None:
    """Return the bytes that this process could still get from the driver."""
    bounds = [] if message.free is None else [message.free]
    held = (message.allocated or 0) + (message.unallocated or 0)
    if message.allowed is not None:
        bounds.append(max(message.allowed - held, 0))
    if not bounds and message.capacity is not None and message.allocated is not None:
        bounds.append(max(message.capacity - held, 0))  # at most: other processes are not told
    return min(bounds) if bounds else None


def _without_idle(message: Message, requested: int, available: int) -> Verdict | None:
    """Return the verdict where the message does not tell what the allocator holds idle (cudaMallocAsync, RMM, TPU)."""
    if message.place == "RMM's pool":
        if available >= requested:
            sentence = f"RMM's pool may grow by {size_text(available)}, so the card refused {size_text(requested)}."
            return Verdict(NO_SETTING, sentence)
        most = size_text(message.capacity or 0)
        return Verdict(
            CAN_HELP, f"A setting can help: {size_text(requested)} asked of RMM's pool, which ends at {most}."
        )
    if message.capacity is None or message.allocated is None:
        must_go = requested - available
        numbers = f"{size_text(requested)} asked, {size_text(available)} free"
        return Verdict(
            NO_SETTING, f"No setting helps: {size_text(must_go, _unit(requested))} must go ({numbers}).", must_go
        )
    limit = min(message.capacity, message.allowed or message.capacity)
    unused = max(limit - message.allocated, 0)
    if requested > unused:
        least = size_text(requested - unused, _unit(requested))
        numbers = f"{size_text(requested)} asked, {size_text(message.allocated)} of {size_text(limit)} allocated"
        return Verdict(NO_SETTING, f"No setting helps: at least {least} must go ({numbers}).", requested - unused)
    held = size_text(max(unused - available, 0))
    sentence = (
        f"A setting can help: {size_text(requested)} asked, {size_text(available)} free, and {held} neither free nor "
    )
    return Verdict(CAN_HELP, f"{sentence}allocated: idle in the pool, or outside it.")


def _numbers(message: Message, requested: int, idle: int) -> str:
    free = message.free
    if message.place != "the card":
        available = size_text((free or 0) + idle)
        return f"{size_text(requested)} asked, {available} left of {size_text(message.capacity or 0)}, {message.place}"
    parts = [f"{size_text(requested)} asked"]
    parts += [f"at most {size_text(_available(message) or 0)} free"] if free is None else [f"{size_text(free)} free"]
    parts += [] if message.allowed is None else [f"{size_text(message.allowed)} allowed"]
    parts += [f"{size_text(idle)} reserved but unallocated"] if message.program == "PyTorch" else []
    return ", ".join(parts)


def _of_shortage(message: Message, must_go: int) -> tuple[str, ...]:
    """Return more facts where no setting helps: whether so much is held here, and what tails can be."""
    allocated = message.allocated
    if allocated is None or message.place != "the card":
        return ()
    if must_go > allocated:
        return (f"This process holds less: {size_text(allocated)}.",)
    if must_go < TAILS * allocated and message.backend in ("CUDA", "HIP"):
        return ("So little can lie in tails of unsplit blocks: expandable_segments:True has none.",)
    return ()


def _notable(message: Message, verdict: Verdict) -> tuple[str, ...]:
    """Return the idle memory of private pools, and the memory outside the allocator, where that is much."""
    if verdict.kind in (LARGER, SHARED):
        return ()
    much = max(_OUTSIDE, (message.capacity or 0) // 50)
    private, outside = message.private or 0, message.outside or 0
    details = []
    if private >= much or (verdict.must_go is not None and private >= verdict.must_go):
        details.append(f"Private pools (CUDA graphs, MemPool) hold {size_text(private)} that no other request gets.")
    if outside >= much:
        more = "other processes, contexts, libraries"
        details.append(f"{size_text(outside)} of the card lies outside this allocator: {more}.")
    return tuple(details)


def _vague(message: Message) -> str:
    requested = message.requested
    if message.place == "RMM's pool":
        size = "" if requested is None else f" by {size_text(requested)}"
        return f"RMM's pool could not grow{size}; the message does not tell whether its maximum or the card ended it."
    if requested is None:
        return f"{message.program} ran out of memory; the message holds no sizes, so it does not tell the cause."
    total = message.allocated
    if message.program == "JAX" and total:
        return (
            f"{size_text(requested)} asked by a program that needs {size_text(requested + total)} in all; the message "
            "does not tell the card."
        )
    return f"{size_text(requested)} asked; the message does not tell the card or what was free."


def verdict_of_statistics(it: Statistics, card_bytes: int | None) -> Verdict:
    """Return the verdict of statistics alone: whether live blocks pin so much that a setting can help."""
    numbers = f"{size_text(it.allocated)} allocated, {size_text(it.reserved)} reserved, {size_text(it.pinned)} pinned"
    failed = f"{it.failures:,} request{'s' * (it.failures != 1)} failed" if it.failures else "no request failed so far"
    if card_bytes is not None and it.allocated > card_bytes:
        sentence = (
            f"More is allocated than the card has: {size_text(it.allocated)} of {size_text(card_bytes)} ({failed})."
        )
        return Verdict(SHARED, sentence, it.allocated - card_bytes)
    if it.pinned >= WASTE * it.reserved and it.pinned:
        return Verdict(CAN_HELP, f"A setting can help: {numbers} between live blocks ({failed}).")
    return Verdict(NO_SETTING, f"No setting helps much: {numbers} between live blocks ({failed}).")


def _rounding(size: int) -> int:
    """Return half of the last digit that a size is printed with."""
    return (_GIB if size >= _GIB else _MIB if size >= _MIB else 1024) // 200 + 1


def _unit(size: int) -> int:
    return next((unit for unit in (_GIB, _MIB, 1024) if size >= unit), 1)


def size_text(size: int, unit: int = 0) -> str:
    """Return a size as PyTorch prints it, so that one finds it in the message: to 0.01 of its unit.

    >>> size_text(1002 << 20), size_text(12), size_text(717 << 20, 1 << 30)
    ('1002.00 MiB', '12 bytes', '0.70 GiB')
    """
    unit = unit or _unit(size)
    if unit == 1 or (round(size * 100 / unit) == 0 and size):
        unit = _unit(size)
    if unit == 1:
        return f"{size} bytes"
    return f"{size / unit:.2f} {({1024: 'KiB', _MIB: 'MiB', _GIB: 'GiB'})[unit]}"
