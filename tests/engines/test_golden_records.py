"""An engine that gives other records raises its revision, or kept runs would pass for runs of now."""

from __future__ import annotations

import copy

import pytest

from tests.golden import records
from tests.golden.records import Compared, compared, digest_of_run, golden_of, read_golden, renewed
from tests.golden.setups import SETUPS
from workbench.engines.shared_memory import SharedMemory
from workbench.mechanisms.mechanism import mechanism, mechanisms

EACH = [pytest.param(engine, marks=pytest.mark.node) if engine == "node" else engine for engine in SETUPS]
"""`make test` compiles no node."""
SMALL = {"workload": {"regime": "large_uniform", "count": 20}}


@pytest.mark.parametrize("engine", EACH)
def test_an_engine_records_what_the_golden_file_holds(engine):
    result = compared(engine, golden_of(engine), read_golden())
    assert not result.sentence, result.sentence


def test_every_engine_of_the_workbench_has_golden_records():
    own = {name for name in mechanisms() if type(mechanism(name).engine).__module__.startswith("workbench.")}
    assert own == set(SETUPS) == set(read_golden())
    assert all(3 <= len(setups) <= 10 for setups in SETUPS.values())


def test_other_setups_have_other_digests_and_the_same_one_has_the_same():
    digests = [digest for engine in read_golden().values() for digest in engine["records"].values()]
    assert len(set(digests)) == len(digests) > 20
    assert digest_of_run("shared_memory", SMALL) == digest_of_run("shared_memory", SMALL)


def test_a_record_that_differs_in_one_number_has_another_digest(monkeypatch):
    before = digest_of_run("shared_memory", SMALL)
    simulate = SharedMemory.simulate

    def other(self, *given, **more):
        record = simulate(self, *given, **more)
        start = record.start.copy()
        start[-1] += 1
        return record._replace(start=start)

    monkeypatch.setattr(SharedMemory, "simulate", other)
    assert digest_of_run("shared_memory", SMALL) != before


def test_changed_records_without_a_raised_revision_say_what_to_do():
    golden = {"coin": {"revision": 3, "records": {"fair": "aa", "bent": "bb"}}}
    now = {"revision": 3, "records": {"fair": "aa", "bent": "cc"}}
    assert compared("coin", now, golden) == Compared("coin", 3, ["bent"], True, False)
    assert compared("coin", now, golden).sentence == (
        "the engine coin gives other records (bent) under the same revision (3), so kept runs would pass for runs of "
        "now: raise its `revision`, then renew the golden file with: python -m tests.golden.records --renew"
    )
    with pytest.raises(SystemExit, match=r"not renewed: the engine coin gives other records .* raise its `revision`\."):
        renewed({"coin": now}, golden)


def test_a_raised_revision_asks_for_a_renewed_file_and_gets_it():
    golden = {"coin": {"revision": 3, "records": {"fair": "aa"}}, "die": {"revision": 1, "records": {}}}
    now = {"revision": 4, "records": {"fair": "dd"}}
    assert compared("coin", now, golden).sentence == (
        "the engine coin: its revision was raised; renew the golden file: python -m tests.golden.records --renew"
    )
    assert renewed({"coin": now}, golden) == {**golden, "coin": now}
    assert not compared("coin", now, renewed({"coin": now}, golden)).sentence


def test_a_setup_that_is_new_asks_for_a_renewed_file_too():
    golden = {"coin": {"revision": 3, "records": {"fair": "aa"}}}
    for records_now in ({"fair": "aa", "bent": "bb"}, {"bent": "bb"}):
        now = {"revision": 3, "records": records_now}
        assert "its setups are others than the golden file's; renew" in compared("coin", now, golden).sentence
        assert renewed({"coin": now}, golden) == {"coin": now}


@pytest.mark.parametrize("change", ["nothing", "record", "revision"])
def test_the_recipe_says_what_is_wrong_and_renews_only_after_raising(tmp_path, monkeypatch, capsys, change):
    file = tmp_path / "records.json"
    monkeypatch.setattr(records, "FILE", file)
    monkeypatch.setattr(records, "SETUPS", {"shared_memory": {"small": SMALL}})
    assert records.main(["--renew"]) == 0
    before = file.read_text()
    if change != "nothing":
        wrong = copy.deepcopy(read_golden())
        wrong["shared_memory"]["records"]["small"] = "0" * 32
        wrong["shared_memory"]["revision"] -= change == "revision"
        file.write_text(records.json.dumps(wrong))
    assert records.main([]) == (0 if change == "nothing" else 1)
    output = capsys.readouterr().out
    assert ("gives other records (small)" in output) == (change == "record")
    if change == "record":
        with pytest.raises(SystemExit, match="not renewed"):
            records.main(["--renew"])
        assert read_golden() == wrong
    else:
        assert records.main(["--renew"]) == 0
        assert file.read_text() == before
