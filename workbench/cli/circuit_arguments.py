"""What the commands about circuits share: a policy by name, its levers, a size."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.errors import InputError

if TYPE_CHECKING:
    from workbench.circuits import Circuit
    from workbench.circuits.registry import Size
    from workbench.policies.policy import Policy


def add_one(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name one circuit."""
    parser.add_argument("policy", metavar="POLICY", help="such as exact_run; with its question: probe.exact_run")
    parser.add_argument("--set", metavar="LEVER=VALUE", action="append", default=[], help="a lever; may be repeated")
    add_size(parser)


def add_size(parser: argparse.ArgumentParser) -> None:
    """Add how large a circuit is."""
    parser.add_argument("--size", metavar="N", default="128", help="blocks, segments ... (default: 128)")


def one(given: argparse.Namespace) -> tuple[Policy, Size]:
    """Return the policy and the size that were named."""
    from workbench.circuits.registry import policy_named, setting_read, size_read

    return policy_named(given.policy, dict(map(setting_read, given.set))), size_read(given.size)


INLINE = "POLICY or POLICY:LEVER=VALUE:..., such as exact_run:encoding=free0"


def inline(text: str, size: str) -> tuple[str, Circuit]:
    """Return the circuit of `exact_run`, or, with levers, of `exact_run:chain=doubling:encoding=free0`."""
    from workbench.circuits import circuit_of
    from workbench.circuits.registry import size_read

    policy = policy_inline(text)
    return policy.short(), circuit_of(policy, size_read(size))


def policy_inline(text: str) -> Policy:
    """Return the policy of `exact_run`, or, with levers, of `exact_run:chain=doubling:encoding=free0`."""
    from workbench.circuits.registry import policy_named, setting_read

    name, *levers = text.split(":")
    if not name:
        raise InputError(f"{text!r} must be POLICY or POLICY:LEVER=VALUE:...")
    return policy_named(name, dict(map(setting_read, levers)))
