"""What applications ask of a whole node (spec 6, section 4)."""

from workbench.workloads.node.application import (
    Allocate,
    Application,
    Applications,
    Free,
    Kernel,
    Launch,
    Phase,
    Step,
    Touch,
    Wait,
)
from workbench.workloads.node.checks import check_applications
from workbench.workloads.node.plan import Plan, StreamPlan

__all__ = [
    "Allocate",
    "Application",
    "Applications",
    "Free",
    "Kernel",
    "Launch",
    "Phase",
    "Plan",
    "Step",
    "StreamPlan",
    "Touch",
    "Wait",
    "check_applications",
]
