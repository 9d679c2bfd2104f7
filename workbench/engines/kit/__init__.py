"""What every engine is built from: the frame, columns of a state, counters and faults by name, slots, order."""

from workbench.engines.kit.columns import column, log, made
from workbench.engines.kit.engine import slot
from workbench.engines.kit.faults import (
    FINE,
    STOP,
    Stop,
    fail,
    full,
    numbered,
    policy_error,
    raised,
    stop_of,
    stuck,
    wrong,
)
from workbench.engines.kit.order import RANK, cycle_of, moment, rank_of
from workbench.engines.kit.simulator import Attempt, Given, Simulator, given

__all__ = [
    "FINE",
    "RANK",
    "STOP",
    "Attempt",
    "Given",
    "Simulator",
    "Stop",
    "column",
    "cycle_of",
    "fail",
    "full",
    "given",
    "log",
    "made",
    "moment",
    "numbered",
    "policy_error",
    "raised",
    "rank_of",
    "slot",
    "stop_of",
    "stuck",
    "wrong",
]
