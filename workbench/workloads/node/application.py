"""Applications, their streams and their kernels, as values (spec 6, R5 to R7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

Pattern = Literal["slice", "halo", "shared", "gather", "stride"]
PATTERNS: tuple[str, ...] = get_args(Pattern)
NO_INSTRUCTIONS = (0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Touch:
    """A tensor that the groups of a phase touch, and which of its pages each group does.

    With T pages and G groups, `slice` of group g is pages floor(gT/G) to ceil((g+1)T/G) - 1; `halo` adds `width` pages
    on each side, cut at the ends; `shared` is all of them; `stride` is pages (g + k `width`) mod T for k < `count`;
    `gather` draws `count` pages by Zipf(`skew`), repeats dropped, in the order of the first draw.
    """

    tensor: int
    """The tensor's number among its application's."""
    pattern: Pattern = "slice"
    width: int = 1
    """Pages: of the halo on each side, or of the stride."""
    count: int = 4
    """Pages of a group, of `stride` and `gather`."""
    skew: float = 1.0
    """Of `gather`."""
    bytes: int | None = None
    """That a group moves; without it all that is used of its pages."""


@dataclass(frozen=True, eq=False)
class Phase:
    """What the groups of a kernel do between two answers: they compute, then they touch and allocate."""

    cycles: np.ndarray
    """int64[groups], cycles of compute."""
    touches: tuple[Touch, ...] = ()
    mallocs: tuple[int, ...] = ()
    """Bytes that the lanes of a wave ask the device heap for in one call; every wave asks for the same."""
    instructions: tuple[int, ...] = NO_INSTRUCTIONS
    """Of a whole group, by class (spec 3, R78)."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel: how many groups, what each holds while it runs, and its phases."""

    groups: int
    phases: tuple[Phase, ...]
    waves: int = 4
    demand: Mapping[str, int] = field(default_factory=dict)
    """Blocks by the name of a resource: a wave's of a unit's resource, a group's of a module's."""
    independent: bool = False
    """Whether the waves of a group may run apart."""
    names: tuple[int, ...] = ()
    """Tensors that it names beside those that it touches."""

    @property
    def tensors(self) -> tuple[int, ...]:
        """Return the tensors that the kernel names, each once, in the order in which it first touches them."""
        touched = (touch.tensor for phase in self.phases for touch in phase.touches)
        return tuple(dict.fromkeys((*touched, *self.names)))


@dataclass(frozen=True)
class Allocate:
    """Ask the pool for a tensor."""

    tensor: int
    bytes: int


@dataclass(frozen=True)
class Free:
    """Give a tensor back."""

    tensor: int


@dataclass(frozen=True)
class Launch:
    """Put a kernel forward when the step before it has ended and its tensors are granted."""

    kernel: Kernel


@dataclass(frozen=True)
class Wait:
    """Wait until another stream of the application has ended so many of its steps."""

    stream: int
    steps: int


Step = Allocate | Free | Launch | Wait


@dataclass(frozen=True)
class Application:
    """A process: where and when it starts, how urgent it is, and what its streams do, each in order."""

    streams: tuple[tuple[Step, ...], ...]
    home: int = 0
    """The place of its card among the board's GPUs."""
    priority: int = 1
    """1 = the most urgent."""
    arrival: int = 0
    """The cycle at which its streams begin."""

    def steps(self, kind: type) -> list[Step]:
        """Return all steps of one kind, stream by stream."""
        return [step for stream in self.streams for step in stream if isinstance(step, kind)]


Applications = tuple[Application, ...]
"""What runs on a node, in the order of the applications' numbers."""
