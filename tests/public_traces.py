"""Where the public traces lie for the tests: the folder of WORKBENCH_TRACES, or shared/traces beside the checkout."""

import json
import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


def _folder() -> Path | None:
    named = os.environ.get("WORKBENCH_TRACES")
    if named:
        folder = Path(named)
        assert (folder / "facts.json").is_file(), f"WORKBENCH_TRACES={named} holds no facts.json"
        return folder.resolve()
    beside = CHECKOUT.parent / "shared" / "traces"
    return beside if (beside / "facts.json").is_file() else None


FOLDER = _folder()
FACTS = json.loads((FOLDER / "facts.json").read_text()) if FOLDER else {}
needs_public_traces = pytest.mark.skipif(
    FOLDER is None, reason="no public traces here: set WORKBENCH_TRACES, or put them into ../shared/traces"
)


def files(format_name: str) -> list[str]:
    """The files of a format, as facts.json names them."""
    return sorted(file for file, facts in FACTS.items() if facts["format"] == format_name)


def path(file: str) -> Path:
    """A file of the folder."""
    assert FOLDER is not None
    return FOLDER / file
