"""The middle level of the event-driven twin (docs/translation-rules.md, M1-M13): each group a list of what it used."""

from __future__ import annotations

from typing import Any

from tests.oracles.translation_load_clock import Clock, Slots


class Group:
    """The cores of a group and their TLB: blocks of pages from the one used longest ago to the newest."""

    def __init__(self, clock: Clock, machine: Any) -> None:
        self.blocks: list[int] = []
        self.ways = machine.middle_ways or machine.middle_entries
        self.sets = machine.middle_entries // self.ways
        self.port = Slots(clock, machine.middle_ports)

    def enter(self, block: int) -> None:
        """Make an entry, once, in place of the oldest of its set where that is full."""
        if block in self.blocks:
            return
        beside = [other for other in self.blocks if other % self.sets == block % self.sets]
        if len(beside) == self.ways:
            self.blocks.remove(beside[0])
        self.blocks.append(block)


class MiddleLevel:
    """All groups, and which core is of which; false where there is no middle level."""

    def __init__(self, clock: Clock, machine: Any) -> None:
        self.reach, self.accesses = machine.middle_pages, 0
        self.group_of: dict[int, Group] = {}
        if machine.middle_entries:
            for cores in self._groups(machine):
                self.group_of |= dict.fromkeys(cores, Group(clock, machine))

    @staticmethod
    def _groups(machine: Any) -> list[list[int]]:
        """Return the cores of each group."""
        if machine.shared_groups:
            return [[int(core) for core in text.split()] for text in machine.shared_groups.split(",")]
        groups: dict[int, list[int]] = {}
        for core in range(machine.cores):
            groups.setdefault(core // machine.middle_cores, []).append(core)
        return [*groups.values()]

    def __bool__(self) -> bool:
        return bool(self.group_of)

    def take_port(self, core: int) -> int:
        """Let a request come; return the cycle of its look-up."""
        self.accesses += 1
        return self.group_of[core].port.take()

    def look(self, core: int, tag: int) -> bool:
        """Look a page up, which uses the entry that covers it."""
        group, block = self.group_of[core], tag // self.reach
        if block not in group.blocks:
            return False
        group.blocks.remove(block)
        group.blocks.append(block)
        return True

    def keep(self, core: int, tag: int) -> None:
        """Let an answer that came to a core from behind make an entry in its group's TLB."""
        if self:
            self.group_of[core].enter(tag // self.reach)

    def drop(self, tag: int) -> None:
        """Let the entries that cover a page go."""
        for group in self.group_of.values():
            group.blocks = [block for block in group.blocks if block != tag // self.reach]
