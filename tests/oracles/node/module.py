"""A module: units with wave slots and registers, and shared memory; a group takes all that it needs or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.oracles.node.description import Dispatch, Policies
from tests.oracles.node.policies import answer_of


class Piece(NamedTuple):
    """Blocks of one resource; unit -1 is the module's own."""

    unit: int
    resource: str
    start: int
    amount: int


@dataclass(frozen=True)
class Demand:
    """What a group or a part of one holds while it runs."""

    waves: int
    vgpr_blocks: int  # a wave
    sgpr_blocks: int  # a wave
    shared_segments: int


class Module:
    """The resources of one module and who has which."""

    def __init__(self, dispatch: Dispatch, policies: Policies) -> None:
        self.pointer = 0
        self._free_of_charge = dispatch.free_of_charge
        self.slots = [dispatch.wave_slots] * dispatch.units
        self._split = answer_of("split", policies.split)
        self._place = {name: answer_of("registers", policies.registers) for name in ("vgpr", "sgpr")}
        self._place["shared"] = answer_of("shared", policies.shared)
        self._maps = {(-1, "shared"): [True] * dispatch.shared_segments}
        for unit in range(dispatch.units):
            self._maps[unit, "vgpr"] = [True] * dispatch.vgpr_blocks
            self._maps[unit, "sgpr"] = [True] * dispatch.sgpr_blocks
        self.total_slots = sum(self.slots)

    @property
    def waves(self) -> int:
        """Return how many waves run here."""
        return self.total_slots - sum(self.slots)

    @property
    def free(self) -> tuple[int, int, int, int]:
        """Return the free wave slots, vgpr blocks, sgpr blocks and shared segments."""
        totals = {"vgpr": 0, "sgpr": 0, "shared": 0}
        for (_, resource), blocks in self._maps.items():
            totals[resource] += sum(blocks)
        return (sum(self.slots), totals["vgpr"], totals["sgpr"], totals["shared"])

    def fragmentation(self) -> tuple[float, float]:
        """Return 1 - longest free run / free blocks, of shared memory and the mean of the register files."""
        registers = [_fragmentation(blocks) for (_, name), blocks in self._maps.items() if name != "shared"]
        return _fragmentation(self._maps[-1, "shared"]), sum(registers) / len(registers)

    def fits(self, demand: Demand) -> bool:
        """Return whether every longest free run and every count is enough (spec 3, R5, R6)."""
        if self._free_of_charge:
            return True
        counts, _ = self._split(demand.waves, len(self.slots), self.pointer)
        return all(count <= slots for count, slots in zip(counts, self.slots)) and all(
            _longest_run(self._maps[unit, resource]) >= amount for unit, resource, amount in _amounts(demand, counts)
        )

    def take(self, demand: Demand) -> list[Piece] | None:
        """Take what a demand needs and turn the pointer, or take nothing where a placement refuses."""
        if self._free_of_charge:
            return []
        counts, pointer = self._split(demand.waves, len(self.slots), self.pointer)
        pieces: list[Piece] = []
        for unit, resource, amount in _amounts(demand, counts):
            start = self._place[resource](self._maps[unit, resource], amount)
            if start is None:
                self._mark(pieces, free=True)
                return None
            pieces.append(Piece(unit, resource, start, amount))
            self._mark(pieces[-1:], free=False)
        waves = [Piece(unit, "waves", 0, count) for unit, count in enumerate(counts) if count]
        self._mark(waves, free=False)
        self.pointer = pointer
        return pieces + waves

    def give(self, pieces: list[Piece]) -> None:
        """Give back what a demand took."""
        self._mark(pieces, free=True)

    def _mark(self, pieces: list[Piece], free: bool) -> None:
        for unit, resource, start, amount in pieces:
            if resource == "waves":
                self.slots[unit] += amount if free else -amount
                continue
            blocks = self._maps[unit, resource]
            assert all(blocks[k] is not free for k in range(start, start + amount)), "blocks taken or given twice"
            blocks[start : start + amount] = [free] * amount


def _amounts(demand: Demand, counts: list[int]) -> list[tuple[int, str, int]]:
    """Return the contiguous amounts: one block a wave group and register file (spec 3, E5), and shared memory."""
    of_units: list[tuple[int, str, int]] = []
    for unit, count in enumerate(counts):
        of_units += [(unit, "vgpr", count * demand.vgpr_blocks), (unit, "sgpr", count * demand.sgpr_blocks)]
    return [row for row in [*of_units, (-1, "shared", demand.shared_segments)] if row[2]]


def _fragmentation(blocks: list[bool]) -> float:
    return 1 - _longest_run(blocks) / sum(blocks) if any(blocks) else 0.0


def _longest_run(blocks: list[bool]) -> int:
    longest = run = 0
    for free in blocks:
        run = run + 1 if free else 0
        longest = max(longest, run)
    return longest


def demand_of(kernel: Any, waves: int) -> Demand:
    """Return the demand of so many waves of a group of a kernel."""
    return Demand(waves, kernel.vgpr_blocks, kernel.sgpr_blocks, kernel.shared_segments)
