"""What the policies with a limit have in common: the limit."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.idle.question import IdleRelease


class Limited(IdleRelease, abstract=True):
    """The base of policies that keep so many cached bytes a card."""

    limit_bytes_a_card: int = lever(
        1 << 30, least=0, most=1 << 50, unit="bytes", description="cached bytes that a card may keep"
    )

    def limit_bytes(self) -> int:
        return self.limit_bytes_a_card
