"""What every engine records of a few fixed setups, as digests: an engine that gives other results must say so.

`python -m tests.golden.records` shows how the engines compare with `records.json`; `--renew` writes what they record
now, and refuses where records changed and the engine's `revision` was not raised.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import workbench as wb
from tests.golden.setups import SEED, SETUPS
from workbench.mechanisms.mechanism import mechanism

FILE = Path(__file__).with_name("records.json")
Golden = dict[str, dict[str, Any]]
"""Engine -> its revision, and the digest of the record of each of its setups."""


class Compared(NamedTuple):
    """How an engine compares with the golden file."""

    engine: str
    revision: int
    changed: list[str]
    """The setups whose records are others."""
    listed: bool
    """Whether the golden file holds these setups and no others."""
    raised: bool
    """Whether the engine's revision is above that of the golden file."""

    @property
    def sentence(self) -> str:
        """What to do; empty where all is well."""
        if self.changed and not self.raised:
            return (
                f"the engine {self.engine} gives other records ({', '.join(self.changed)}) under the same revision "
                f"({self.revision}), so kept runs would pass for runs of now: raise its `revision`, then renew the "
                "golden file with: python -m tests.golden.records --renew"
            )
        if self.listed and not self.raised:
            return ""
        what = "revision was raised" if self.raised else "setups are others than the golden file's"
        return f"the engine {self.engine}: its {what}; renew the golden file: python -m tests.golden.records --renew"


def digest_of_run(engine: str, setup: dict[str, Any]) -> str:
    """The digest of what one run of a setup records: every array of its record and of its event log, by its bytes."""
    registered = mechanism(engine)
    watched = setup.get("events", True)
    message = {name: value for name, value in setup.items() if name != "events"}
    point = wb.plan({"engine": engine, **message, "seeds": [SEED]}).points[0]
    record = registered.engine.simulate(point.setup, SEED, events=watched)
    text = hashlib.blake2b(digest_size=16)
    for part in (*_bytes_of(record, "record"), *(_bytes_of(registered.events(record), "events") if watched else ())):
        text.update(part)
    return text.hexdigest()


def _bytes_of(value: Any, path: str) -> Iterator[bytes]:
    """A value under its name: arrays by type, shape and bytes, what holds values by those; specs are of the setup."""
    if isinstance(value, np.ndarray):
        yield f"{path}:{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes() if value.dtype != object else repr(value.tolist()).encode()
    elif isinstance(value, dict) or hasattr(value, "_asdict"):
        fields = value if isinstance(value, dict) else value._asdict()
        later = getattr(type(value), "_field_defaults", {})
        for name, inner in fields.items():
            if inner is None and later.get(name, inner) is None and name in later:
                continue  # a field that was added later and says nothing
            yield from _bytes_of(inner, f"{path}.{name}")
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _bytes_of(inner, f"{path}[{number}]")
    elif value is None or isinstance(value, (bool, int, float, str, np.generic)):
        yield f"{path}={value!r}".encode()


def golden_of(engine: str) -> dict[str, Any]:
    """What an engine records now."""
    digests = {name: digest_of_run(engine, setup) for name, setup in SETUPS[engine].items()}
    return {"revision": mechanism(engine).engine.revision, "records": digests}


def read_golden() -> Golden:
    """What the golden file holds."""
    golden: Golden = json.loads(FILE.read_text(encoding="utf-8"))
    return golden


def compared(engine: str, now: dict[str, Any], golden: Golden) -> Compared:
    """An engine's records of now against those of the golden file; a setup that is edited needs a name of its own."""
    kept = golden.get(engine, {"revision": now["revision"], "records": {}})
    before, records = kept["records"], now["records"]
    changed = [name for name in before if name in records and before[name] != records[name]]
    return Compared(
        engine, now["revision"], changed, before.keys() == records.keys(), now["revision"] > kept["revision"]
    )


def renewed(now: Golden, golden: Golden) -> Golden:
    """The golden file with the records of now.

    Raises
    ------
    SystemExit
        An engine's records changed and its revision was not raised.
    """
    for engine, records in now.items():
        result = compared(engine, records, golden)
        if result.changed and not result.raised:
            raise SystemExit(f"not renewed: {result.sentence.partition(', then')[0]}.")
    return {**golden, **now}


def main(arguments: list[str]) -> int:
    """Show how the engines compare, or renew the golden file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", action="store_true", help="write what engines record whose revision was raised")
    renew = parser.parse_args(arguments).renew
    golden = read_golden() if FILE.is_file() else {}
    now = {engine: golden_of(engine) for engine in SETUPS}
    if renew:
        text = json.dumps(renewed(now, golden), indent=2, sort_keys=True)
        FILE.write_text(text + "\n", encoding="utf-8")
        return 0
    messages = [sentence for engine in now if (sentence := compared(engine, now[engine], golden).sentence)]
    print("\n".join(messages) or "every engine records what the golden file holds")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
