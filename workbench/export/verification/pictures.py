"""Is a picture the one that is drawn from these data? Drawn again, and compared by what is in it."""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.export.drawings import FIGURES, Drawing, write_pgf
from workbench.figures.save import rendered

_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_LENGTH = re.compile(rb"\d+ 0 obj\s+\d+\s+endobj")
PICTURES = (".pdf", ".pgf")


def redrawn(drawn: Sequence[Drawing], wanted: Iterable[str]) -> dict[str, bytes]:
    """Draw figures and return the pictures that are wanted and can be drawn here, by their paths in a bundle."""
    made: dict[str, bytes] = {}
    for one in drawn:
        pdf, pgf = (f"{FIGURES}/{one.name}{suffix}" for suffix in PICTURES)
        made[pdf] = rendered(one.sheet, "pdf")
        if pgf in wanted and (picture := _as_pgf(one.drawn())) is not None:
            made[pgf] = picture
    return made


def _as_pgf(sheet: Any) -> bytes | None:
    with tempfile.TemporaryDirectory(prefix="workbench-verify-") as folder:
        write_pgf(sheet, Path(folder, "one.pgf"))
        return Path(folder, "one.pgf").read_bytes() if Path(folder, "one.pgf").is_file() else None


def compared_pictures(folder: Path, now: Mapping[str, bytes]) -> dict[str, bool]:
    """Return which pictures of a bundle, of those drawn again, show the same."""
    return {name: same_picture((folder / name).read_bytes(), picture) for name, picture in now.items()}


def same_picture(message: bytes, drawn: bytes) -> bool:
    """Return whether two PDF (or PGF) files show the same: the same bytes, however their streams are compressed."""
    return message == drawn or (message[:4] == drawn[:4] == b"%PDF" and _inside(message) == _inside(drawn))


def _inside(pdf: bytes) -> tuple[list[bytes], bytes]:
    """Return the streams as they are read, and the rest without what depends on their compressed length."""
    rest = _LENGTH.sub(b"", _STREAM.sub(b"", pdf).rpartition(b"\nxref")[0])
    return [_inflated(stream) for stream in _STREAM.findall(pdf)], rest


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream
