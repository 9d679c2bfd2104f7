"""Growth: the lines that hold more after every step are named with their bytes, and nothing else is."""

import gzip
import pickle
import random
from pathlib import Path

import pytest

import workbench as wb
from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder
from workbench.advice.torch_memory.growth import MOST_MARKS, growth_sentence, step_sentence
from workbench.advice.torch_memory.snapshot import card_histories

SMALL_LEAK = Path("tests/data/snapshots/small_leak.pickle.gz")


class Program(Recorder):
    """A program whose lines ask for memory: `ask("loss.py:50", 60)` is 60 MiB."""

    def __init__(self, card=1 << 60, stacks=True):
        super().__init__(Rules(card=card))
        self.line, self.stacks = "", stacks

    def note(self, *what, **more):
        super().note(*what, **more)
        stack = [self.line, "run.py:1 main"] if self.stacks else []
        self.events[-1]["frames"] = [frame(it) for it in stack]

    def ask(self, line, mib):
        self.line = line
        return self.malloc(0, int(mib * MIB))

    def snapshot(self, kept=1 << 30):
        whole = super().snapshot(kept)
        frames = {it["addr"]: it["frames"] for it in self.events if it["action"] == "alloc"}
        for block in (it for segment in whole["segments"] for it in segment["blocks"]):
            block["frames"] = frames.get(block["address"], [])
        return whole

    def pass_on(self, line, mib):
        """Ask and let go."""
        self.free(self.ask(line, mib))

    def history(self, tmp_path, kept=1 << 30):
        place = tmp_path / "made.pickle"
        place.write_bytes(pickle.dumps(self.snapshot(kept)))
        (card,) = card_histories(place)
        return card


def frame(text):
    where, _, name = text.partition(" ")
    file, _, line = where.partition(":")
    return {"name": name or "step", "filename": f"/home/me/train/{file}", "line": int(line)}


def train(program, steps, extra=lambda step: None, layers=4):
    """Weights once, then steps with layers whose activations go back in the reverse order, and an optimizer."""
    for _ in range(6):
        program.ask("weights.py:3", 100)
    for step in range(steps):
        held = []
        for _ in range(layers):
            held += [program.ask("model.py:20", 30), program.ask("model.py:21", 10)]
        loss = program.ask("loss.py:7", 1)
        for block in reversed(held):
            program.free(block)
        program.free(loss)
        program.pass_on("optimizer.py:9", 50)
        extra(step)


def lines(card):
    return None if card.growth is None else {it.name: it.bytes_a_step / MIB for it in card.growth.lines}


def test_a_small_leak_is_named_and_not_the_weights():
    """24 MiB "must go; look first at weights.py:3" stood there."""
    advice = wb.advise(SMALL_LEAK)
    verdict = advice.lines()[2]
    assert verdict.endswith(" lacked 24 MiB. train/loss.py:50 step grows by 60 MiB a step, out of memory at step 57.")
    assert "weights.py" not in verdict
    assert advice.lines()[3].endswith(" 24 MiB must go: look first at train/loss.py:50 step.")
    growth = advice.plain()["cards"][0]["growth"]
    assert growth["lines"] == [{"name": "train/loss.py:50 step", "bytes_a_step": 60 * MIB, "bytes": 56 * 60 * MIB}]
    assert (growth["steps"], growth["failed_step"], growth["bytes_a_step"]) == (57, 57, 60 * MIB)


def test_the_step_at_which_it_failed_is_that_of_the_file():
    """An independent count: the leaking line asked 56 times, and the 57th request failed."""
    with gzip.open(SMALL_LEAK) as file:
        events = pickle.load(file)["device_traces"][0]
    leaked = [it for it in events if it["action"] == "alloc" and it["frames"][0]["line"] == 50]
    assert len(leaked) == 56 and {it["size"] for it in leaked} == {60 * MIB} and events[-1]["action"] == "oom"


def test_nothing_grows_where_weights_are_built_once_and_steps_repeat(tmp_path):
    program = Program()
    train(program, 20)
    assert program.history(tmp_path).growth is None


