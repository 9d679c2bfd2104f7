"""Values that a policy reaches through one holder, or through two: an edit of the value is another digest."""

import pytest

from tests.identity.table import Case, by_levers, edited
from workbench.identity import digest_of

NAMES = """
import abc, argparse, array, collections, contextlib, ctypes, dataclasses, enum, functools, inspect, types, weakref
from typing import Annotated
import msgspec
import pandas as pd
import scipy.sparse
class Box:
    def __init__(self, it):
        self.it = it
class Slots:
    __slots__ = ("it",)
"""

HOLDERS = {
    "list": ("return [it]", "{}[0]"),
    "tuple": ("return (it,)", "{}[0]"),
    "dict": ("return {'it': it}", "{}['it']"),
    "proxy": ("return types.MappingProxyType({'it': it})", "{}['it']"),
    "chain map": ("return collections.ChainMap({}, {'it': it})", "{}['it']"),
    "deque": ("return collections.deque([it])", "{}[0]"),
    "user dict": ("return collections.UserDict(it=it)", "{}['it']"),
    "default factory": ("return collections.defaultdict(lambda: it)", "{}.default_factory()"),
    "namespace": ("return types.SimpleNamespace(it=it)", "{}.it"),
    "module": ("m = types.ModuleType('held'); m.it = it\nreturn m", "{}.it"),
    "object array": ("a = np.empty(1, object); a[0] = it\nreturn a", "{}[0]"),
    "named tuple": ("return collections.namedtuple('P', 'it')(it)", "{}.it"),
    "named tuple default": ("return collections.namedtuple('P', 'it', defaults=[it])", "{}().it"),
    "object": ("return Box(it)", "{}.it"),
    "slots": ("s = Slots(); s.it = it\nreturn s", "{}.it"),
    "class attribute": ("return type('C', (), {'it': it})", "{}.it"),
    "base class": ("return type('C', (type('B', (), {'it': (it,)}),), {})()", "{}.it[0]"),
    "metaclass": ("return type('M', (type,), {'it': (it,)})('C', (), {})", "{}.it[0]"),
    "metaclass getattr": ("return type('M', (type,), {'__getattr__': lambda c, n: it})('C', (), {})", "{}.any"),
    "property": ("return type('C', (), {'it': property(lambda s: it)})()", "{}.it"),
    "cached property": ("class C:\n    §functools.cached_property\n    def it(s): return it\nreturn C", "{}().it"),
    "getattr": ("return type('C', (), {'__getattr__': lambda s, n: it})()", "{}.any"),
    "descriptor": (
        (
            "class D:\n"
            "    def __init__(s): s.held = it\n"
            "    def __get__(s, o, t=None): return s.held\n"
            "return type('C', (), {'it': D()})()"
        ),
        "{}.it",
    ),
    "class in brackets": ("class C:\n    def __class_getitem__(c, k): return it\nreturn C", "{}['x']"),
    "call": ("return type('C', (), {'__call__': lambda s: it})()", "{}()"),
    "item": ("return type('C', (), {'__getitem__': lambda s, k: it})()", "{}[0]"),
    "init subclass": (
        (
            "class B:\n"
            "    kept = {}\n"
            "    def __init_subclass__(c, it=None): B.kept['it'] = it\n"
            "class C(B, it=it): pass\n"
            "return B"
        ),
        "{}.kept['it']",
    ),
    "subclasses": ("class B: pass\nclass C(B): held = it\nreturn B, C", "{}[0].__subclasses__()[0].held"),
    "new": ("class C:\n    def __new__(c): return it\nreturn C", "{}()"),
    "slots property": (
        ("class C:\n    __slots__ = ('x',)\n    it = property(lambda s: s.x)\nc = C(); c.x = it\nreturn c"),
        "{}.it",
    ),
    "enum": ("return enum.Enum('E', {'A': (it,)})", "{}.A.value[0]"),
    "enum attribute": ("E = enum.Enum('E', 'A'); E.A.it = it\nreturn E", "{}.A.it"),
    "enum missing": (
        (
            "class E(enum.Enum):\n"
            "    A = 1\n"
            "    §classmethod\n"
            "    def _missing_(c, v): return c.A\n"
            "    §property\n"
            "    def it(s): return it\n"
            "return E"
        ),
        "{}(7).it",
    ),
    "enum of one member": ("return enum.Enum('E', {'A': (it,)}).A", "{}.value[0]"),
    "partial": ("return functools.partial(lambda x: x, it)", "{}()"),
    "partial keyword": ("return functools.partial(lambda *, x: x, x=it)", "{}()"),
    "partial method": (
        ("class C:\n    def f(s, x): return x\n    g = functools.partialmethod(f, it)\nreturn C()"),
        "{}.g()",
    ),
    "closure": ("return lambda: it", "{}()"),
    "closure of a closure": ("return lambda: (lambda: it)", "{}()()"),
    "default": ("return lambda x=it: x", "{}()"),
    "keyword default": ("return lambda *, x=it: x", "{}()"),
    "function attribute": ("f = lambda: 0; f.it = it\nreturn f", "{}.it"),
    "bound method": ("return types.MethodType(lambda s: s.it, Box(it))", "{}()"),
    "method of an object": ("class C(Box):\n    def get(s): return s.it\nreturn C(it).get", "{}()"),
    "static method": ("return staticmethod(lambda: it)", "{}()"),
    "class method": ("class C:\n    held = it\n    §classmethod\n    def f(c): return c.held\nreturn C.f", "{}()"),
    "cached": ("return functools.lru_cache(lambda: it)", "{}()"),
    "cached attribute": ("f = functools.lru_cache(lambda: 0); f.it = it\nreturn f", "{}.it"),
    "wrapped": ("f = lambda: it\n§functools.wraps(f)\ndef g(): return 0\nreturn g", "{}.__wrapped__()"),
    "by type": ("f = functools.singledispatch(lambda x: 0); f.register(int, lambda x: it)\nreturn f", "{}(1)"),
    "method by type": (
        (
            "class C:\n"
            "    §functools.singledispatchmethod\n"
            "    def f(s, x): return 0\n"
            "vars(C)['f'].register(int, lambda s, x: it)\n"
            "return C()"
        ),
        "{}.f(1)",
    ),
    "method by type with notes": (
        (
            "class C:\n"
            "    §functools.singledispatchmethod\n"
            "    def f(s, x): return 0\n"
            "vars(C)['f'].register(int, lambda s, x: it)\n"
            "vars(C)['f']._method_cache = weakref.WeakKeyDictionary({C: 0})\n"
            "return C()"
        ),
        "{}.f(1)",
    ),
    "generator": ("def g(): yield it\nreturn g", "next({}())"),
    "context": ("§contextlib.contextmanager\ndef c(): yield it\nreturn c", "{}().__enter__()"),
    "vectorized": ("return np.vectorize(lambda x: it)", "{}.pyfunc(0)"),
    "dataclass": ("return dataclasses.make_dataclass('D', ['it'], frozen=True)(it)", "{}.it"),
    "dataclass slots": ("return dataclasses.make_dataclass('D', ['it'], slots=True)(it)", "{}.it"),
    "dataclass factory": (
        ("return dataclasses.make_dataclass('D', [('it', object, dataclasses.field(default_factory=lambda: it))])"),
        "{}().it",
    ),
    "metadata": (
        ("return dataclasses.make_dataclass('D', [('x', int, dataclasses.field(default=0, metadata={'it': it}))])"),
        "dataclasses.fields({})[0].metadata['it']",
    ),
    "post init": (
        ("class D:\n    x: int = 0\n    def __post_init__(s): s.it = it\nreturn dataclasses.dataclass(D)"),
        "{}().it",
    ),
    "struct": ("return msgspec.defstruct('S', [('it', object)])(it)", "{}.it"),
    "struct factory": (
        ("return msgspec.defstruct('S', [('it', object, msgspec.field(default_factory=lambda: it))])"),
        "{}().it",
    ),
    "annotated": ("return Annotated[int, Box(it)]", "{}.__metadata__[0].it"),
    "annotation": ("f = lambda: 0; f.__annotations__ = {'x': it}\nreturn f", "{}.__annotations__['x']"),
    "annotation of a class": ("return type('C', (), {'__annotations__': {'x': it}})", "{}.__annotations__['x']"),
    "signature": ("return inspect.signature(lambda x=it: x)", "{}.parameters['x'].default"),
    "error": ("return ValueError(it)", "{}.args[0]"),
    "error attribute": ("e = ValueError(); e.it = it\nreturn e", "{}.it"),
    "slice": ("return slice(it, None)", "{}.start"),
    "argparse": ("return argparse.Namespace(it=it)", "{}.it"),
    "series": ("s = pd.Series([None], dtype=object); s.iat[0] = it\nreturn s", "{}.iloc[0]"),
    "attrs of a table": ("t = pd.DataFrame({'a': [1]}); t.attrs['it'] = it\nreturn t", "{}.attrs['it']"),
    "array attribute": ("a = np.zeros(1).view(type('A', (np.ndarray,), {})); a.it = it\nreturn a", "{}.it"),
    "list subclass": ("class L(list): pass\nl = L(); l.it = it\nreturn l", "{}.it"),
    "int subclass": ("class I(int): pass\nl = I(3); l.it = it\nreturn l", "{}.it"),
    "dict missing": ("class D(dict):\n    def __missing__(s, k): return it\nreturn D()", "{}['x']"),
    "text subclass": ("class S(str): pass\nl = S('x'); l.it = it\nreturn l", "{}.it"),
    "reduce": ("class R(Box):\n    def __reduce__(s): return R, (0,)\nreturn R(it)", "{}.it"),
    "state": ("class R(Box):\n    def __getstate__(s): return {}\nreturn R(it)", "{}.it"),
    "generic alias": ("return types.GenericAlias(list, (it,))", "{}.__args__[0]"),
    "abstract": (
        (
            "class B(abc.ABC):\n"
            "    §abc.abstractmethod\n"
            "    def f(s): ...\n"
            "class C(B):\n"
            "    def f(s): return it\n"
            "return C()"
        ),
        "{}.f()",
    ),
    "coroutine": (
        (
            "async def c(): return it\n"
            "def run():\n"
            "    try: c().send(None)\n"
            "    except StopIteration as e: return e.value\n"
            "return run"
        ),
        "{}()",
    ),
    "set name": ("class D:\n    def __set_name__(s, o, n): o.held = it\nclass C:\n    d = D()\nreturn C", "{}.held"),
    "code": ("return types.FunctionType((lambda: it).__code__, {}, 'f', None, (lambda: it).__closure__)", "{}()"),
    "exit stack": ("s = contextlib.ExitStack(); s.it = it\nreturn s", "{}.it"),
    "property object": ("return property(lambda s: it)", "{}.fget(0)"),
    "types of a class method": ("class C:\n    held = it\nreturn classmethod(lambda c: C.held)", "{}.__func__(0)"),
    "super": ("class B:\n    def f(s): return it\nclass C(B):\n    def f(s): return super().f()\nreturn C()", "{}.f()"),
    "instance of a class with dict": ("c = type('C', (), {})(); vars(c)['it'] = it\nreturn c", "vars({})['it']"),
    "iter": ("class C:\n    def __iter__(s): return iter([it])\nreturn C()", "next(iter({}))"),
    "operator": ("class C:\n    def __add__(s, o): return it\nreturn C()", "({} + 1)"),
    "reflected": ("class C:\n    def __radd__(s, o): return it\nreturn C()", "(1 + {})"),
    "context manager": (
        ("class C:\n    def __enter__(s): return it\n    def __exit__(s, *a): ...\nreturn C()"),
        "{}.__enter__()",
    ),
    "a code with names of its own": ("return types.FunctionType(compile('it', 'x', 'eval'), {'it': it})", "{}()"),
}
"""What keeps a value `it`: the body of a function that returns the holder, and how the value is read from it."""

