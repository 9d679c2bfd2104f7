"""The grouped probe: Embodiment 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from workbench.levers import lever
from workbench.policies.probes.circuit.vectors import GROUPS
from workbench.policies.probes.group_checks import check_groups
from workbench.policies.probes.shift_probe import ShiftProbe
from workbench.policies.probes.view import ProbeView
from workbench.policies.probes.word_parallel import longest_run_of_groups


class GroupedRun(ShiftProbe):
    """Report the longest run of wholly free groups of blocks, in blocks; there are no ties to break.

    The state is cut into equal groups, each of which counts as free if all of its blocks are, and the probe looks at
    groups alone. So it costs a fraction of the exact one and reports a multiple of the group size that is short of the
    longest run by up to 2 N/Z - 2 blocks: a demand just above a multiple is often refused where it would have fitted.

    References
    ----------
    spec 3, R39-R43 (Em. 5), E27.

    Examples
    --------
    >>> GroupedRun(groups=4).longest("0111100111111100")
    4
    >>> cost = GroupedRun(groups=32).cost(128)
    >>> cost.and_gates, cost.or_gates
    (592, 496)
    """

    timing: Literal["comb_1cycle", "pipe_3cycle", "pipe_3cycle_shared_hw"] = lever(
        "comb_1cycle",
        description="in one cycle, in three with hardware for each, or in three that use the same hardware",
    )
    groups: int = lever(
        32, least=1, most=2048, unit="groups", description="groups of a resource; must divide its blocks"
    )

    @staticmethod
    def answer(see: ProbeView) -> int:
        size = see.blocks // int(see.levers[GROUPS])
        return size * longest_run_of_groups(see.free, size)

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
        return range(1, self.groups + 1)

    def _groups(self) -> int:
        return self.groups
