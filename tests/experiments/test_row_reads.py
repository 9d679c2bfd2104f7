"""Rows read as checked only if what they read is what a repeated run of their invocation has seen, and still is."""

import contextlib
import decimal
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import workbench as wb
from workbench.experiments import reproducibility, row_files
from workbench.experiments.store import Store

POLICIES = """
import contextlib, ctypes, functools, importlib, json, os, pkgutil, posix, sqlite3, sys
from pathlib import Path
import numpy as np
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from workbench import Generator, lever
from workbench.workloads.workload import Workgroups

HERE = Path(__file__).parent
@functools.lru_cache
def cached():
    return json.loads((HERE / "aims.json").read_text())
def of_c():
    c = ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    file, read = ctypes.c_void_p(c.fopen(str(HERE / "aims.txt").encode(), b"r")), ctypes.create_string_buffer(999)
    c.fread(read, 1, 999, file), c.fclose(file)
    return list(map(int, read.value.split()))
def mapped_by_c():
    c = ctypes.CDLL(None)
    c.mmap.restype = ctypes.c_void_p
    c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    file = c.open(str(HERE / "aims.txt").encode(), 0)
    text = ctypes.string_at(c.mmap(None, 4096, 1, 2, file, 0))
    c.close(file)
    return list(map(int, text.split()))
def attached(bound):
    with contextlib.closing(sqlite3.connect(HERE / "none.db")) as base:
        by = ("?", (str(HERE / "aims.db"),)) if bound else (f"'{HERE / 'aims.db'}'", ())
        base.execute(f"attach {by[0]} as other", by[1])
        return [aim for aim, in base.execute("select aim from other.aims order by rowid")]
def mapped():
    with pa.memory_map(str(HERE / "aims.arrow")) as file:
        return pa.ipc.open_file(file).read_all()["aim"].to_pylist()
"""
GENERATOR = """
class {name}(Generator):
    {more}
    point: int = lever(0)
    def workgroups(self, machine, streams):
        which = int(streams["durations"].integers(0, 10))
        return Workgroups(np.arange(9), np.full(9, 20), np.arange(9) + 10 + int({aims}[which]))
"""
AIMS = {
    "OfJson": "json.loads((HERE / 'aims.json').read_text())",
    "OfPoint": "json.loads((HERE / f'aims-{self.point}.json').read_text())",
    "Relative": "json.loads(open('aims.json').read())",
    "Cached": "cached()",
    "OfPlugin": "pkgutil.resolve_name('row_reads_plugin:AIMS')",
    "OfParquet": "pq.read_table(HERE / 'aims.parquet')['aim'].to_pylist()",
    "Mapped": "mapped()",
    "MappedByC": "mapped_by_c()",
    "Attached": "attached(False)",
    "AttachedByParameter": "attached(True)",
    "OfPosix": "([posix.stat(HERE / 'aims.txt').st_size * k for k in range(10)])",
    "OfEntry": "[next(os.scandir(HERE / 'one')).stat().st_size * k for k in range(10)]",
    "Whole": "json.loads(Path({path!r}).read_text())",
    "OfC": "of_c()",
}
POINTS = 5
AIM = list(range(10, 20))


def write(folder, name, aims):
    """Write aims to one file, whatever it holds them in."""
    path = folder / name
    if path.suffix == ".json":
        path.write_text(json.dumps(aims))
    elif path.suffix == ".txt":
        path.write_text(" ".join(f"{aim:06d}" for aim in aims))
    elif path.suffix == ".db":
        with contextlib.closing(sqlite3.connect(path)) as base:
            base.executescript("drop table if exists aims; create table aims (aim)")
            base.executemany("insert into aims values (?)", [(aim,) for aim in aims])
            base.commit()
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({"aim": aims}), path)
    else:
        table = pa.table({"aim": aims})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    declared = GENERATOR.format(name="Declared", aims=AIMS["OfParquet"], more='inputs = ["aims.parquet"]')
    texts = [GENERATOR.format(name=name, aims=f"({aims})", more="") for name, aims in AIMS.items()]
    text = ("".join(texts) + declared).replace("{path!r}", repr(str(tmp_path / "aims.json")))
    (tmp_path / "mine.py").write_text(POLICIES + text)
    for name in (
        "aims.json",
        "aims.txt",
        "aims.parquet",
        "aims.arrow",
        "aims.db",
        "none.db",
        *(f"aims-{k}.json" for k in range(POINTS)),
    ):
        write(tmp_path, name, AIM)
    (tmp_path / "one").mkdir()
    write(tmp_path, "one/aims.txt", AIM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproducibility, "_agreed", {})
    return tmp_path


