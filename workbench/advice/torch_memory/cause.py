"""Why a request failed: what the failure itself tells, before any setting is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.advice.torch_memory.diagnosis import shortfall_bytes
from workbench.advice.torch_memory.holdings import IdlePool, free_of, idle_pools

if TYPE_CHECKING:
    from workbench.advice.torch_memory.diagnosis import Diagnosis

Kind = Literal[
    "larger_than_card", "limit_outside", "private_pool", "fragmentation", "setting_helps", "too_much_live", "not_told"
]
"""`larger_than_card`: than all that PyTorch could have. `limit_outside`: the card had enough left. `private_pool`: one
keeps what was lacked. `fragmentation`: live blocks pin it. `setting_helps`: another setting saves it otherwise.
`too_much_live`: no setting is enough. `not_told`: the snapshot does not tell what the card had left."""


class Cause(NamedTuple):
    """Why the last refused request of the first card failed."""

    kind: Kind
    lacked_bytes: int | None
    """What the driver had too little for it, None = not told."""
    must_go_bytes: int | None
    """What must go besides under the best setting, None = not told."""
    pool: IdlePool | None = None
    """The private pool that keeps most."""


def cause_of(advice: Diagnosis) -> Cause | None:
    """Return the reason why the first card failed; None = it did not."""
    failure = advice.cards[0].failure
    if failure is None:
        return None
    lacked, gap, room = failure.lacked_bytes, shortfall_bytes(advice), failure.room_bytes
    pools = idle_pools(advice.segments)
    pool = pools[0] if pools else None
    if lacked is None or gap is None or room is None:
        return Cause("not_told", None, None, pool)
    if lacked == 0:
        return Cause("limit_outside", 0, 0, pool)
    if failure.needed_bytes > room:
        return Cause("larger_than_card", lacked, gap, pool)
    free = free_of(advice.segments)
    if gap:
        return Cause("private_pool" if free.pooled >= gap else "too_much_live", lacked, gap, pool)
    return Cause("fragmentation" if free.pinned >= lacked else "setting_helps", lacked, 0, pool)
