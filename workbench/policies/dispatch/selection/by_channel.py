"""What policies have in common that choose by channel: whom they choose among."""

from __future__ import annotations

from typing import Any, Literal

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.selection.candidates import ANY_RANK, best_rank
from workbench.policies.dispatch.selection.question import Selection

AMONG = 0
"""Parameters: the position of the lever `among`; those of a policy's own levers follow."""


@kernel
def rank_limit(count: int, rank: Any, fits: Any, params: Any) -> int:
    """Return the worst rank that a candidate may have, by the lever `among`."""
    return ANY_RANK if params[AMONG] else best_rank(count, rank, fits)


class ByChannel(Selection, abstract=True):
    """The base of policies that choose by channel: among groups of the most urgent rank that fit, or all that fit."""

    among: Literal["best_rank", "all_that_fit"] = lever(
        "best_rank",
        description="whether only groups of the most urgent rank compete, or all that fit, whatever their rank",
    )
