"""The weights of instruction classes."""

from __future__ import annotations

from workbench.levers import Spec, lever
from workbench.policies.dispatch.choice.calibration.trial import (
    Calibration,
    Measure,
    Trial,
    in_ratios,
    random_module,
)
from workbench.policies.dispatch.choice.question import CLASSES


class InstructionCalibrator(Spec):
    """Run one class of instructions at a time in one module while the others are off, and weigh them by their power.

    As many instructions are executed as the recent past has cycles, na = nx, one a cycle. The idle module's power is
    subtracted; the document does not say so, and without it the weights lie too near to each other.

    References
    ----------
    spec 3, R79, E21, V36; source document ¶275-281, claims 2-4.

    Examples
    --------
    >>> energy = (2, 8, 32, 2, 2, 2)
    >>> def measure(trial):
    ...     return 10 + sum(e * n / trial.cycles for e, n in zip(energy, trial.instructions))
    >>> InstructionCalibrator().calibrate(measure).weights
    (1.0, 4.0, 16.0, 1.0, 1.0, 1.0)
    >>> InstructionCalibrator(subtract_idle=False).calibrate(measure).weights
    (1.0, 1.5, 3.5, 1.0, 1.0, 1.0)
    """

    nx: int = lever(
        1024,
        least=1,
        most=1 << 20,
        scale="power_of_two",
        unit="cycles",
        description="cycles and instructions of a trial",
    )
    subtract_idle: bool = lever(True, description="subtract the power of the idle module")

    def calibrate(self, measure: Measure, modules: int = 16, seed: int = 0) -> Calibration:
        """Calibrate the weights of the six classes, for `LeastRecentEnergy`.

        Parameters
        ----------
        measure : callable
            Takes a `Trial` and returns watts; `metered(ClassPower(...))` makes one of a power model.
        modules : int
            Modules of the machine, one of which is drawn.
        seed : int
            The seed of that draw.

        Raises
        ------
        InputError
            A class draws less than the idle module, or none draws more.
        """
        module = random_module(modules, seed)
        idle = measure(Trial(module, self.nx))
        each = [tuple(self.nx * (k == s) for k in range(len(CLASSES))) for s in range(len(CLASSES))]
        watts = tuple(measure(Trial(module, self.nx, instructions)) for instructions in each)
        less = idle if self.subtract_idle else 0.0
        return Calibration(module, idle, watts, in_ratios(CLASSES, [power - less for power in watts]))
