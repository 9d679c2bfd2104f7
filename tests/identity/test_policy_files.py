"""Policy files import what lies beside them, and are executed again when anything that they were made of changes."""

import os
import sys

import pytest

from tests.slow import compiled_only
from workbench.errors import InputError
from workbench.identity import digest_of, one_moment
from workbench.parts.user_files import module_of
from workbench.policies.catalogue import policy_files, policy_in_file

USES = """
{}
from workbench.policies import Placement


class Mine(Placement):
    def answer(see):
        return {}
"""


def aim_of(cls):
    """Return what the answer of a policy gives, whatever it is asked."""
    return cls.answer(None)


def write(folder, imports="import helper", aim="helper.AIM", **helpers):
    """Write a policy file and modules beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.py").write_text(USES.format(imports, aim))
    for name, text in helpers.items():
        path = folder / f"{name.replace('_of_', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def mine(folder):
    """Return the policy in a folder."""
    return policy_in_file("mine.py:Mine", folder, "sweep.yaml")


def test_a_module_beside_it_is_imported_without_a_search_path(tmp_path):
    write(tmp_path, helper="AIM = 3")
    before = set(sys.modules), list(sys.path)
    assert aim_of(mine(tmp_path)) == 3
    assert "helper" not in sys.modules
    assert sys.path == before[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["helper.py", "mine.py"]


@pytest.mark.parametrize(
    ("aim", "where"),
    [
        ("library.abs", r"Mine.answer \(mine.py, line 8\) reads helper.library.abs"),
        ("aim", r"aim \(helper.py, line 5\) reads CALLED"),
    ],
)
def test_a_refusal_names_the_file_and_the_line_of_what_reads(tmp_path, aim, where):
    library = "import ctypes, _ctypes\nlibrary = ctypes.CDLL(_ctypes.__file__)\nCALLED = library.abs\n"
    helper = f"{library}def aim():\n    return CALLED(3)\n"
    write(tmp_path, helper=helper, aim=f"helper.{aim}(3)")
    with pytest.raises(InputError, match=rf"^{where}, machine code of a library: no run can be named by it; "):
        digest_of(mine(tmp_path))


def test_helpers_of_one_name_in_two_folders_do_not_mix(tmp_path):
    for name, aim in (("one", 3), ("two", 4)):
        write(tmp_path / name, helper=f"import deeper\nAIM = {aim} + deeper.AIM", deeper=f"AIM = {10 * aim}")
    one, two = (mine(tmp_path / name) for name in ("one", "two"))
    assert [aim_of(one), aim_of(two)] == [33, 44]
    assert digest_of(one) != digest_of(two)
    assert mine(tmp_path / "one") is one


@pytest.mark.parametrize(
    ("imports", "aim"),
    [
        ("import package", "package.low.AIM"),
        ("import package.low", "package.low.AIM"),
        ("import package.low as low", "low.AIM"),
        ("from package import low", "low.AIM"),
        ("from package import AIM", "AIM"),
        ("from package.low import AIM as aim", "aim"),
        ("from package.low import *", "AIM"),
    ],
)
def test_packages_beside_it_are_imported_in_every_way(imports, aim, tmp_path):
    write(tmp_path, imports, aim, package_of___init__="from .low import AIM\n", package_of_low="AIM = 7")
    assert aim_of(mine(tmp_path)) == 7
    assert "package" not in sys.modules


@pytest.mark.parametrize(
    ("imports", "aim"),
    [
        ("from .helper import AIM", "AIM"),
        ("from . import helper", "helper.AIM"),
        ("from .package import AIM", "AIM"),
        ("from .package.low import AIM", "AIM"),
        ("from .math import AIM", "AIM"),
        ("def aim():\n    from .helper import AIM\n    return AIM", "aim()"),
        ("def aim():\n    from . import helper\n    return helper.AIM", "aim()"),
    ],
)
def test_what_lies_beside_it_is_imported_with_a_dot_too(imports, aim, tmp_path):
    files = {"helper": "from .math import AIM", "math": "AIM = 7"}
    write(tmp_path, imports, aim, **files, package_of___init__="from .low import AIM\n", package_of_low="AIM = 7")
    before = mine(tmp_path)
    assert aim_of(before) == 7
    digest = digest_of(before)
    for name in ("math", "package/low"):
        (tmp_path / f"{name}.py").write_text("AIM = 8")
    assert aim_of(mine(tmp_path)) == 8
    assert digest_of(mine(tmp_path)) != digest


def test_a_helper_with_a_dot_that_is_not_there_is_one_sentence(tmp_path):
    write(tmp_path, "from .nothing import AIM", "AIM")
    with pytest.raises(
        InputError, match=r"^sweep\.yaml: mine\.py does not run: ImportError: attempted relative import"
    ):
        mine(tmp_path)


def test_an_edit_of_a_helper_is_seen_though_neither_size_nor_time_tell_of_it(tmp_path):
    write(tmp_path, helper="AIM = 00")
    stamp, before = (tmp_path / "helper.py").stat(), mine(tmp_path)
    write(tmp_path, helper="AIM = 60")
    os.utime(tmp_path / "helper.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = mine(tmp_path)
    assert [aim_of(before), aim_of(after)] == [0, 60]
    assert digest_of(before) != digest_of(after)


def test_a_file_that_says_the_same_is_not_executed_again(tmp_path):
    write(tmp_path, helper="AIM = 3")
    before = mine(tmp_path)
    write(tmp_path, helper="AIM = 3")
    os.utime(tmp_path / "helper.py", (0, 0))
    assert mine(tmp_path) is before


def test_within_a_plan_a_file_is_read_once(tmp_path):
    write(tmp_path, helper="AIM = 3")
    with one_moment():
        before = mine(tmp_path)
        write(tmp_path, helper="AIM = 4")
        assert mine(tmp_path) is before
    assert aim_of(mine(tmp_path)) == 4


def test_the_files_of_a_policy_are_known(tmp_path):
    write(tmp_path, helper="import deeper\nAIM = 3", deeper="", unused="")
    assert [path.name for path in policy_files("mine.py:Mine", tmp_path, "")] == ["mine.py", "helper.py", "deeper.py"]


def test_python_and_the_workbench_come_before_what_lies_beside_it(tmp_path):
    write(tmp_path, "import math, workbench", "int(math.sqrt(9))", math="", workbench="")
    assert aim_of(mine(tmp_path)) == 3


def test_a_helper_that_is_gone_is_one_sentence(tmp_path):
    write(tmp_path, helper="AIM = 3")
    mine(tmp_path)
    (tmp_path / "helper.py").unlink()
    with pytest.raises(
        InputError, match=r"^sweep\.yaml: mine\.py does not run: ModuleNotFoundError: No module named 'helper'$"
    ):
        mine(tmp_path)


def test_a_helper_that_does_not_run_is_one_sentence_and_mended_the_next_time(tmp_path):
    write(tmp_path, helper="AIM = 1 / 0")
    with pytest.raises(InputError, match=r"mine\.py does not run: ZeroDivisionError"):
        mine(tmp_path)
    write(tmp_path, helper="AIM = 5")
    assert aim_of(mine(tmp_path)) == 5


@pytest.mark.parametrize("name", ["helper", "optuna"], ids=["a name of its own", "that of a package"])
def test_a_helper_beside_that_is_imported_within_a_function_counts(tmp_path, name):
    def written(aim):
        write(tmp_path, "", "0", **{name: f"AIM = {aim}"})
        with (tmp_path / "mine.py").open("a") as file:
            file.write(f"\n    def parameters(self):\n        from {name} import AIM\n        return [AIM]\n")
        return mine(tmp_path)

    assert digest_of(written(3)) != digest_of(written(4))
    assert mine(tmp_path)().parameters() == [4]


def test_data_that_a_file_reads_as_it_is_executed_is_read_again_when_it_has_changed(tmp_path):
    text = "import pathlib\nAIM = pathlib.Path(__file__).with_name('aim.txt').read_text()\n"
    (tmp_path / "reads.py").write_text(text)
    results = []
    for aim, source in (("1", text), ("2", text), ("2", text + "# edited\n")):
        (tmp_path / "aim.txt").write_text(aim)
        (tmp_path / "reads.py").write_text(source)
        results.append(module_of(tmp_path / "reads.py").AIM)
    assert results == ["1", "2", "2"]


COMPUTES = """
from numba import njit, vectorize
from low import AIM
from tests.identity.lowest import from_aim
from workbench.policies import Placement
@njit(cache=True)
def aim():
    return AIM
@vectorize(["int64(int64)"], cache=True)
def more(x):
    return x + AIM
FOUND = aim(), int(more(0))
class Mine(Placement):
    def answer(see):
        return from_aim(see.free, see.segments, see.length, FOUND[0])
"""


@compiled_only
def test_what_a_file_computes_with_numba_while_it_is_executed_is_of_the_code_beside_it_as_it_is_now(tmp_path):
    (tmp_path / "mine.py").write_text(COMPUTES)
    found = []
    for aim in (0, 40):
        (tmp_path / "low.py").write_text(f"AIM = {aim:>2}")
        found.append(sys.modules[policy_in_file("mine.py:Mine", tmp_path, "").__module__].FOUND)
    assert found == [(0, 0), (40, 40)]
    assert list(tmp_path.rglob("*.nbi")) == []
