"""`--importer` of commands that read traces: an importer in a file of the user's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import InputError, wrong_value


def add_importer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--importer", metavar="FILE.py:CLASS", help="an importer of yours, which is to read the traces")


def enter_importer(named: str | None, traces: Sequence[str]) -> None:
    """Enter an importer from a file of the user's, after which it reads files as any other; refuse what another reads.

    Raises
    ------
    InputError
        There is no such file or importer, or a trace is not read by it.
    """
    if named is None:
        return
    from workbench.parts import from_file, is_in_file
    from workbench.workloads.catalogue import trace_file
    from workbench.workloads.importers import Importer, importer_of

    def is_importer(value: object) -> bool:
        return isinstance(value, type) and issubclass(value, Importer) and value is not Importer

    if not is_in_file(named):
        raise wrong_value("", "--importer", "must be FILE.py:CLASS", named)
    importer: type[Importer] = from_file(named, Path(), "--importer", "importer", is_importer)
    for trace in traces:
        reader = importer_of(trace_file(trace))
        if not isinstance(reader, importer):
            raise InputError(
                f"--importer: {trace} is read by {reader.format}; {named} must recognise it, and have a format that "
                f"comes before {reader.format} in the alphabet. Got {importer.format}."
            )
