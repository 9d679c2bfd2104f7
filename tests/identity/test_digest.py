"""What executes is the digest, what does not is not; and what has no digest is refused by name."""

import random
import threading
import types
from functools import singledispatchmethod
from weakref import WeakKeyDictionary

import numpy as np
import pytest
import scipy.sparse

from tests.identity.table import ALIKE, CASES, Case, by_levers, edited, policy
from workbench.errors import InputError
from workbench.identity import current, digest_of, guards, one_moment, snapshot


def is_slow(case):
    """Return whether Numba compiles a class or a typed container for a case."""
    return "jitclass" in case.text or "numba.typed" in case.text


def with_marks(cases):
    return [pytest.param(case, id=case.name, marks=[pytest.mark.slow] * is_slow(case)) for case in cases]


@pytest.mark.parametrize("case", with_marks(CASES))
def test_policies_that_differ_in_one_thing_that_executes_have_two_digests(case):
    with edited(case) as here:
        before = snapshot(type(here.policy))
        assert digest_of(type(here.policy)) == before.digest
        assert before.changed() == ""
        here.edit()
        assert digest_of(type(here.policy)) != before.digest


@pytest.mark.parametrize("case", with_marks(c for c in CASES if c.edit and "class Mine" not in c.edit))
def test_an_edit_in_place_is_seen_by_a_look_at_what_was_digested(case):
    with edited(case) as here:
        before = snapshot(type(here.policy))
        here.edit()
        assert before.changed()


@pytest.mark.parametrize("case", with_marks(ALIKE))
def test_policies_that_differ_in_nothing_that_executes_share_a_digest(case):
    with edited(case) as here:
        before = digest_of(type(here.policy))
        here.edit()
        assert digest_of(type(here.policy)) == before


def test_the_name_of_the_file_and_of_the_module_say_nothing():
    with edited(Case("one", policy("AIM", "AIM = 3"))) as here, edited(Case("one", policy("AIM", "AIM = 3"))) as there:
        there.space["__name__"] = "elsewhere"
        there.edit()
        assert type(there.policy).__module__ == "elsewhere"
        assert digest_of(type(here.policy)) == digest_of(type(there.policy))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("open('/dev/null')", "an open file"),
        ("np.random.default_rng(1)", r"a random generator \(Generator\)"),
        ("np.random.RandomState(1)", r"a random generator \(RandomState\)"),
        ("__import__('random').Random(1)", r"a random generator \(Random\)"),
        ("iter([1, 2])", r"an iterator \(list_iterator\)"),
        ("(k for k in range(3))", r"an iterator \(generator\)"),
        ("__import__('socket').socket()", "an open socket"),
    ],
)
def test_what_has_no_digest_is_refused_by_name(value, kind):
    sentence = rf"^Mine\.answer reads AIM, {kind}.*: no run can be named by it; use num"
    with edited(Case("refused", policy("AIM", f"AIM = {value}"))) as here, pytest.raises(InputError, match=sentence):
        digest_of(type(here.policy))


def swapped(table, *places):
    table[list(places)] = table[list(places[::-1])]


@pytest.mark.parametrize(
    "edit",
    [
        lambda table: table.__setitem__(200_000, 3),
        lambda table: table.__setitem__(-1, 3),
        lambda table: swapped(table, 7, 9),  # within a row of what is summed
        lambda table: swapped(table, 7, 7 + 3 * guards._WIDTH),  # within a column
        lambda table: table.sort(),
        lambda table: table.__setitem__([0, 1, 4096, 4097], [0, 1, 1, 0]),  # a graph whose degrees stay
    ],
)
def test_a_large_table_is_digested_once_a_plan_and_every_edit_is_seen_at_a_glance(edit, monkeypatch):
    table = np.random.default_rng(1).integers(0, 2, 512 * 512)
    table[[0, 1, 4096, 4097, 7, 9, 7 + 3 * guards._WIDTH]] = 1, 0, 0, 1, 1, 0, 0
    taken = snapshot(answer := lambda: table[3])
    with monkeypatch.context() as patch:
        patch.setattr(guards, "digest_of_array", lambda array: pytest.fail("digested again"))
        assert taken.changed() == ""
        edit(table)
        assert taken.changed() != ""
    assert digest_of(answer) != taken.digest


