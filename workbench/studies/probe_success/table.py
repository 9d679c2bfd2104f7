"""The document's probability chain and the table around it (spec 3, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.policies.probes.question import Probe
from workbench.studies.probe_success.chain import Setting, failure
from workbench.studies.probe_success.simulate import simulated

if TYPE_CHECKING:
    import pandas as pd

LEVELS = ("unit", "module", "machine")


def table(
    probes: Sequence[Probe],
    demands: Sequence[int] = (1, 2, 3, 4, 5, 6, 8),
    setting: Setting = Setting(),  # noqa: B008
    *,
    machines: int = 0,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the chance that a demand is refused by a unit, by a module, by the whole machine: one row a probe and
    demand.

    Parameters
    ----------
    probes : sequence of Probe
        What is compared.
    demands : sequence of int
        Blocks that each unit must have in a row.
    setting : Setting
        The machine, and how full it is.
    machines : int
        With at least 1, so many machines are drawn as well, and each chance has its simulated share beside it, with
        its 95 % interval.
    seed : int
        Of the drawn machines.

    References
    ----------
    spec 3, section 4 (probability chain).

    Examples
    --------
    >>> from workbench.policies.probes import ExactRun, GroupedRun
    >>> found = table([GroupedRun(groups=32), ExactRun()], [4, 5])
    >>> [f"{chance:.2g}" for chance in found.machine_failure]
    ['8.9e-07', '1', '2.1e-23', '3.3e-07']
    """
    import pandas as pd

    rows = [row for probe in probes for row in _rows(probe, demands, setting, machines, seed)]
    return pd.DataFrame(rows)


def _rows(probe: Probe, demands: Sequence[int], setting: Setting, machines: int, seed: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for demand in demands:
        chances = failure(probe, demand, setting)
        row = {f"{level}_failure": chance.failure for level, chance in zip(LEVELS, chances, strict=True)}
        rows.append({"probe": probe.short(), "demand": demand, "free": setting.free, **row})
        rows[-1]["log10_machine_failure"] = chances.machine.log10_failure
    for row, drawn in zip(rows, simulated(probe, demands, setting, machines=machines, seed=seed) if machines else []):
        for level, share in zip(LEVELS, drawn, strict=True):
            row |= {f"{level}_drawn": share.mean, f"{level}_low": share.low, f"{level}_high": share.high}
    return rows
