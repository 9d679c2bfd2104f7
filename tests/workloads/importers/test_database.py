"""A SQLite file is never trusted: nothing of it runs, nothing beside it is opened, and no query goes on for ever."""

import gzip
import sqlite3
import tracemalloc
from contextlib import closing

import pytest

from tests.slow import seeds
from tests.workloads.importers import profiles
from tests.workloads.importers.refusing import damaged, read_or_refused, refusal
from workbench.errors import InputError
from workbench.workloads.importers import read_trace
from workbench.workloads.importers import sqlite_files as module
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.sqlite_files import Database

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS start, x AS end FROM n"


def opened(path):
    """The database of a file."""
    return Database(Source(path))


def test_reading_leaves_no_trace(tmp_path):
    path = profiles.nsys(tmp_path / "run.sqlite")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    path.chmod(0o444)
    read_trace(path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.sqlite"]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_view_in_the_place_of_a_table_is_no_table(tmp_path):
    path = profiles.nsys(tmp_path / "t")
    profiles.database(
        path, ["DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", f"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS {ENDLESS}"], {}
    )
    assert refusal(path).startswith("holds no kernels;")


def test_generated_columns_are_not_computed(tmp_path):
    columns = (
        "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, shortName INTEGER, "
        "gridX INTEGER GENERATED ALWAYS AS (length(zeroblob(900000000))) VIRTUAL"
    )
    path = profiles.nsys(tmp_path / "t", [], columns)
    insert = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, shortName) VALUES (1, 2, 0, 0, 2)"
    profiles.database(path, [insert], {})
    assert read_trace(path).kernels.workgroups is None


def test_virtual_tables_are_left_alone(tmp_path):
    path = profiles.nsys(tmp_path / "t")
    profiles.database(path, ["CREATE VIRTUAL TABLE found USING fts5(text)"], {})
    with opened(path) as result:
        assert "found" not in result.tables
        assert "StringIds" in result.tables


@pytest.mark.parametrize(
    "sql",
    [ENDLESS, "SELECT load_extension('x')", "ATTACH 'other.db' AS other", "PRAGMA journal_mode = wal", "SELECT hex(1)"],
)
def test_only_reading_is_allowed(tmp_path, sql):
    with opened(profiles.nsys(tmp_path / "t")) as result, pytest.raises(InputError, match="is no sound SQLite file"):
        list(result._query(sql))


def test_a_query_that_goes_on_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_STEPS_AT_LEAST", 1_000_000)
    with (
        opened(profiles.nsys(tmp_path / "t")) as result,
        pytest.raises(InputError, match="takes more steps to read than"),
    ):
        list(result._query("SELECT 1 FROM " + ", ".join(f"sqlite_master t{k}" for k in range(12))))


def test_a_value_that_is_too_long_is_refused(tmp_path):
    path = profiles.nsys(tmp_path / "t")
    profiles.database(path, ["UPDATE StringIds SET value = zeroblob(17000000)"], {})
    assert refusal(path).startswith("is no sound SQLite file (string or blob too big)")


