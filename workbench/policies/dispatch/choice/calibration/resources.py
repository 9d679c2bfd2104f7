"""The weights of resources."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import unknown_name
from workbench.levers import Spec, lever
from workbench.policies.dispatch.choice.calibration.trial import (
    Calibration,
    Measure,
    Trial,
    in_ratios,
    random_module,
)


class ResourceCalibrator(Spec):
    """Let tasks that need one resource run in one module while the others are off, and weigh resources by their power.

    No task needs nothing but registers: a wave always takes a slot. So each trial's tasks take a block of `base` as
    well, and what tasks with the base alone draw is subtracted; the base's own weight is over the idle module. As the
    document has it, with `subtract_base=False`, a task needs the one resource only, if the measurement allows it.

    References
    ----------
    spec 3, R73, E21, V36; source document ¶247-252.

    Examples
    --------
    >>> def measure(trial):
    ...     return 10 + sum(w * trial.tasks * n for w, n in zip((2, 8, 32), trial.demand))
    >>> names = ("waves", "vgpr", "shared")
    >>> ResourceCalibrator().calibrate(measure, names).weights
    (1.0, 4.0, 16.0)
    >>> literal = ResourceCalibrator(subtract_idle=False, subtract_base=False, tasks=1)
    >>> literal.calibrate(measure, names).weights
    (1.0, 1.5, 3.5)
    """

    tasks: int = lever(64, least=1, most=1 << 20, unit="tasks", description="tasks that run at once in a trial (ma)")
    cycles: int = lever(1024, least=1, most=1 << 40, scale="log", unit="cycles", description="how long a trial runs")
    subtract_idle: bool = lever(True, description="subtract the power of the idle module")
    subtract_base: bool = lever(
        True, description="let every task take a block of the base, and subtract what that draws"
    )
    base: str = lever("waves", description="the resource without which there is no task")

    def calibrate(self, measure: Measure, names: Sequence[str], modules: int = 16, seed: int = 0) -> Calibration:
        """Calibrate the weights of the resources, for `MostResidual`: power a block.

        Parameters
        ----------
        measure : callable
            Takes a `Trial` and returns watts.
        names : sequence of str
            The machine's resources, in their order.
        modules : int
            Modules of the machine, one of which is drawn.
        seed : int
            The seed of that draw.

        Raises
        ------
        InputError
            The base is none of the resources, a resource draws less than what is subtracted, or none draws more.
        """
        if self.subtract_base and self.base not in names:
            raise unknown_name("", "resource", self.base, names)
        module = random_module(modules, seed)
        idle = measure(Trial(module, self.cycles))
        watts = {name: self._watts(measure, module, names, name) for name in names}
        less = dict.fromkeys(names, idle if self.subtract_idle else 0.0)
        if self.subtract_base:
            less |= {name: watts[self.base] for name in names if name != self.base}
        weights = in_ratios(names, [watts[name] - less[name] for name in names])
        return Calibration(module, idle, tuple(watts.values()), weights)

    def _watts(self, measure: Measure, module: int, names: Sequence[str], wanted: str) -> float:
        always = {self.base} if self.subtract_base else set()
        demand = tuple(int(name in always | {wanted}) for name in names)
        return measure(Trial(module, self.cycles, tasks=self.tasks, demand=demand))
