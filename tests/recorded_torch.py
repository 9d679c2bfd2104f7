"""Memory snapshots of the allocator of lists, as PyTorch would dump them: streams, pools, deferred frees, rings."""

from __future__ import annotations

import random
from typing import Any

from tests.oracles.torch_allocator import FREE, MIB, PENDING, UNMAPPED, USED, Allocator, Rules

STATES = {FREE: "inactive", USED: "active_allocated", PENDING: "active_awaiting_free"}
SITES = [[{"name": name, "filename": "/home/me/model.py", "line": 9}] for name in ("load", "step", "loss")]


class _Calls(list):
    """Notes each call of the driver as the event that PyTorch records of it."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def append(self, call: tuple[int, int]) -> None:
        super().append(call)
        address, size = call
        recorder = self.recorder
        segment = next((s for s in recorder.segments if any(p.start <= address < p.end for p in s.pieces)), None)
        mapped = segment.expandable if segment else recorder.rules.expandable
        words = ("segment_map", "segment_unmap") if mapped else ("segment_alloc", "segment_free")
        pool = recorder.pool_at.get(address, recorder.pool)
        # A range that is mapped or unmapped belongs to the stream of its segment, whichever stream asked.
        owner = recorder.owners[segment.owner] if segment and mapped else (recorder.stream_at(address), pool)
        recorder.note(words[size < 0], address, abs(size), *owner)


class Recorder(Allocator):
    """The allocator of lists with a ring of events; the driver gives addresses in no order."""

    def __init__(self, rules: Rules, owners=((0, (0, 0)),), seed: int = 0, tells_pools: bool = False) -> None:
        pools = [(0, 0), *sorted({pool for _, pool in owners} - {(0, 0)})]
        super().__init__(rules, tuple(pools.index(pool) for _, pool in owners))
        self.owners, self.pools, self.chance = owners, pools, random.Random(seed)
        self.events: list[dict[str, Any]] = []
        self.asked: dict[int, int] = {}
        self.streams: dict[int, int] = {}
        self.slots: set[int] = set()
        self.tells_pools = tells_pools
        """Whether events have a `pool_id`, as newer versions of PyTorch write it."""
        self.pool_at: dict[int, tuple[int, int]] = {}
        self.pool = (0, 0)
        self.calls = _Calls(self)
        self.now = 1_700_000_000_000_000
        self.stream = 0

    def note(self, action, address, size, stream, pool=(0, 0), **more):
        self.now += 5
        event = {"action": action, "addr": address, "size": size, "stream": stream, "time_us": self.now, **more}
        event |= {"pool_id": pool} if self.tells_pools else {}
        self.events.append({**event, "frames": self.chance.choice(SITES)})

    def stream_at(self, address):
        return self.streams.get(address, self.stream)

    def place(self, length):
        slot = self.chance.randrange(1 << 12)
        while slot in self.slots:
            slot = self.chance.randrange(1 << 12)
        self.slots.add(slot)
        address = 0x7F00_0000_0000 + (slot << 30)
        self.streams[address], self.pool_at[address] = self.stream, self.pool
        return address

    def malloc(self, owner, size):
        self.stream, self.pool = self.owners[owner]
        address = super().malloc(owner, size)
        if address is None:
            free = self.rules.card - self.reserved()
            self.note("oom", 0, self.rounded(size), self.stream, self.pool, device_free=free)
        else:
            self.asked[address] = size
            self.note("alloc", address, size, self.stream, self.pool)
        return address

    def free(self, address):
        self.note("free_requested", address, self.asked[address], *self.owner_of(address))
        super().free(address)

    def defer(self, address, use):
        self.note("free_requested", address, self.asked[address], *self.owner_of(address))
        super().defer(address, use)

    def settle(self, segment, piece):
        self.note("free_completed", piece.start, self.asked[piece.start], *self.owners[segment.owner])
        super().settle(segment, piece)

    def owner_of(self, address):
        return self.owners[self.find(address)[0].owner]

    def snapshot(self, kept: int = 1 << 30) -> dict[str, Any]:
        """What `torch.cuda.memory._snapshot()` returns, of the events the last ones alone."""
        segments = [part for segment in self.segments for part in self._parts(segment)]
        rules = self.rules
        segment = f",large_segment_size_mb:{rules.large_segment // MIB}" * (rules.large_segment != 20 * MIB)
        settings = {
            "PYTORCH_CUDA_ALLOC_CONF": f"max_non_split_rounding_mb:{rules.rounding // MIB}{segment}",
            "max_split_size": rules.max_split if rules.max_split < 1 << 60 else -1,
            "garbage_collection_threshold": rules.gc,
            "expandable_segments": rules.expandable,
            "roundup_power2_divisions": {str(1 << k): it for k, it in enumerate(rules.divisions)},
        }
        return {"segments": segments, "device_traces": [self.events[-kept:]], "allocator_settings": settings}

    def _parts(self, segment):
        """A segment, or one for each stretch of an expandable one that is mapped."""
        stretch: list[Any] = []
        for piece in [*segment.pieces, None]:
            if piece is None or piece.state == UNMAPPED:
                if stretch:
                    yield self._told(segment, stretch)
                stretch = []
            else:
                stretch.append(piece)

    def _told(self, segment, pieces):
        stream, pool = self.owners[segment.owner]
        return {
            "device": 0,
            "address": pieces[0].start,
            "total_size": sum(piece.size for piece in pieces),
            "stream": stream,
            "segment_type": "small" if segment.small else "large",
            "segment_pool_id": pool,
            "is_expandable": segment.expandable,
            "blocks": [
                {
                    "address": piece.start,
                    "size": piece.size,
                    "requested_size": self.asked.get(piece.start, 0),
                    "state": STATES[piece.state],
                    "frames": SITES[0],
                }
                for piece in pieces
            ],
        }


def exercised(recorder: Recorder, steps: int, seed: int) -> Recorder:
    """Let a program of its own allocate and free: sizes of all kinds, in every stream and pool."""
    chance, live, awaited = random.Random(seed), [], []
    usual = [chance.randrange(1, 40 * MIB) for _ in range(5)] + [512, 3000, MIB, MIB + 1, 2 * MIB, 12 * MIB]
    for use in range(steps):
        draw = chance.random()
        if draw < 0.56 or not live:
            size = chance.choice(usual) if chance.random() < 0.8 else int(2 ** chance.uniform(0, 26))
            address = recorder.malloc(chance.randrange(len(recorder.owners)), size)
            live += [] if address is None else [address]
        elif draw < 0.92:
            recorder.free(live.pop(chance.randrange(len(live))))
        elif draw < 0.96:
            awaited.append((live.pop(chance.randrange(len(live))), use))
            recorder.defer(*awaited[-1])
        elif draw < 0.985 and awaited:
            recorder.complete(*awaited.pop(0))
        elif draw >= 0.985:
            recorder.empty_cache()
    return recorder
