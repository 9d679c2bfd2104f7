"""Two snapshots of one process: what grew, by stack, adds up to the live bytes that each file shows."""

import json
import pickle

import pytest

from tests.advice.torch_memory.test_growth import Program, train
from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder, exercised
from workbench.advice.torch_memory.advice import history_of
from workbench.advice.torch_memory.comparison import are_of_one_process, compare_snapshots
from workbench.cli.main import main


def saved(folder, name, snapshot):
    place = folder / name
    place.write_bytes(pickle.dumps(snapshot))
    return str(place)


@pytest.fixture(name="pair")
def made_pair(tmp_path):
    """Three steps, then ten more: two lines leak, and weights of another size are loaded."""
    program = Program()
    train(program, 3, lambda step: program.ask("log.py:5", 12))
    held = program.ask("buffer.py:2", 200)
    before = saved(tmp_path, "before.pickle", program.snapshot())
    program.free(held)
    for _ in range(10):
        program.ask("log.py:5", 12)
        program.ask("log.py:8", 20)
    return before, saved(tmp_path, "after.pickle", program.snapshot())


def live_of(path):
    """The live bytes of each line, by a walk of the pickle."""
    with open(path, "rb") as file:
        whole = pickle.load(file)
    result = {}
    for block in (it for segment in whole["segments"] for it in segment["blocks"] if it["state"] != "inactive"):
        name = f"{block['frames'][0]['filename'].rsplit('/', 1)[-1]}:{block['frames'][0]['line']}"
        result[name] = result.get(name, 0) + block["size"]
    return result


def test_what_grew_is_what_the_pickles_show_and_adds_up(pair):
    comparison = compare_snapshots(*pair)
    (card,) = comparison.cards
    sides = [live_of(path) for path in pair]
    names = {f"train/{name} step": [side.get(name, 0) for side in sides] for name in {**sides[0], **sides[1]}}
    assert {it.site: [it.before_bytes, it.after_bytes] for it in card.stacks} == names
    assert [(it.site, it.change) for it in card.stacks] == [
        ("train/log.py:8 step", 200 * MIB),
        ("train/log.py:5 step", 120 * MIB),
        ("train/weights.py:3 step", 0),
        ("train/buffer.py:2 step", -200 * MIB),
    ]
    assert sum(it.change for it in card.stacks) == card.live_after - card.live_before == 120 * MIB
    assert [card.live_before, card.live_after] == [sum(side.values()) for side in sides]
    rows = comparison.rows(2)
    assert [row["site"] for row in rows] == ["train/log.py:8 step", "train/buffer.py:2 step", "2 other stacks", "all"]
    assert sum(row["change_bytes"] for row in rows[:-1]) == rows[-1]["change_bytes"] == 120 * MIB


def test_the_command_compares_them_in_either_order_and_advises_on_both(pair, capsys):
    for files in (pair, pair[::-1]):
        assert main(["advise", *files]) == 0
        out = capsys.readouterr().out
        assert out.startswith(
            "From before.pickle to after.pickle:\nGPU 0: live bytes grew by 120 MiB, 836 MiB before and 956 MiB after."
        )
        assert "One setting for both:\nGPU 0 of " in out
    assert main(["advise", *pair, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["comparison"]["cards"][0]["change_bytes"] == 120 * MIB and whole["schema"].startswith("workbench.adv")


def test_snapshots_without_a_history_are_compared(pair, tmp_path, capsys):
    bare = []
    for path in pair:
        with open(path, "rb") as file:
            whole = {**pickle.load(file), "device_traces": [[]]}
        bare.append(saved(tmp_path, f"bare_{len(bare)}.pickle", whole))
    table = tmp_path / "grew.csv"
    assert main(["advise", *bare, "--csv", str(table)]) == 0
    out = capsys.readouterr().out
    assert "train/log.py:8 step      +200 MiB  0 B " in out and "One setting" not in out
    assert (
        table.read_text().splitlines()[1] == f"0,train/log.py:8 step,train/run.py:1 main,0,{200 * MIB},{200 * MIB},0,10"
    )
    assert main(["advise", *bare, "--html", str(tmp_path / "page.html")]) == 2
    assert "need two histories" in capsys.readouterr().err


def test_two_ranks_are_not_compared_unless_it_is_wanted(tmp_path, capsys):
    ranks = [
        saved(tmp_path, f"rank{k}.pickle", exercised(Recorder(Rules(), seed=k), 60, k).snapshot()) for k in range(2)
    ]
    assert not are_of_one_process(*(history_of(path) for path in ranks))
    assert main(["advise", *ranks]) == 0
    assert "From rank0" not in capsys.readouterr().out
    assert main(["advise", "--compare", *ranks]) == 0
    assert capsys.readouterr().out.startswith("From rank0.pickle to rank1.pickle:\nGPU 0: live bytes ")
    assert main(["advise", "--compare", ranks[0]]) == 2
    assert "--compare takes two snapshots" in capsys.readouterr().err


def test_ranks_with_the_same_addresses_are_told_apart_by_their_events(tmp_path):
    program = Program()
    train(program, 3)
    first = program.snapshot()
    other = {**first, "device_traces": [[{**it, "time_us": it["time_us"] + 3} for it in first["device_traces"][0]]]}
    histories = [history_of(saved(tmp_path, f"{k}.pickle", it)) for k, it in enumerate((first, other))]
    assert not are_of_one_process(*histories) and are_of_one_process(histories[0], histories[0])


def test_a_block_without_a_stack_has_that_of_its_allocation(pair, tmp_path):
    with open(pair[0], "rb") as file:
        whole = pickle.load(file)
    for block in (it for segment in whole["segments"] for it in segment["blocks"]):
        del block["frames"]
    bare = saved(tmp_path, "bare.pickle", whole)
    (card,) = compare_snapshots(bare, pair[0]).cards
    assert all(it.change == 0 for it in card.stacks) and len(card.stacks) == 3
