"""The circuits of policies by kind: how each is built, and how its policy is asked for golden vectors.

Which circuit is meant is read from a policy's name, its levers, a size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.circuits.netlist import Circuit
from workbench.circuits.vectors import Case
from workbench.errors import InputError, unknown_name, wrong_value
from workbench.levers import read_spec
from workbench.mechanisms.catalogue import OWN, brought
from workbench.parts import Guests, Registry, is_in_file, listed
from workbench.policies.policy import Policy, policies, questions, read_policy

Size = int | Sequence[int]
"""Blocks, segments, requests ... of a circuit; several numbers where it serves several resources."""


def within(name: str, number: Any, least: int, most: int) -> int:
    """Return a number of a size after refusing one that a circuit cannot have."""
    if not isinstance(number, int) or not least <= number <= most:
        nearest = min(max(number, least), most) if isinstance(number, int) else most
        raise wrong_value("", name, f"must be from {least} to {most} for a circuit", number, nearest)
    return number


def sizes_within(size: Any, what: str, example: str, **limits: tuple[int, int]) -> list[int]:
    """Return the numbers of a size after refusing another count of them, or one outside of its limits."""
    if not isinstance(size, Sequence) or len(size) != len(limits):
        raise wrong_value("", "size", f"must be {what}", size, example)
    return [within(name, number, *ends) for number, (name, ends) in zip(size, limits.items(), strict=True)]


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


MAKERS: Registry[Maker] = Registry(
    "circuit",
    later=listed(manifest.circuits for manifest in OWN.values()),
    guests=Guests(
        "circuit",
        lambda value: isinstance(value, Maker),
        named_by="",
        made=lambda maker: maker._replace(built_in=False),
        home=lambda maker: maker.build.__module__,
        more=lambda: brought("circuits", "circuit"),
    ),
)
"""Every maker by name; only the module of the one that is asked for is imported."""


def add_circuit(maker: Maker) -> Maker:
    """Enter the circuits of a user's policy.

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
    return MAKERS.has(_name_of(policy))


def _name_of(policy: Policy) -> str:
    return f"{policy.question}.{policy.name}"


def maker_of(policy: Policy) -> Maker:
    """Return the recipe for the circuits of a policy.

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


def policy_named(name: str, levers: Mapping[str, object]) -> Policy:
    """Return the policy of a name such as `exact_run`, or `probe.exact_run` where several questions know the name; of
    `FILE.py:CLASS` the one that the file defines, whose circuit it enters too.

    Raises
    ------
    InputError
        There is no such policy, it has no circuit, or a lever is not as it must be.
    """
    from workbench.policies.catalogue import load_all, policy_in_file

    if is_in_file(name):
        return read_spec(policy_in_file(name, Path(), ""), dict(levers), name)
    load_all()
    question, _, short = name.rpartition(".")
    known = [each for each in questions() if short in policies(each) and question in ("", each)]
    if not known:
        raise unknown_name("", "policy", short, {each.split(".")[1] for each in MAKERS.names()})
    built = [each for each in known if f"{each}.{short}" in MAKERS.names()] or known
    return read_policy(built[0], {short: dict(levers)})


def size_read(text: str) -> Size:
    """Return a size: `128`, or `128,64,48` for several resources.

    >>> size_read("128"), size_read("128,64,48")
    (128, (128, 64, 48))
    """
    parts: Sequence[str] = text.split(",")
    if not all(part.strip().removeprefix("-").isdigit() for part in parts):
        raise wrong_value("", "--size", "must be a whole number, or several with commas between", text, 128)
    sizes = tuple(map(int, parts))
    return sizes if len(sizes) > 1 else sizes[0]


def setting_read(text: str) -> tuple[str, object]:
    """Return a lever and its value: `encoding=free0`.

    >>> setting_read("groups=32")
    ('groups', 32)
    """
    from workbench.strict_yaml import parse_value

    name, sign, value = text.partition("=")
    if not sign:
        raise InputError(f"--set {text!r} must be LEVER=VALUE.")
    return name, parse_value(value, f"--set {name}")
