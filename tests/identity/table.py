"""Policies that differ in one thing: each is written with an aim of 0 and edited to 40, in as many ways as there are.

All of them take the lowest feasible start from the aim on, or none, so all give the same two numbers. An edit is made
where the policy lies in memory, as a notebook's cell that is run again does, or a module that is reloaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

BEFORE, AFTER = 0, 40

HEAD = """
import enum, functools
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
from numba import njit
from tests.identity.lowest import from_aim
from workbench import lever
from workbench.policies import Placement
"""


class Case(NamedTuple):
    """A policy `Mine` and an edit of it."""

    name: str
    text: str
    """The module; `@` stands for the aim."""
    edit: str = ""
    """What is executed in the module afterwards; without, its text is executed again with the other aim."""
    helper: str = ""
    """A second module, `identity_helper`."""
    other: str = ""
    """A third module, `identity_other`."""

    @property
    def runs(self) -> bool:
        """Return whether it is worth a run: what is computed in Python alone is never compiled."""
        return "def parameters" not in self.text or "_" in self.name or "list" in self.name


def policy(aim: str, before: str = "", within: str = "") -> str:
    """Return the text of a policy with an expression for its aim."""
    return f"""
{before}
class Mine(Placement):
{_indented(within, 4)}
    def answer(see):
        return from_aim(see.free, see.segments, see.length, {aim})
"""


def by_levers(aim: str, before: str = "", within: str = "") -> str:
    """Return the text of a policy that computes its aim in Python and hands it to the answer as a parameter."""
    return f"""
{before}
class Mine(Placement):
{_indented(within, 4)}
    def parameters(self):
        return np.array([float({aim})])

    def answer(see):
        return from_aim(see.free, see.segments, see.length, int(see.levers[0]))
"""


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())


INNER = """
class Mine(Placement):
    def answer(see):
        {0}
        return from_aim(see.free, see.segments, see.length, {1})
"""
HELPER = "from numba import njit\n@njit\ndef aim():\n    return @\n"
BUILD = """
def build(aim):
    def answer(see):
        return from_aim(see.free, see.segments, see.length, aim)
    return answer
class Mine(Placement):
    answer = build(@)
"""
MAKE = """
def make(aim):
    class Mine(Placement):
        def answer(see):
            return from_aim(see.free, see.segments, see.length, aim)
    return Mine
Mine = make(@)
"""
CELL = """
def build():
    aim = 0
    def answer(see):
        return from_aim(see.free, see.segments, see.length, aim)
    return answer
class Mine(Placement):
    answer = build()
"""
AIM = "@njit\ndef aim():\n    return {0}\n"
OVERLOAD = "from numba.extending import overload\ndef aim():\n    return 7\n§overload(aim)\ndef aim_compiled():\n"
AIM_OF = policy(
    "aim(300)", "§njit('{0}')\ndef low(x):\n    return x\n§njit\ndef aim(x):\n    return 0 if low(x) == 300 else 40"
)
LOCAL = policy(
    "aim(300)",
    "from numba import int8, int64\n§njit(locals={{'y': {0}}})\ndef aim(x):\n    y = x\n    return 0 if y == 300 else 40",
)
JITCLASS = """
from numba.experimental import jitclass
from numba import int64
§jitclass([('x', int64)])
class Low:
    def __init__(self, x):
        self.x = x
    def aim(self):
"""
NAMED = """
def build():
    c, y, {0} = 3, 5, 7
    def answer(see):
        return from_aim(see.free, see.segments, see.length, {0} - y - c + 1)
    return answer
class Mine(Placement):
    answer = build()
