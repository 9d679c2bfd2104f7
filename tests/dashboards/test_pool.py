"""The dashboard `pool`: what its panels show of the runs, and what a turned lever changes."""

from __future__ import annotations

import gzip
import html
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import workbench as wb
from tests.engines.pool_cases import Case, crowd, line
from tests.oracles import pool_memory as slow
from tests.recorded_snapshots import Recorder
from workbench.dashboards._pool import CONFIG, PLACES, latency_note, lent_note, memory_scene, source_note, used_note
from workbench.dashboards._sidebar import Sidebar
from workbench.engines.pool import Pool
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.mechanisms.mechanism import mechanism
from workbench.records.pool import was_asked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def records():
    plan = make_plan(read_sweep(Sidebar(mechanism("pool"), CONFIG).config()))
    return [Pool().simulate(point.setup, 0) for point in plan.points]


@pytest.fixture
def shown(two_seeds):
    made = wb.dashboard("pool")
    yield made
    made.close()


@pytest.fixture
def opened():
    made = wb.dashboard("pool")
    yield made
    made.close()


def status(displayed) -> str:
    return html.unescape(re.sub("<.*?>", "", displayed.status.value))


def numbers(column: bytes) -> np.ndarray:
    return np.frombuffer(column, "<f8")


def test_it_opens_with_a_full_card_that_borrows(opened):
    assert status(opened) == f"{opened.sidebar.seeds.plain()} paired runs."
    assert "max_bandwidth against local_only: " in opened.histogram.scene["words"]
    panels = opened.panels
    assert panels.memory.scene["names"] == ["local_only", "max_bandwidth"]
    assert panels.memory.scene["cards"] == panels.used.scene["names"] == panels.lent.scene["names"]
    for panel in (panels.used, panels.lent, panels.source, panels.latency):
        assert [line["place"] for line in panel.scene["lines"]] == [0, 1]
        assert panel.scene["words"] == ""
    alone, lending = (line["mean"] for line in panels.source.scene["lines"])
    assert (alone[2], lending[3]) == (0, 0) and alone[3] > 5 and lending[2] > 5
    assert max(panels.lent.scene["lines"][0]["mean"]) == 0
    assert "mean of 8 seeds with its 95 % interval" in panels.seeds.value
    assert "completed rate ↑" in opened.table.value


def test_bands_hold_what_cards_hold(records):
    scene = memory_scene(["a", "b"], records)
    for strip, record in zip(scene["strips"], records, strict=True):
        cards = [card for card, size in enumerate(record.capacity) if size]
        used, got = slow.used(record), slow.got(record)
        lent = lent_after(record)
        pieces = numbers(strip["pieces"]).reshape(6, -1).T
        seen = set()
        for item, begin, end, base, length, fill in pieces:
            band, row = int(item) % len(cards), int(end) - 1
            card = cards[band]
            bottom = scene["rows"] - 100 * (band + 1)
            own = used[row][card] - lent[row][card]
            parts = [own, lent[row][card], got[row][card] - used[row][card]]
            assert length == pytest.approx(100 * parts[int(fill)] / record.capacity[card])
            assert base == pytest.approx(bottom + 100 * sum(parts[: int(fill)]) / record.capacity[card])
            assert 0 <= begin < end <= len(record.time) and length > 0
            seen.add((row, card, int(fill)))
        rows = {row for row, _, _ in seen}
        assert PLACES - 2 <= len(rows) <= PLACES
        for row in rows:
            held = {card for card in cards if got[row][card]}
            assert held == {card for at, card, _ in seen if at == row}


def lent_after(record):
    now, after = [0] * len(record.cards), []
    for event in slow.events(record):
        sign = 1 if event["outcome"] in slow.GRANTED else -1 if event["outcome"] == "released" else 0
        if sign and event["card"] != event["borrower"]:
            now[event["card"]] += sign * event["taken"]
        after.append(list(now))
    return after


