"""What an importer raised on the way through a file, as one sentence that names the file and the line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from workbench.errors import InputError, shown
from workbench.workloads.importers.source import Source


@contextmanager
def as_one_sentence(source: Source, importer: str) -> Iterator[None]:
    """Turn whatever the importer of a format raises inside into a sentence about the file.

    Parameters
    ----------
    source : Source
        The file that is read.
    importer : str
        The name of the format.

    Raises
    ------
    InputError
        Anything was raised but an InputError, which goes through, or the user's interrupt.
    """
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise InputError(
            f"{source.where}: does not fit into this machine's memory as it is read; take a machine with more, or a "
            "shorter recording."
        ) from None
    except OverflowError:
        raise InputError(f"{source.where}: holds a number that does not fit in 64 bits; the file is damaged.") from None
    except (Exception, SystemExit) as problem:
        number = _line(source, problem.__traceback__)
        place = source.where if number is None else f"{source.where}: line {number}"
        what = f"{type(problem).__name__} ({shown(str(problem))})" if str(problem) else type(problem).__name__
        raise InputError(f"{place}: the importer {importer} raised {what}; see what stands there.") from problem


def _line(source: Source, trace: TracebackType | None) -> int | None:
    """Return the number of the first line that was in the hands of the code that raised; None if no whole line was."""
    held = _texts(trace)
    if not held:
        return None
    try:
        return next((number for number, line in enumerate(source.lines(), 1) if line.strip() in held), None)
    except InputError:
        return None


def _texts(trace: TracebackType | None) -> set[str]:
    """Return the texts that the code on the way to what raised had in its variables."""
    held: set[str] = set()
    while trace is not None:
        here = {value.strip() for value in trace.tb_frame.f_locals.values() if isinstance(value, str)} - {""}
        held, trace = here | held, trace.tb_next
    return held
