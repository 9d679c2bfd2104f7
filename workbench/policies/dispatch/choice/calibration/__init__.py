"""How do the weights of a module choice come about? Measured in one module while the others are off (R73, R79)."""

from workbench.policies.dispatch.choice.calibration.instructions import InstructionCalibrator
from workbench.policies.dispatch.choice.calibration.resources import ResourceCalibrator
from workbench.policies.dispatch.choice.calibration.trial import Calibration, Measure, Trial, metered

__all__ = ["Calibration", "InstructionCalibrator", "Measure", "ResourceCalibrator", "Trial", "metered"]
