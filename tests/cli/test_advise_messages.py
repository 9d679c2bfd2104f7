"""`workbench advise` of out-of-memory messages: a log, standard input, pasted text; and together with a snapshot."""

from __future__ import annotations

import io
import json
import pickle

import jsonschema
import pytest

from tests.oracles.torch_allocator import Rules
from tests.recorded_torch import Recorder, exercised
from workbench.cli import main

MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of "
    "which 1.00 GiB is free. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 256.00 MiB is reserved by "
    "PyTorch but unallocated."
)
LOG = f"""step 1
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    step()
  File "net/loss.py", line 50, in step
    scores = a @ b
{MESSAGE}
"""
LINE = (
    "GPU 0: No setting helps: 0.75 GiB must go (2.00 GiB asked, 1.00 GiB free, 256.00 MiB reserved but unallocated). "
    "Asked by net/loss.py:50 step."
)


@pytest.fixture
def log(tmp_path):
    place = tmp_path / "oom.log"
    place.write_text(LOG)
    return place


@pytest.fixture
def snapshot(tmp_path):
    place = tmp_path / "own.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(Rules(), seed=2), 60, 2).snapshot()))
    return place


def test_a_log_is_answered_in_one_line_and_told_what_to_record(log, capsys):
    assert main(["advise", str(log)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == LINE
    assert "    torch.cuda.memory._record_memory_history(max_entries=1_000_000)  # before the model is made" in lines
    assert lines[-1] == f"Then: workbench advise oom_*.pickle --message {log}"


def test_standard_input_and_pasted_text_are_read_too(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    assert main(["advise", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == LINE
    assert main(["advise", MESSAGE]) == 0
    assert capsys.readouterr().out.startswith("GPU 0: No setting helps: 0.75 GiB must go")


def test_as_json_it_follows_the_schema(log, capsys):
    with pytest.raises(SystemExit):
        main(["advise", "--schema"])
    schema = json.loads(capsys.readouterr().out)["$defs"]["message"]
    assert main(["advise", str(log), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema).validate(output)
    (message,) = output["messages"]
    assert message["verdict"] == "no_setting_helps" and message["must_go_bytes"] == 768 << 20
    assert message["numbers"]["requested"] == 2 << 30 and output["lines"][0] == LINE


def test_messages_of_several_files_are_answered_together(log, tmp_path, capsys):
    other = tmp_path / "rank1.log"
    other.write_text(MESSAGE.replace("GPU 0", "GPU 1"))
    assert main(["advise", str(log), str(other)]) == 0
    assert [line[:6] for line in capsys.readouterr().out.splitlines()[:2]] == ["GPU 0:", "GPU 1:"]


def test_the_size_of_the_card_can_be_given(tmp_path, capsys):
    text = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 34359738368 bytes."
    assert main(["advise", text, "--card-bytes", "16GiB"]) == 0
    assert "The request alone is larger than the card: 32.00 GiB asked of 16.00 GiB." in capsys.readouterr().out


@pytest.mark.parametrize("separate", [True, False])
def test_a_message_adds_the_card_to_a_snapshot(snapshot, log, capsys, separate):
    words = ["--message", str(log)] if separate else [str(log)]
    assert main(["advise", str(snapshot), *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "On the named card of 7.25 GiB it fits" in lines[4], "free, allocated and idle: 1 + 6 + 0.25 GiB"
    assert lines[5].startswith(
        "By the message, the card has 8.00 GiB, and 768.00 MiB of it lies outside this allocator"
    )
    assert lines[5].endswith(": 7.25 GiB are left.")
    assert lines[6] == LINE


def test_a_message_adds_itself_to_the_json_of_a_snapshot(tmp_path, log, capsys):
    place = tmp_path / "still.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(Rules()), 100, 1).snapshot()["segments"]))
    assert main(["advise", str(place), str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["message"]["messages"][0]["verdict"] == "no_setting_helps"
    assert main(["advise", str(place), str(log)]) == 0
    assert LINE in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["{junk}"],
            "junk.txt: is no trace that is read here, and holds no out-of-memory message of PyTorch, JAX or RMM;",
        ),
        (
            ["{cut}"],
            "cut.txt: the message is cut off after 'CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 8.00",
        ),
        (["{log}", "--html", "page.html"], "--html, --csv, --figure and --what-if need a memory snapshot"),
        (["{log}", "{rmm}"], "rmm.csv: is no memory snapshot of PyTorch; a message adds to the advice on such alone."),
        (["{log}", "--message", "{rmm}"], "--message must name a text with an out-of-memory message. Got"),
        (["{log}", "--message", "no_such.log"], "no_such.log: there is no such file"),
        (["{bare}"], "bare.csv: is a log of RMM without its first line, which cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence(log, tmp_path, capsys, words, says):
    texts = {
        "rmm": ("rmm.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,9:00:00.0,allocate,0x1,2097152,0\n"),
        "junk": ("junk.txt", "nothing of use"),
        "cut": ("cut.txt", "CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 8.00 GiB total capacity; 4.4"),
        "bare": ("bare.csv", "1,9:00:00.0,allocate,0x1,2097152,0\n"),
    }  # fmt: skip
    places = {"log": log}
    for key, (name, text) in texts.items():
        places[key] = tmp_path / name
        places[key].write_text(text)
    assert main(["advise", *(word.format(**places) for word in words)]) == 2
    out, err = capsys.readouterr()
    assert says in err and err.count("\n") == 1 and not out