@pytest.mark.parametrize("until", [2, 10, 15])
def test_a_warm_up_and_a_cache_that_fills_up_do_not_grow(tmp_path, until):
    program = Program()
    train(program, 20, lambda step: program.ask("cache.py:4", 30) if step < until else None)
    assert program.history(tmp_path).growth is None


def test_blocks_that_replace_others_do_not_grow(tmp_path):
    """An average of weights is made again every tenth step, by another line than before."""
    program = Program()
    kept = []

    def average(step):
        if step % 10 == 0:
            kept.append(program.ask(f"average.py:{step // 10}", 200))
            if len(kept) > 1:
                program.free(kept.pop(0))

    train(program, 40, average)
    assert program.history(tmp_path).growth is None


def test_two_buffers_that_come_late_are_no_growth(tmp_path):
    program = Program()
    train(program, 100, lambda step: program.ask("buffer.py:4", 90) if step in (70, 86) else None)
    assert program.history(tmp_path).growth is None


def test_blocks_that_another_line_takes_over_do_not_grow(tmp_path):
    """A block of each step is made again by another line: that line grows, and memory does only once."""
    program = Program()
    old = [program.ask("weights.py:5", 40) for _ in range(30)]

    def convert(step):
        program.free(old[step])
        program.ask("quantize.py:6", 40)
        if step == 20:
            program.ask("buffer.py:7", 300)

    train(program, 30, convert)
    assert program.history(tmp_path).growth is None


@pytest.mark.parametrize("layers", [1, 4, 40])
def test_a_step_is_counted_once_however_many_layers_it_has(tmp_path, layers):
    program = Program()
    for _ in range(16):
        held = []
        for _ in range(layers):
            held.append(program.ask("model.py:20", 30))
            program.pass_on("model.py:21", 10)
        for block in reversed(held):
            program.free(block)
        program.ask("log.py:5", 30)
    card = program.history(tmp_path)
    assert lines(card) == {"train/log.py:5 step": 30} and card.growth.steps == 16


def test_a_growth_too_small_to_matter_is_not_told(tmp_path):
    program = Program()
    train(program, 30, lambda step: program.ask("log.py:5", 1 / 2048))
    assert program.history(tmp_path).growth is None


def test_a_step_of_several_batches_is_counted_once(tmp_path):
    """Four batches come before each step of the optimizer, which has as many allocations as two of them."""
    program = Program()
    for _ in range(20):
        for _ in range(4):
            for line in range(6):
                program.pass_on(f"model.py:{line}", 30 + line)
        for line in range(12):
            program.pass_on(f"optimizer.py:{line}", 10 + line)
        program.ask("log.py:5", 30)
    card = program.history(tmp_path)
    assert lines(card) == {"train/log.py:5 step": 30} and card.growth.steps == 20


def test_lines_that_grow_add_up_to_what_grows(tmp_path):
    program = Program()
    train(program, 20, lambda step: (program.ask("log.py:5", 12), program.ask("log.py:8", 20)))
    card = program.history(tmp_path)
    assert lines(card) == {"train/log.py:8 step": 20, "train/log.py:5 step": 12}
    assert card.growth.bytes_a_step == 32 * MIB and card.growth.failed_step is None
    assert growth_sentence(card.growth) == (
        "train/log.py:8 step grows by 20 MiB a step, all lines by 32 MiB (1 other line too)."
    )
    assert step_sentence(card.growth) == (
        "A step goes from one allocation at train/loss.py:7 step to the next: 20 begin in the history, each with about "
        "12 allocations."
    )


def test_a_leak_of_every_fifth_step_is_said_for_a_step(tmp_path):
    program = Program()
    train(program, 60, lambda step: program.ask("log.py:5", 20) if step % 5 == 0 else None)
    card = program.history(tmp_path)
    assert lines(card)["train/log.py:5 step"] == pytest.approx(4, rel=0.1) and card.growth.steps == 60


def test_steps_of_other_lengths_and_validations_between_them_hide_nothing(tmp_path):
    program, chance = Program(), random.Random(3)

    def rest(step):
        program.ask("log.py:5", 8)
        for _ in range(chance.randrange(3)):
            program.pass_on("data.py:2", 5)
        if step % 8 == 7:
            for _ in range(6):
                program.pass_on("validate.py:3", 70)

    train(program, 48, rest)
    card = program.history(tmp_path)
    assert lines(card) == {"train/log.py:5 step": 8} and card.growth.steps == 48


