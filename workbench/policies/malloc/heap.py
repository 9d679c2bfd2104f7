"""How does the heap hand out its memory? (spec 2, R16, HeapPolicy)"""

from __future__ import annotations

from typing import ClassVar

from workbench.errors import InputError
from workbench.levers import lever
from workbench.policies.placement.fit import FirstFit
from workbench.policies.placement.question import Placement
from workbench.policies.policy import Policy


class HeapPolicy(Policy, abstract=True):
    """The base of every heap. The engine knows three kinds: a bitmap of granules, a bump pointer, size classes."""

    question: ClassVar[str] = "heap"
    kind: ClassVar[int] = 0
    gives_back: ClassVar[bool] = True
    """Whether what is freed can be handed out again."""

    def frees_parts(self) -> bool:
        """Return whether a part of a block can be given back alone: blocks take exactly the granules that were asked
        for."""
        return False


class BitmapArena(HeapPolicy):
    """A bit a granule; a placement policy of the placement space says where a block goes, and how ties break.

    Any placement policy whose grants are one range will do, one of your own too. First, last, next, best fit and
    nearest boundary search a summary over the bitmap instead of the bitmap, with the same answers, so that a heap of
    millions of granules costs no more than the depth of a tree; the others read the whole map.

    References
    ----------
    spec 2, section 8: the heap as a bitmap arena with a placement policy of spec 1.

    Examples
    --------
    >>> BitmapArena(placement="best_fit").placement.name
    'best_fit'
    """

    kind = 0
    placement: Placement = lever(FirstFit(), description="where in the bitmap a block goes")

    def check(self) -> None:
        if self.placement.layout != "contiguous" or not self.placement.addressed:
            raise InputError(
                f"{self.name}.placement must give each request one range with an address. Got {self.placement.name}. "
                "Nearest: first_fit."
            )

    def frees_parts(self) -> bool:
        return not rounds(self.placement)


class BumpPointer(HeapPolicy):
    """Add the size to one pointer; nothing that is freed comes back, and there are no ties.

    References
    ----------
    spec 2, section 7: the lower bound on the cost of an allocation.

    Examples
    --------
    >>> BumpPointer().gives_back
    False
    """

    kind = 1
    gives_back = False


class SizeClasses(HeapPolicy):
    """Blocks of powers of two granules from chunks of one class each; of equal free blocks the last freed goes first.

    A class takes a chunk from a bump pointer when it has nothing left; what is larger than a chunk comes from the
    pointer at once. A freed block serves its own class alone, and chunks never change their class.

    References
    ----------
    spec 2, section 7, as far as XMalloc, ScatterAlloc, Halloc and Ouroboros share it; `DEVIATIONS.md`.

    Examples
    --------
    >>> SizeClasses(chunk_bytes=65536).chunk_bytes
    65536
    """

    kind = 2
    chunk_bytes: int = lever(
        4096,
        least=256,
        most=1 << 20,
        scale="power_of_two",
        unit="bytes",
        description="bytes that a class takes at a time",
    )


def rounds(placement: Placement) -> bool:
    """Return whether a placement policy may take more than it was asked for.

    >>> rounds(Placement.read("buddy")), rounds(FirstFit())
    (True, False)
    """
    return type(placement).footprint is not Placement.footprint
