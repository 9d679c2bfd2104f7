"""Policies as researchers write them: each is run to the end and checked, without a word of refusal.

All are points of one sweep, which `workbench run` does with a worker, so each goes to another process, and some of its
runs are repeated there. Each hands its aim to the answer as a parameter.
"""

from __future__ import annotations

import textwrap
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

import pytest
import yaml

import workbench as wb
from workbench.cli.main import main
from workbench.errors import PolicyError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.runs.user_code import check_code

HEAD = """
import numpy as np
import workbench as wb
from tests.identity.lowest import from_aim
from workbench.policies import Placement
"""
POLICY = """
class Mine({base}):
    {within}
    def parameters(self):
        return np.array([float({aim})])

    def answer(see):
        return from_aim(see.free, see.segments, see.length, int(see.levers[0]))
"""


def policy(aim: str, before: str = "", within: str = "", base: str = "Placement") -> str:
    """Return the text of a policy file: the expression of its aim, the lines above the class, and those within it."""
    text = POLICY.format(aim=aim, base=base, within=textwrap.indent(textwrap.dedent(within), " " * 4).strip())
    return HEAD + textwrap.dedent(before) + text


MEMO = """
_memo = {}
def table(n):
    if n not in _memo:
        _memo[n] = [n * k for k in range(9)]
    return _memo[n]
"""
FLAG = """
import enum
class Side(enum.Flag):
    LOW = 1
    HIGH = 2
def aim(side):
    return 4 if side & (Side.LOW | Side.HIGH) == Side.LOW | Side.HIGH else 0
"""
LIBRARY = """
import ctypes
libm = ctypes.CDLL(None)
libm.floor.restype = ctypes.c_double
libm.floor.argtypes = [ctypes.c_double]
"""
CONFIG = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Config:
    aim: int = 3
CONFIG = Config(4)
"""
CACHE = "import functools\n@functools.lru_cache\ndef aim(n):\n    return n + 1"
PARTIAL = "import functools\ndef add(a, b):\n    return a + b\naim = functools.partial(add, 3)"
BASE = "class Base(Placement):\n    aim = 3\n    def reach(self):\n        return self.aim + 1"
CLOSURE = "def build(n):\n    def aim():\n        return n\n    return aim\naim = build(4)"
COMPILED = "from numba import njit\n@njit\ndef aim(n):\n    return n * 2"
INPUTS = 'inputs = ["levers.json"]'
READ = "json.loads((Path(__file__).parent / 'levers.json').read_text())['aim']"
BESIDE = "(Path(__file__).parent / 'weights.csv').read_text()"
HONEST = {
    "a table at module level": policy("TABLE[2]", "TABLE = np.arange(8) ** 2"),
    "a dataclass of settings": policy("CONFIG.aim", CONFIG),
    "a cached function": policy("aim(3)", CACHE),
    "a partial function": policy("aim(1)", PARTIAL),
    "a declared JSON file": policy(READ, "import json\nfrom pathlib import Path", INPUTS),
    "a file beside the policy": policy("AIM", f"from pathlib import Path\nAIM = int({BESIDE})"),
    "a helper that Numba compiles": policy("aim(2)", COMPILED),
    "a generator with a seed": policy("DRAWN[1]", "DRAWN = np.random.default_rng(1).integers(0, 9, 4)"),
    "a lambda as a key": policy("ORDER[0]", "ORDER = sorted([4, 1, 2], key=lambda one: -one)"),
    "a class attribute and a base class": policy("self.reach()", BASE, "aim = 3", "Base"),
    "a closure and a function of SciPy": policy("special.binom(aim(), 1)", f"from scipy import special\n{CLOSURE}"),
    "a memo dictionary": policy("table(2)[2]", MEMO),
    "an enumeration of flags": policy("aim(Side.LOW | Side.HIGH)", FLAG),
    "a relative import": policy("AIM", "from .helper import AIM"),
    "a function of the C library": policy("libm.floor(4.5)", LIBRARY),
}  # fmt: skip
FILES = {"weights.csv": "4\n", "levers.json": '{"aim": 4}', "helper.py": "AIM = 4\n", "__init__.py": ""}
SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": 64},
    "workload": {"synthetic": "random_workgroups", "count": 40, "size": {"uniform": [1, 20]}},
    "measures": ["drain_cycles"],
    "seeds": 2,
}


class Done(NamedTuple):
    """What `workbench run` of all of them came to."""

    status: int
    printed: str
    drains: dict[str, set[str]]
    """By policy: the outcome of each run, with its seed and its drain time or its error."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("honest")
    (folder / "lab").mkdir()
    for name, text in FILES.items():
        (folder / "lab" / name).write_text(text)
    names = {f"mine{number}": name for number, name in enumerate(HONEST)}
    for own, name in names.items():
        (folder / "lab" / f"{own}.py").write_text(HONEST[name].replace("class Mine(", f"class {own.title()}("))
    places = [f"lab/{own}.py:{own.title()}" for own in names]
    sweep = {**SWEEP, "policy": {"placement": {"vary": places}}}
    (folder / "sweep.yaml").write_text(yaml.safe_dump(sweep))
    with redirect_stdout(StringIO()) as printed, pytest.MonkeyPatch.context() as here:
        here.setenv("WORKBENCH_REPEAT", "1")
        status = main(["run", str(folder / "sweep.yaml"), "--out", str(folder / "out"), "--workers", "1"])
    table = wb.open_results(folder / "out").table.astype(str)
    rows = zip(table["policy.placement"], table["status"], table["seed"], table["drain_cycles"], table["error"])
    drains: dict[str, set[str]] = {name: set() for name in HONEST}
    for policy, *outcome in rows:
        drains[names[policy.partition("(")[0]]].add(" ".join(outcome).strip())
    return Done(status, printed.getvalue(), drains)


