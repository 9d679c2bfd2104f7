"""Whether a resource can be cut into a number of equal groups, and the nearest number that does."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import wrong_value


def check_groups(groups: int, blocks: int, name: str, resource: str, where: str, together: Sequence[int] = ()) -> None:
    """Refuse a number of groups that does not divide the blocks, or is not smaller (spec 3, Z in section 2).

    The nearest number also divides the blocks of all resources that are probed together with this one.

    >>> check_groups(33, 128, "policy.probe.groups", "vgpr", "")
    Traceback (most recent call last):
    workbench.errors.InputError: policy.probe.groups must divide vgpr (128 blocks). Got 33. Nearest: 32.
    """
    valid = dividing(blocks)
    if groups in valid:
        return
    common = [z for z in valid if all(z in dividing(others) for others in together)]
    nearest = min(common, key=lambda z: (abs(z - groups), z))
    what = f"{resource} ({blocks} blocks)" if resource else f"the {blocks} blocks"
    rule = "be smaller than" if blocks % groups == 0 else "divide"
    raise wrong_value(where, name, f"must {rule} {what}", groups, nearest)


def dividing(blocks: int) -> list[int]:
    """Return the numbers of groups of at least two blocks each; one group for a single block.

    >>> dividing(12), dividing(1)
    ([1, 2, 3, 4, 6], [1])
    """
    return [z for z in range(1, blocks // 2 + 1) if blocks % z == 0] or [1]
