"""What two circuits say where a solver found that they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.circuits.netlist import Circuit
from workbench.circuits.simulator import Simulator


def answers(circuits: Sequence[Circuit], inputs: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the outputs in which circuits differ from a reset on, with what each says; nothing where none does.

    Parameters
    ----------
    circuits : sequence of Circuit
    inputs : mapping
        A counterexample of `prove`, whose inputs stay; of one that names steps (`go@2`) nothing is returned.

    Examples
    --------
    >>> from workbench.circuits import circuit_of
    >>> from workbench.policies.probes import ExactRun, GroupedRun
    >>> pair = [circuit_of(ExactRun(), 8), circuit_of(GroupedRun(groups=2), 8)]
    >>> answers(pair, {"state": 0b00011110})
    {'report': [4, 0]}
    """
    if not inputs or any("@" in name for name in inputs):
        return {}
    each = [_outputs(circuit, inputs) for circuit in circuits]
    return {name: [one[name] for one in each] for name in each[0] if len({one[name] for one in each}) > 1}


def _outputs(circuit: Circuit, inputs: Mapping[str, int]) -> dict[str, int]:
    running = Simulator(circuit)
    for now in range(circuit.latency + 1):
        begins = {circuit.started_by: int(now == 0)} if circuit.started_by else {}
        outputs = running.step({name: [value] for name, value in {**inputs, **begins}.items()})
    return {name: values[0] for name, values in outputs.items()}