"""
CELLS = "def build({0}, {1}):\n    def inner():\n        return {0} - {1}\n    return inner\naim = build(3, 2)"

CASES = [
    Case("a module's constant", policy("AIM", "AIM = @"), "AIM = 40"),
    Case("a constant in the answer", policy("@")),
    Case("a constant array", policy("AIMS[1]", "AIMS = np.array([7, @])"), "AIMS = np.array([7, 40])"),
    Case("an array edited in place", policy("AIMS[1]", "AIMS = np.array([7, @])"), "AIMS[1] = 40"),
    Case("an array in another order", policy("40 if AIMS.flags.f_contiguous else 0", "AIMS = np.array([[7, 40], [60, 80]])"), "AIMS = np.asfortranarray([[7, 40], [60, 80]])"),
    Case("an array of another dtype", policy("int(AIMS[0] * 80)", "AIMS = np.array([0.5], int)"), "AIMS = np.array([0.5])"),
    Case("a tuple", policy("AIMS[1]", "AIMS = (7, @)"), "AIMS = (7, 40)"),
    Case("a named tuple", policy("AIM.low", "class Aim(NamedTuple):\n    low: int\nAIM = Aim(@)"), "AIM = Aim(40)"),
    Case("an enumeration", policy("AIM.value", "class Aim(enum.IntEnum):\n    LOW = 0\n    HIGH = 40\nAIM = Aim.LOW"), "AIM = Aim.HIGH"),
    Case("a closure variable", CELL, "Mine.answer.__closure__[0].cell_contents = 40"),
    Case("an answer that is built", BUILD),
    Case("a class that is made", MAKE),
    Case("a helper", policy("aim()", AIM.format("@"))),
    Case("a helper's constant", policy("aim()", "AIM = @\n" + AIM.format("AIM")), "AIM = 40"),
    Case("a helper's helper's constant", policy("outer()", "AIM = @\n" + AIM.format("AIM") + "@njit\ndef outer():\n    return aim()"), "AIM = 40"),
    Case("a helper that Numba compiles behind the scenes", policy("aim()", "from numba.extending import register_jitable\nAIM = @\n" + AIM.format("AIM").replace("@njit", "@register_jitable")), "AIM = 40"),
    Case("a helper's default", policy("aim()", "@njit\ndef aim(low=@):\n    return low")),
    Case("the helper of a module", policy("identity_helper.aim()", "import identity_helper"), helper=HELPER),
    Case("the constant of a module", policy("identity_helper.AIM", "import identity_helper"), helper="AIM = @"),
    Case("a constant of a module set in place", policy("identity_helper.AIM", "import identity_helper"), "identity_helper.AIM = 40", helper="AIM = 0"),
    Case("a module's constant read by its helper", policy("aim()", "from identity_helper import aim"), "import identity_helper; identity_helper.AIM = 40", helper="AIM = 0\n" + HELPER.replace("@\n", "AIM\n")),
    Case("the helper of a module of a module", policy("identity_other.identity_helper.aim()", "import identity_other"), helper=HELPER, other="import identity_helper"),
    Case("two helpers of one name", policy("aim() + low()", "from identity_helper import aim\nfrom identity_other import aim as low"), helper=HELPER.replace("@\n", "0\n"), other=HELPER),
    Case("a helper called from an inner function", AIM.format("@") + INNER.format("inner = lambda: aim()", "inner()")),
    Case("a helper called from a function within", AIM.format("@") + INNER.format("def inner():\n            return aim()", "inner()")),
    Case("a helper called from a comprehension", AIM.format("@") + INNER.format("each = [aim() for k in range(2)]", "each[1]")),
    Case("a constant within a comprehension", INNER.format("each = [@ + k for k in range(2)]", "each[0]")),
    Case("a constant within a lambda", INNER.format("inner = lambda: @", "inner()")),
    Case("a constant read in a comprehension", "AIM = @\n" + INNER.format("each = [AIM for k in range(2)]", "each[1]"), "AIM = 40"),
    Case("a condition turned", policy("40 if 1 > see.segments else 0"), policy("40 if 1 <= see.segments else 0")),
    Case("a class attribute that begins with _", by_levers("self._aim", within="_aim = @")),
    Case("a class attribute set in place", by_levers("self.aim", within="aim = 0"), "Mine.aim = 40"),
    Case("a list of the class", by_levers("self.aims[1]", within="aims = [7, @]")),
    Case("a list of the class edited in place", by_levers("self.aims[1]", within="aims = [7, 0]"), "Mine.aims[1] = 40"),
    Case("a dict of the class", by_levers("self.aims['low']", within="aims = {'low': @}")),
    Case("an array of the class", by_levers("self.aims[0]", within="aims = np.array([@])")),
    Case("a dict of the module edited in place", by_levers("AIMS['low']", "AIMS = {'low': 0}"), "AIMS['low'] = 40"),
    Case("a list in a list", by_levers("AIMS[0][0]", "AIMS = [[0]]"), "AIMS[0][0] = 40"),
    Case("a method", by_levers("self.aim()", within="def aim(self):\n    return @")),
    Case("a static method", by_levers("self.aim()", within="@staticmethod\ndef aim():\n    return @")),
    Case("a class method", by_levers("self.aim()", within="@classmethod\ndef aim(cls):\n    return @")),
    Case("a property", by_levers("self.aim", within="@property\ndef aim(self):\n    return @")),
    Case("a cached function", by_levers("aim()", "@functools.lru_cache\ndef aim():\n    return @")),
    Case("a partial function", by_levers("aim()", "def low(x):\n    return x\naim = functools.partial(low, @)")),
    Case("a wrapped function", by_levers("aim()", "def twice(f):\n    @functools.wraps(f)\n    def g():\n        return f()\n    return g\n@twice\ndef aim():\n    return @")),
    Case("a bound method", by_levers("aim()", "class Low:\n    def __init__(self, x):\n        self.x = x\n    def aim(self):\n        return self.x\naim = Low(@).aim")),
    Case("the state of an object", by_levers("LOW.x", "class Low:\n    x = 0\nLOW = Low()"), "LOW.x = 40"),
    Case("a dataclass", by_levers("AIM.low", "@dataclass\nclass Aim:\n    low: int\nAIM = Aim(@)")),
    Case("a special method", by_levers("len(AIM)", "class Aim:\n    def __len__(self):\n        return @\nAIM = Aim()")),
    Case("a base class", by_levers("self.aim()", "class Base:\n    def aim(self):\n        return @").replace("Mine(Placement)", "Mine(Base, Placement)")),
    Case("a base class's base", by_levers("self.aim", "class Root:\n    aim = @\nclass Base(Root):\n    pass").replace("Mine(Placement)", "Mine(Base, Placement)")),
    Case("what is imported within a method", by_levers("self.aim()", within="def aim(self):\n    from identity_helper import AIM\n    return AIM"), helper="AIM = @"),
    Case("a default of a method", by_levers("self.aim()", within="def aim(self, low=@):\n    return low")),
    Case("a default by keyword", by_levers("self.aim()", within="def aim(self, *, low=@):\n    return low")),
    Case("a default by keyword set in place", by_levers("aim()", "def aim(*, low=0):\n    return low"), "aim.__kwdefaults__['low'] = 40"),
    Case("a generator expression", by_levers("sum(AIM for k in range(1))", "AIM = @")),
    Case("an attribute of a function", by_levers("aim.low", "def aim():\n    return 0\naim.low = @")),
    Case("an attribute of a function set in place", by_levers("aim()", "def aim():\n    return aim.low\naim.low = 0"), "aim.low = 40"),
    Case("an attribute that a function is given", by_levers("getattr(aim, 'low', 0)", "def aim():\n    return 0"), "aim.low = 40"),
    Case("an object that hides its state", by_levers("LOW.x", "class Low:\n    def __init__(self, x):\n        self.x = x\n    def __getstate__(self):\n        return {}\nLOW = Low(@)")),
    Case("an object that hides its state, set in place", by_levers("LOW.x", "class Low:\n    x = 0\n    def __getstate__(self):\n        return {}\nLOW = Low()"), "LOW.x = 40"),
    Case("an object that hides its slots", by_levers("LOW.x", "class Low:\n    __slots__ = ('x',)\n    def __reduce__(self):\n        return Low, ()\nLOW = Low()\nLOW.x = @")),
    Case("an object that is copied by its name", by_levers("LOW.x", "class Low:\n    def __init__(self, x):\n        self.x = x\n    def __reduce__(self):\n        return 'LOW'\nLOW = Low(@)")),
    Case("an object that cannot be copied", by_levers("LOW.x", "class Low:\n    def __init__(self, x):\n        self.x = x\n    def __reduce__(self):\n        raise TypeError('no')\nLOW = Low(@)")),
    Case("another helper that wraps a function of Python", by_levers("aim()", "import math\n§functools.wraps(math.floor)\ndef aim():\n    return @")),
    Case("another class that wraps one of Python", by_levers("LOW.aim()", "class Low:\n    __module__ = 'math'\n    def aim(self):\n        return @\nLOW = Low()")),
    Case("another dataclass that is made", by_levers("LOW.aim()", "import dataclasses\nLOW = dataclasses.make_dataclass('Low', [], namespace={'aim': lambda self: @})()")),
    Case("another class that is made of nothing but a value", by_levers("LOW.aim", "import types\nLOW = types.new_class('Low', (), {}, lambda space: space.update(aim=@))()")),
    Case("a part of a package that is imported within a method", by_levers("self.aim()", within="def aim(self):\n    import identity_helper.part\n    return identity_helper.AIM"), helper="import sys, types\nsys.modules['identity_helper.part'] = types.ModuleType('identity_helper.part')\nAIM = @"),
    Case("a ufunc that Numba compiles", by_levers("aim(1)", "from numba import vectorize\n§vectorize\ndef aim(x):\n    return x * 0 + @")),
    Case("the types of a signature", AIM_OF.format("int64(int64)"), AIM_OF.format("int64(int8)")),
    Case("the type that a signature returns", AIM_OF.format("int64(int64)"), AIM_OF.format("int8(int64)")),
    Case("the types of local variables", LOCAL.format("int64"), LOCAL.format("int8")),
    Case("a function that is overloaded for compiled code", policy("aim()", OVERLOAD + "    def impl():\n        return @\n    return impl")),
    Case("a constant of an overload", policy("aim()", "AIM = 0\n" + OVERLOAD + "    def impl():\n        return AIM\n    return impl"), "AIM = 40"),
    Case("a constant that an overload is made with", policy("aim()", "AIM = 0\n" + OVERLOAD + "    low = AIM\n    def impl():\n        return low\n    return impl"), "AIM = 40"),
    Case("a compiled class", by_levers("LOW.aim()", JITCLASS + "        return @\nLOW = Low(0)")),
    Case("a compiled object set in place", by_levers("LOW.x", JITCLASS + "        return 0\nLOW = Low(0)"), "LOW.x = 40"),
    Case("a long array in a typed dict", by_levers("LOW[1][1500]", "from numba.typed import Dict\nLOW = Dict()\nLOW[1] = np.zeros(3000)"), "LOW[1][1500] = 40"),
    Case("a typed list", by_levers("LOW[0]", "from numba.typed import List\nLOW = List([0])"), "LOW[0] = 40"),
    Case("a function by type", by_levers("aim(1)", "§functools.singledispatch\ndef aim(x):\n    return 7\n§aim.register(int)\ndef aim_of_int(x):\n    return @")),
    Case("a constant of a function by type", by_levers("aim(1)", "AIM = 0\n§functools.singledispatch\ndef aim(x):\n    return AIM"), "AIM = 40"),
    Case("another type of a function by type", by_levers("aim(1)", "§functools.singledispatch\ndef aim(x):\n    return 7"), "aim.register(int, lambda x: 40)"),
    Case("a method by type", by_levers("self.aim(1)", within="§functools.singledispatchmethod\ndef aim(self, x):\n    return @")),
    Case("a regular expression", by_levers("len(AIM.match('a' * 40)[0])", "import re\nAIM = re.compile('')"), "AIM = re.compile('a*')"),
    Case("a method of a regular expression", by_levers("len(aim('a' * 40)[0])", "import re\naim = re.compile('').match"), "aim = re.compile('a*').match"),
    Case("another method of a regular expression", by_levers("len(aim('b' + 'a' * 40)[0])", "import re\naim = re.compile('a*').match"), "aim = re.compile('a*').search"),
    Case("the flags of a regular expression", by_levers("len(aim('A' * 40)[0])", "import re\naim = re.compile('a*').match"), "aim = re.compile('a*', re.I).match"),
    Case("what a module gives by name", by_levers("identity_helper.AIM", "import identity_helper"), helper="def __getattr__(name):\n    return @"),
    Case("a wrapped function read by its attribute", by_levers("aim()", "def deco(f):\n    §functools.wraps(f)\n    def g():\n        return g.__wrapped__()\n    return g\n§deco\ndef aim():\n    return @")),
    Case("a class in brackets", by_levers("AIM['x']", "class AIM:\n    def __class_getitem__(cls, key):\n        return @")),
    Case("a cached special method", by_levers("len(AIM)", "class Aim:\n    §functools.lru_cache\n    def __len__(self):\n        return @\nAIM = Aim()")),
    Case("a partial special method", by_levers("AIM()", "class Aim:\n    def low(self, x):\n        return x\n    __call__ = functools.partialmethod(low, @)\nAIM = Aim()")),
    Case("a constant with a special name", by_levers("AIM.__aim__", "class Aim:\n    __aim__ = @\nAIM = Aim()")),
    Case("a docstring that is read", by_levers("int(self.__doc__)", within='"""@"""')),
    Case("a docstring that is replaced", by_levers("int(Mine.__doc__)", within='"""0"""'), "Mine.__doc__ = '40'"),
    Case("a helper's docstring that is read", by_levers("int(aim.__doc__)", "def aim():\n    '@'")),
    Case("a docstring that a helper reads", by_levers("read(Aim)", "def read(it):\n    return int(it.__doc__)\nclass Aim:\n    '@'")),
    Case("a docstring read by its name", by_levers("int(getattr(Mine, '__doc__'))", within='"""@"""')),
    Case("a policy held as a constant", by_levers("int(INNER.aim)", "class Held(Placement):\n    aim: int = lever(0, least=0, most=64)\n    def answer(see):\n        return -1\nINNER = Held(aim=@)")),
]  # fmt: skip
"""Each differs in one thing that executes."""

ALIKE = [
    Case("a comment", policy("0"), "# another comment\n" + policy("(0  # the low end\n)")),
    Case("a docstring", policy("0"), policy("0", within='"""Take the low end."""')),
    Case("a docstring of the answer", policy("0"), policy("0").replace("memory):\n", 'memory):\n        """Low."""\n', 1)),
    Case("another docstring", policy("0", within='"""Low."""'), policy("0", within='"""The lowest."""')),
    Case("lines", policy("0"), "\n\n\n\n" + policy("(\n    0\n)")),
    Case("blanks", policy("0 + segments"), policy("0   +   segments")),
    Case("the name of a local variable", INNER.format("low = 0", "low"), INNER.format("least = 0", "least")),
    Case("quotes", by_levers("AIMS['x']", 'AIMS = {"x": 0}'), by_levers('AIMS["x"]', "AIMS = {'x': 0}")),
    Case("annotations", policy("0"), policy("0").replace("memory):", "memory) -> int:")),
    Case("what is not used", policy("0"), policy("0", "UNUSED = 3\ndef unused():\n    return 1")),
    Case("what lies beside it in a module", policy("identity_helper.AIM", "import identity_helper"), "identity_helper.B = 3", helper="AIM = 0\nB = 2"),
    Case("the order of definitions", policy("AIM", "AIM = 0\nB = 1"), policy("AIM", "B = 1\nAIM = 0")),
    Case("the text of a lever", policy("0", within="k: int = lever(0, least=0, most=9, description='one')"), policy("0", within="k: int = lever(0, least=0, most=9, description='two')")),
    Case("an equal constant", policy("AIMS[0]", "AIMS = np.array([0])"), "AIMS = np.array([0])"),
    Case("a compiled class that is defined again", by_levers("LOW.aim()", JITCLASS + "        return 0\nLOW = Low(0)")),
    Case("a stencil that is defined again", by_levers("aim(np.zeros(3))[1]", "from numba import stencil\n§stencil\ndef aim(x):\n    return x[0]")),
    Case("the name of a closure variable", NAMED.format("b"), NAMED.format("x")),
    Case("names of closure variables in another order", NAMED.format("b"), NAMED.format("z")),
    Case("the name that a helper's cell has", by_levers("aim()", CELLS.format("one", "two")), by_levers("aim()", CELLS.format("two", "one"))),
    Case("the number's text", policy("64"), policy("0x40")),
]  # fmt: skip
"""Each differs in nothing that executes."""


class Edited:
    """A policy of the table in memory, to be edited."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.space: dict[str, Any] = {"__name__": "identity_notebook"}
        self._write(BEFORE)

    @property
    def policy(self) -> Any:
        """The policy as it is now."""
        return self.space["Mine"]()

    def edit(self) -> None:
        """Make the edit."""
        if self._case.edit:
            run(self._case.edit, self.space, "a later cell")
        else:
            self._write(AFTER)

    def _write(self, aim: int) -> None:
        for name, text in {"identity_helper": self._case.helper, "identity_other": self._case.other}.items():
            module = sys.modules.setdefault(name, ModuleType(name))
            run(text.replace("@", str(aim)) if "@njit" not in text else _aimed(text, aim), vars(module), name)
        run(HEAD, self.space, "the first cell")
        run(_aimed(self._case.text, aim), self.space, "a cell")


def _aimed(text: str, aim: int) -> str:
    """Put in the aim; decorators begin with the same sign and stay."""
    marked = (
        text.replace("@njit", "§njit")
        .replace("@functools", "§functools")
        .replace("@twice", "§twice")
        .replace("@reg", "§reg")
    )
    for decorator in ("staticmethod", "classmethod", "property", "dataclass"):
        marked = marked.replace(f"@{decorator}", f"§{decorator}")
    return marked.replace("@", str(aim)).replace("§", "@")


def run(text: str, space: dict[str, Any], name: str) -> None:
    """Execute a text, in which § begins decorators, where names of modules of the table stand for these."""
    exec(compile(text.replace("§", "@"), f"<{name}>", "exec", dont_inherit=True), space)


@contextmanager
def edited(case: Case) -> Iterator[Edited]:
    """Give a policy of the table; its modules are gone afterwards."""
    try:
        yield Edited(case)
    finally:
        for name in ("identity_helper", "identity_other", "identity_helper.part"):
            sys.modules.pop(name, None)
