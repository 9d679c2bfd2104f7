"""Grouping and sampling together (spec 3, R50)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.levers import lever
from workbench.policies.probes.circuit.vectors import GROUPS
from workbench.policies.probes.group_checks import check_groups
from workbench.policies.probes.run_lengths import MOST_BLOCKS, powers_and_halfway
from workbench.policies.probes.sampled_run import SampledRun, largest_sampled
from workbench.policies.probes.view import ProbeView
from workbench.policies.probes.word_parallel import longest_run_of_groups


class GroupedSampledRun(SampledRun):
    """Report the largest of some numbers of consecutive free groups, in blocks; there are no ties to break.

    The state is cut into groups as `GroupedRun` does, and only some runs of groups are told apart as `SampledRun` does.
    The cheapest of the probes by shifting, and the least exact.

    References
    ----------
    spec 3, R50 (Em. 5 with Em. 6).

    Examples
    --------
    >>> probe = GroupedSampledRun(groups=8, run_lengths=(1, 2, 4, 8))
    >>> probe.longest("0011111111000000"), probe.longest("1111111100111111")
    (8, 8)
    >>> GroupedSampledRun(groups=32).cost(128).and_gates
    286
    """

    run_lengths: tuple[int, ...] = lever(
        powers_and_halfway(MOST_BLOCKS // 2),
        least=1,
        most=MOST_BLOCKS // 2,
        unit="groups",
        description="the runs of groups that are told apart; from 1, in steps that never shrink",
    )
    groups: int = lever(
        32, least=1, most=2048, unit="groups", description="groups of a resource; must divide its blocks"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        size = see.blocks // int(see.levers[GROUPS])
        return size * largest_sampled(longest_run_of_groups(see.free, size), see.levers)

    def check_blocks(self, blocks: int, path: str = "", where: str = "", resource: str = "") -> None:
        """Refuse a resource that the groups do not divide."""
        check_groups(self.groups, blocks, f"{path or self.name}.groups", resource, where)

    def check_each(self, blocks: Mapping[str, int], path: str = "", where: str = "") -> None:
        """Refuse resources that the groups do not divide, with the nearest number that divides all of them."""
        for label, count in blocks.items():
            check_groups(self.groups, count, f"{path or self.name}.groups", label, where, tuple(blocks.values()))

    def exact(self, blocks: int) -> bool:
        """Return False: a run counts for the whole groups that it holds."""
        return blocks == 1

    def _told_apart(self, blocks: int) -> Sequence[int]:
        return self.lengths(self.groups)

    def _groups(self) -> int:
        return self.groups
