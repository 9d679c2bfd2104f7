"""What a service is started with: a board and the policies, declared as everywhere."""

from __future__ import annotations

from workbench.engines.engine import Setup
from workbench.engines.pool.options import PoolOptions, check_named_cards
from workbench.errors import InputError
from workbench.levers import Spec, lever
from workbench.machine import Board
from workbench.policies.placement import ByteCounter
from workbench.policies.pool import (
    BestFit,
    Cache,
    CacheFit,
    IdleRelease,
    KeepAll,
    MaxBandwidth,
    SplitAndCoalesce,
    Stay,
    Target,
)
from workbench.pool_service.protocol import MOST_OFFSET
from workbench.pool_service.slots import addresses_for

MIB = 1 << 20


class ServiceSettings(Spec):
    """The board whose cards the arenas stand for, and the policies that the service works by.

    >>> ServiceSettings(card_bytes=1024).arenas().cards[1].memory_bytes
    1024
    >>> ServiceSettings.read({"target": "most_free"}).target.name
    'most_free'
    """

    board: Board = lever(Board.read({}), description="the cards and their links")
    card_bytes: int = lever(
        16 * MIB,
        least=0,
        most=1 << 40,
        unit="bytes",
        description="bytes of every card's arena; 0 = the memory of the card",
    )
    cache_fit: CacheFit = lever(BestFit(), description="which cached block serves a request")
    cache: Cache = lever(SplitAndCoalesce.read("split_and_coalesce"), description="how memory is cut and joined")
    target: Target = lever(MaxBandwidth.read("max_bandwidth"), description="which card lends")
    idle_release: IdleRelease = lever(KeepAll(), description="what goes back to the arena")
    zero_on_reuse: bool = lever(False, description="whether cached memory is filled with zeros before another gets it")

    def check(self) -> None:
        rules = self.cache.rules()
        if rules.stitches or rules.pages:
            raise InputError(
                f"the service does not serve with the cache {self.cache.name}: a region is one range of its arena, and "
                "nothing is mapped there page by page. Take any cache but stitching and expandable_segments."
            )
        check_named_cards(self.target, self.arenas())
        largest = max(card.free_bytes for card in self.arenas().cards)
        if addresses_for(largest) >= MOST_OFFSET:
            raise InputError(f"{self.name}: a card of {largest} bytes is larger than an arena can be. Use card_bytes.")

    def setup(self) -> Setup:
        """Return what the engine `pool` runs by."""
        policies = {slot: getattr(self, slot) for slot in ("cache", "cache_fit", "target", "idle_release")}
        policies |= {"driver": ByteCounter(), "residency": Stay()}
        return Setup("pool", self.arenas(), None, policies, PoolOptions.read({}))

    def arenas(self) -> Board:
        """Return the board with cards as large as the arenas are."""
        if not self.card_bytes:
            return self.board
        small = (card.but(memory_bytes=self.card_bytes, used_bytes=0) for card in self.board.cards if card.memory_bytes)
        sizes = {card.id: card for card in small}
        return self.board.but(cards=tuple(sizes.get(card.id, card) for card in self.board.cards))