def test_a_hidden_generator_is_refused():
    def answer(free):
        return random.random()

    with pytest.raises(InputError, match=r"reads random\.random, a random generator"):
        digest_of(answer)


READS = """
np.loadtxt('x') np.load('x') np.genfromtxt('x') np.fromfile('x') open('x') os.environ['X']
os.environ.get('X') os.getenv('X') path.read_text()
"""
BY_NAME = """
globals()['AIM'] eval('AIM') exec('AIM') __import__('x').AIM sys.modules['x'].AIM
importlib.import_module('x').AIM load('x').AIM
"""
DRAWS = """
secrets.randbelow(45) secrets.token_bytes(1)[0] os.urandom(1)[0] uuid.uuid4().int uuid.uuid1().int
np.random.random() random.randint(0,9)
"""
IMPORTS = """
import _ctypes, importlib, math, os, random, secrets, sys, time, uuid, pathlib
from ctypes import CDLL
from importlib import import_module as load
path = pathlib.Path("x")
"""


@pytest.mark.parametrize(
    ("aim", "cure"),
    [
        *((aim, "name them directly") for aim in BY_NAME.split()),
        *((aim, "draw from np.random.default_rng.seed.|use numbers, texts") for aim in DRAWS.split()),
        *(
            (f"{aim}()", "give it a seed")
            for aim in ("np.random.default_rng", "np.random.RandomState", "random.Random")
        ),
        ("np.frompyfunc(lambda x: 0, 1, 1)(1) + LOW", "use numbers"),
        ("LIBRARY.abs(-3)", "open the library within the function that calls it"),
        ("ABS(-3)", "read it from its library there"),
        ("SYSTEM_ABS(-3)", "read it from its library there"),
    ],
)
def test_what_a_policy_reads_that_no_id_can_tell_is_refused_in_one_sentence(aim, cure):
    libraries = "LIBRARY = CDLL(_ctypes.__file__)\nABS = LIBRARY.abs\nSYSTEM_ABS = CDLL(None).abs"
    before = IMPORTS + f"\nAIM = 0\nLOW = np.frompyfunc(lambda x: 0, 1, 1)\n{libraries}"
    sentence = rf"^Mine\.parameters reads [\w.]+, (a|machine|wh\w+) .*: no run can be named by it; ({cure})[^.]*\.$"
    with edited(Case("refused", by_levers(aim, before))) as here, pytest.raises(InputError, match=sentence):
        digest_of(type(here.policy))


@pytest.mark.parametrize(
    "aim",
    [
        *READS.split(),
        "time.time_ns()",  # stands for a policy that reads a clock
        "LOCK.locked()",
        "norm(3,1).cdf(2)",
        "np.random.default_rng(3).random()",
        "random.Random(3).random()",
        "np.add(1, 2)",
        "math.floor(2.5)",
        "add(1, 2)",
    ],
)
def test_seeded_generators_and_what_packages_offer_are_not_refused_nor_what_a_repeated_run_tells(aim):
    more = "\nfrom numpy import add\nfrom scipy.stats import norm\nimport threading\nLOCK = threading.Lock()"
    with edited(Case("fine", by_levers(aim, IMPORTS + more))) as here:
        digest_of(type(here.policy))


