"""Applications and their streams: one step after the other (spec 6, R5, R6, R9, E2, E5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Application, Couplings, Kernel, Step
from tests.oracles.node.groups import Group
from tests.oracles.node.log import Log
from tests.oracles.node.pages import AddressSpace, Page
from tests.oracles.node.pool import Region
from tests.oracles.node.tensors import Tensor


class Failure(Exception):
    """A run that ends as a failed row."""


class Surroundings(Protocol):
    """What an application asks of the node."""

    calendar: Calendar
    couplings: Couplings
    log: Log

    def ask_pool(self, program: Program, tensor: Tensor, key: Key) -> None:
        """Ask for a tensor's memory."""

    def free(self, program: Program, tensor: Tensor, key: Key, done: Callable[[], None]) -> None:
        """Unmap a tensor and give its memory back."""

    def card_for(self, program: Program, tensors: list[Tensor]) -> int:
        """Return the card that a kernel runs on."""

    def launch(self, program: Program, run: KernelRun) -> None:
        """Put a kernel's groups into a channel."""

    def cancel(self, program: Program) -> list[Group]:
        """Take an application's groups out of all channels."""

    def close(self, program: Program) -> None:
        """Give back all that an application still has."""


@dataclass(eq=False)
class KernelRun:
    """A kernel that was put forward."""

    kernel: Kernel
    key: Key
    reached_at: int
    open: int
    done: Callable[[], None]


class Stream:
    """The steps of a stream, and where it is."""

    def __init__(self, program: Program, number: int, steps: tuple[Step, ...]) -> None:
        self.steps, self.number, self.done = steps, number, 0
        self.reached_at = 0
        self.waits_for = ""
        self._program = program
        self._waiting: list[Callable[[], None]] = []

    @property
    def ended(self) -> bool:
        """Return whether all steps have ended."""
        return self.done == len(self.steps)

    @property
    def key(self) -> Key:
        """Return the key of the present step."""
        program = self._program
        return Key(program.application.home, program.number, self.number, self.done)

    def begin(self) -> None:
        """Begin the present step, if there is one and the application lives."""
        program = self._program
        self.reached_at = program.around.calendar.now
        self.waits_for = ""
        if self.ended:
            program.maybe_end()
        elif not program.refused:
            program.begin(self, self.steps[self.done], self.key)

    def plan_end(self) -> None:
        """End the present step at this cycle."""
        calendar = self._program.around.calendar
        calendar.at(calendar.now, Rank.STEP, self.key, self._end)

    def _end(self) -> None:
        self._program.around.log("node", self._program.application.home, "step", self.key)
        self.done += 1
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            action()
        self.begin()

    def when_done(self, steps: int, action: Callable[[], None]) -> None:
        """Call back when so many steps have ended, at once if they have."""
        if self.done >= steps:
            action()
        else:
            self._waiting.append(lambda: self.when_done(steps, action))


