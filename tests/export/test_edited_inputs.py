"""A bundle holds the files that its numbers were computed with, or there is none."""

import pytest

import workbench as wb
from workbench.errors import InputError

POLICY = """
from reach import aim
from workbench.policies import Placement
from workbench.structures.bitmaps import first_start

SHIFT = {}

class Mine(Placement):
    def parameters(self):
        return [aim() + SHIFT]

    def answer(see):
        return first_start(see.free, see.length)

def made():
    class Inside(Mine):
        pass
    return Inside

Made = made()
"""
HELPER = "def aim():\n    return {}\n"


@pytest.fixture
def results(tmp_path):
    """Return runs of policies of a file, of a workload in a file."""
    (tmp_path / "mine.py").write_text(POLICY.format(0))
    (tmp_path / "reach.py").write_text(HELPER.format(0))
    (tmp_path / "jobs.csv").write_text("arrival,length,duration\n0,3,10\n1,4,20\n")
    return wb.run(
        {
            "engine": "shared_memory",
            "workload": {"file": str(tmp_path / "jobs.csv")},
            "policy": {"placement": {"vary": ["first_fit", *(f"{tmp_path}/mine.py:{n}" for n in ("Mine", "Made"))]}},
            "measures": ["drain_cycles"],
            "seeds": 1,
        },
        workers=0,
    )


EDITS = {
    "mine.py": (POLICY.format(40), r"mine\.py: was edited since these runs were computed"),
    "reach.py": (HELPER.format(40), r"mine\.py: was edited since these runs were computed"),
    "jobs.csv": ("arrival,length,duration\n0,3,10\n1,4,21\n", r"jobs\.csv: its content has changed"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_file_is_refused_and_nothing_is_written(results, tmp_path, name):
    text, sentence = EDITS[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=sentence):
        results.export(tmp_path / "paper")
    assert not (tmp_path / "paper").exists()


def test_a_file_that_is_gone_is_refused(results, tmp_path):
    (tmp_path / "mine.py").unlink()
    with pytest.raises(InputError, match=r"mine\.py: does not run any more: FileNotFoundError"):
        results.export(tmp_path / "paper")


@pytest.mark.slow
def test_an_edited_comment_is_no_edit(results, tmp_path):
    (tmp_path / "mine.py").write_text(POLICY.format("0  # from the start"))
    results.export(tmp_path / "paper")
    assert "from the start" in (tmp_path / "paper" / "inputs" / "mine.py").read_text()
