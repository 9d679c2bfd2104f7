"""What is kept from before an edit, compiled helpers and filled caches, is not computed with after it."""

import os
import subprocess
import sys

import pytest

from tests.identity.table import Case, by_levers, edited
from tests.slow import compiled_only
from workbench.errors import PolicyError
from workbench.identity import current, one_moment

CACHED = "AIM = 0\n@functools.lru_cache\ndef aim():\n    return AIM"
COMPILED = "AIM = 0\n@njit{0}\ndef aim():\n    return AIM"


def aim_of(placement):
    """Return what a policy computes in Python, after its digest was taken for a plan."""
    with one_moment():
        current(type(placement))
    return placement.parameters()[0]


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(COMPILED.format(""), marks=compiled_only, id="compiled"),
        pytest.param(COMPILED.format("('int64()')"), marks=compiled_only, id="compiled with a signature"),
        pytest.param(COMPILED.format("([()])"), marks=compiled_only, id="compiled with open types"),
        pytest.param(CACHED, id="cached"),
        pytest.param(CACHED.replace("lru_cache", "cache"), id="cached without bound"),
    ],
)
def test_a_helper_called_from_python_is_computed_anew_after_an_edit(before):
    with edited(Case("helper", by_levers("aim()", before), "AIM = 40")) as here:
        assert here.space["aim"]() == 0
        assert aim_of(here.policy) == 0
        here.edit()
        assert aim_of(here.policy) == 40
        here.space["AIM"] = 0
        assert aim_of(here.policy) == 0


@compiled_only
def test_a_signature_that_declares_no_type_of_return_takes_the_new_one():
    with edited(Case("helper", by_levers("aim()", COMPILED.format("([()])")), "AIM = 0.5")) as here:
        assert aim_of(here.policy) == 0
        here.edit()
        assert aim_of(here.policy) == 0.5


@compiled_only
def test_a_declared_type_of_return_stays():
    text = "AIM = 300\n@njit('int8(int64)')\ndef aim(x):\n    return x + AIM"
    with edited(Case("helper", by_levers("aim(0)", text), "AIM = 301")) as here:
        assert aim_of(here.policy) == 300 - 256
        here.edit()
        assert aim_of(here.policy) == 301 - 256


@pytest.mark.parametrize(
    "before", [pytest.param(COMPILED.format(""), marks=compiled_only), CACHED], ids=["compiled", "cached"]
)
def test_what_was_computed_before_the_first_plan_counts_as_old(before):
    with edited(Case("helper", by_levers("aim()", before), "AIM = 40")) as here:
        assert here.space["aim"]() == 0
        here.edit()
        assert aim_of(here.policy) == 40


@pytest.mark.parametrize(
    "before", [pytest.param(COMPILED.format(""), marks=compiled_only), CACHED], ids=["compiled", "cached"]
)
def test_another_policy_that_shares_the_helper_leaves_nothing_behind(before):
    with edited(Case("helper", by_levers("aim()", before), "AIM = 40")) as here:
        first = here.policy
        assert aim_of(first) == 0
        here.edit()
        other = type("Other", (type(first),), {})()
        assert aim_of(other) == 40
        here.space["AIM"] = 0
        assert aim_of(first) == 0


@compiled_only
def test_what_is_compiled_while_a_constant_has_another_value_is_not_kept():
    with edited(Case("helper", by_levers("aim()", COMPILED.format("")))) as here:
        with one_moment():
            current(type(here.policy))
        here.space["AIM"] = 40
        assert here.space["aim"]() == 40
        here.space["AIM"] = 0
        assert aim_of(here.policy) == 0


@compiled_only
def test_a_helper_stays_compiled_while_nothing_changes():
    with edited(Case("helper", by_levers("aim()", COMPILED.format("")))) as here:
        aim_of(here.policy)
        before = list(here.space["aim"].overloads.values())
        assert len(before) == 1
        aim_of(here.policy)
        assert list(here.space["aim"].overloads.values()) == before


def test_a_cache_stays_filled_while_nothing_changes():
    with edited(Case("helper", by_levers("aim()", CACHED))) as here:
        aim_of(here.policy)
        aim_of(here.policy)
        assert here.space["aim"].cache_info().hits == 1


VECTOR = "from numba import vectorize\nAIM = 0\n§vectorize\ndef aim(x):\n    return x * 0 + AIM"
STENCIL = "from numba import stencil\nAIM = 0\n§stencil\ndef aim(x):\n    return x[0] + AIM"
CLASS = """
from numba import int64
from numba.experimental import jitclass
AIM = 0
§jitclass([("x", int64)])
class Low:
    def __init__(self):
        self.x = 0
    def aim(self):
        return AIM
LOW = Low()
"""


@compiled_only
@pytest.mark.parametrize(
    ("before", "use"),
    [
        (VECTOR, "aim(1)"),
        pytest.param(STENCIL, "aim(np.zeros(3))[1]", marks=pytest.mark.slow),
        pytest.param(CLASS, "LOW.aim()", marks=pytest.mark.slow),
    ],
    ids=["vectorize", "stencil", "jitclass"],
)
def test_what_numba_compiles_once_for_all_is_refused_after_an_edit(before, use):
    with edited(Case("helper", by_levers(use, before), "AIM = 40")) as here:
        assert aim_of(here.policy) == 0
        here.edit()
        sentence = (
            "(aim|Low) was compiled once for all .*, and something that it refers to has changed since: define it again"
        )
        with pytest.raises(PolicyError, match=sentence):
            aim_of(here.policy)


HELPER = "from numba import njit\nfrom identity_low import AIM\n@njit(cache=True)\ndef aim():\n    return AIM\n"
ASK = """
import identity_mine
from tests.identity.test_kept_work import aim_of
print(aim_of(identity_mine.Mine()))
"""


@compiled_only
@pytest.mark.slow
def test_what_numba_keeps_on_disk_is_not_taken_for_code_that_reads_another_value(tmp_path):
    (tmp_path / "identity_kept.py").write_text(HELPER)
    (tmp_path / "identity_mine.py").write_text(
        "import numpy as np\nfrom identity_kept import aim\nfrom tests.identity.lowest import from_aim\n"
        "from workbench.policies import Placement\n" + by_levers("aim()")
    )
    path = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", ""), os.getcwd()))
    environment = {**os.environ, "PYTHONPATH": path}
    for aim in ("0", "40"):
        (tmp_path / "identity_low.py").write_text(f"AIM = {aim:>2}\n")
        reply = subprocess.run(
            [sys.executable, "-Bc", ASK], env=environment, capture_output=True, text=True, check=True
        )
        assert float(reply.stdout) == float(aim)
