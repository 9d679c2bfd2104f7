"""Applications of a whole node as values: streams of steps, kernels, phases, touches (spec 6, section 4, R5 to R7)."""

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
    """A tensor that the groups of a phase touch, and which of its bytes each group does, whatever its pages are.

    With B bytes and G groups, `slice` of group g is bytes floor(gB/G) to floor((g+1)B/G) - 1. `halo` adds `halo` bytes
    on each side, cut at the ends. `shared` is all of them. `stride` is `count` elements of `element_bytes` E, which
    begin at (g + k `stride`) E mod B for k < `count`. `gather` draws `count` elements by Zipf(`skew`), in a permutation
    that is drawn once a tensor. An element is cut at the tensor's end. What a group touches are the pages that hold one
    of its bytes, in the order of first use; what of it passes a link are the distinct lines that do.

    >>> Touch(0, "halo", halo=16384)
    Touch(tensor=0, pattern='halo', halo=16384, stride=1, count=4, element_bytes=128, skew=1.0, bytes=None)
    """

    tensor: int
    """The tensor's number among its application's."""
    pattern: Pattern = "slice"
    halo: int = 1
    """Bytes on each side."""
    stride: int = 1
    """Elements from one to the next."""
    count: int = 4
    """Elements of a group, of `stride` and `gather`."""
    element_bytes: int = 128
    skew: float = 1.0
    """Of `gather`."""
    bytes: int | None = None
    """That a group moves; without it the lines that it touches."""


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
    """Tensors that it names in addition to those that it touches."""

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
