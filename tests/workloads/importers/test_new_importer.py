"""Adding an importer takes one class in one file of the folder: it is found, asked, and named to who needs it."""

import pytest

from workbench.errors import InputError
from workbench.workloads.importers import Importer, Trace, read_trace
from workbench.workloads.importers.importer import IMPORTERS
from workbench.workloads.importers.source import Source
from workbench.workloads.kernels import KernelRows


@pytest.fixture
def stopwatch():
    """A format of one's own, as a notebook cell or a new file would define it."""

    class Stopwatch(Importer):
        """Lines of `name start end`, in nanoseconds."""

        format = "stopwatch"
        description = "lines of name, start and end"

        def recognises(self, head: bytes) -> bool:
            return head.startswith(b"#stopwatch\n")

        def read(self, source: Source) -> Trace:
            rows = KernelRows()
            for line in list(source.lines())[1:]:
                name, start, end = line.split()
                rows.add(name, start_ns=int(start), duration_ns=int(end) - int(start), device=0)
            return Trace(source.path, self.format, "kernels", rows.table())

    yield Stopwatch
    del IMPORTERS["stopwatch"]


def test_a_format_of_ones_own(tmp_path, stopwatch):
    place = tmp_path / "run.txt"
    place.write_text("#stopwatch\ngemm 10 30\nfill 40 41\n")
    message = read_trace(place).facts()
    assert (message["format"], message["kernels"], message["total_duration_ns"]) == ("stopwatch", 2, 21)
    assert message["missing"][0].startswith("2 of 2 kernels have no grid (")
    place.write_text("something else")
    with pytest.raises(InputError, match=r"stopwatch \(lines of name, start and end\)"):
        read_trace(place)


BAD = [
    ("fill 40\n", "not enough values to unpack (expected 3, got 2)"),
    ("fill 40 x\n", "invalid literal for int() with base 10: 'x'"),
]


@pytest.mark.parametrize(("line", "raised"), BAD)
def test_whatever_it_raises_is_one_sentence_with_file_and_line(tmp_path, stopwatch, line, raised):
    place = tmp_path / "run.txt"
    place.write_text("#stopwatch\ngemm 10 30\n" + line + "relu 50 60\n")
    with pytest.raises(InputError) as wrong:
        read_trace(place)
    assert str(wrong.value).startswith(f"{place}: line 3: the importer stopwatch raised ")
    assert raised in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    "problem", [KeyError("grid"), IndexError(), SystemExit(3), RuntimeError("a\nb"), OSError(5, "x")]
)
def test_so_is_anything_raised_where_no_line_is_at_hand(tmp_path, stopwatch, monkeypatch, problem):
    def raising(self, source):
        raise problem

    place = tmp_path / "run.txt"
    place.write_text("#stopwatch\ngemm 10 30\n")
    for requested in ("read", "recognises"):
        with monkeypatch.context() as patched:
            patched.setattr(stopwatch, requested, raising)
            with pytest.raises(InputError) as wrong:
                read_trace(place)
        name = type(problem).__name__
        assert str(wrong.value).startswith(f"{place}: the importer stopwatch raised {name}")
        assert "\n" not in str(wrong.value)


def test_what_is_no_trace_is_refused_by_the_importers_name(tmp_path, stopwatch, monkeypatch):
    place = tmp_path / "run.txt"
    place.write_text("#stopwatch\n")
    monkeypatch.setattr(stopwatch, "read", lambda self, source: None)
    with pytest.raises(InputError, match=r"the importer stopwatch must return a Trace\. Got None\."):
        read_trace(place)


def test_an_interrupt_stays_an_interrupt(tmp_path, stopwatch, monkeypatch):
    def interrupted(self, source):
        raise KeyboardInterrupt

    place = tmp_path / "run.txt"
    place.write_text("#stopwatch\n")
    monkeypatch.setattr(stopwatch, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_trace(place)
