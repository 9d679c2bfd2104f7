"""Stay: a region lies where it was granted until it is freed."""

from __future__ import annotations

from workbench.policies.pool.residency.question import Residency, ResidencyRules


class Stay(Residency):
    """Move nothing, as the source document has it: there is nothing to choose, so no tie.

    References
    ----------
    spec 5, E17 (the text knows no migration).

    Examples
    --------
    >>> Stay().rules().moves()
    False
    """

    def rules(self) -> ResidencyRules:
        return ResidencyRules()
