"""Adding an importer takes one class in one file of the folder: it is found, asked, and named to who needs it."""

import pytest

from workbench.errors import InputError
from workbench.workloads.importers import Importer, Trace, importers, read_trace
from workbench.workloads.importers.importer import _KNOWN
from workbench.workloads.importers.source import Source
from workbench.workloads.kernels import KernelRows


@pytest.fixture
def stopwatch():
    """A format of one's own, as a notebook cell or a new file would define it."""

    class Stopwatch(Importer):
        """Lines of `name start end`, in nanoseconds."""

        format = "stopwatch"
        says = "lines of name, start and end"

        def recognises(self, head: bytes) -> bool:
            return head.startswith(b"#stopwatch\n")

        def read(self, source: Source) -> Trace:
            rows = KernelRows()
            for line in list(source.lines())[1:]:
                name, start, end = line.split()
                rows.add(name, start_ns=int(start), duration_ns=int(end) - int(start), device=0)
            return Trace(source.path, self.format, "kernels", rows.table())

    yield Stopwatch
    del _KNOWN["stopwatch"]


def test_a_format_of_ones_own(tmp_path, stopwatch):
    place = tmp_path / "run.txt"
    place.write_text("#stopwatch\ngemm 10 30\nfill 40 41\n")
    said = read_trace(place).facts()
    assert (said["format"], said["kernels"], said["total_duration_ns"]) == ("stopwatch", 2, 21)
    assert said["missing"][0].startswith("2 of 2 kernels have no grid (")
    place.write_text("something else")
    with pytest.raises(InputError, match=r"stopwatch \(lines of name, start and end\)"):
        read_trace(place)


def test_the_formats_that_come_with_the_workbench():
    warp = ["accelsim_trace_grouped", "accelsim_trace_raw"]
    memory = ["torch_memory_snapshot", "torch_memory_timeline_raw"]
    others = ["kernelslist", "kineto", "omniperf_pmc_csv", "rmm_log_csv", "rocprofv3_json"]
    assert list(importers()) == [*warp, *others, *memory]