def test_notes_of_a_run(records):
    waiting = Case(crowd(3, 3, 200, 90), line(200, 150, 250), {}, {"when_full": "wait"}).simulate()
    assert (~was_asked(waiting)).any(), "the case tests nothing"
    for record in (*records, waiting):
        cards, ever = [card for card, size in enumerate(record.capacity) if size], int(was_asked(record).sum())
        mean = np.mean(slow.used(record)[:ever], axis=0)
        assert used_note(record) == pytest.approx([100 * mean[card] / record.capacity[card] for card in cards])
        lent = dict.fromkeys(record.cards, 0)
        for (lender, _), size in slow.lent(record).items():
            lent[lender] += size
        assert lent_note(record) * 2**30 == pytest.approx([lent[record.cards[card]] for card in cards])
        requests = [event for event in slow.events(record) if record.action[event["row"]] == 0]
        away = [event for event in requests if event["outcome"] in slow.GRANTED and event["card"] != event["borrower"]]
        counts = [sum(event["outcome"] == name for event in requests) for name in ("cached", "physical")]
        refused = sum(event["outcome"] not in slow.GRANTED for event in requests)
        assert source_note(record) == pytest.approx([100 * n / len(requests) for n in (*counts, len(away), refused)])
        waits = sorted((record.done - record.time)[:ever].tolist())
        assert latency_note(record)[-1] * 1000 == pytest.approx(waits[-1])
        assert latency_note(record)[0] * 1000 == pytest.approx(waits[-(-len(waits) // 2) - 1])


def test_a_turned_lever_changes_every_panel(shown):
    def pictures():
        panels = shown.panels
        drawn = [panels.memory, panels.used, panels.lent, panels.source, panels.latency]
        return [*(panel.scene for panel in drawn), shown.table.value]

    before = pictures()
    shown.sidebar.policies.other["target"].names.value = "round_robin"
    shown.sidebar.policies.other["cache"].names.value = "pytorch_caching"
    assert "round_robin" in shown.panels.memory.scene["names"][1]
    assert all(a != b for a, b in zip(before, pictures(), strict=True))


def test_another_board_has_other_cards(shown):
    shown.sidebar.machine.names.value = "table_300"
    assert "GiB in all" in shown.sidebar.machine.contents.value
    assert shown.panels.memory.scene["cards"] == ["cpu0", "gpu0", "gpu1"]


def test_a_board_by_a_rule_has_the_cards_that_its_levers_say(shown):
    machine = shown.sidebar.machine
    machine.names.value = "regular_board"
    rule = machine.rules["regular_board"]
    rule.controls["gpus"].box.value = 3
    rule.controls["arrangement"].field.value = "ring"
    assert machine.contents.value == "3 GPUs and 1 CPU, 112 GiB in all; direct links of 16 to 150 GB/s"
    assert shown.panels.memory.scene["cards"] == ["cpu0", "gpu0", "gpu1", "gpu2"]
    rule.controls["hosts"].box.value = 0
    rule.controls["arrangement"].field.value = "pcie_only"
    assert status(shown).endswith("hosts must be at least 1. Got 0. Nearest: 1.") and machine.contents.value == ""
    machine.names.value = "topology_file"
    assert "topology" in status(shown) and machine.inside.children == (machine.rules["topology_file"].widget,)
    machine.names.value = "dgx_1v"
    assert status(shown) == f"{shown.sidebar.seeds.plain()} paired runs."


def dropped(zone, name, content, pieces=2, says=None):
    """What the browser sends of a file."""
    zone._handle_custom_msg({"what": "begin", "name": name, "bytes": len(content) if says is None else says}, [])
    for part in np.array_split(np.frombuffer(content, np.uint8), pieces):
        zone._handle_custom_msg({"what": "piece"}, [memoryview(part.tobytes())])
    zone._handle_custom_msg({"what": "end"}, [])


def test_a_dropped_snapshot_runs_on_both_sides_and_is_gone_with_the_dashboard(shown):
    made = Recorder()
    for _ in range(40):
        made.alloc(0, 1 << 30)
    zone, workload = shown.sidebar.workload.drop, shown.sidebar.workload
    dropped(zone, "../own.pickle", pickle.dumps(made.snapshot()))
    path = Path(workload.plain()["trace_pool"]["trace"])
    assert path.name == "own.pickle" and zone.words.startswith("own.pickle: ") and zone.words.endswith(" KiB")
    assert status(shown) == "1 paired runs."
    assert shown.first.children == (zone, *shown.answer.widgets), "above the title and the policies"
    assert shown.children.index(shown.first) < shown.children.index(shown.sidebar.widget)
    alone, lent = (line["mean"] for line in shown.panels.lent.scene["lines"])
    assert sum(alone) == 0 and sum(lent) == pytest.approx(8), "32 GiB are the card's own"
    dropped(zone, "other.pickle", pickle.dumps({"segments": []}))
    assert "holds the segments of a moment and no history" in status(shown)
    shown.answer.history.wait()
    assert shown.first.children[0] is zone, "which the pool cannot run, and yet the page says what it holds"
    workload.names.value = "one_card_full"
    assert shown.first.children == () and shown.first.layout.display == "none"
    assert workload.head.children[0].children == (zone,), "the place for a file is where it was"
    assert not path.exists()
    folder = path.parent
    shown.close()
    assert not folder.exists()


def test_a_sweep_taken_after_a_drop_names_a_copy_that_outlives_the_page(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = Recorder()
    made.alloc(0, 1 << 30)
    dropped(shown.sidebar.workload.drop, "own.pickle.gz", gzip.compress(pickle.dumps(made.snapshot())))
    assert not list(tmp_path.iterdir()), "nothing is copied before somebody looks at the sweep"
    shown.folded.selected_index = 0
    (copy,) = (tmp_path / "dropped").iterdir()
    assert re.fullmatch(r"[0-9a-f]{12}-own\.pickle\.gz", copy.name)
    assert yaml.safe_load(shown.sweep.value)["workload"]["trace_pool"]["trace"] == f"dropped/{copy.name}"
    (tmp_path / "mine.yaml").write_text(shown.sweep.value)
    shown.close()
    monkeypatch.chdir("/")
    assert len(make_plan(read_sweep(tmp_path / "mine.yaml")).points) == 2


def test_what_is_too_large_or_does_not_arrive_whole_is_a_sentence(shown):
    zone = shown.sidebar.workload.drop
    before = shown.sidebar.workload.plain()
    zone._handle_custom_msg({"what": "too_large", "name": "big.pickle", "bytes": 3 << 30}, [])
    says = "big.pickle must have at most 256 MiB. Got 3 GiB. Write its path into trace_pool.trace instead."
    assert zone.words == says
    dropped(zone, "big.pickle", b"1234", says=3 << 30)
    assert zone.words == says
    dropped(zone, "own.pickle", b"1234", says=5)
    assert zone.words == "own.pickle did not arrive whole; drop it again."
    dropped(zone, "own.pickle", b"1234", says=3)
    assert zone.words == "own.pickle did not arrive whole; drop it again."
    assert shown.sidebar.workload.plain() == before


def test_weights_of_the_wrong_number_are_a_sentence_and_the_panels_stay(shown):
    target = shown.sidebar.policies.other["target"]
    target.names.value = "weighted_cards"
    before = shown.panels.memory.scene
    target.chosen.controls["choices"].add.click()
    assert "weights must be" in status(shown) and "wb-stale" in shown.board._dom_classes
    assert shown.panels.memory.scene == before