def ran(folder, name, points=(0,), seeds=10, out="out", **more):
    """Run a generator; returns the results and the cycles of each row that is done, by point and seed."""
    sweep = {
        "engine": "shared_memory",
        "workload": {"synthetic": str(folder / f"mine.py:{name}"), "point": {"vary": list(points)}},
        "measures": ["drain_cycles"],
        "seeds": seeds,
    }
    results = wb.run(sweep, folder / out, **{"repeat": True, "workers": 1, **more})
    return results, cycles(results)


def cycles(results):
    order = [point.id for point in results.points]
    rows = results.rows.values()
    return {(order.index(row.point), row.seed): row.measures["drain_cycles"] for row in rows if row.status == "done"}


def truth(folder, name, points=(0,), seeds=10):
    """Return what a run into another folder gives now."""
    return ran(folder, name, points, seeds, out=f"true-{len(list(folder.iterdir()))}", repeat=False)[1]


FIRST = [{"workers": 0}, {"repeat": False}, {"repeat": False, "workers": 2}]


@pytest.mark.slow
@pytest.mark.parametrize("more", FIRST, ids=str)
@pytest.mark.parametrize("name", ["OfJson", "Relative", "Cached"])
def test_one_entry_that_is_corrected_before_anything_was_repeated_leaves_no_wrong_row(folder, name, more):
    before, old = ran(folder, name, **more)
    assert (before.checked.checked, before.checked.repeated) == (0, 0)
    write(folder, "aims.json", [*AIM[:4], 90, *AIM[5:]])
    after, new = ran(folder, name)
    assert new == truth(folder, name) != old
    assert (after.checked.checked, after.failures) == (10, [])


@pytest.mark.slow
def test_rows_without_a_verdict_are_checked_once_one_of_each_point_was_repeated_and_agrees(folder):
    ran(folder, "OfPoint", range(3), 3, repeat=False)
    results, _ = ran(folder, "OfPoint", range(3), 3)
    assert (results.checked.rows, results.checked.checked, results.checked.repeated) == (9, 9, 3)
    assert results.checked.sentences == [
        "9 rows are of code of your own: 3 of 9 rows repeated in a fresh process, all agree."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"workers": 1}, {"workers": 2}], ids=str)
def test_each_row_names_the_file_of_its_own_point(folder, more):
    points = range(POINTS)
    _, old = ran(folder, "OfPoint", points, 6, **more)
    with_files = Store(folder / "out", read_only=True)
    files = {tuple(map(os.path.basename, with_files.reads_of(row).reads.files)) for row in with_files.kept()}
    assert files == {(f"aims-{point}.json",) for point in points}
    for point in points:
        write(folder, f"aims-{point}.json", [aim + 40 for aim in AIM])
        opened = wb.open_results(folder / "out")
        assert {row.point for row in opened.failures} == {opened.points[point].id}
        results, new = ran(folder, "OfPoint", points, 6, **more)
        assert {key[0] for key in new if new[key] != old[key]} == {point}
        assert (results.checked.checked, results.failures) == (6 * POINTS, [])
        old = new


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"workers": 1}, {"workers": 2}], ids=str)
@pytest.mark.parametrize("name", ["AttachedByParameter", "OfParquet", "Mapped", "MappedByC", "OfC"])
def test_what_a_native_reader_read_is_never_checked_unless_it_is_declared(folder, name, more):
    results, _ = ran(folder, name, **more)
    assert (results.checked.checked, results.failures) == (0, [])
    assert "declares no `inputs`" in results.checked.reasons[0]


@pytest.mark.slow
@pytest.mark.parametrize("more", FIRST, ids=str)
def test_a_module_that_is_imported_by_name_as_a_run_goes_on_is_read(folder, monkeypatch, more):
    monkeypatch.syspath_prepend(folder)
    (folder / "row_reads_plugin.py").write_text(f"AIMS = {AIM}\n")
    _, old = ran(folder, "OfPlugin", **more)
    text = f"AIMS = {[*AIM[:4], 9000, *AIM[5:]]}\n"  # of another size: Python keeps what it compiled for a second
    (folder / "row_reads_plugin.py").write_text(text)
    results, new = ran(folder, "OfPlugin")
    assert new != old
    assert (results.checked.checked, len(new)) == (10, 10)
    sys.modules.pop("row_reads_plugin", None)