@pytest.mark.parametrize("name", HONEST)
def test_a_policy_is_run_to_the_end(done, name):
    """The aim is 4 in all of them, so their runs end at the same cycle."""
    assert done.drains[name] == done.drains["a table at module level"]
    assert len(done.drains[name]) == 2
    assert all(outcome.startswith("done ") for outcome in done.drains[name])


def test_all_of_them_are_repeated_and_agree(done):
    assert done.status == 0
    assert f"{2 * len(HONEST)} rows repeated in a fresh process, all agree." in done.printed


HISTORY = """
_memo = {}
def runs():
    _memo.setdefault(len(_memo), 1)
    return len(_memo)
"""


def in_memory(text: str) -> tuple[dict[str, Any], Any]:
    """Return the namespace of a policy's text, executed as a notebook's cell is, and a function that runs it."""
    space: dict[str, Any] = {"__name__": "honest_notebook"}
    exec(compile(text, "<a cell>", "exec"), space)

    def drains(seeds: int = 2) -> list[float]:
        results = wb.run({**SWEEP, "seeds": seeds, "policy": {"placement": space["Mine"]}}, workers=0)
        assert set(results.table["error"]) == {""}
        return list(results.table["drain_cycles"])

    return space, drains


def test_no_run_depends_on_what_another_one_put_into_a_memo():
    """The aim grows with each run that the memo knows of."""
    _, once = in_memory(policy("40 * runs()", HISTORY))
    space, often = in_memory(policy("40 * runs()", HISTORY))
    first, again = once(4), [often(4), often(4)]
    assert again == [first, first]
    assert space["_memo"] == {}
    _, fixed = in_memory(policy("40"))
    assert first == fixed(4)


def test_what_the_user_puts_into_a_dictionary_stays_and_counts():
    space, drains = in_memory(policy("AIMS.get('low', 0)", "AIMS = {}"))
    before = drains()
    space["AIMS"]["low"] = 40
    after = drains()
    assert after != before
    assert space["AIMS"] == {"low": 40}
    space["AIMS"].clear()
    assert drains() == before


def test_what_the_user_puts_into_a_dictionary_after_the_plan_is_refused():
    space, _ = in_memory(policy("AIMS.get('low', 0)", "AIMS = {}"))
    plan = make_plan(read_sweep({**SWEEP, "policy": {"placement": space["Mine"]}}))
    space["AIMS"]["low"] = 40
    with pytest.raises(PolicyError, match="is not what it was when this run was planned"):
        check_code(plan.points[0].setup)
    assert space["AIMS"] == {"low": 40}


def test_a_dictionary_that_held_something_may_not_change_during_a_run():
    space, _ = in_memory(policy("runs()", HISTORY.replace("{}", "{0: 1}")))
    results = wb.run({**SWEEP, "policy": {"placement": space["Mine"]}}, workers=0)
    assert "something it refers to changed while this run went on" in results.table["error"][0]