def test_a_table_of_too_many_rows_is_refused_where_few_are_expected(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_SMALL_ROWS", 2)
    with opened(profiles.nsys(tmp_path / "t")) as result, pytest.raises(InputError, match="has more than 2 rows"):
        result.rows("StringIds", ("id",))


def test_a_file_of_too_many_tables_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_TABLES", 5)
    assert refusal(profiles.nsys(tmp_path / "t")) == "has more than 5 tables, which no profile has."


def test_changes_that_are_not_in_the_file_are_not_left_out_silently(tmp_path):
    path = profiles.rocpd(tmp_path / "t.db")
    (tmp_path / "t.db-wal").write_bytes(b"")
    assert read_trace(path).kernels.rows == 3
    (tmp_path / "t.db-wal").write_bytes(b"x")
    assert refusal(path).startswith(
        "its last changes stand in t.db-wal beside it, as its writer did not end well; let `sqlite3"
    )


def test_a_database_that_is_still_written_is_refused(tmp_path):
    path = profiles.rocpd(tmp_path / "t.db")
    with closing(sqlite3.connect(path)) as writing:
        writing.execute("PRAGMA journal_mode = wal")
        writing.execute(f'DELETE FROM "rocpd_kernel_dispatch{profiles.UUID}" WHERE id = 1')
        writing.commit()
        assert refusal(path).startswith("its last changes stand in t.db-wal beside it")
    assert read_trace(path).kernels.rows == 2


@pytest.mark.parametrize(
    ("cut", "says"), [(slice(0, 50), "is no sound SQLite file"), (slice(0, 3000), "is no sound SQLite file")]
)
def test_a_file_that_is_cut_off_is_refused(tmp_path, cut, says):
    path = profiles.nsys(tmp_path / "t")
    assert refusal(path, path.read_bytes()[cut]).startswith(says)


def test_a_compressed_one_is_to_be_unpacked_first(tmp_path):
    path = profiles.nsys(tmp_path / "t.gz")
    assert refusal(path, gzip.compress(path.read_bytes())).startswith(
        "is a compressed SQLite file, which cannot be read in"
    )


def test_a_database_of_something_else_is_no_trace(tmp_path):
    path = profiles.database(tmp_path / "t.db", ["CREATE TABLE results (id INTEGER)"], {})
    assert refusal(path).startswith("is no trace that is read here; there are ")


def test_names_with_quotes_and_blanks_are_names(tmp_path):
    statements = ['CREATE TABLE "a""b c" ("x"" y" INTEGER)']
    path = profiles.database(tmp_path / "t%20?mode=rw#.db", statements, {'a""b c': [(7,)]})
    with opened(path) as result:
        assert (result.tables, result.rows('a"b c', ('x" y',))) == (['a"b c'], [(7,)])


@pytest.mark.parametrize("name", [b"\n\x1b", b"\xff\xfe"])
def test_names_that_cannot_be_printed_are_not(tmp_path, name):
    path = profiles.rocpd(tmp_path / "t.db")
    contents = path.read_bytes().replace(b"grid_size_x INT", b"grid_size" + name + b" INT", 1)
    assert refusal(path, contents).isprintable()
    assert "raised" not in refusal(path)
    path.write_bytes(
        profiles.rocpd(tmp_path / "other.db")
        .read_bytes()
        .replace(b"dispatch_0000a1b2", b"dispatch_0000a" + name + b"2")
    )
    assert "raised" not in read_or_refused(path)


@pytest.mark.parametrize("seed", seeds(12, 360))
def test_a_damaged_file_is_read_or_refused_in_one_sentence(tmp_path, seed):
    path = (profiles.nsys, profiles.rocpd)[seed % 2](tmp_path / "t.db")
    path.write_bytes(damaged(path.read_bytes(), seed, from_byte=16))
    assert "\n" not in read_or_refused(path)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", ["nsys", "rocpd"])
def test_a_launch_takes_few_bytes(tmp_path, format_name):
    count = 200_000
    if format_name == "nsys":
        kernels = [
            (
                k * 100,
                k * 100 + k % 97,
                0,
                1,
                k % 5,
                k,
                9,
                1 + k % 2 * 2,
                2,
                32,
                k % 4096 + 1,
                1,
                1,
                128,
                1,
                1,
                0,
                k % 9000,
                None,
            )
            for k in range(count)
        ]
        path = profiles.nsys(tmp_path / "t", kernels)
    else:
        rows = [
            (k, 2 + k % 2, 10 + k % 2, 1, 0, k * 100, k * 100 + k % 97, k % 9000, 64, 1, 1, 64 * (k % 4096 + 1), 1, 1)
            for k in range(count)
        ]
        path = profiles.rocpd(tmp_path / "t", rows=rows)
    tracemalloc.start()
    try:
        trace = read_trace(path)
        trace.facts()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert trace.kernels.rows == count
    assert peak < 100 * count  # ten million launches within 1 GB
