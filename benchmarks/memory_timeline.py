"""What the timeline of a memory snapshot costs a million events, of recordings of several lengths made here.

    python -m benchmarks.memory_timeline --events 375000 750000 1500000 3000000

Each recording is read, replayed and drawn, page and growth included, in a process of its own. Printed are its
processor time and its peak memory. If an event of the longest recording costs more than `MOST` times what one of the
shortest does, the cost is not linear in the events. Then the command ends with status 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

MIB = 1 << 20
MOST = 1.5
"""Ratio of the processor time an event, longest over shortest, from which on the cost is not linear."""
SITES, LEAK_EVERY = 50, 10
"""Lines that ask in each step, and steps from one leaked block to the next."""
DRAWN = """
import json, resource, sys, time
from workbench.advice.torch_memory.growth import growth_sentence
from workbench.advice.torch_memory.snapshot import card_histories
from workbench.advice.torch_memory.timeline import columns_of, timeline_of
from workbench.advice.torch_memory.timeline_chart import timeline_chart
began = time.process_time()
(card,) = card_histories(sys.argv[1])
read = time.process_time()
drawn = timeline_of(card)
page = timeline_chart(drawn, columns_of(card.segments(card.decisive), card.failure), card.failure, None)
grows = growth_sentence(card.growth)
done = time.process_time()
print(json.dumps({
    "events": card.events, "exact": card.replay.exactness.share, "read": read - began, "drawn": done - read,
    "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "page": len(page), "pieces": len(drawn.pieces),
    "grows": grows,
}))
"""


def recording(events: int) -> dict[str, Any]:
    """Return a snapshot of so many events, about: steps whose lines ask and let go, and a line that leaks."""
    stacks = [
        [
            {"name": name, "filename": f"/home/me/{name}.py", "line": line}
            for name in ("layer", "model", "train", "main")
        ]
        for line in range(SITES + 1)
    ]
    sizes = [(20 + 2 * site) * MIB for site in range(SITES)]
    trace: list[dict[str, Any]] = []
    clock = count(1_700_000_000_000_000)
    segments: list[dict[str, Any]] = []

    def note(action: str, address: int, size: int, site: int) -> None:
        event = {"action": action, "addr": address, "size": size, "stream": 0, "time_us": next(clock)}
        trace.append({**event, "frames": stacks[site]})

    def segment(size: int, kind: str, blocks: list[dict[str, Any]]) -> int:
        address = 0x7F00_0000_0000 + (len(segments) << 28)
        segments.append(
            {"address": address, "total_size": size, "stream": 0, "segment_type": kind, "device": 0, "blocks": blocks}
        )
        return address

    homes = [segment(size, "large", [{"size": size, "state": "inactive"}]) for size in sizes]
    small, used = 0, 2 * MIB
    for step in count():
        if len(trace) >= events:
            break
        for site, (home, size) in enumerate(zip(homes, sizes, strict=True)):
            if not step:
                note("segment_alloc", home, size, site)
            note("alloc", home, size, site)
        if step % LEAK_EVERY == 0:
            if used == 2 * MIB:
                small, used = segment(2 * MIB, "small", []), 0
                note("segment_alloc", small, 2 * MIB, SITES)
            block = {"size": MIB // 2, "requested_size": MIB // 2, "state": "active_allocated", "frames": stacks[SITES]}
            segments[-1]["blocks"].append(block)
            note("alloc", small + used, MIB // 2, SITES)
            used += MIB // 2
        for site in reversed(range(SITES)):
            note("free_requested", homes[site], sizes[site], site)
            note("free_completed", homes[site], sizes[site], site)
    if used < 2 * MIB:
        segments[-1]["blocks"].append({"size": 2 * MIB - used, "state": "inactive"})
    return {"segments": segments, "device_traces": [trace], "allocator_settings": {}}


def measured(events: int) -> dict[str, Any]:
    """Return what drawing a recording of so many events costs, in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="timeline") as folder:
        place = Path(folder, "made.pickle")
        code = f"import pickle; from benchmarks.memory_timeline import recording; pickle.dump(recording({events}), "
        code += f"open({str(place)!r}, 'wb'), protocol=2)"
        subprocess.run([sys.executable, "-c", code], check=True)
        size = place.stat().st_size
        done = subprocess.run(
            [sys.executable, "-c", DRAWN, str(place)], check=True, capture_output=True, text=True
        ).stdout
        return {**json.loads(done), "file": size}


def main() -> None:
    """Print a line a recording, and the ratio of what an event costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, nargs="+", default=[375_000, 750_000, 1_500_000, 3_000_000])
    each = []
    for events in sorted(parser.parse_args().events):
        row = measured(events)
        each.append((row["read"] + row["drawn"]) / row["events"])
        print(
            f"{row['events']:>9,} events, {row['file'] / 1e6:,.0f} MB: read and replayed {row['read']:.1f} s, drawn "
            f"{row['drawn']:.1f} s, {1e6 * each[-1]:.1f} s a million; {row['rss'] / (1 << 20):.2f} GiB; "
            f"{row['pieces']} pieces, page {row['page'] / 1e3:,.0f} kB; exact {row['exact']:.1%}; {row['grows']}",
            flush=True,
        )
    print(f"an event of the longest costs {each[-1] / each[0]:.2f} times one of the shortest")
    sys.exit(each[-1] > MOST * each[0])


if __name__ == "__main__":
    main()
