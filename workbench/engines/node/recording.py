"""The record of a run."""

from __future__ import annotations

import numpy as np

from workbench.engines.node.gauges import Means, means
from workbench.engines.node.prepare import Reading
from workbench.engines.node.state import APPLICATION, COUNT, GROUP, State
from workbench.records.node import NodeRecord

NONE_ALONE = np.zeros(0, np.int64)


def record_of(reading: Reading, state: State) -> NodeRecord:
    """Return what happened in a run."""
    given, group, application = reading.given, state.group, state.application
    counts = {name: int(state.counters[place]) for name, place in zip(COUNT._fields, COUNT)}
    machine, makespan = given.machine, counts["makespan"]
    mean = means(state.gauge, len(machine.gpus) * machine.card.compute_units, makespan)
    return NodeRecord(
        makespan=makespan,
        began=group[:, GROUP.began].copy(),
        ended=group[:, GROUP.ended].copy(),
        card=group[:, GROUP.card].astype(np.int16),
        times=state.times.copy(),
        refused=application[:, APPLICATION.refused] == 1,
        arrived=reading.plan.arrival.copy(),
        left=application[:, APPLICATION.ended_at].copy(),
        alone=NONE_ALONE,
        served=state.served.copy(),
        counts=counts,
        clock_mhz=machine.card.clock_mhz,
        modules=machine.card.compute_units,
        registers_scattered=mean.registers,
        shared_scattered=mean.shared,
        frames_scattered=_frames(reading, mean),
        live_bytes=mean.live,
        reserved_bytes=mean.reserved,
        window_cycles=counts["window"],
        spent=state.spent[: -(-makespan // counts["window"])].copy()
        if given.options.dispatch.power.simulated
        else None,
        power=given.options.dispatch.power,
        heat=given.options.dispatch.heat,
        messages=state.messages[: counts["messages"]],
        details=state.details[: counts["details"]],
    )


def _frames(reading: Reading, mean: Means) -> np.ndarray:
    """Return how scattered the frames of each GPU are; nothing where nobody looks at frames."""
    given = reading.given
    framed = given.options.pages != "neutral" and given.slots.driver.layout != "contiguous"
    return mean.frames[given.machine.gpus] if framed else np.zeros(0)
