"""Workers run what the driver has in memory, also when they are warm and their own modules are older."""

import json
import pickle
import subprocess
import sys
import types
from pathlib import Path

import cloudpickle
import pytest

from tests.identity.table import AFTER, BEFORE, Case, edited, policy
from tests.identity.test_runs import FILE, SWEEP, drains, make
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.identity import digest_of, look
from workbench.runs.execution import execute_runs
from workbench.runs.pickled_setups import Packer, dumped, opened
from workbench.runs.run import Task

HELPER = "from numba import njit\n\n\n@njit\ndef aim():\n    return {:02d}\n"
USES_HELPER = (
    FILE.replace("AIM = {:02d}\n", "")
    .replace("AIM", "identity_beside.aim()")
    .replace("from numba import njit\n", "import identity_beside\n")
)


@pytest.fixture(scope="module")
def expected():
    """Return the drain times with either aim."""
    return [drains(make(aim)) for aim in (BEFORE, AFTER)]


def fresh(name):
    """Import a module as its file is now: Python takes bytecode of the same second and size for that of its source."""
    known = sys.modules.pop(name, None)
    if known is not None:
        Path(known.__cached__ or "").unlink(missing_ok=True)
    return __import__(name)


def both_times(write, executor, **more):
    """Return the drain times that workers find before and after an edit of a module that the driver imports."""
    result = []
    for aim in (0, 40):
        write(aim)
        module = fresh("identity_worked")
        assert getattr(module, "AIM", aim) == aim, f"Python itself imported {module.__file__} as it was before"
        result.append(drains(module.Mine(), executor=executor, **more))
    return result


@pytest.mark.parametrize("executor", ["processes", pytest.param("local:1", marks=pytest.mark.slow)])
def test_a_warm_worker_runs_the_module_that_the_driver_has(executor, tmp_path, monkeypatch, expected):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(aim):
        (tmp_path / "identity_worked.py").write_text(FILE.format(aim))

    more = {"workers": 1} if executor == "processes" else {"workers": None}
    assert both_times(write, executor, **more) == expected


@pytest.mark.slow
def test_a_warm_worker_runs_the_helper_that_the_driver_has(tmp_path, monkeypatch, expected):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "identity_worked.py").write_text(USES_HELPER)

    def write(aim):
        (tmp_path / "identity_beside.py").write_text(HELPER.format(aim))
        fresh("identity_beside")

    assert both_times(write, "processes", workers=1) == expected


@pytest.mark.slow
def test_a_warm_worker_runs_a_constant_that_was_edited_in_place(expected):
    """Numba takes a helper that it has met before for the same one, whatever its globals have become."""
    text = "AIM = 0\n@njit\ndef aim():\n    return AIM\n" + policy("aim()")
    with edited(Case("helper", text, "AIM = 40")) as here:
        before = drains(here.policy, executor="processes", workers=1)
        here.edit()
        assert [before, drains(here.policy, executor="processes", workers=1)] == expected


@pytest.mark.slow
def test_a_policy_file_with_a_helper_beside_it_travels(tmp_path, expected):
    for aim, times in zip((0, 40), expected):
        (tmp_path / "identity_beside.py").write_text(HELPER.format(aim))
        (tmp_path / "mine.py").write_text(USES_HELPER)
        assert drains(f"{tmp_path / 'mine.py'}:Mine", executor="processes", workers=1) == times


def packed_and_opened(placement):
    """Return a point of a policy as a worker has it."""
    plan = make_plan(read_sweep({**SWEEP, "seeds": 1, "policy": {"placement": placement}}))
    (point,) = plan.points
    return point, opened(Packer().pack(point.id, point.setup))


def test_a_worker_computes_the_digest_that_the_driver_has():
    with edited(Case("constant", policy("AIM", "AIM = 0"))) as here:
        point, there = packed_and_opened(here.policy)
        assert there.identity() == point.setup.identity()


def test_a_worker_with_another_digest_refuses_the_run_by_name():
    with edited(Case("constant", policy("AIM", "AIM = 0"))) as here:
        point, there = packed_and_opened(here.policy)
        type(there.policies["placement"]).answer.__globals__["AIM"] = 40
        (row,) = execute_runs(there, [Task("run", point.id, 0)])
    assert row.status == "failed"
    assert row.error.startswith(
        "mine: its code, or something it refers to, is not what it was when this run was planned"
    )


