"""A study's files that somebody damaged or made up: one sentence, exit status 2, and nothing of them is executed."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tuning.small import small, undisturbed
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.tuning import open_study, tune
from workbench.tuning.storages import IDENTITY_FILE, JOURNAL

STUDY = small(constraints={"mean_external_fragmentation": {"most": 0.9}}, objectives=["drain_cycles"], trials=8)
DEEP = "[" * 100_000 + "]" * 100_000
FORMER = "sampler.pickle"
"""The file in which version 0.5 kept the sampler."""


class Command:
    """Runs a command of the system when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that is half done, next to its file."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY))
    tune(folder / "study.yaml", folder / "out", 4)
    return folder


def replaced(pattern: str, text: str) -> Any:
    """Replace the first place of a pattern in a file."""
    return lambda content: re.sub(pattern.encode(), text.encode(), content, count=1)


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2] + b"\n"


def in_place(content: bytes) -> Any:
    return lambda _: content


def of_last_trial(**changed: Any) -> Any:
    """Change fields of the last entry of a journal, or of its attributes; a field that is None is left out."""

    def change(content: bytes) -> bytes:
        *lines, last = content.splitlines(keepends=True)
        entry = json.loads(last)
        for name, value in changed.items():
            within = entry if name in entry else entry["user_attrs"]
            del within[name]
            if value is not None:
                within[name] = value
        return b"".join(lines) + json.dumps(entry).encode() + b"\n"

    return change


EVERY_FILE = {
    "truncated": truncated,
    "a pickle": in_place(pickle.dumps(Command("exit 3"))),
    "deeply nested": in_place(f"{DEEP}\n".encode()),
    "a number": in_place(b"3\n"),
    "a list": in_place(b"[1, 2]\n"),
    "null": in_place(b"null\n"),
    "NaN": in_place(b"NaN\n"),
    "no UTF-8": in_place(b"\xff\xfe\x00\n"),
}
OF_JOURNAL = {
    "wrong op_code": replaced(r'"op_code":\d+', '"op_code":"x"'),
    "negative op_code": replaced(r'"op_code":\d+', '"op_code":-4'),
    "huge op_code": replaced(r'"op_code":\d+', f'"op_code":{"9" * 5000}'),
    "infinite op_code": replaced(r'"op_code":\d+', '"op_code":1e999'),
    "missing op_code": replaced(r'"op_code":\d+,', ""),
    "list of directions": replaced(r'"directions":\[\d\]', '"directions":[77]'),
    "deep attributes": replaced(r'"user_attrs":\{', f'"user_attrs":{{"deep":{DEEP},'),
    "parameters": of_last_trial(params=[1]),
    "no parameters": of_last_trial(params={}),
    "a parameter of nobody": of_last_trial(params={"x": 1}),
    "distributions": of_last_trial(distributions={"policy.queue": "{"}),
    "deep distribution": of_last_trial(distributions={"policy.queue": DEEP}),
    "state": of_last_trial(state=-1),
    "huge state": of_last_trial(state=10**30),
    "a state without a value": of_last_trial(value=None),
    "failed with values": of_last_trial(state=3),
    "running": of_last_trial(state=0),
    "NaN value": of_last_trial(value=float("nan")),
    "infinite value": of_last_trial(value=float("inf")),
    "huge value": of_last_trial(value=10**400),
    "text value": of_last_trial(value="low"),
    "truth value": of_last_trial(value=True),
    "more values": of_last_trial(value=None, values=[1.0, 2.0]),
    "values as a text": of_last_trial(value=None, values="3"),
    "no point": of_last_trial(point=None),
    "another point": of_last_trial(point="0" * 32),
    "a point that is a path": of_last_trial(point="../../etc"),
    "a point that is a list": of_last_trial(point=[["0"]]),
    "no error": of_last_trial(error=None),
    "no bounded mean": of_last_trial(mean_external_fragmentation=None),
    "a NaN of a bounded mean": of_last_trial(mean_external_fragmentation=float("nan")),
    "attributes": of_last_trial(user_attrs=3),
    "a date": of_last_trial(datetime_start="soon"),
    "a study of nobody": of_last_trial(study_id=-1),
}
OF_IDENTITY = {
    "huge number": replaced(r'"format": \d+', f'"format": {"9" * 5000}'),
    "infinite number": replaced(r'"format": \d+', '"format": 1e999'),
    "other type": replaced(r'"format": \d+', '"format": {"a": [1]}'),
    "deep value": replaced(r'"format": \d+', f'"format": {DEEP}'),
    "more keys": replaced(r"\{", '{"\\\\u001b[2J": 1, '),
}
MUTATIONS = [
    *((JOURNAL, name, change) for name, change in (EVERY_FILE | OF_JOURNAL).items()),
    *((IDENTITY_FILE, name, change) for name, change in (EVERY_FILE | OF_IDENTITY).items()),
]
REPLACED = {"a study of nobody"}
"""What Optuna leaves out of a journal: the trial is proposed and done again."""


@pytest.mark.parametrize(("file", "name", "change"), MUTATIONS, ids=[f"{file}: {name}" for file, name, _ in MUTATIONS])
def test_a_damaged_file_is_one_sentence(kept, tmp_path, capsys, file, name, change):
    shutil.copytree(kept / "out", tmp_path / "out")
    before = (tmp_path / "out" / file).read_bytes()
    (tmp_path / "out" / file).write_bytes(change(before))
    assert change(before) != before
    status = main(["tune", str(kept / "study.yaml"), "--out", str(tmp_path / "out"), "--trials", "6", "--json"])
    error = capsys.readouterr().err
    if name in REPLACED:
        assert (status, error) == (0, "")
        return
    assert status == 2
    assert error.startswith("workbench: ") and error.count("\n") == 1 and error.endswith(".\n"), error
    assert len(error) < 700 and error[:-1].isprintable(), error
    if file == JOURNAL:
        assert "\n" not in looked_at(tmp_path / "out")


def looked_at(folder: Path) -> str:
    """Look at the study of a folder, and return the sentence that refuses it; empty if it can be shown."""
    try:
        assert len(open_study(folder).trials) <= 4
    except StoreError as refused:
        return str(refused)
    return ""


def test_a_study_of_version_05_goes_on_without_its_pickle(tmp_path):
    tune(small(), tmp_path / "out", 8)
    bad = pickle.dumps(Command(f"touch {tmp_path / 'done'}"))
    (tmp_path / "out" / FORMER).write_bytes(bad)
    journal = tmp_path / "out" / JOURNAL
    noted = journal.read_text().replace('"system_attrs":{', f'"system_attrs":{{"cma:optimizer:0":"{bad.hex()}",')
    journal.write_text(noted)
    assert bad.hex() in journal.read_text()
    assert len(open_study(tmp_path / "out").trials) == 8
    assert tune(small(), tmp_path / "out").trials.equals(undisturbed()[0].trials)
    assert not (tmp_path / "done").exists()
    assert (tmp_path / "out" / FORMER).read_bytes() == bad
