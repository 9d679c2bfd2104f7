"""A whole node: a board of cards with memory and links, and what every card has inside (spec 6, R4).

`machine: {cards: 4, modules: 8, ...}` is a node of cards that are alike, but for what is left of the first one's
memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from workbench.errors import InputError
from workbench.levers import Lever, lever
from workbench.machine.board import Board, CardsAlike
from workbench.machine.machine import Machine
from workbench.machine.presets import Described, preset_names
from workbench.machine.translation import TranslationMachine

MOST_CARDS = 64


class NodeMachine(Described):
    """Frozen description of a node; all its GPUs are alike inside, and all times are counted in their clock.

    A module of the dispatcher is a core of the translation hierarchy: each has a private TLB.

    >>> NodeMachine(card=Machine(compute_units=4), translation=TranslationMachine(cores=4)).card.compute_units
    4
    >>> NodeMachine(card=Machine(compute_units=4), translation=TranslationMachine(cores=8))
    Traceback (most recent call last):
    workbench.errors.InputError: node_machine.translation.cores must be the modules of a card (4). Got 8. Nearest: 4.
    """

    board: Board = lever(Board(), description="cards with memory, and the links between them")
    card: Machine = lever(Machine.read({"compute_units": 16}), description="the modules of every GPU")
    translation: TranslationMachine = lever(
        TranslationMachine.read({}), description="the private TLBs, directory, shared TLB and walkers of every GPU"
    )

    @classmethod
    def figures(cls) -> Mapping[str, Lever]:
        """Return the statements of a preset's file: the names of the presets that the node is made of."""
        parts: dict[str, type[Described]] = {"board": Board, "card": Machine, "translation": TranslationMachine}
        return {
            part: Lever(part, "choice", choices=tuple(preset_names(kind)), description=cls.levers[part].description)
            for part, kind in parts.items()
        }

    @classmethod
    def of_figures(cls, figures: Mapping[str, Any]) -> Self:
        """Return the node that is made of presets of these names.

        >>> node = NodeMachine.read("dgx_1v")
        >>> len(node.gpus), node.card.compute_units, node.translation.cores
        (8, 80, 80)
        """
        return cls(**figures)

    def row(self) -> dict[str, Any]:
        """Return the row of this node in a table of presets."""
        return {**self.board.row(), **self.card.row(), **self.translation.row()}

    @classmethod
    def read(cls, given: object, path: str = "machine", where: str = "") -> Self:
        """Read the node that a sweep file describes: a preset, its three parts, or so many cards alike
        (`CardsAlike`)."""
        if isinstance(given, Mapping) and "cards" in given:
            given = CardsAlike.read(given, path, where).node()
        return super().read(given, path, where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what `read` takes."""
        usual = super().schema()
        return {"anyOf": [*usual["anyOf"], CardsAlike.schema()]}

    def check(self) -> None:
        cards = len(self.board.cards)
        if cards > MOST_CARDS:
            raise InputError(
                f"{self.name}.board must have at most {MOST_CARDS} cards; the engine pool takes more. Got {cards}."
            )
        modules, cores = self.card.compute_units, self.translation.cores
        if cores != modules:
            raise InputError(
                f"{self.name}.translation.cores must be the modules of a card ({modules}). Got {cores}. "
                f"Nearest: {modules}."
            )
        if self.translation.page_bytes not in PAGES_BYTES:
            sizes, given = " or ".join(map(str, PAGES_BYTES)), self.translation.page_bytes
            raise InputError(
                f"{self.name}.translation.page_bytes must be {sizes}: a node's pages have the sizes of options.pages, "
                f"whatever is said here. Got {given}. Nearest: {min(PAGES_BYTES, key=lambda size: abs(size - given))}."
            )

    @property
    def gpus(self) -> list[int]:
        """Return the places of the GPUs among the board's cards."""
        return [place for place, card in enumerate(self.board.cards) if card.kind == "gpu"]


PAGES_BYTES = (4096, 2 << 20)
"""The smallest page of a node, and that of a node whose `options.pages` is neutral."""