@pytest.mark.slow
def test_a_declared_file_of_a_native_reader_is_compared(folder):
    results, old = ran(folder, "Declared")
    assert results.checked.checked == 10
    write(folder, "aims.parquet", [*AIM[:4], 90, *AIM[5:]])
    results, new = ran(folder, "Declared")
    assert new == truth(folder, "Declared") != old
    assert results.checked.checked == 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file"), [("Attached", "aims.db"), ("OfPosix", "aims.txt"), ("OfEntry", "one/aims.txt")]
)
@pytest.mark.parametrize("more", [{"workers": 1}, {"workers": 2}], ids=str)
def test_what_is_read_by_ways_that_few_take_is_read(folder, name, file, more):
    _, old = ran(folder, name, **more)
    write(folder, file, [*AIM[:4], 10**8, *AIM[5:]])
    results, new = ran(folder, name, **more)
    assert new == truth(folder, name) != old
    assert results.checked.checked == 10


@pytest.mark.slow
def test_rows_that_were_made_in_another_working_folder_are_not_checked(folder, monkeypatch):
    """They named the file from there; here it is another one."""
    ran(folder, "Relative")
    (folder / "other").mkdir()
    write(folder / "other", "aims.json", [*AIM[:4], 90, *AIM[5:]])
    monkeypatch.chdir(folder / "other")
    results, _ = ran(folder, "Relative")
    assert results.checked.checked == 0


@pytest.mark.slow
def test_a_copy_of_a_folder_whose_code_names_whole_paths_is_not_checked(folder, tmp_path_factory):
    ran(folder, "Whole")
    shutil.copytree(folder, copied := tmp_path_factory.mktemp("copied") / "here")
    write(folder, "aims.json", [*AIM[:4], 90, *AIM[5:]])
    results, new = ran(copied, "Whole")
    assert results.checked.checked == 0 or new == truth(copied, "Whole")


@pytest.mark.slow
def test_the_whole_folder_can_be_moved(folder, tmp_path_factory, monkeypatch):
    _, old = ran(folder, "OfJson", seeds=3)
    texts = b"".join(path.read_bytes() for path in (folder / "out" / "rows").iterdir())
    assert str(folder).encode() not in texts
    shutil.move(folder, moved := tmp_path_factory.mktemp("moved") / "here")
    monkeypatch.chdir(moved)
    results, new = ran(moved, "OfJson", seeds=3)
    assert (new, results.checked.checked) == (old, 3)
    assert len(list((moved / "out" / "rows").iterdir())) == 2
    assert {row.status for row in results.rows.values()} == {"done"}


@pytest.mark.slow
def test_a_file_that_changes_while_runs_go_on_leaves_rows_that_are_not_checked(folder, monkeypatch):
    kept = Store.add_all

    def add_all(store, rows):
        kept(store, rows)
        write(folder, "aims.json", [aim + store.count() for aim in AIM])

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add_all", add_all)
        results, _ = ran(folder, "OfJson", workers=1)
    assert results.checked.checked <= 1
    results, new = ran(folder, "OfJson")
    assert (new, results.checked.checked) == (truth(folder, "OfJson"), 10)


@pytest.mark.parametrize("behind", [0, 10**9, 10**18])
def test_a_clock_that_is_set_back_changes_no_order_of_row_files(tmp_path, monkeypatch, behind):
    """With a clock behind, a withdrawal was lost, and the wrong number came back as checked."""
    sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 9}, "seeds": 2}
    wb.run(sweep, tmp_path)
    now = time.time_ns
    monkeypatch.setattr(row_files.time, "time_ns", lambda: now() - behind)
    store = Store(tmp_path)
    run = next(store.kept()).id
    store.withdraw([run], "it is wrong")
    store.close()
    monkeypatch.setattr(row_files.time, "time_ns", lambda: now() - 2 * behind)
    assert [row.error for row in wb.open_results(tmp_path).failures] == ["it is wrong"]
    assert wb.run(sweep, tmp_path).failures == wb.open_results(tmp_path).failures == []


KERNEL = r"""
import importlib, json, sys
from pathlib import Path
import workbench as wb
HERE = Path.cwd()
sys.path.insert(0, str(HERE))
import kernel_module

def ran(name, out):
    sweep = {"engine": "shared_memory", "workload": {"synthetic": name}, "measures": ["drain_cycles"], "seeds": 1}
    try:
        results = wb.run(sweep, HERE / out, repeat=True)
        print(int(results.table["drain_cycles"][0]), results.checked.checked)
    except wb.errors.WorkbenchError as problem:
        print(problem)

def edit(name, old, new):
    (HERE / name).write_text((HERE / name).read_text().replace(old, new))

ran("in_module", "a")
edit("kernel.json", "3", "30")
ran("in_module", "a")
importlib.reload(kernel_module)
ran("in_module", "a")
edit("kernel_module.py", "+ 10", "+ 70")
ran("in_module", "a")
edit("kernel_module.py", "+ 70", "+ 10")
edit("kernel_module.py", "class", "# as before\nclass")
ran("in_module", "a")
ran("sub/mine.py:InFile", "b")
edit("kernel_helper.py", "4", "40")
ran("sub/mine.py:InFile", "b")
importlib.reload(sys.modules["kernel_helper"])
ran("sub/mine.py:InFile", "b")
edit("sub/aim.txt", "5", "50")
ran("sub/mine.py:InFile", "b")
"""
MODULE = """
{imports}
import numpy as np
from workbench import Generator
from workbench.workloads.workload import Workgroups
class {name}(Generator):
    def workgroups(self, machine, streams):
        return Workgroups(np.arange(1), np.full(1, 20), np.full(1, 0) + 10 + {aim})
"""