@pytest.mark.parametrize(
    "edit",
    ["LIBM = CDLL('libc.so.6')", "LIBM.floor.restype = ctypes.c_float", "LIBM.floor.errcheck = lambda *given: 7"],
)
def test_a_library_of_the_system_counts_by_its_name_and_the_types_of_its_functions(edit):
    before = "import ctypes\nfrom ctypes import CDLL\nLIBM = CDLL(None)\nLIBM.floor.restype = ctypes.c_double"
    with edited(Case("library", by_levers("LIBM.floor(4)", before))) as here:
        digest = digest_of(type(here.policy))
        assert here.space["LIBM"].abs(-3) == 3  # after which the library holds one more function
        assert digest_of(type(here.policy)) == digest
        exec(edit, here.space)
        assert digest_of(type(here.policy)) != digest


@pytest.mark.parametrize("edit", ["Mine.aim = 4", "Base.aim = 4", "del Mine.aim; Base.aim = 4"])
def test_an_attribute_that_is_that_of_a_base_counts_once(edit):
    text = by_levers("self.aim", "class Base(Placement):\n    aim = 3", "aim = 3").replace("Mine(Pl", "Mine(Base, Pl")
    with edited(Case("base", text)) as here:
        digest = digest_of(here.space["Mine"])
        exec(edit, here.space)
        assert current(here.space["Mine"]).digest == digest_of(here.space["Mine"]) != digest


def test_flags_that_are_set_together_say_nothing_of_their_class():
    before = "class Side(enum.Flag):\n    LOW = 1\n    HIGH = 2\nAIM = Side(0)"
    with edited(Case("flags", by_levers("AIM.value + Side.LOW.value", before))) as here:
        digest = digest_of(type(here.policy))
        both = here.space["Side"](3)
        assert digest_of(type(here.policy)) == digest
        here.space["AIM"] = both
        assert digest_of(type(here.policy)) != digest


def test_what_is_read_when_a_module_is_imported_is_a_value_as_any_other(tmp_path):
    (tmp_path / "aim.txt").write_text("40")
    with edited(Case("read", policy("AIM", f"AIM = int(open('{tmp_path / 'aim.txt'}').read())"))) as here:
        before = digest_of(type(here.policy))
        here.space["AIM"] = 0
        assert digest_of(type(here.policy)) != before


def test_functions_that_call_each_other_and_values_that_hold_themselves_have_an_end():
    loop: list = [1]
    loop.append(loop)

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1) and loop

    before = digest_of(even)
    assert digest_of(even) == before != digest_of(odd)
    loop[0] = 2
    assert digest_of(even) != before


def test_numbers_that_are_equal_but_not_alike_have_two_digests():
    values = [
        0,
        0.0,
        -0.0,
        False,
        "0",
        b"0",
        None,
        (0,),
        [0],
        {0},
        frozenset({0}),
        {0: 0},
        0j,
        np.int32(0),
        np.int64(0),
    ]
    values += [
        np.zeros(1),
        np.zeros(1, np.float32),
        np.zeros((1, 1)),
        range(0),
        ...,
        [[0]],
        [0, 0],
        ["0"],
        np.dtype("i4"),
    ]
    assert len({digest_of(value) for value in values}) == len(values)


def test_sets_have_no_order_and_dicts_have():
    assert digest_of({"a", "b", "c"}) == digest_of({"c", "b", "a"})
    assert digest_of({"a": 1, "b": 2}) != digest_of({"b": 2, "a": 1})


def test_an_array_that_nobody_can_write_to_is_digested_once_and_any_other_whenever_it_is_looked_at(monkeypatch):
    counted, plain = [], np.ascontiguousarray
    monkeypatch.setattr(np, "ascontiguousarray", lambda array: counted.append(len(array)) or plain(array))
    array = np.arange(6)
    view = array[:5]
    array.flags.writeable = view.flags.writeable = False
    first = digest_of(view)
    assert (digest_of(view), counted) == (first, [5])
    monkeypatch.undo()
    array = np.arange(6)
    view = array[:]
    view.flags.writeable = False
    first = digest_of(view)
    array[2] = 7
    assert digest_of(view) != first
    kinds = [np.arange(6), np.arange(6).reshape(2, 3), np.arange(6.0), np.arange(12)[::2], np.arange(6).astype("M8[D]")]
    more = [np.zeros(0), np.zeros((0, 3)), np.zeros(2, "S0"), np.zeros(3, [("a", "i4")]), np.array(5), np.array([5])]
    assert len({digest_of(one) for one in (*kinds, *more)}) == len(kinds) + len(more)


