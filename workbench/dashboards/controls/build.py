"""From one lever to the control that shows it."""

from __future__ import annotations

from workbench.dashboards.controls.control import Control
from workbench.dashboards.controls.family import ChoiceControl, alternatives
from workbench.dashboards.controls.levers import LeversControl
from workbench.dashboards.controls.number import NumberControl
from workbench.dashboards.controls.pick import ListControl, NameControl, SwitchControl, TextControl
from workbench.dashboards.controls.specs import SpecsControl
from workbench.levers import Lever

_CONTROLS: dict[str, type[Control]] = {
    "integer": NumberControl,
    "number": NumberControl,
    "switch": SwitchControl,
    "choice": NameControl,
    "text": TextControl,
    "integers": ListControl,
    "numbers": ListControl,
    "specs": SpecsControl,
}


def control_for(lever: Lever) -> Control:
    """Make the control of a lever, showing its default.

    >>> from workbench.levers import Lever
    >>> depth = control_for(Lever("depth", "integer", 4, least=1, most=64, unit="entries", description="its depth"))
    >>> depth.plain(), type(depth).__name__
    (4, 'NumberControl')
    """
    made = _of_spec(lever) if lever.kind == "spec" else _CONTROLS[lever.kind](lever)
    if not lever.required:
        made.show(lever.default)
    return made


def _of_spec(lever: Lever) -> Control:
    assert lever.spec is not None
    return ChoiceControl(lever) if alternatives(lever.spec) else LeversControl(lever)