VALUES = {
    "a list": ("[0]", "{}[0]", "[0] = 40"),
    "a dict": ("{'a': 0}", "{}['a']", "['a'] = 40"),
    "bytes": ("bytearray(1)", "{}[0]", "[0] = 40"),
    "an array": ("np.zeros(2)", "{}[0]", "[0] = 40"),
    "a part of an array": ("np.zeros(9)[::3]", "{}[1]", "[1] = 40"),
    "a structured array": ("np.zeros(2, [('a', 'i4')])", "{}['a'][0]", "['a'][0] = 40"),
    "a masked array": ("np.ma.zeros(2)", "{}[0]", "[0] = 40"),
    "a mask": ("np.ma.array([40, 0], mask=[True, False])", "{}.sum()", ".mask = False"),
    "an array of Python": ("array.array('i', [0])", "{}[0]", "[0] = 40"),
    "a number of C": ("ctypes.c_int(0)", "{}.value", ".value = 40"),
    "numbers of C": ("(ctypes.c_int * 2)()", "{}[0]", "[0] = 40"),
    "an object": ("Box(0)", "{}.it", ".it = 40"),
    "slots": ("Slots()", "getattr({}, 'it', 0)", ".it = 40"),
    "a table": ("pd.DataFrame({'a': [0]})", "{}['a'].iloc[0]", ".loc[0, 'a'] = 40"),
    "a table's index": ("pd.Series([1], index=[0])", "{}.index[0]", ".index = [40]"),
    "a counter": ("collections.Counter(a=0)", "{}['a']", "['a'] = 40"),
    "a namespace": ("types.SimpleNamespace(a=0)", "{}.a", ".a = 40"),
    "a function's default": ("(lambda x=0: x)", "{}()", ".__defaults__ = (40,)"),
    "a function's code": ("(lambda: 0)", "{}()", ".__code__ = (lambda: 40).__code__"),
    "a class": ("type('C', (), {'a': 0})", "{}.a", ".a = 40"),
    "the class of an object": ("type('C', (), {'a': 0})()", "{}.a", ".__class__ = type('D', (), {'a': 40})"),
    "bases": ("type('C', (type('B', (), {'a': 0}),), {})", "{}.a", ".__bases__ = (type('B', (), {'a': 40}),)"),
    "a deque": ("collections.deque([0])", "{}[0]", "[0] = 40"),
    "a read-only view": ("np.broadcast_to(np.zeros(1), 3)", "{}[0]", ".base[0] = 40"),
    "a frozen view of bytes": (
        "np.frombuffer(memoryview(bytearray(1)).toreadonly(), np.uint8)",
        "{}[0]",
        ".base.obj[0] = 40",
    ),
    "a set": ("{0}", "max({})", ".add(40)"),
    "a sparse matrix": ("scipy.sparse.csr_matrix([[1.0]]) * 0", "{}.data[0]", ".data[0] = 40"),
}
"""Values of 0 that can be edited where they lie: what makes one, what reads it, and the edit to 40."""

