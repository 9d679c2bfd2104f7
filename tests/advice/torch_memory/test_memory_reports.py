"""Public reports of out-of-memory errors as small programs: the advice, and what the projects did.

The sizes are those of the reports. `docs/pages/advise.md` has a row for each.
"""

import pickle
from pathlib import Path

import pytest

import workbench as wb
from tests.advice.torch_memory.test_growth import Program
from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder
from workbench.advice.torch_memory.trial import evaluate, with_smallest_card
from workbench.engines.torch_allocator.settings import AllocatorSettings

PAGE = Path("docs/pages/advise.md")


def advised(folder, recorder):
    place = folder / "report.pickle"
    place.write_bytes(pickle.dumps(recorder.snapshot()))
    return wb.advise(place)


def smallest(advice, conf):
    """The smallest card in MiB under a setting."""
    requests = [advice.cards[0].requests]
    return with_smallest_card(evaluate(requests, AllocatorSettings.parse(conf)), requests).smallest_card_bytes / MIB


def test_vllm_41268_a_limit_of_splitting_from_20_to_529_mib_keeps_weights_from_pinning_what_others_left(tmp_path):
    """Weights of 270 MiB are put into what 530 left; of each layer 260 MiB stay that nothing else fits into."""
    layers = 12
    program = Program(card=13_000 * MIB)
    loaded = [(program.ask("load.py:10", 530), program.ask("load.py:11", 253)) for _ in range(layers)]
    for gate, down in loaded:
        program.ask("mxfp4.py:20", 530)
        program.free(gate)
        program.ask("mxfp4.py:21", 270)
        program.free(down)
    assert program.ask("kv_cache.py:5", 2048) is None
    advice = advised(tmp_path, program)
    assert sum(it.pinned for it in advice.segments) == layers * 260 * MIB
    cards = {conf: smallest(advice, conf) for conf in ("", "expandable_segments:True")}
    limits = {size: smallest(advice, f"max_split_size_mb:{size}") for size in (21, 128, 529, 531)}
    needed = layers * 800 + 2048
    assert limits[21] == limits[128] == limits[529] == needed, "it fits without a hole"
    assert limits[531] == cards[""] == needed + layers * 260, "530 MiB may be split again"
    assert needed < cards["expandable_segments:True"] < 1.01 * needed
    assert advice.best == "expandable_segments:True", "vLLM cannot use it with sleep mode, and took the limit"
    assert 20 <= advice.next_best.settings.max_split_size_mb <= 529 and "vLLM's sleep mode" in advice.lines()[3]


def test_transformers_6999_the_line_whose_graph_stays_is_named(tmp_path):
    """12 GB were full after 20,000 steps: 0.6 MiB a step. `tr_loss` was not detached."""
    program = Program()
    for _ in range(8):
        program.ask("weights.py:3", 100)
    for _ in range(60):
        held = [program.ask("model.py:20 forward", 24) for _ in range(6)]
        program.ask("trainer.py:700 training_step", 0.6)
        for block in held:
            program.free(block)
        program.pass_on("adamw.py:9", 40)
    growth = advised(tmp_path, program).cards[0].growth
    assert [line.name for line in growth.lines] == ["train/trainer.py:700 training_step"]
    assert growth.bytes_a_step / MIB == pytest.approx(0.6, rel=0.01)
    assert growth.step_of((12 << 30) - 800 * MIB) == pytest.approx(20_000, rel=0.05)


def test_pytorch_123548_either_of_two_settings_alone_keeps_memory_small(tmp_path):
    made = Recorder(Rules(expandable=True, max_split=128 * MIB, card=16 << 30))
    made.malloc(0, 64 * MIB)
    for _ in range(101):
        blocks = [made.malloc(0, size) for size in (91 * MIB, 91 * MIB // 2, 2 * MIB)]
        for block in blocks[:2]:
            made.free(block)
    advice = advised(tmp_path, made)
    peaks = {trial.conf: trial.cards[0].reserved_peak_bytes / MIB for trial in advice.trials}
    assert advice.own_trial.conf == "max_split_size_mb:128,expandable_segments:True"
    assert peaks[advice.own_trial.conf] > 13_000
    assert max(peaks[conf] for conf in ("", "expandable_segments:True", "max_split_size_mb:128")) < 500


def test_pytorch_189504_the_free_block_that_was_not_found_is_seen(tmp_path):
    """A block that another stream gave up is free when the request fails: a second try is served."""
    made = Recorder(Rules(card=48 * MIB))
    made.free(made.malloc(0, 40 * MIB))
    made.malloc(0, 20 * MIB)
    made.defer(made.malloc(0, 20 * MIB), 0)
    assert made.malloc(0, 20 * MIB) is None
    advice = advised(tmp_path, made)
    card = advice.cards[0]
    assert max(it.largest_free for it in advice.segments) == card.failure.asked_bytes == 20 * MIB
    assert smallest(advice, "") == 40 < (card.failure.room_bytes or 0) / MIB


def test_the_page_has_a_row_for_each():
    text = PAGE.read_text()
    for report in ("vllm#41268", "transformers#6999", "pytorch#123548", "pytorch#189504", "vllm#43951"):
        assert f"| {report} " in text, report
