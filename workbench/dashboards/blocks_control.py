"""N of a resource: the blocks that each SIMD has, a lever of its own beside the number of SIMDs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from workbench.dashboards.controls import Control, LeversControl
from workbench.dashboards.controls.number import NumberControl
from workbench.levers import Lever
from workbench.machine.machine import Resource

_CUTS = {"vgprs_a_unit": "vgpr", "sgprs_a_unit": "sgpr", "waves_a_unit": "wave"}
"""Levers of a machine that its SIMDs share out, and what a page calls a block of them."""


class BlocksControl(Control):
    """What a compute unit has, turned as blocks of one SIMD; more SIMDs have as many blocks each.

    A machine's own figure stays to the register as long as neither is turned.
    """

    def __init__(self, lever: Lever, block: Callable[[], int], simds: Control) -> None:
        """Take as `block` how much a block is on the machine that is chosen, as `simds` the control of their number."""
        super().__init__(lever)
        self._block, self._simds = block, simds
        self._as_found: tuple[int, int, int] | None = None
        least = min(1, int(lever.least or 0))  # a machine may have none of what it does not reserve
        most = min(int(Resource.levers["blocks"].most or 0), int(lever.most or 0))
        says = f"N: what each SIMD has of the {lever.label} in blocks; turning the number of SIMDs leaves it as it is"
        word = _CUTS[lever.name]
        inner = Lever(f"{word}_N", "integer", 64, least=least, most=most, unit="blocks a SIMD", description=says)
        self.blocks = NumberControl(inner)
        self.box, self.slider, self.widget = self.blocks.box, self.blocks.slider, self.blocks.widget
        self.blocks.on_change(self._changed)
        simds.on_change(self._bound)

    def plain(self) -> Any:
        blocks, simds = self.blocks.plain(), self._simds.plain()
        if self._as_found is not None and self._as_found[1:] == (blocks, simds):
            return self._as_found[0]
        return self.lever.check(blocks * simds * self._block())

    def _show(self, value: int) -> None:
        simds = self._simds.plain()
        self._bound()
        self.blocks.show(value // (simds * self._block()))
        self._as_found = value, self.blocks.plain(), simds

    def _bound(self) -> None:
        """Offer no more than the machine's lever takes for so many SIMDs."""
        most = int(self.lever.most or 0) // (self._simds.plain() * self._block())
        self.box.max = min(int(self.blocks.lever.most or 0), most)


def machine_levers(lever: Lever, only: Sequence[str], machine: Callable[[], Any]) -> LeversControl:
    """Return the levers of a machine; where its SIMDs can be turned, what they share out is turned as blocks of each.

    Take as `machine` what gives the preset that is chosen, whose granules cut the blocks.
    """
    if "simds_a_unit" not in only:
        return LeversControl(lever, only=only)
    blocks: dict[str, Callable[[], int]] = {
        "vgprs_a_unit": lambda: int(machine().wave_size * machine().vgpr_granule),
        "sgprs_a_unit": lambda: int(machine().sgpr_granule),
        "waves_a_unit": lambda: 1,
    }
    return LeversControl(lever, only=only, instead={name: partial(_blocks, each) for name, each in blocks.items()})


def _blocks(block: Callable[[], int], lever: Lever, before: dict[str, Control]) -> BlocksControl:
    return BlocksControl(lever, block, before["simds_a_unit"])