def test_at_one_moment_a_thing_is_digested_once():
    class Mine:
        aim = 0

    with one_moment():
        before = digest_of(Mine)
        Mine.aim = 1
        assert digest_of(Mine) == before
    assert digest_of(Mine) != before


def test_moments_of_other_threads_are_their_own():
    class Mine:
        aim = 0

    seen = []
    with one_moment():
        before = digest_of(Mine)
        Mine.aim = 1
        thread = threading.Thread(target=lambda: seen.append(digest_of(Mine)))
        thread.start()
        thread.join()
    assert seen != [before]


ELSEWHERE = {
    "an attribute of a member": ("class E(enum.Enum):\n    A = 1\nE.A.aim = 0", "E.A.aim", "E.A.aim = 40"),
    "attributes of all members": (
        "class E(enum.Enum):\n    A = 1\nE.A.aim = 0",
        "[m.aim for m in E][0]",
        "E.A.aim = 40",
    ),
    "an attribute of a partial": ("p = functools.partial(int)\np.aim = 0", "p.aim", "p.aim = 40"),
    "an attribute of a cached function": ("@functools.lru_cache\ndef g(): ...\ng.aim = 0", "g.aim", "g.aim = 40"),
    "an attribute of a compiled function": ("@njit\ndef g(): ...\ng.aim = 0", "g.aim", "g.aim = 40"),
    "an attribute of an array": (
        "class A(np.ndarray): ...\na = np.zeros(3).view(A)\na.aim = 0",
        "a.aim",
        "a.aim = 40",
    ),
    "a default of a struct": (
        "S = msgspec.defstruct('S', [('aim', int, 0)])",
        "S().aim",
        "S = msgspec.defstruct('S', [('aim', int, 40)])",
    ),
    "a factory of a struct": (
        "class S(msgspec.Struct):\n    aim: list = msgspec.field(default_factory=lambda: [0])",
        "S().aim[0]",
        "class S(msgspec.Struct):\n    aim: list = msgspec.field(default_factory=lambda: [40])",
    ),
    "a default of a made class": (
        "D = dataclasses.make_dataclass('D', [('aim', int, dataclasses.field(default=0))])",
        "D().aim",
        "D = dataclasses.make_dataclass('D', [('aim', int, dataclasses.field(default=40))])",
    ),
    "a factory of a made class": (
        "D = dataclasses.make_dataclass('D', [('aim', int, dataclasses.field(default_factory=lambda: 0))])",
        "D().aim",
        "D = dataclasses.make_dataclass('D', [('aim', int, dataclasses.field(default_factory=lambda: 40))])",
    ),
    "metadata of a field": (
        "@dataclasses.dataclass\nclass D:\n    aim: int = dataclasses.field(default=1, metadata={'aim': 0})",
        "dataclasses.fields(D)[0].metadata['aim']",
        "@dataclasses.dataclass\nclass D:\n    aim: int = dataclasses.field(default=1, metadata={'aim': 40})",
    ),
    "an annotation": (
        "class D:\n    aim: Annotated[int, 0] = 1",
        "get_type_hints(D, include_extras=True)['aim'].__metadata__[0]",
        "class D:\n    aim: Annotated[int, 40] = 1",
    ),
    "an annotation beside a table": (
        "import pandas\nT = pandas.DataFrame({'a': ['x']})\nclass D:\n    aim: Annotated[int, 0] = 1",
        "(T, get_type_hints(D, include_extras=True)['aim'].__metadata__[0])[1]",
        "class D:\n    aim: Annotated[int, 40] = 1",
    ),
    "an annotation of an annotation": (
        "class D:\n    aim: Annotated[int, 0]\nclass E:\n    d: D",
        "E.__annotations__['d'].__annotations__['aim'].__metadata__[0]",
        "D.__annotations__['aim'] = Annotated[int, 40]",
    ),
    "annotations by a property": (
        "class D:\n    __annotations__ = property(lambda self: 0)",
        "D().__annotations__",
        "class D:\n    __annotations__ = property(lambda self: 40)",
    ),
    "an annotated type": ("A = Annotated[int, 0]", "A.__metadata__[0]", "A = Annotated[int, 40]"),
    "a subclass": ("class B: ...\nclass C(B):\n    aim = 0", "B.__subclasses__()[-1].aim", "class C(B):\n    aim = 40"),
}
"""What is written, what reads it, and an edit."""
NAMES = """
import dataclasses, enum, functools
import msgspec
import numpy as np
from numba import njit
from typing import Annotated, get_type_hints
"""


