"""A recorded program in the order in which its host asked for things: tensors, and kernels with what they touch.

A profile does not say which kernel touches which tensor. A rule does (spec 6, R8): the tensors that were allocated
under the operator that launched the kernel and are alive, the youngest first; where there are none the youngest live
tensors of its stream. What rests on it is a model, not a recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from workbench.workloads.importers.kineto_events import NOBODY, Operators, launched

Rule = Literal["operator", "youngest", "none"]
BY_OPERATOR, BY_YOUTH, BY_NOTHING = range(3)


class Tensor(NamedTuple):
    """A tensor of a card, from its allocation to its release."""

    number: int
    bytes: int
    thread: int
    stream: int
    begin: int
    """Nanoseconds; before all else of one that was live when the recording began."""


class Ask(NamedTuple):
    """One thing that the host asks for; one of the three is given."""

    stream: int
    allocates: Tensor | None = None
    frees: int = NOBODY
    """The number of a tensor."""
    launches: int = NOBODY
    """The kernel, in the order of the file among those of its card."""
    touches: tuple[int, ...] = ()
    by: int = BY_NOTHING


class _Event(NamedTuple):
    """Something of the recording; in its order."""

    time: int
    memory: int
    kernel: int


class Program:
    """What the host of one card asks for.

    Parameters
    ----------
    operators : Operators
        Of the whole recording.
    device : int
        The card.
    rule : {"operator", "youngest", "none"}
        Which tensors a kernel touches.
    most : int
        How many at most.
    before : bool
        Whether what was live before the recording, and is given back in it, is asked for at its beginning.
    """

    def __init__(self, operators: Operators, device: int, rule: Rule, most: int, before: bool) -> None:
        of_card = operators.kernels[:, 0] == device
        self._kernels = operators.kernels[of_card]
        self._launched = tuple(column[of_card] for column in launched(operators))
        self._memory = operators.memory[operators.memory[:, 0] == device]
        self._rule, self._most, self._before = rule, most, before
        self.streams = list(dict.fromkeys(self._kernels[np.argsort(self._kernels[:, 2], kind="stable"), 1].tolist()))
        """The recorded streams, in the order of their first kernels."""
        self.starts = self._kernels[:, 2]
        """int64[kernels], nanoseconds, of the kernels in the order of the file."""
        self.kernel_streams = self._kernels[:, 1]

    def asks(self, most_kernels: int = 0, skipped: int = 0) -> Iterator[Ask]:
        """Yield what is asked for, in the order of the host's clock, but for the first kernels that are skipped; with a
        limit up to so many kernels."""
        live: dict[int, Tensor] = {}
        numbers = 0
        if self._before:
            for tensor in self._from_before():
                live[tensor.number], numbers = tensor, numbers + 1
                yield Ask(tensor.stream, allocates=tensor)
        at_address = {address: number for number, address in enumerate(self._addresses_before)} if self._before else {}
        stream_of, kernels = self._streams_of_allocations(), 0
        for event in self._events():
            if event.kernel != NOBODY:
                kernels += 1
                if kernels > skipped:
                    yield self._launch(event.kernel, live)
                if 0 < most_kernels == kernels - skipped:
                    return
                continue
            _, thread, time, address, size = self._memory[event.memory].tolist()
            if size > 0:
                tensor = Tensor(numbers, size, thread, int(stream_of[event.memory]), time)
                live[numbers], at_address[address], numbers = tensor, numbers, numbers + 1
                yield Ask(tensor.stream, allocates=tensor)
            elif address in at_address:
                tensor = live.pop(at_address.pop(address))
                yield Ask(tensor.stream, frees=tensor.number)

    def _events(self) -> list[_Event]:
        """Return memory events and launches by time; what is allocated at the same time comes before the launch."""
        memory = [_Event(int(row[2]), number, NOBODY) for number, row in enumerate(self._memory)]
        kernels = [_Event(int(at), NOBODY, number) for number, at in enumerate(self._launched[1])]
        return sorted([*memory, *kernels], key=lambda event: (event.time, event.kernel))

    def _from_before(self) -> list[Tensor]:
        """Return the tensors that are given back without having been allocated."""
        known: set[int] = set()
        tensors: list[Tensor] = []
        self._addresses_before: list[int] = []
        first = int(self._memory[0, 2]) if len(self._memory) else 0
        for _, thread, _, address, size in self._memory.tolist():
            if size > 0:
                known.add(address)
            elif address in known:
                known.discard(address)
            elif size < 0:
                tensors.append(Tensor(len(tensors), -size, thread, self.streams[0], first - 1))
                self._addresses_before.append(address)
        return tensors

    def _streams_of_allocations(self) -> np.ndarray:
        """Return the stream of each memory event: that of the next kernel that its thread launches, else the first."""
        thread, at, _ = self._launched
        result = np.full(len(self._memory), self.streams[0] if self.streams else 0)
        for number in np.unique(thread[thread != NOBODY]).tolist():
            own = np.flatnonzero(thread == number)
            own = own[np.argsort(at[own], kind="stable")]
            events = np.flatnonzero(self._memory[:, 1] == number)
            following = np.searchsorted(at[own], self._memory[events, 2])
            known = following < len(own)
            result[events[known]] = self._kernels[own[following[known]], 1]
        return result

    def _launch(self, kernel: int, live: dict[int, Tensor]) -> Ask:
        """Return the launch of a kernel with the tensors that it touches by the rule."""
        stream = int(self._kernels[kernel, 1])
        thread, _, begin = (int(column[kernel]) for column in self._launched)
        if self._rule == "operator" and begin != NOBODY:
            under = self._youngest(live, lambda it: it.begin >= begin and it.thread == thread, begin)
            if under:
                return Ask(stream, launches=kernel, touches=under, by=BY_OPERATOR)
        if self._rule != "none":
            youngest = self._youngest(live, lambda it: it.stream == stream)
            if youngest:
                return Ask(stream, launches=kernel, touches=youngest, by=BY_YOUTH)
        return Ask(stream, launches=kernel)

    def _youngest(
        self, live: dict[int, Tensor], is_one: Callable[[Tensor], bool], since: int = NOBODY
    ) -> tuple[int, ...]:
        """Return the youngest live tensors of a kind, no older than a time."""
        numbers: list[int] = []
        for tensor in reversed(live.values()):
            if len(numbers) == self._most or tensor.begin < since:
                break
            if is_one(tensor):
                numbers.append(tensor.number)
        return tuple(numbers)
