"""Which policies have a circuit: how each is built, and how its policy is asked for golden vectors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from workbench.circuits.netlist import Circuit
from workbench.circuits.vectors import Case
from workbench.errors import InputError
from workbench.parts.registry import Registry
from workbench.policies.policy import Policy

Size = int | Sequence[int]
"""Blocks, segments, requests ... of a circuit; several numbers where it serves several resources."""


class Maker(NamedTuple):
    """How the circuits of a kind of policy are made.

    `name` is the policy's question and name, such as `probe.exact_run`.
    """

    name: str
    build: Callable[[Any, Any], Circuit]
    """From a policy and a size; raises InputError for a lever or size that a circuit cannot have."""
    cases: Callable[[Any, Any, int, int], Iterable[Case]]
    """Golden vectors by the policy's own plain answer: of a policy, a size, so many cases, a seed."""
    size: str = "blocks"
    """What the size counts."""
    built_in: bool = True


_FILES = {
    "probe.exact_run": "probes.shifting",
    "probe.grouped_run": "probes.shifting",
    "probe.sampled_run": "probes.shifting",
    "probe.grouped_sampled_run": "probes.shifting",
    "probe.shift_doubling": "probes.doubling",
    "probe.prefix_suffix_tree": "probes.tree",
    "probe.bit_serial": "probes.serial",
    "probe.shared_run": "probes.shared",
    "placement.nearest_boundary": "placement.nearest_boundary",
    "placement.first_fit": "placement.fits",
    "placement.last_fit": "placement.fits",
    "placement.best_fit": "placement.fits",
    "placement.buddy": "placement.buddy",
    "serve.warp_aggregated": "malloc.warp_aggregated",
    "choice.least_recent_energy": "dispatch.least_recent_energy",
    "choice.most_residual": "dispatch.most_residual",
    "priority.priority_windows": "dispatch.priority_windows",
    "units.rotated_split": "dispatch.rotated_split",
    "peer.first_bit": "translation.first_bit",
    "eviction.lru": "translation.private_tlb",
    "eviction.mru": "translation.private_tlb",
    "target.weighted_cards": "pool.weighted_cards",
}
"""The file of this room that makes each circuit; only the one that is asked for is imported."""


def _in_file(name: str, file: str) -> Callable[[], Maker]:
    def made() -> Maker:
        makers = importlib.import_module(f"workbench.circuits.{file}").MAKERS
        return next(maker for maker in makers if maker.name == name)

    return made


MAKERS: Registry[Maker] = Registry("circuit", later={name: _in_file(name, file) for name, file in _FILES.items()})


def add_circuit(maker: Maker) -> Maker:
    """Enter the circuits of a policy of one's own.

    Raises
    ------
    InputError
        The package has circuits for a policy of that name.
    """
    return MAKERS.joined(maker._replace(built_in=False))


def has_circuit(policy: Policy) -> bool:
    """Return whether there are circuits of a policy of this kind.

    >>> from workbench.policies.placement import FirstFit, WorstFit
    >>> has_circuit(FirstFit()), has_circuit(WorstFit())
    (True, False)
    """
    return _name_of(policy) in MAKERS.names()


def _name_of(policy: Policy) -> str:
    return f"{policy.question}.{policy.name}"


def maker_of(policy: Policy) -> Maker:
    """Return how the circuits of a policy are made.

    Raises
    ------
    InputError
        It has none.
    """
    name = _name_of(policy)
    if not has_circuit(policy):
        known = sorted(each.split(".")[1] for each in MAKERS.names() if each.startswith(f"{policy.question}."))
        there = f"of its kind have one: {', '.join(known)}" if known else "no policy of its kind has one"
        raise InputError(f"{policy.name} has no circuit; {there}.")
    return MAKERS.find(name)


def circuit_of(policy: Policy, size: Size) -> Circuit:
    """Return the circuit of a policy for so many blocks, segments, requests ...

    Raises
    ------
    InputError
        The policy has no circuit, or not of that size or with one of its levers.

    Examples
    --------
    >>> from workbench.policies.probes import ExactRun
    >>> circuit = circuit_of(ExactRun(), 8)
    >>> circuit.outputs["report"].size, circuit.flip_flops
    (4, 0)
    """
    return maker_of(policy).build(policy, size)


def cases_of(policy: Policy, size: Size, count: int, seed: int = 0) -> list[Case]:
    """Return golden vectors for a policy's circuit, at random states, by the policy's own plain answer."""
    return list(maker_of(policy).cases(policy, size, count, seed))