PAIRED = [
    "tuple",
    "dict",
    "object",
    "slots",
    "class attribute",
    "metaclass",
    "property",
    "getattr",
    "descriptor",
    "class in brackets",
    "enum",
    "partial",
    "closure",
    "default",
    "function attribute",
    "bound method",
    "class method",
    "cached",
    "wrapped",
    "by type",
    "generator",
    "dataclass factory",
    "struct",
    "annotated",
]
"""One holder of each kind: what holds another."""


def reached(value, *holders):
    """Return a policy that reads a value through holders, the innermost first, and its edit."""
    make, read, edit = VALUES[value]
    text, way = f"{NAMES}VALUE = {make}\nTOP = VALUE\n", "TOP"
    for at, name in enumerate(holders):
        body = HOLDERS[name][0].replace("\n", "\n    ")
        text += f"def hold_{at}(it):\n    {body}\nTOP = hold_{at}(TOP)\n"
    for name in reversed(holders):
        way = HOLDERS[name][1].format(way)
    return Case(value, by_levers(read.format(way), text), f"VALUE{edit}")


def overlooked(value, *holders):
    """Return whether an edit that changes what a policy computes leaves its digest as it was."""
    with edited(reached(value, *holders)) as here:
        first, digest = here.policy.parameters()[0], digest_of(type(here.policy))
        assert digest_of(type(here.policy)) == digest
        here.edit()
        assert (first, here.policy.parameters()[0]) == (0, 40)
        return digest_of(type(here.policy)) == digest


@pytest.mark.parametrize("value", VALUES)
def test_an_edit_of_a_value_where_it_lies_is_another_digest(value):
    assert not overlooked(value)


@pytest.mark.parametrize("holder", HOLDERS)
def test_an_edit_of_a_value_behind_a_holder_is_another_digest(holder):
    assert not overlooked("a list", holder)
    assert not overlooked("an array", holder)


@pytest.mark.slow
@pytest.mark.parametrize("outer", PAIRED)
def test_an_edit_of_a_value_behind_two_holders_is_another_digest(outer):
    assert [name for name in PAIRED if overlooked("a list", name, outer)] == []
