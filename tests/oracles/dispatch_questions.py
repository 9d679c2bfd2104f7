"""A dispatcher's questions, asked in plain Python with lists: what a policy's own function answers to them.

The questions are those that `workbench.policies` documents; nothing here is taken from an engine. A policy is any
object with the documented methods, so that one written by a user can be asked as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.policies.dispatch.choice.view import ChoiceNotice
from workbench.policies.placement.view import PlacementNotice


def words(free: list[bool]) -> np.ndarray:
    """A free map as the questions take it: bit k of word w stands for block 64 w + k, 1 = free."""
    out = [0] * -(-len(free) // 64)
    for block, is_free in enumerate(free):
        out[block // 64] += is_free << (block % 64)
    return np.array(out, np.uint64)


def asked(policy: Any, *seen: Any) -> Any:
    """What the policy's plain function answers to a view with these fields."""
    return policy.plain_answer()(policy.asks.see(*seen))


def numbers(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def longest_run(policy: Any, free: list[bool]) -> int:
    return int(asked(policy, words(free), len(free), policy.parameters()))


def start(policy: Any, free: list[bool], length: int, memory: np.ndarray) -> int:
    return int(asked(policy, words(free), len(free), length, policy.parameters(), memory))


def tell(policy: Any, which: str, free: list[bool], first: int, length: int, memory: np.ndarray) -> None:
    policy.tell(which, PlacementNotice(words(free), len(free), first, length, policy.parameters(), memory))


def rank(policy: Any, cycle: int, priority: int, levels: int, waited: int) -> int:
    return int(asked(policy, cycle, priority, levels, waited, policy.parameters()))


def position(policy: Any, cycle: int, entries: list[dict[str, int]], memory: np.ndarray) -> int:
    """The entry that is selected, -1 = none."""
    names = ("channel", "priority", "rank", "fits", "waited", "waves")
    columns = [numbers([entry[name] for entry in entries]) for name in names]
    return int(asked(policy, cycle, len(entries), *columns, policy.parameters(), memory))


def counts(policy: Any, waves: int, pointer: int, taken: list[int]) -> tuple[list[int], int]:
    """The waves that each unit is given, and the module's new pointer."""
    given = numbers([0] * len(taken))
    after = int(asked(policy, waves, len(taken), pointer, numbers(taken), given, policy.parameters()))
    return given.tolist(), after


def parts(policy: Any, waves: int, independent: bool, priority: int, levels: int) -> int:
    return int(asked(policy, waves, int(independent), priority, levels, policy.parameters()))


def scores(policy: Any, cycle: int, seen: dict[str, list], memory: np.ndarray) -> list[float]:
    """The score of each candidate; `seen` holds a row a module where the question has rows of modules."""
    given = np.zeros(len(seen["modules"]))
    whole = [numbers(seen[name]) for name in ("modules", "demand", "free", "longest", "totals")]
    broken = [np.array(seen[name], np.float64) for name in ("recent", "heat")]
    columns = [column.reshape(-1) for column in (*whole, *broken)]
    asked(policy, cycle, given.size, *columns, given, policy.parameters(), memory)
    return given.tolist()


def tell_chosen(policy: Any, module: int, modules: int, memory: np.ndarray) -> None:
    policy.tell("chosen", ChoiceNotice(module, modules, policy.parameters(), memory))