def test_of_a_module_what_is_read_travels_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "identity_beside.py").write_text("import threading\nLOCK = threading.Lock()\nAIM = 3\n")
    (tmp_path / "identity_worked.py").write_text(USES_HELPER.replace("identity_beside.aim()", "identity_beside.AIM"))
    fresh("identity_beside")
    point, there = packed_and_opened(fresh("identity_worked").Mine())
    assert there.identity() == point.setup.identity()


def test_code_has_the_name_of_its_file_in_a_worker_whatever_cloudpickle_sends(monkeypatch):
    table = cloudpickle.Pickler.dispatch_table
    before = table[types.CodeType]
    monkeypatch.setitem(table, types.CodeType, lambda code: before(code.replace(co_filename="<dynamic-code>")))

    def outer():
        return lambda: 3

    there = pickle.loads(dumped(outer, [], "outer"))
    assert (there.__code__.co_filename, there().__code__.co_filename) == (__file__, __file__)


LOCKED = """
import socket
class Locked:
    def __init__(self):
        self.lock = socket.socket()
    def __identity__(self):
        return "locked"
LOCKED = Locked()
"""


def test_what_cannot_travel_is_one_sentence():
    within = "def parameters(self):\n    return np.array([float(LOCKED is None)])"
    sentence = r"^mine cannot be sent to another process: .*socket"
    with edited(Case("lock", policy("0", LOCKED, within))) as here, pytest.raises(InputError, match=sentence):
        packed_and_opened(here.policy)


HELD = {
    "slots": ("class C:\n    __slots__ = 'a', '__dict__'\nD = C()\nD.a, D.b = 3, 4", "D.a, D.b, vars(D)"),
    "a dataclass with slots": ("@dataclasses.dataclass(slots=True)\nclass C:\n    a: int = 3\nD = C()", "D.a"),
    "a frozen one": (
        "@dataclasses.dataclass(slots=True, frozen=True)\nclass C:\n    a: int = 3\nD = C()",
        "D.a, C(4).a",
    ),
    "a struct": ("class C(msgspec.Struct):\n    a: int = 3\nD = C(5)", "D.a, C().a"),
    "a struct with a tag": (
        "class C(msgspec.Struct, frozen=True, kw_only=True, tag='x', rename='camel'):\n"
        "    a_b: int\n    c: list = []\n    def twice(self): return 2 * self.a_b\nD = C(a_b=5)",
        "D.twice(), msgspec.json.encode(D), C(a_b=1).c",
    ),
    "a struct of a struct": (
        "class B(msgspec.Struct):\n    a: int\nclass C(B):\n    b: list = msgspec.field(default_factory=lambda: [7])\n"
        "    c: int = 0\n    def __post_init__(self): self.c = self.a\nD = C(3)",
        "D.c, C(4).c, D.b, msgspec.structs.fields(C)[1].name",
    ),
}
"""What code holds that lost its slots or its fields on the way to a worker: how it is written, and what reads it."""
OPEN_HELD = """
import json, pickle, sys
from workbench.identity import digest_of
print(json.dumps({n: [digest_of(f), repr(f())] for n, f in pickle.load(open(sys.argv[1], "rb")).items()}))
"""


@pytest.mark.slow
def test_slots_and_structs_are_in_a_worker_what_they_are_in_the_driver(tmp_path, monkeypatch):
    functions = {}
    for name, (before, read) in HELD.items():
        monkeypatch.setitem(sys.modules, name, module := types.ModuleType(name))
        text = f"import dataclasses, msgspec\n{before}\ndef answer():\n    return {read}"
        exec(text, vars(module))
        functions[name] = module.answer
    (tmp_path / "held").write_bytes(dumped(functions, [look(*functions.values())], "functions"))
    words = [sys.executable, "-c", OPEN_HELD, str(tmp_path / "held")]
    reply = subprocess.run(words, capture_output=True, text=True)
    assert reply.returncode == 0, reply.stderr
    assert json.loads(reply.stdout) == {name: [digest_of(one), repr(one())] for name, one in functions.items()}
