"""Runs repeated in a fresh process show what else they depend on than code, levers, seed; what is read is compared."""

import contextlib
import importlib.util
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest
from numpy.linalg import lapack_lite

import workbench as wb
from tests.slow import LONG
from workbench.errors import InputError
from workbench.experiments import checked_rows, reproducibility
from workbench.experiments.store import Store
from workbench.identity.reads import declared_reads

HEAD = """
import asyncio, ctypes, datetime, importlib.util, linecache, multiprocessing, os, pkgutil, platform, random, shutil
import socket, sqlite3
import string, subprocess, sys, tempfile, threading, time
from concurrent import futures as pool
from os import environ
from pathlib import Path
import numpy as np
import repeated_lazy
from tests.identity.lowest import from_aim
from workbench import Generator
from workbench.policies import Placement
from workbench.workloads.workload import Workgroups

HERE = Path(__file__).parent
LOCK, SHARED = threading.Lock(), multiprocessing.Lock()
def aim():
    return 3
def aims():
    spec = importlib.util.spec_from_file_location("lapack_lite", HERE / "lapack_lite.so")
    return importlib.util.module_from_spec(spec)
"""
WORKLOAD = """
class {name}(Generator):
    {more}
    def workgroups(self, machine, streams):
        return Workgroups(np.arange(9), np.full(9, 20), streams["durations"].integers(1, 9, 9) + 10 + int({aim}))
"""
"""What a policy would read, where nothing is to be compiled for it: code of the user's is one thing to what is here."""
AIMS = {
    "Plain": "3",
    "OfFile": "(HERE / 'aim.txt').read_text()",
    "OfVariable": "os.environ.get('REPEATED_AIM', '5')",
    "OfBorrowed": "environ.get('REPEATED_AIM', '5')",
    "OfBytes": "os.environb.get(b'REPEATED_AIM', b'5')",
    "OfExistence": "40 if (HERE / 'there.txt').exists() else 3",
    "OfSize": "os.path.getsize(HERE / 'aim.txt') * 7",
    "OfLink": "len(os.readlink(HERE / 'link'))",
    "OfDatabase": "sqlite3.connect(HERE / 'aim.db').execute('select max(aim) from aims').fetchone()[0]",
    "OfFolder": "len(os.listdir(HERE / 'parts'))",
    "OfLines": "np.loadtxt(HERE / 'aim.txt')",
    "Lazy": "repeated_lazy.aim",
    "Logs": "[time.perf_counter(), 3][1]",  # stands for a line of a log
    "Locks": "3 if not LOCK.locked() else 40",
    "LocksOfProcesses": "[SHARED.acquire(), 3, SHARED.release()][1]",
    "OfProcessors": "3 if multiprocessing.cpu_count() else 40",
    "Draws": "np.random.default_rng(3).integers(40)",
    "OfDay": "datetime.date.today().toordinal() % 40",
    "OfNow": "datetime.datetime.now().toordinal() % 40",
    "OfClock": "time.time() // 86400 % 40",  # stands for a policy that reads a clock
    "Ends": "3 if os.getpid() == int(os.environ['REPEATED_PROCESS']) else os._exit(3)",
    "Stays": "3 if os.getpid() == int(os.environ['REPEATED_PROCESS']) else time.sleep(60)",  # stands for one that stays
    "OfProcess": "40 if os.getpid() == int(os.environ['REPEATED_PROCESS']) else os.getpid() * 7 % 40",
    "OfWorkingFolder": "int.from_bytes(os.getcwd().encode()[-6:]) % 100_003",
    "OfZone": "time.timezone // 3600 % 40 * 3 % 41",
    "OfOrder": "list({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'}).index('a') * 4",
    "OfAddress": "40 if id(type) == int(os.environ['REPEATED_ADDRESS']) else id(type) // 4096 % 40",
    "Relative": "open('aim.txt').read()",
    "OfThread": "pool.ThreadPoolExecutor(1).submit(np.loadtxt, HERE / 'aim.txt').result()",
    "OfLoop": "asyncio.run(asyncio.to_thread((HERE / 'aim.txt').read_text))",
    "OfLine": "linecache.getline(str(HERE / 'aim.txt'), 1)",
    "OfExpanded": "os.path.expandvars('0$REPEATED_AIM').replace('$REPEATED_AIM', '5')",
    "OfTemplate": "string.Template('$REPEATED_AIM').safe_substitute(os.environ).replace('$REPEATED_AIM', '5')",
    "OfWidth": "shutil.get_terminal_size((5, 5)).columns",
    "OfTemporary": "(Path(tempfile.gettempdir()) / 'aim.txt').read_text()",
    "OfPlugin": "[sys.path.insert(0, str(HERE)), pkgutil.resolve_name('repeated_plugin:aim')()][1]",
    "OfLibrary": "3 if ctypes.CDLL(str(HERE / 'aim.so')) else 40",
    "OfMachineCode": "3 if aims().__file__ else 40",
    "OfName": "len(socket.gethostname()) * 0 + 3",
    "OfNode": "len(platform.node()) * 0 + 3",
    "OfUname": "len(os.uname().nodename) * 0 + 3",
    "Pools": "multiprocessing.get_context('fork').Pool(1).apply(aim) if LOCK else 40",
    "Forks": "(lambda child: os._exit(0) if not child else os.waitpid(child, 0)[1])(os.fork()) + 3",
    "Starts": "subprocess.run(['true']).returncode",
}
AGREED = (
    "Plain",
    "OfBorrowed",
    "OfBytes",
    "OfExistence",
    "OfSize",
    "OfLink",
    "OfDatabase",
    "OfFile",
    "OfVariable",
    "OfFolder",
    "OfLines",
    "Lazy",
    "Logs",
    "Locks",
    "LocksOfProcesses",
    "OfProcessors",
    "Draws",
    "OfWorkingFolder",
    "Relative",
)
DIFFERS = ("OfDay", "OfNow", "OfClock", "OfProcess", "OfZone", "OfOrder", "OfAddress")
SEEDS = 3
REPEATED = "REPEATED_AIM"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder with policies and what they read, which the sweep runs in."""
    texts = [WORKLOAD.format(name=name, aim=aim, more="") for name, aim in AIMS.items()]
    (tmp_path / "mine.py").write_text(HEAD + "".join(texts))
    (tmp_path / "repeated_lazy.py").write_text("def __getattr__(name):\n    return 3\n")
    (tmp_path / "aim.txt").write_text("5")
    (tmp_path / "parts").mkdir()
    (tmp_path / "link").symlink_to("aim.txt")
    with contextlib.closing(sqlite3.connect(tmp_path / "aim.db")) as base:
        base.executescript("create table aims (aim); insert into aims values (5)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REPEATED_AIM", raising=False)
    monkeypatch.setenv("REPEATED_PROCESS", str(os.getpid()))  # in this process an aim that no other has
    monkeypatch.setenv("REPEATED_ADDRESS", str(id(type)))
    monkeypatch.setattr(reproducibility, "_agreed", {})
    yield tmp_path
    for name in ("repeated_lazy", "repeated_plugin"):
        sys.modules.pop(name, None)


def swept(names, folder, measures=("drain_cycles",), **more):
    """Run some of the policies; returns the runs, the rows of each as (status, error), and what was said."""
    heard = []

    from workbench.experiments.progress import Silent

    class Heard(Silent):
        def say(self, line):
            heard.append(line)

    sweep = {
        "engine": "shared_memory",
        "workload": {"vary": [{"synthetic": f"mine.py:{name}"} for name in names]},
        "measures": list(measures),
        "seeds": SEEDS,
    }
    results = wb.run(sweep, folder / "out", progress=Heard(), **{"repeat": True, "workers": 1, **more})
    by_name = {type(point.setup.workload).__name__: point.id for point in results.points}
    kept = sorted(results.rows.values(), key=lambda row: row.seed)
    rows = {name: [row for row in kept if row.point == by_name[name]] for name in names}
    return results, rows, heard


def noted_reads(folder):
    """Return what each row that is done read."""
    with contextlib.closing(Store(folder / "out", read_only=True)) as store:
        return [store.reads_of(row).reads for row in store.kept() if row.status == "done"]


@pytest.mark.slow
def test_code_that_gives_the_same_elsewhere_is_checked_and_all_other_is_withdrawn_with_the_reason(folder):
    results, rows, heard = swept([*AGREED, *DIFFERS], folder)
    assert {name: {row.status for row in rows[name]} for name in rows} == {
        **{name: {"done"} for name in AGREED},
        **{name: {"withdrawn"} for name in DIFFERS},
    }
    many = SEEDS * len(AGREED)
    assert results.checked._replace(repeated=0) == checked_rows.Checked(many, many)
    assert 2 * len(AGREED) <= results.checked.repeated <= 3 * len(AGREED)  # first and last seed, and one that is drawn
    (error,) = {row.error for row in rows["OfClock"]}
    assert error.startswith("of_clock: drain_cycles was ")
    assert error.endswith("let it depend on its code, its levers and the seed alone.")
    assert "another hash seed, time zone, clock and number of threads" in error
    assert f"{SEEDS} rows are withdrawn. {error}" in heard
    assert len(results.failures) == SEEDS * len(DIFFERS)


READ = {
    "OfFile": "aim.txt",
    "Relative": "aim.txt",
    "OfSize": "aim.txt",
    "Declared": "aim.txt",
    "OfDatabase": "aim.db",
    "OfFolder": "parts",
    "OfExistence": "there.txt",
    "OfLink": "link",
    "OfThread": "aim.txt",
    "OfLoop": "aim.txt",
    "OfLine": "aim.txt",
    "OfTemporary": "one/aim.txt",
    "OfPlugin": "repeated_plugin.py",
    "OfLibrary": "aim.so",
    "OfMachineCode": "lapack_lite.so",
    **dict.fromkeys(("OfVariable", "OfBorrowed", "OfBytes", "OfExpanded", "OfTemplate"), REPEATED),
    "OfWidth": "COLUMNS",
}
"""By what reads it, by Python or the standard library, in threads too: a file, a folder or a variable."""
READS_NO_CONTENT = ("Declared", "OfLibrary", "OfMachineCode")


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"workers": 2}, {"workers": 1}, {"workers": 0}])
def test_rows_of_code_that_reads_files_folders_or_variables_follow_what_it_reads_and_no_others(
    folder, monkeypatch, more
):
    """Of files contents, sizes and what is declared to be read; whether one is there, and where a link leads."""
    with (folder / "mine.py").open("a") as file:
        file.write(WORKLOAD.format(name="Declared", aim="3", more='inputs = ["aim.txt"]'))
    for name, aim in (("one", "5"), ("two", "40")):
        (folder / name).mkdir()
        (folder / name / "aim.txt").write_text(aim)
    (folder / "repeated_plugin.py").write_text("def aim():\n    return 5\n")
    for name in ("aim.so", "lapack_lite.so"):
        shutil.copy(lapack_lite.__file__, folder / name)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(folder / "one"))
    monkeypatch.setenv("COLUMNS", "5")
    names = ["Plain", *READ]
    _, before, _ = swept(names, folder, **more)
    reads = noted_reads(folder)
    files = {str(folder / place) for place in READ.values() if place not in (REPEATED, "COLUMNS")}
    assert {path for one in reads for path in one.files} == files
    variables = sorted(name for one in reads if not one.files for name in one.variables)
    assert variables == sorted([*["COLUMNS", "LINES"] * SEEDS, *[REPEATED] * 5 * SEEDS])

    (folder / "aim.txt").write_text("40")
    with contextlib.closing(sqlite3.connect(folder / "aim.db")) as base:
        base.execute("insert into aims values (40)")
        base.commit()
    (folder / "parts" / "one").write_text("")
    (folder / "there.txt").write_text("")
    (folder / "link").unlink()
    (folder / "link").symlink_to("./aim.txt")
    (folder / "repeated_plugin.py").write_text("def aim():\n    return 40\n")
    for name in ("aim.so", "lapack_lite.so"):
        edit(folder / name)
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name, value in (("TMPDIR", str(folder / "two")), ("COLUMNS", "40"), (REPEATED, "40")):
        monkeypatch.setenv(name, value)
    opened = wb.open_results(folder / "out")
    assert {row.point for row in opened.failures} == {before[name][0].point for name in READ}
    assert all("run the sweep again" in row.error for row in opened.failures)
    results, after, heard = swept(names, folder, **more)
    lines = [line for line in heard if line.startswith(f"{SEEDS} kept rows are done again: the ")]
    assert len(lines) == len(READ)
    for name, place in READ.items():
        snake = re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()
        (line,) = [line for line in lines if f", which {snake} reads, is another than it was." in line]
        assert f" {place if place in (REPEATED, 'COLUMNS') else folder / place}" in line or name == "OfTemporary"
    assert {row.error for name in names for row in after[name]} == {""}
    cycles = [
        {name: [row.measures["drain_cycles"] for row in rows[name]] for name in names} for rows in (before, after)
    ]
    assert {name for name in names if cycles[0][name] != cycles[1][name]} == {*READ} - {*READS_NO_CONTENT}
    assert cycles[1]["OfVariable"] == cycles[1]["OfFile"] == cycles[1]["OfThread"]
    assert results.checked.checked == (SEEDS * len(names) if more["workers"] else 0)


def edit(place):
    """Put another file in the place of one of machine code, which a process may still have in memory."""
    other = place.with_suffix(".edited")
    other.write_bytes(place.read_bytes() + b"edited")
    other.replace(place)


@pytest.mark.parametrize("reads", ["native.dgelsd", "dgelsd"])
def test_the_file_of_machine_code_that_code_refers_to_is_compared(tmp_path, monkeypatch, reads):
    shutil.copy(lapack_lite.__file__, place := tmp_path / "lapack_lite.so")
    spec = importlib.util.spec_from_file_location("lapack_lite", place)
    monkeypatch.setitem(sys.modules, "lapack_lite", importlib.util.module_from_spec(spec))
    space = {"__name__": "mine"}
    exec(f"import lapack_lite as native\nfrom lapack_lite import dgelsd\ndef answer():\n    return {reads}", space)
    declared = declared_reads([space["answer"]])
    assert (list(declared.files), declared.changed()) == ([str(place)], "")
    edit(place)
    assert declared.changed() == f"the file {place}"


def tampered(folder, rows):
    """Put another number in the place of what was kept."""
    store = Store(folder / "out")
    read = {row.id: store.reads_of(store.kept_row(row.id)) for row in rows}
    store.withdraw([row.id for row in rows], "tampered with")
    (store._invocation,) = {one.invocation for one in read.values()}
    store.add_all(row._replace(measures={"drain_cycles": 7.0}, reads=read[row.id].reads.text()) for row in rows)
    store.close()


@pytest.mark.slow
def test_a_kept_row_that_a_fresh_process_contradicts_is_withdrawn_with_its_point_and_the_next_run_does_it_anew(folder):
    _, rows, _ = swept(["Plain", "Logs"], folder)
    true = [row.measures for row in rows["Plain"]]
    tampered(folder, rows["Plain"])
    _, rows, heard = swept(["Plain", "Logs"], folder)
    assert [row.status for row in rows["Plain"]] == ["withdrawn"] * SEEDS
    assert [row.status for row in rows["Logs"]] == ["done"] * SEEDS
    assert "drain_cycles was 7 and is" in rows["Plain"][0].error
    assert len([line for line in heard if f"{SEEDS} kept rows of plain, point " in line]) == 1
    assert [row.measures for row in swept(["Plain", "Logs"], folder, repeat=False)[1]["Plain"]] == true


@pytest.mark.slow
@pytest.mark.parametrize("others", [0, 1])
def test_a_contradiction_costs_its_point_alone_and_one_run_of_each_other_point_of_the_code_is_repeated(folder, others):
    """By turns the kept row that is repeated is another, so that the tampered point comes up within some runs."""
    turns = [{"mine.py:Turned": {"turn": turn}} for turn in (0, 1, 3)]
    later(folder, turns, seeds=2)
    store = Store(folder / "out")
    kept = {point: [row for row in store.kept() if row.point == point] for point in {row.point for row in store.kept()}}
    store.close()
    points = list(kept)
    tampered(folder, [row.row({}) for point in points[: 1 + others] for row in kept[point]])
    for _ in range(30):
        statuses, checked = later(folder, turns, seeds=2)
        if {"withdrawn"} in statuses:
            break
    assert sorted(map(min, statuses)) == ["done", "done", "withdrawn"]
    assert (checked.rows, checked.checked) == (4, 0)
    assert re.search(
        r"turned.*: drain_cycles was 7 and is \d+ when seed \d of point \w+ was repeated", checked.reasons[0]
    )
    statuses, checked = later(folder, turns, seeds=2)
    if others:
        assert sorted(map(min, statuses)) == ["done", "done", "withdrawn"]
        statuses, checked = later(folder, turns, seeds=2)
    assert (statuses, checked.rows, checked.checked) == ([{"done"}] * 3, 6, 6)
    assert checked.repeated >= 3


@pytest.mark.slow
@pytest.mark.parametrize("kept", [(), ("Draws",)])
def test_what_cannot_be_sent_to_another_process_leaves_the_others_checked(folder, monkeypatch, kept):
    """Kept rows of other code are repeated all the same."""
    swept(kept or ("Draws",), folder)
    if kept:
        tampered(folder, swept(kept, folder)[1]["Draws"])
    packed = reproducibility.Requests.pack

    def pack(self, chunk, *more):
        if any(type(one.workload).__name__ == "Logs" for one in chunk.setups.values()):
            raise InputError("Logs cannot be sent to another process: it is here alone.")
        return packed(self, chunk, *more)

    monkeypatch.setattr(reproducibility.Requests, "pack", pack)
    results, rows, heard = swept(["Plain", "Logs", "Locks", *kept], folder)
    assert {name: {row.status for row in rows[name]} for name in kept} == {name: {"withdrawn"} for name in kept}
    assert results.checked.checked == 2 * SEEDS
    lines = [line for line in heard if "stay provisional" in line]
    assert lines == [
        "the rows of logs stay provisional: they could not be repeated (Logs cannot be sent to another process: it is "
        "here alone)."
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("Ends", "they could not be repeated (the process that repeated it ended with status 3)"),
        ("Stays", "they could not be repeated (the run did not end within 1 s)"),
    ],
)
def test_what_ends_or_stops_the_process_that_repeats_it_leaves_the_others_checked(folder, monkeypatch, odd, why):
    monkeypatch.setattr(reproducibility, "LIMIT_SECONDS", 1.0)
    results, _, heard = swept(["Plain", odd, "Locks"], folder)
    assert heard == [f"the rows of {odd.lower()} stay provisional: {why}."]
    assert results.checked.checked == 2 * SEEDS


TRACE = "kineto_nvidia.json"
ON_A_TRACE = """
class Lowest(Placement):
    def answer(see):
        return from_aim(see.free, see.segments, see.length, 0)
