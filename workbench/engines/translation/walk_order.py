"""Which of the walks that wait does a walker that is free take? (docs/translation-rules.md)"""

from __future__ import annotations

from typing import Any

from workbench.errors import wrong_value
from workbench.levers import Family, lever


class WalkOrder(Family, noun="walk order", example="{by_node: {most: 8}}"):
    """The base of every order."""

    def batch(self) -> tuple[int, int]:
        """Return the levels that a walk reads which follows another of its node, and the most walks of a batch."""
        return 0, 1


class ByArrival(WalkOrder):
    """Walks are served in the order in which they entered the queue.

    >>> ByArrival().batch()
    (0, 1)
    """


class ByNode(WalkOrder):
    """A walker that ends a walk goes on with one of the same node of the page table, which saves the upper levels.

    The first of that node by entry into the queue; after `most` walks, or where none waits, the head of the queue.

    References
    ----------
    Shin, LeBeane, Solihin, Basu, "Neighborhood-Aware Address Translation for Irregular GPU Applications", MICRO 2018
    (walks that share a line of the page table); Shin, Cox, Oskin, Loh, Solihin, Bhattacharjee, Basu, "Scheduling Page
    Table Walks for Irregular GPU Applications", ISCA 2018 (batches of one instruction; traces have no instructions).

    >>> ByNode(most=4).batch()
    (1, 4)
    """

    level: int = lever(
        1, least=1, most=3, unit="levels", description="levels below the node that walks of a batch share"
    )
    most: int = lever(8, least=1, most=4096, scale="log", unit="walks", description="walks of a batch at most")

    def batch(self) -> tuple[int, int]:
        return self.level, self.most


def check_order(order: WalkOrder, machine: Any) -> None:
    """Refuse a node that all walks of the machine share.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    level = order.batch()[0]
    if level >= machine.walk_levels:
        path = f"options.walk_order.{order.name}.level"
        expected = f"must be below the machine's walk_levels ({machine.walk_levels}), or walks of a batch save none"
        raise wrong_value("", path, expected, level, machine.walk_levels - 1 if machine.walk_levels > 1 else None)
