"""`workbench advise`: text, JSON, a page, CSV; mistakes in a sentence."""

import json
import pickle
import subprocess
import sys

import jsonschema
import pytest

from tests.oracles.torch_allocator import Rules
from tests.recorded_torch import Recorder, exercised
from workbench.cli import main


@pytest.fixture
def snapshot(tmp_path):
    place = tmp_path / "own.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(Rules(), seed=2), 60, 2).snapshot()))
    return place


@pytest.mark.slow
def test_as_json_it_has_the_promised_keys(snapshot, capsys):
    assert main(["advise", str(snapshot), "--card-bytes", "40GiB", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    with pytest.raises(SystemExit):
        main(["advise", "--schema"])
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema).validate(output)
    assert output["schema"] == schema["title"] == "workbench.advise/2"
    assert {"conf", "reserved_peak_bytes"} <= set(output["best"])
    assert output["best"] == output["settings"][0] and len(output["settings"]) > 30
    assert output["active_peak_bytes"] <= output["offline_plan_bytes"] <= output["best"]["reserved_peak_bytes"]
    assert output["smallest_card_bytes"] <= output["best"]["smallest_card_bytes"]
    exactness = output["exactness"]
    assert exactness["segment_allocs"] == exactness["segment_allocs_reproduced"] > 0
    assert exactness["allocs"] == exactness["addresses_reproduced"] > 0
    assert output["best"]["fits"] is True and output["card_bytes"] == 40 << 30
    assert sum(holder["bytes"] for holder in output["holders"]) == sum(it["bytes"] for it in output["sizes"])


@pytest.mark.slow
def test_a_person_reads_what_to_paste_and_gets_a_page_and_a_table(snapshot, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("workbench.figures.figure_files.rendered", lambda sheet, kind: kind.encode())
    page, table, paper = tmp_path / "page.html", tmp_path / "rows.csv", tmp_path / "paper"
    places = ["--html", str(page), "--csv", str(table), "--figure", str(paper)]
    assert main(["advise", str(snapshot), *places, "--call-us", "50", "--all"]) == 0
    out, err = capsys.readouterr()
    assert "replayed by PyTorch's rules: segment allocations reproduced" in err
    lines = out.splitlines()
    assert lines[0].startswith("GPU 0 did not run out of memory. Memory was tightest at event ")
    assert main(["advise", str(snapshot)]) == 0
    assert capsys.readouterr().out.splitlines() == lines[:5], "the rest is --all's"
    assert page.read_text().startswith("<!doctype html>")
    assert table.read_text().startswith("conf,reserved_peak_bytes,driver_calls,driver_ns,")
    names = [f"{name}.{kind}" for name in ("advice", "flame", "timeline") for kind in ("csv", "pdf", "png")]
    assert sorted(place.name for place in paper.iterdir()) == names


def test_a_snapshot_without_a_history_is_read_as_it_stands(tmp_path, capsys):
    place = tmp_path / "still.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(Rules()), 100, 1).snapshot()["segments"]))
    assert main(["advise", str(place)]) == 0
    assert "the segments of a moment and no history" in capsys.readouterr().out
    assert main(["advise", str(place), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["history"] is False and output["reserved_bytes"] >= output["live_bytes"]
    assert main(["advise", str(place), "--html", str(tmp_path / "no.html")]) == 2
    assert not (tmp_path / "no.html").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no_such.pickle"], "no_such.pickle"),
        (["{own}", "--card-bytes", "many"], "--card-bytes must be bytes such as 40GiB"),
        (["{own}", "--what-if", "drop", "model.py:9"], "--what-if knows free FILE:LINE. Got drop."),
        (["{own}", "{log}"], "rmm.csv: is no memory snapshot of PyTorch; only such are advised on together."),
        (["{own}", "--call-us", "-1"], "--call-us must be from 0 to 1000000 microseconds. Got -1"),
        (["{own}", "--html", "/no/such/page.html"], "the folder of /no/such/page.html does not exist"),
        (
            ["{log}", "--html", "page.html"],
            "is no memory snapshot of PyTorch, which --html, --figure and --what-if need",
        ),
        (["{junk}"], "is no trace that is read here"),
    ],
)
def test_a_mistake_is_one_sentence(snapshot, tmp_path, capsys, words, says):
    log = tmp_path / "rmm.csv"
    log.write_text("Thread,Time,Action,Pointer,Size,Stream\n1,9:00:00.0,allocate,0x1,2097152,0\n")
    junk = tmp_path / "junk.txt"
    junk.write_text("nothing of use")
    assert main(["advise", *(word.format(own=snapshot, log=log, junk=junk) for word in words)]) == 2
    out, err = capsys.readouterr()
    assert says in err and err.count("\n") == 1 and not out


def rmm_log(folder):
    """Eight blocks of 3 MiB, every other one given back, then 6 MiB: a pool of 24 MiB has no run of that."""
    rows = [f"1,9:00:00.{k:06d},allocate,0x{k + 1}00,{3 << 20},0" for k in range(8)]
    rows += [f"1,9:00:01.{k:06d},free,0x{k + 1}00,{3 << 20},0" for k in range(0, 8, 2)]
    rows += [f"1,9:00:02.0,allocate,0x900,{6 << 20},0"]
    place = folder / "rmm.csv"
    place.write_text("\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]) + "\n")
    return place


@pytest.mark.slow
def test_a_log_of_rmm_is_told_how_large_a_pool_it_takes(tmp_path, capsys):
    place = rmm_log(tmp_path)
    assert main(["advise", str(place), "--card-bytes", "1GiB", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["active_peak_bytes"] == 24 << 20
    assert output["least_pool_bytes"] == 30 << 20, "the 6 MiB lie behind all that was asked for before"
    assert output["best"]["setting"] == f"rmm.reinitialize(pool_allocator=True, initial_pool_size={30 << 20})"
    rows = {row["setting"]: row for row in output["settings"]}
    assert rows["rmm.mr.CudaMemoryResource()"]["driver_calls"] == 13
    assert rows["rmm.mr.CudaMemoryResource()"]["reserved_peak_bytes"] == 24 << 20
    assert [name for name, row in rows.items() if not row["settable"]] == ["TensorFlow BFC, allow_growth"]
    assert all(row["fits"] for row in rows.values())
    assert main(["advise", str(place), "--card-bytes", "900MiB", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert {row["setting"][-8:] for row in output["settings"] if not row["fits"]} == {" 18, 22)"}, "of 992 MiB"
    assert "On a card of 900 MiB, 14 of 16 settings serve everything." in output["sentences"]


def test_rules_of_an_older_rmm_are_named(tmp_path, capsys):
    place = str(rmm_log(tmp_path))
    assert main(["advise", place, "--rmm-version", "0.16", "--card-bytes", "1GiB", "--json"]) == 0
    rows = {row["setting"]: row for row in json.loads(capsys.readouterr().out)["settings"]}
    small = rows["rmm.reinitialize(pool_allocator=True, initial_pool_size=1048576)"]
    assert small["reserved_peak_bytes"] == (1 << 20) + (1023 << 19), "half of what remains of the card"
    assert not any("Arena" in name for name in rows), "Python has it since 24.12"
    assert main(["advise", place, "--rmm-version", "0.16"]) == 2
    assert "grows by half of what remains of the card; name card_bytes (--card-bytes)" in capsys.readouterr().err


def test_a_person_reads_which_resource_and_what_it_rests_on(tmp_path, capsys):
    table = tmp_path / "rows.csv"
    assert main(["advise", str(rmm_log(tmp_path)), "--csv", str(table)]) == 0
    out = capsys.readouterr().out
    assert "The smallest pool that serves everything without growing has 30 MiB a card, 25.0% above" in out
    assert "The smallest arena that serves everything has 30 MiB a card; an arena never grows." in out
    assert "RMM's documented rules for pool, arena and binning, and on one stream." in out
    assert table.read_text().startswith("setting,reserved_peak_bytes,driver_calls,driver_ns,fits,settable")


FIRST_LINE = """
import os, sys
from workbench.cli import _advise as advise, main

def first(sentence):
    late = {"workbench.experiments", "workbench.explain", "pandas", "optuna"} & set(sys.modules)
    print(sentence, sorted(late), flush=True)
    os._exit(0)

advise._say = first
main(["advise", sys.argv[1]])
"""


@pytest.mark.slow
def test_the_first_line_waits_for_nothing_that_it_does_not_need(snapshot):
    done = subprocess.run([sys.executable, "-c", FIRST_LINE, str(snapshot)], capture_output=True, text=True)
    assert "replayed by PyTorch's rules: segment allocations reproduced" in done.stdout, done.stderr
    assert done.stdout.endswith(" []\n")