def test_a_loop_over_layers_is_no_step(tmp_path):
    """A first forward pass that fills the card holds more after every layer."""
    program = Program()
    program.ask("weights.py:3", 500)
    for _ in range(24):
        program.ask("model.py:20 forward", 30)
        program.pass_on("model.py:21 forward", 10)
    assert program.history(tmp_path).growth is None


def test_weights_that_are_loaded_until_the_card_is_full_are_no_steps(tmp_path):
    program = Program(card=1 << 30)
    while program.ask("weights.py:3", 50) is not None:
        pass
    assert program.history(tmp_path).growth is None


def test_weights_that_are_loaded_by_way_of_copies_are_no_steps_of_a_short_training(tmp_path):
    """700 weights, each made from a copy that goes back, then 20 steps with a leak."""
    program = Program()
    for _ in range(700):
        copy = program.ask("weights.py:3", 4)
        program.ask("weights.py:4", 2)
        program.free(copy)
    for _ in range(20):
        forward = program.ask("forward.py:8", 300)
        program.ask("loss.py:50", 60)
        program.free(forward)
    assert lines(program.history(tmp_path)) == {"train/loss.py:50 step": 60}


@pytest.mark.parametrize("refused", ["forward.py:8", "loss.py:50"])
def test_the_step_that_failed_counts_wherever_in_it_the_request_was_refused(tmp_path, refused):
    """The first request of step 21 was refused: no allocation begins that step."""
    program = Program(card=(20 * 60 + 300 + (200 if refused == "forward.py:8" else 310)) * MIB)
    program.ask("weights.py:3", 200)
    step = 0
    while True:
        step += 1
        forward = program.ask("forward.py:8", 300)
        if forward is None or program.ask("loss.py:50", 60) is None:
            break
        program.free(forward)
        if step == 20 and refused == "forward.py:8":
            program.ask("other.py:1", 300)
    assert program.events[-1]["action"] == "oom" and program.line == refused
    growth = program.history(tmp_path).growth
    assert (growth.failed_step, step) == (step, step)


def test_growth_that_has_ended_is_not_told(tmp_path):
    program = Program()
    train(program, 20, lambda step: program.ask("log.py:5", 12))
    train(program, 40)
    assert program.history(tmp_path).growth is None


def test_without_a_stack_blocks_are_told_apart_by_size(tmp_path):
    program = Program(stacks=False)
    train(program, 20, lambda step: program.ask("log.py:5", 12))
    card = program.history(tmp_path)
    assert lines(card) == {"(no stack recorded) blocks of 12 MiB": 12}


def test_a_history_whose_beginning_is_cut_off_says_that_its_steps_are_those_of_the_recording(tmp_path):
    program = Program(card=2 << 30)

    with pytest.raises(KeyError):  # what is not there cannot be let go
        train(program, 1000, lambda step: program.ask("log.py:5", 24))
    whole, late = (program.history(tmp_path, kept) for kept in (1 << 30, 800))
    assert lines(whole) == lines(late) == {"train/log.py:5 step": 24}
    assert whole.growth.failed_step > late.growth.failed_step == late.growth.steps
    sentence = growth_sentence(late.growth, late.replay.recording.is_whole)
    assert sentence.endswith(f", out of memory at step {late.growth.failed_step} of the recording.")


def test_a_card_that_is_named_is_full_at_a_step(tmp_path):
    program = Program()
    train(program, 20, lambda step: program.ask("log.py:5", 20))
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(program.snapshot()))
    advice = wb.advise(place, card_bytes=2 << 30)
    left = (2 << 30) - int(advice.cards[0].recorded.reserved.max())
    step = 20 + -(-left // (20 * MIB))
    assert f"At this rate a card of 2 GiB is full at about step {step}." in advice.sentences()


def test_more_steps_than_marks_that_are_measured(tmp_path):
    program = Program()
    train(program, 3 * MOST_MARKS, lambda step: program.ask("log.py:5", 2), layers=1)
    card = program.history(tmp_path)
    assert lines(card) == {"train/log.py:5 step": 2} and card.growth.steps == 3 * MOST_MARKS
