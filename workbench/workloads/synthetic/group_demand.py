"""Which law says what a random group asks of each resource of a machine, and what all groups ask of it together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.levers import Spec, lever
from workbench.workloads.fitting import ALWAYS_ONE, column_of, first_misfit, machine_resources
from workbench.workloads.synthetic.arrivals import Offered
from workbench.workloads.synthetic.laws import Constant, Law

if TYPE_CHECKING:
    from workbench.workloads.synthetic.random_groups import RandomGroups


class FurtherDemand(Spec):
    """What is asked of one of the further resources that a machine declares."""

    label: str = lever(description="the resource, as the machine's more_resources call it")
    blocks: Law = lever(
        Constant(value=1), unit="blocks", description="blocks a wave, or a group of a module's resource"
    )


def laws_of(spec: RandomGroups, machine: Any, path: str) -> dict[str, Law]:
    """Return the law of each resource that a machine has, by label; of wave and workgroup slots one is taken without a
    law.

    Raises
    ------
    InputError
        A further resource is named that the machine does not declare.
    """
    declared = [resource.label for resource in machine.more_resources]
    for place, demand in enumerate(spec.further):
        if demand.label not in declared:
            raise unknown_name(f"{path}.further[{place}]", "resource", demand.label, declared)
    usual = {"vgpr": spec.vgpr_blocks, "sgpr": spec.sgpr_blocks, "shared": spec.shared_segments}
    own = {demand.label: demand.blocks for demand in spec.further}
    labels = [resource.label for resource in machine_resources(machine) if resource.label not in ALWAYS_ONE]
    return {label: usual.get(label) or own.get(label) or spec.further_blocks for label in labels}


def check_fits(spec: RandomGroups, machine: Any, path: str) -> None:
    """Refuse laws whose largest numbers together would give a group that no empty module has room for.

    So are laws that ask for something of which the machine has none: they would be passed over without a word.
    """
    laws = laws_of(spec, machine, path)
    if "sgpr" not in laws:
        _check_none(spec, "sgpr_blocks", "the machine reserves no scalar registers (machine.sgprs_a_unit 0)", path)
    if not machine.more_resources:
        _check_none(spec, "further_blocks", "the machine declares no further resource (machine.more_resources)", path)
    largest = {label: np.array([law.span()[1]]) for label, law in laws.items()}
    misfit = first_misfit(machine, np.array([spec.waves.span()[1]]), largest)
    if misfit is not None:
        law = spec.waves if misfit.label == "waves" else laws[misfit.label]
        check_most(f"{path}.{_lever_of(spec, misfit.label)}", law, misfit.most, misfit.expected)


def _check_none(spec: RandomGroups, name: str, why: str, path: str) -> None:
    """Refuse a law that was chosen for a resource that is not there; the default stands for whatever there is."""
    law, usual = getattr(spec, name), spec.levers[name].default
    if law != usual and law.span()[1] > 0:
        raise wrong_value("", f"{path}.{name}", f"must be left out or 0, for {why}", law.short(), 0)


def check_most(path: str, law: Law, most: int, expected: str) -> None:
    """Refuse a law that may draw more than there may be, naming the one lever that would keep it within."""
    _, highest = law.span()
    if highest > most:
        near = law.nearest_within(most)
        cure = f" Nearest: {near}." if near else ""
        raise InputError(f"{path} {expected}. Got up to {highest}.{cure}")


def _lever_of(spec: RandomGroups, label: str) -> str:
    """Return the lever that holds the law of a resource, as messages name it."""
    places = [place for place, demand in enumerate(spec.further) if demand.label == label]
    if places:
        return f"further[{places[0]}].blocks"
    return column_of(label) if column_of(label) in spec.levers else "further_blocks"


def busiest(machine: Any, waves: np.ndarray, demand: Mapping[str, np.ndarray], duration: np.ndarray) -> Offered:
    """Return what is offered to the resource that is asked for most, over all modules of the machine.

    Parameters
    ----------
    waves, duration : int64[groups]
    demand : int64[groups] by the resource's label

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> machine = Machine(compute_units=1)  # with 4 units of 64 vector register blocks and 10 wave slots
    >>> busiest(machine, np.array([8]), {"vgpr": np.array([16]), "shared": np.array([0])}, np.array([100]))
    Offered(work=12800, capacity=256)
    """
    wanted = [resource for resource in machine_resources(machine) if resource.label in (*ALWAYS_ONE, *demand)]
    offers = []
    for resource in wanted:
        of_unit = resource.level == "unit"
        blocks = np.ones_like(waves) if resource.label in ALWAYS_ONE else demand[resource.label]
        capacity = resource.blocks * machine.compute_units * (machine.simds_a_unit if of_unit else 1)
        offers.append(Offered.of(blocks * waves if of_unit else blocks, duration, capacity))
    busiest_offer = offers[0]
    for offered in offers[1:]:
        busiest_offer = offered if offered.above(busiest_offer) else busiest_offer
    return busiest_offer