"""


@pytest.mark.slow
def test_a_trace_that_is_named_from_the_working_folder_is_read_wherever_a_run_is_repeated(folder):
    with (folder / "mine.py").open("a") as file:
        file.write(ON_A_TRACE)
    shutil.copy(Path(__file__).parents[1] / "data" / "traces" / TRACE, folder)
    sweep = {
        "engine": "shared_memory",
        "workload": {"trace": TRACE},
        "measures": ["drain_cycles"],
        "policy": {"placement": "mine.py:Lowest"},
    }
    results = wb.run({**sweep, "machine": {"preset": "h100"}}, repeat=True, workers=1)
    assert (results.failures, results.checked.checked) == ([], 1)


@pytest.mark.slow
def test_what_starts_a_program_stays_provisional_and_so_does_what_is_not_repeated(folder):
    results, _, _ = swept(["Plain"], folder, repeat=False)
    assert results.checked == checked_rows.Checked(SEEDS, 0, ("plain: not repeated yet",))
    provisional = {
        "Starts": "starts the program true",
        **dict.fromkeys(("Forks", "Pools"), "starts another process"),
        **dict.fromkeys(("OfName", "OfNode", "OfUname"), "asks for the name of the machine"),
    }
    results, rows, heard = swept(["Plain", *provisional], folder)
    assert {row.status for name in provisional for row in rows[name]} == {"done"}
    assert results.checked._replace(reasons=()) == checked_rows.Checked((1 + len(provisional)) * SEEDS, SEEDS, (), 1)
    assert sorted(heard) == sorted(
        f"the rows of {re.sub('(?<=[a-z])(?=[A-Z])', '_', name).lower()} stay provisional: {why}, and no digest can "
        "stand for that."
        for name, why in provisional.items()
    )


ALTERED = """
import workbench as wb

