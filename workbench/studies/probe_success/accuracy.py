"""How much does a probe that saves gates miss? Expected reports and lost dispatches, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.policies.probes.question import Probe
from workbench.studies.probe_success.chain import Setting, failure


def mean_report(probe: Probe, setting: Setting = Setting()) -> float:  # noqa: B008
    """Compute the expected report of a unit, in blocks: the sum over all demands of the chance that the report reaches
    them.

    >>> from workbench.policies.probes import ExactRun
    >>> round(mean_report(ExactRun(), Setting(blocks=3)), 12)           # runs 0, 1 x 4, 2 x 2, 3 of the 8 states
    1.375
    """
    return sum(failure(probe, demand, setting).unit.success for demand in range(1, setting.blocks + 1))


def under_report(probe: Probe, setting: Setting = Setting()) -> float:  # noqa: B008
    """Compute by how many blocks the report falls short of the longest run, on average.

    >>> from workbench.policies.probes import ExactRun
    >>> under_report(ExactRun())
    0.0
    """
    return mean_report(_exact(), setting) - mean_report(probe, setting)


def lost_dispatches(probe: Probe, demands: Sequence[int], setting: Setting = Setting()) -> float:  # noqa: B008
    """Compute the share of demands, each as likely as the others, that the machine could serve and the probe refuses.

    >>> from workbench.policies.probes import GroupedRun
    >>> round(lost_dispatches(GroupedRun(groups=32), [5]), 3)
    0.998
    """
    lost = [_refused(probe, demand, setting) - _refused(_exact(), demand, setting) for demand in demands]
    return sum(lost) / len(lost)


def _exact() -> Probe:
    return Probe.read("exact_run")


def _refused(probe: Probe, demand: int, setting: Setting) -> float:
    return failure(probe, demand, setting).machine.failure
