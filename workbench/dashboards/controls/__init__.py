"""Widgets from levers: a declared parameter becomes a slider with a number box, a drop-down, a tick or a text field.

Nothing here knows a mechanism: ranges, units and meanings come from the lever alone, members of a family and policies
of a question from their catalogues.
"""

from workbench.dashboards.controls.build import control_for
from workbench.dashboards.controls.control import Control
from workbench.dashboards.controls.family import ChoiceControl, alternatives, workloads
from workbench.dashboards.controls.levers import LeversControl

__all__ = ["ChoiceControl", "Control", "LeversControl", "alternatives", "control_for", "workloads"]