class Altered:
    def __init__(self):
        self.aim = 3
    def __setstate__(self, state):
        self.aim = state["aim"] + 1

ALTERED = Altered()
@wb.measure(unit="cycles", better="neither")
def altered(record):
    return float(ALTERED.aim)
"""


@pytest.mark.slow
def test_a_measure_that_another_process_has_otherwise_leaves_rows_provisional(folder):
    (folder / "mine.py").write_text(HEAD + WORKLOAD.format(name="Plain", aim="3", more="") + ALTERED)
    results, rows, heard = swept(["Plain"], folder, measures=["drain_cycles", "mine.py:altered"])
    assert ({row.status for row in rows["Plain"]}, results.checked.checked) == ({"done"}, 0)
    (line,) = heard
    assert re.fullmatch(
        r"the rows of plain stay provisional: they could not .* is not what the driver has; .*\)\.", line
    )


LATER = """
import workbench as wb
from workbench import lever

class Turned(Placement):
    turn: int = lever(0)
    def parameters(self):
        return np.array([float(time.time() // 86400 % 40 if self.turn == 2 else 3)])  # stands for one odd lever
    def answer(see):
        return from_aim(see.free, see.segments, see.length, int(see.levers[0]))

class Counts(Placement):
    def parameters(self):
        os.environ["REPEATED_COUNT"] = str(int(os.environ.get("REPEATED_COUNT", 0)) + 1)
        return np.array([float(os.environ["REPEATED_COUNT"]) * 7 % 41])
    def answer(see):
        return from_aim(see.free, see.segments, see.length, int(see.levers[0]))

@wb.measure(unit="cycles", better="neither")
def of_length(record):
    return float(time.time() // 86400) if len(record.grant) > 100 else 0.0  # stands for one odd workload
"""


def later(folder, policies, counts=(50,), measures=("drain_cycles",), seeds=10):
    """Run policies of a file under counts of requests; returns the statuses of each point, and what is checked."""
    (folder / "mine.py").write_text(HEAD + LATER)
    results = wb.run(
        {
            "engine": "shared_memory",
            "workload": {"regime": "large_uniform", "count": {"vary": list(counts)}},
            "measures": list(measures),
            "policy": {"placement": {"vary": policies}},
            "seeds": seeds,
        },
        folder / "out",
        repeat=True,
        workers=1,
    )
    rows = list(results.rows.values())
    return [{row.status for row in rows if row.point == point.id} for point in results.points], results.checked


@pytest.mark.slow
def test_one_run_of_every_new_point_is_repeated_so_that_an_odd_lever_workload_or_seed_shows(folder):
    turns = [{"mine.py:Turned": {"turn": turn}} for turn in range(5)]
    statuses, checked = later(folder, turns[:2] + turns[3:], measures=(own := ["drain_cycles", "mine.py:of_length"]))
    assert (statuses, checked.rows, checked.checked) == ([{"done"}] * 4, 40, 40)
    assert 4 <= checked.repeated <= 6
    statuses, _ = later(folder, turns[:1], (50, 150), own)
    assert statuses == [{"withdrawn"}] * 2
    statuses, _ = later(folder, turns)
    assert statuses == [{"withdrawn"}] * 5


FAILS = """
import workbench as wb
from workbench.structures.bitmaps import first_start


class Fails(wb.policies.Placement):
    turn: int = wb.lever(0, least=0, most=100, description="at 0 and 1 it names a place outside of the memory")

    def answer(see):
        return first_start(see.free, see.length, 0) if see.levers.turn > 1 else 9999
"""


def test_if_the_runs_that_are_chosen_fail_the_next_run_repeats_others(folder, monkeypatch):
    """The first and the last run fail, and so does that of the point with the lowest digest."""
    (folder / "fails.py").write_text(FAILS)
    load = {"regime": "large_uniform", "count": 20}
    sweep = {"engine": "shared_memory", "workload": load, "measures": ["drain_cycles"], "seeds": 1}

    def turned(turn):
        turns = [{"fails.py:Fails": {"turn": one}} for one in (0, turn, 1)]
        return {**sweep, "policy": {"placement": {"vary": turns}}}

    ids = {turn: [point.id for point in wb.plan(turned(turn)).points] for turn in range(2, 100)}
    chosen = turned(next(turn for turn, points in ids.items() if min(points) != points[1]))
    first = wb.run(chosen, folder / "out", workers=1, repeat=True)
    (reason,) = first.checked.reasons
    assert reason == f"fails: they could not be repeated ({reproducibility.ALL_FAILED})"
    assert wb.run(chosen, folder / "out", workers=1, repeat=True).checked == checked_rows.Checked(1, 1, (), 1)


@pytest.mark.slow
def test_what_a_run_leaves_to_the_next_one_shows_as_repeated_runs_have_another_order(folder, monkeypatch):
    monkeypatch.delenv("REPEATED_COUNT", raising=False)
    statuses, _ = later(folder, ["mine.py:Counts"], seeds=2)
    assert statuses == [{"withdrawn"}]


HONEST = """
import functools, tempfile
from dataclasses import dataclass
import pandas as pd
from numba import njit
from scipy.stats import norm
import workbench as wb

NORMAL = norm(20, 1)
@dataclass(frozen=True)
class Config:
    aim: int = 4
CONFIG = Config()
@functools.lru_cache
def cached(aim):
    return aim
@njit
def doubled(value):
    return 2 * value
def scratch():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "aim").write_text("7")
        return (Path(folder) / "aim").read_text()
@wb.measure(unit="cycles", better="neither")
def twice(record):
    return doubled(record.grant.max())
"""
HONEST_AIMS = {
    "OfTable": "pd.read_csv(HERE / 'aim.csv')['aim'][0]",
    "Cached": "cached(5)",
    "OfNormal": "NORMAL.ppf(0.5)",
    "Scratch": "scratch()",
    "Configured": "CONFIG.aim",
}


@pytest.mark.slow
def test_what_researchers_write_is_checked(folder):
    texts = [WORKLOAD.format(name=name, aim=aim, more="") for name, aim in HONEST_AIMS.items()]
    (folder / "mine.py").write_text(HEAD + HONEST + "".join(texts))
    (folder / "aim.csv").write_text("aim\n5\n")
    many = SEEDS * len(HONEST_AIMS)
    for _ in range(2 if LONG else 1):
        results, _, heard = swept(HONEST_AIMS, folder, measures=["drain_cycles", "mine.py:twice"])
        assert (heard, results.checked._replace(repeated=0)) == ([], checked_rows.Checked(many, many))