@pytest.mark.slow
def test_a_kernel_that_lives_on_runs_nothing_that_its_files_no_longer_say(tmp_path):
    """A data file read at import, a module edited but not reloaded, a helper in a parent folder: one sentence each."""
    imports = "import json, pathlib\nAIM = json.loads((pathlib.Path(__file__).parent / 'kernel.json').read_text())"
    (tmp_path / "kernel_module.py").write_text(MODULE.format(imports=imports, name="InModule", aim="AIM"))
    (tmp_path / "kernel_helper.py").write_text("AIM = 4\n")
    (tmp_path / "kernel.json").write_text("3")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "aim.txt").write_text("500")
    imports = "import kernel_helper, pathlib\nAIM = int((pathlib.Path(__file__).parent / 'aim.txt').read_text())"
    of_file = MODULE.format(imports=imports, name="InFile", aim="kernel_helper.AIM + AIM")
    (tmp_path / "sub" / "mine.py").write_text(of_file)
    done = subprocess.run([sys.executable, "-c", KERNEL], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.replace(f"{tmp_path}/", "").splitlines() == [
        "13 1",
        "the file kernel.json, which kernel_module read when it was imported, is not what it was; "
        "import kernel_module again (importlib.reload, or another kernel), then run.",
        "40 1",
        "kernel_module.py was edited since this process imported it; "
        "import kernel_module again (importlib.reload, or another kernel), then run.",
        "40 1",
        "514 1",
        "kernel_helper.py was edited since this process imported it; "
        "import kernel_helper again (importlib.reload, or another kernel), then run.",
        "550 1",
        "5050 1",
    ]


@pytest.mark.slow
def test_the_origin_of_a_row_of_ones_own_code_names_what_is_set_of_decimals_numpy_and_pandas(folder):
    usual, _ = ran(folder, "OfJson", seeds=1, workers=0)
    facts = json.loads(next(iter(usual.rows.values())).origin)
    assert not {"decimal", "numpy", "pandas"} & facts.keys()
    with decimal.localcontext() as context, np.errstate(over="raise"), pd.option_context("mode.sim_interactive", True):
        context.prec = 7
        other, _ = ran(folder, "OfJson", seeds=1, workers=0, out="other")
    facts = json.loads(next(iter(other.rows.values())).origin)
    assert facts["decimal"] == {"prec": "7"}
    assert facts["numpy"] == {"over": "raise"}
    assert facts["pandas"] == {"mode.sim_interactive": "True"}


ODD = {
    "ByFolder": "read_from_folder()",
    "ByLink": "json.loads(open('/proc/self/cwd/aims.json').read())",
    "OfCVariable": "[c_variable()] * 10",
    "OfAttributes": "[len(os.listxattr(HERE / 'aims.txt'))] * 10",
}
ODD_HELPERS = """
def read_from_folder():
    folder = os.open(HERE, os.O_RDONLY)
    with open(os.open("aims.json", os.O_RDONLY, dir_fd=folder)) as file:
        return json.loads(file.read())
def c_variable():
    c = ctypes.CDLL(None)
    c.getenv.restype = ctypes.c_char_p
    return len(c.getenv(b"HOME") or b"")
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"workers": 1}, {"workers": 2}], ids=str)
@pytest.mark.parametrize("name", ODD)
def test_odd_ways_to_files_and_variables_leave_no_wrong_row_that_is_checked(folder, monkeypatch, name, more):
    (folder / "elsewhere").mkdir()
    texts = [GENERATOR.format(name=one, aims=f"({aims})", more="") for one, aims in ODD.items()]
    (folder / "mine.py").write_text(POLICIES + ODD_HELPERS + "".join(texts))
    if name == "ByFolder":
        monkeypatch.chdir(folder / "elsewhere")
    results, old = ran(folder, name, seeds=1 if name in ("OfAttributes", "OfCVariable") else 10, **more)
    assert results.failures == []
    if name == "ByLink":
        write(folder, "aims.json", [*AIM[:4], 90, *AIM[5:]])
        results, new = ran(folder, name, **more)
        assert (results.checked.checked, new == old) == (10, False)
    else:
        assert results.checked.checked == 0