class Program:
    """An application that runs: its streams, tensors and address space."""

    def __init__(self, around: Surroundings, number: int, application: Application) -> None:
        self.around, self.number, self.application = around, number, application
        self.streams = [Stream(self, k, steps) for k, steps in enumerate(application.streams)]
        self.space = AddressSpace(number)
        self.tensors = {step.allocate: self._tensor(step) for step in self._steps() if step.allocate}
        self.chunks: list[tuple[Region, list[Page]]] = []
        self.groups: list[Group] = []
        self.running: list[Group] = []
        self.refused = False
        self.refused_groups = 0  # of kernels that were never put forward
        self.ended_at: int | None = None

    def _steps(self) -> list[Step]:
        return [step for stream in self.application.streams for step in stream]

    def _tensor(self, step: Step) -> Tensor:
        assert step.allocate is not None
        users = sum(step.allocate in names(other.kernel) for other in self._steps() if other.kernel)
        return Tensor(step.allocate, step.bytes, users)

    def arrive(self) -> None:
        """Begin all streams."""
        self.around.log("node", self.application.home, "arrive", Key(self.application.home, self.number))
        for stream in self.streams:
            stream.begin()
        self.maybe_end()

    def begin(self, stream: Stream, step: Step, key: Key) -> None:
        """Begin a step of a stream."""
        if step.allocate is not None:
            self._allocate(stream, self.tensors[step.allocate], key)
        elif step.free is not None:
            self._free(stream, self.tensors[step.free], key)
        elif step.kernel is not None:
            self._kernel(stream, step.kernel, key)
        else:
            self._wait(stream, step)

    # Steps.

    def _allocate(self, stream: Stream, tensor: Tensor, key: Key) -> None:
        """Ask for memory; the step ends at once, its kernels wait for the grant."""
        tensor.state = "asked"
        calendar = self.around.calendar

        def ask() -> None:
            self.around.ask_pool(self, tensor, key)
            stream.plan_end()

        calendar.at(calendar.now, Rank.POOL_REQUEST, key, ask)

    def _free(self, stream: Stream, tensor: Tensor, key: Key) -> None:
        """Free a tensor once it is granted and no kernel needs it any more; the step ends when the pool has it."""
        calendar = self.around.calendar
        if self.refused:
            return
        if tensor.users and self.around.couplings.free_in_use == "error":
            raise Failure(
                f"application {self.number} frees tensor {tensor.name} while a kernel that names it is queued."
            )
        if tensor.users or not tensor.granted:
            stream.waits_for = (
                f"the kernels that name tensor {tensor.name}" if tensor.users else f"tensor {tensor.name}"
            )
            tensor.when(lambda: self._free(stream, tensor, key))
            return
        tensor.state = "freed"
        done = stream.plan_end
        calendar.at(calendar.now, Rank.FREE, key, lambda: self.around.free(self, tensor, key, done))

    def _wait(self, stream: Stream, step: Step) -> None:
        assert step.wait is not None
        other = self.streams[step.wait]
        stream.waits_for = f"stream {step.wait}"
        other.when_done(len(other.steps) if step.upto is None else step.upto, stream.plan_end)

    def _kernel(self, stream: Stream, kernel: Kernel, key: Key) -> None:
        """Put a kernel forward once all its tensors are granted."""
        lacking = [self.tensors[name] for name in names(kernel) if not self.tensors[name].granted]
        if self.refused:
            return
        if lacking:
            stream.waits_for = f"tensor {lacking[0].name}"
            lacking[0].when(lambda: self._kernel(stream, kernel, key))
            return
        calendar = self.around.calendar
        calendar.at(calendar.now, Rank.STEP, key, lambda: self._put_forward(stream, kernel, key))

    def _put_forward(self, stream: Stream, kernel: Kernel, key: Key) -> None:
        if self.refused:
            return
        stream.waits_for = "its kernel's groups"
        card = self.around.card_for(self, [self.tensors[name] for name in names(kernel)])
        run = KernelRun(kernel, key._replace(card=card), stream.reached_at, kernel.groups, stream.plan_end)
        self.around.launch(self, run)

    def kernel_ended(self, run: KernelRun) -> None:
        """Let go of a kernel's tensors and end its step."""
        for name in names(run.kernel):
            self.tensors[name].users -= 1
        run.done()
        for name in names(run.kernel):
            self.tensors[name].changed()

    # Ends.

    def refuse(self) -> None:
        """End an application that was refused memory: queued groups are cancelled, the others end (E2)."""
        if self.refused:
            return
        self.around.log("node", self.application.home, "refused", Key(self.application.home, self.number))
        self.refused = True
        for group in self.around.cancel(self):
            group.cancelled = True
            self.running.remove(group)
        self.refused_groups = sum(
            step.kernel.groups
            for stream in self.streams
            for number, step in enumerate(stream.steps)
            if step.kernel and not any(group.key[2:4] == (stream.number, number) for group in self.groups)
        )
        self.maybe_end()

    def maybe_end(self) -> None:
        """End the application if nothing of it is left to do."""
        over = self.refused or all(stream.ended for stream in self.streams)
        if over and not self.running and self.ended_at is None:
            self.ended_at = self.around.calendar.now
            self.around.close(self)

    @property
    def waits(self) -> list[str]:
        """Return who waits for what, a sentence's part a stream."""
        return [
            f"stream {stream.number} of application {self.number} waits for {stream.waits_for}"
            for stream in self.streams
            if not stream.ended
        ]


def names(kernel: Kernel | None) -> list[str]:
    """Return the tensors that a kernel names, each once."""
    if kernel is None:
        return []
    touches = [touch.tensor for phase in kernel.phases for touch in phase.touches]
    return list(dict.fromkeys([*touches, *kernel.tensors]))
