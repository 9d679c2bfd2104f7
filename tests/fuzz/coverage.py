"""`python -m tests.fuzz.coverage READER FOLDER SECONDS`: mutations that new branches lead, by atheris."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

READ = ["workbench.workloads", "workbench.machine", "workbench.strict_yaml"]
"""What is watched for new branches."""


def main(reader: str, folder: str, seconds: str) -> None:
    """Fuzz one reader; libFuzzer ends the process, with another status than 0 where a fault was found."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=READ):
        readers = importlib.import_module("tests.fuzz.readers")
    place, seeds = Path(folder) / "mutated", Path(folder) / "seeds"
    seeds.mkdir()
    for number, file in enumerate(readers.corpus(reader)):
        (seeds / str(number)).write_bytes(file.read_bytes())

    def one(content: bytes) -> None:
        place.write_bytes(content)
        message = readers.fault(reader, place)
        if message:
            raise AssertionError(message)

    options = [f"-max_total_time={seconds}", "-max_len=65536", f"-artifact_prefix={folder}/", "-timeout=60"]
    atheris.Setup([sys.argv[0], *options, str(seeds)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