@pytest.mark.parametrize(("before", "read", "edit"), [pytest.param(*case, id=name) for name, case in ELSEWHERE.items()])
def test_what_code_reads_that_does_not_lie_in_a_namespace_is_part_of_the_digest(before, read, edit):
    module = types.ModuleType("identity_elsewhere")
    exec(f"{NAMES}{before}\ndef answer():\n    return {read}", vars(module))
    first, digest = module.answer(), digest_of(module.answer)
    assert digest_of(module.answer) == digest
    exec(edit, vars(module))
    assert (first, module.answer()) == (0, 40)
    assert digest_of(module.answer) != digest


@pytest.mark.parametrize(
    "value",
    [
        "pd.DataFrame({'a': [0]})",
        "np.random.SeedSequence(3)",
        "cython_special.gamma",
        "scipy.sparse.csr_matrix([[0]])",
        "scipy.interpolate.interp1d([0, 1], [0, 0])",
        "norm(3, 1)",
    ],
)
def test_tables_seeds_and_functions_of_cython_have_digests(value):
    module = types.ModuleType("identity_values")
    imports = (
        "import numpy as np, pandas as pd, scipy.interpolate, scipy.sparse\nfrom scipy.special import cython_special"
    )
    exec(f"{imports}\nfrom scipy.stats import norm\nV = {value}\ndef answer():\n    return V", vars(module))
    assert digest_of(module.answer) == digest_of(module.answer)


def test_what_a_sparse_matrix_notes_of_itself_when_it_is_used_says_nothing_and_its_numbers_do():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    before = digest_of(matrix)
    assert matrix.has_canonical_format and "_has_canonical_format" in vars(matrix)
    assert digest_of(matrix) == before
    matrix.data[1] = 2
    assert digest_of(matrix) != before


class Keeps:
    """A class of the user's that keeps a table weakly under a private name."""

    def __init__(self, table):
        self._table = table


def test_what_a_method_by_type_notes_when_it_is_called_says_nothing():
    aim = singledispatchmethod(lambda self, x: 0)
    digests = set()
    for notes in (WeakKeyDictionary(), WeakKeyDictionary({Keeps: 3}), None):
        aim._method_cache = notes
        digests.add(digest_of(aim))
    assert len(digests) == 1
    aim.register(int, lambda self, x: 40)
    assert digest_of(aim) not in digests


@pytest.mark.parametrize(
    "value",
    [
        WeakKeyDictionary({Keeps: 3}),
        Keeps(WeakKeyDictionary({Keeps: 3})),
        types.SimpleNamespace(table=WeakKeyDictionary({Keeps: 3})),
        types.SimpleNamespace(held=Keeps(WeakKeyDictionary({Keeps: 3}))),
    ],
)
def test_a_weak_table_that_code_of_the_user_reads_is_refused(value):
    def answer():
        return value

    with pytest.raises(InputError, match=r"a ReferenceType of weakref: no run can be named by it"):
        digest_of(answer)
