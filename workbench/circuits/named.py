"""Reads which circuit is meant: a policy's name, its levers, a size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.circuits.registry import MAKERS, Size
from workbench.errors import InputError, unknown_name, wrong_value
from workbench.policies.policy import Policy, policies, questions, read_policy


def policy_named(name: str, levers: Mapping[str, object]) -> Policy:
    """Return the policy of a name such as `exact_run`, or `probe.exact_run` where several questions know the name.

    Raises
    ------
    InputError
        There is no such policy, it has no circuit, or a lever is not as it must be.
    """
    from workbench.policies.catalogue import load_all

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
