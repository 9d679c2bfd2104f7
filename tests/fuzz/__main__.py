"""`python -m tests.fuzz --seconds 60`: look for files that end in anything but a sentence, and keep them as tests."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.campaign import faults
from tests.fuzz.readers import CRASHES, READERS


def main() -> int:
    """Fuzz; the status is 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", nargs="*", choices=[*READERS, []], help="which readers (default: all)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each reader")
    parser.add_argument("--seed", type=int, default=1_000_000)
    given = parser.parse_args()
    result = False
    for reader in given.reader or READERS:
        with tempfile.TemporaryDirectory() as folder:
            for message in faults(reader, Path(folder), given.seed, seconds=given.seconds):
                result = True
                file, _, problem = message.partition(": ")
                kept = CRASHES / Path(file).name
                kept.write_bytes(Path(file).read_bytes())
                print(f"{kept}: {problem[:300]}")
    return int(result)


if __name__ == "__main__":
    sys.exit(main())
