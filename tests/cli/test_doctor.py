"""`workbench doctor`: facts of the machine, and a command for every missing thing, whatever the machine has."""

from __future__ import annotations

import json

import pytest

from workbench.cli import _doctor as doctor
from workbench.cli._machine_facts import compile_cache, free_memory
from workbench.cli._optional_dependencies import OPTIONAL_DEPENDENCIES, OptionalDependency
from workbench.cli.main import main
from workbench.compiled.kernel import cache_folder, code_home


@pytest.fixture
def two_things(monkeypatch):
    here = OptionalDependency("first", "one purpose", lambda: True, "bring first")
    absent = OptionalDependency("second", "another purpose", lambda: False, "bring second")
    monkeypatch.setattr(doctor, "OPTIONAL_DEPENDENCIES", (here, absent))


def test_what_is_missing_stands_with_its_command(two_things, capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "ok       first              one purpose\n" in text
    assert "missing  second             another purpose\n         $ bring second\n" in text
    assert "bring first" not in text


def test_json_says_the_same_in_bytes(two_things, capsys):
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [thing["present"] for thing in report["things"]] == [True, False]
    assert report["compile_cache"]["folder"] == str(code_home())
    assert report["free_disk_bytes"]["here"] > 0 and report["versions"]["numba"] != "absent"


def test_every_purpose_fits_80_columns_and_has_one_command():
    for thing in OPTIONAL_DEPENDENCIES:
        assert 9 + 19 + len(thing.purpose) <= 80
        assert thing.cure.startswith(("apt-get install", "pip install", "python -c"))
        assert "\n" not in thing.cure


def test_the_cache_tells_its_own_folder_from_earlier_ones(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    assert compile_cache().state.startswith("empty")
    assert not (tmp_path / "cache").exists()
    own = cache_folder("workbench.structures.bitmaps")
    edited, of_all_sources = own.parent / ("0" * 16), tmp_path / "cache" / ("0" * 16)
    for folder, content in ((own, b"12345"), (edited, b"123"), (of_all_sources, b"12")):
        folder.mkdir(parents=True)
        (folder / "answer.nbi").write_bytes(content)
    cache = compile_cache()
    assert (cache.functions, cache.bytes, cache.earlier_bytes) == (1, 5, 5)
    assert cache.earlier == [str(edited), str(of_all_sources)]
    assert cache.state == "compiled functions of these sources: 1"


@pytest.mark.parametrize(
    ("most", "used", "expected"), [("max", "1", 4096), ("3000", "1000", 2000), ("1000", "3000", 0), ("9000", "1", 4096)]
)
def test_free_memory_is_what_machine_and_container_both_leave(tmp_path, most, used, expected):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 8 kB\nMemAvailable: 4 kB\n")
    (tmp_path / "memory.max").write_text(f"{most}\n")
    (tmp_path / "memory.current").write_text(f"{used}\n")
    assert free_memory(meminfo, tmp_path) == expected


def test_unknown_memory_is_said_so(tmp_path):
    assert free_memory(tmp_path / "none", tmp_path) is None
    assert doctor.size_words(None) == "unknown"
