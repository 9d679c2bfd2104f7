"""What is known not to be read says which command makes a file that is."""

import pytest

from workbench.errors import InputError
from workbench.workloads.importers import read_trace

ROCPROF = "`rocprofv3 --kernel-trace --output-format csv -- PROGRAM`."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '"Correlation_Id","Dispatch_Id","Agent_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp"\n1\n',
            f"is a table of counters of rocprofv3, which cannot be read; take {ROCPROF}",
        ),
        (
            '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n',
            f"is a table of API calls of rocprofv3, which cannot be read; take {ROCPROF}",
        ),
        (
            "17,09:12:44:301233,allocate,0x7f2c00000000,256,0x0\n17,09:12:44:301240,free,0x7f2c00000000,256,0x0\n",
            "is a log of RMM without its first line, which cannot be read; take `sed -i '1i Thread,Time,Action,Pointer,"
            "Size,Stream' own.csv`.",
        ),
    ],
)
def test_a_table_that_is_not_read_says_what_to_take(tmp_path, content, message):
    place = tmp_path / "own.csv"
    place.write_text(content)
    with pytest.raises(InputError) as refused:
        read_trace(place)
    assert str(refused.value) == f"{place}: {message}"
