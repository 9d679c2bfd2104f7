"""Memory snapshots as PyTorch 2.0 to 2.6 dump them, of a little allocator that knows all that ever happened."""

from __future__ import annotations

from typing import Any, NamedTuple

SEGMENT = 2 << 20
GRANULE = 512


class After(NamedTuple):
    """What is true after an allocation or a release."""

    time_us: int
    device: int
    change: int
    live: int
    reserved: int


class Recorder:
    """Serves from segments of 2 MiB, never reuses an address, and gives a segment back when it is empty and asked to.

    With `expandable` memory comes and goes by pages that are mapped into one range.
    """

    def __init__(self, devices: int = 1, expandable: bool = False) -> None:
        self.grow, self.shrink = ("segment_map", "segment_unmap") if expandable else ("segment_alloc", "segment_free")
        self.events: list[list[dict[str, Any]]] = [[] for _ in range(devices)]
        self.segments: list[dict[int, int]] = [{} for _ in range(devices)]
        self.live: list[dict[int, int]] = [{} for _ in range(devices)]
        self.top = [0] * devices
        self.truth: list[After] = []
        self.time_us = 1_700_000_000_000_000

    def alloc(self, device: int, size: int) -> int:
        taken = -(-size // GRANULE) * GRANULE
        room = -self.top[device] % SEGMENT
        if taken > room:
            segment = -(-self.top[device] // SEGMENT) * SEGMENT
            length = -(-taken // SEGMENT) * SEGMENT
            self._note(device, self.grow, segment, length)
            self.segments[device][segment] = length
            self.top[device] = segment
        address = self.top[device]
        self.top[device] += taken
        self.live[device][address] = size
        self._note(device, "alloc", address, size)
        self._true(device, size)
        return address

    def free(self, device: int, address: int, pending: bool = False) -> None:
        size = self.live[device][address]
        self._note(device, "free_requested", address, size)
        if not pending:
            del self.live[device][address]
            self._note(device, "free_completed", address, size)
            self._true(device, -size)

    def trim(self, device: int) -> None:
        for segment, length in list(self.segments[device].items()):
            if not any(segment <= address < segment + length for address in self.live[device]):
                del self.segments[device][segment]
                self.top[device] = max(self.top[device], segment + length)
                self._note(device, self.shrink, segment, length)

    def fail(self, device: int, size: int) -> None:
        self._note(device, "oom", 0, size)
        self.events[device][-1]["device_free"] = self.events[device][-1].pop("addr")

    def snapshot(self, max_entries: int = 1 << 30, version: str = "2.3") -> dict[str, Any]:
        """What `torch.cuda.memory._snapshot()` returns: of the events of each card the last ones alone."""
        for device in range(len(self.events)):
            self._note(device, "snapshot", 0, sum(self.live[device].values()))
        traces = [[dict(event) for event in events[-max_entries:]] for events in self.events]
        segments = [self._segment(d, *it, version) for d, held in enumerate(self.segments) for it in held.items()]
        return {"segments": segments, "device_traces": traces, "allocator_settings": {"expandable_segments": False}}

    def _note(self, device: int, action: str, address: int, size: int) -> None:
        self.time_us += 3
        where = {"action": action, "addr": 0x7F00_0000_0000 + address, "size": size}
        self.events[device].append({**where, "stream": 0, "time_us": self.time_us, "frames": []})

    def _true(self, device: int, change: int) -> None:
        live, reserved = sum(self.live[device].values()), sum(self.segments[device].values())
        self.truth.append(After(self.time_us, device, change, live, reserved))

    def _segment(self, device: int, start: int, length: int, version: str) -> dict[str, Any]:
        blocks, at = [], start
        for address, size in sorted(self.live[device].items()):
            if not start <= address < start + length:
                continue
            taken = -(-size // GRANULE) * GRANULE
            blocks += [_block(at, address - at, 0, "inactive", version)] if address > at else []
            blocks.append(_block(address, taken, size, "active_allocated", version))
            at = address + taken
        blocks += [_block(at, start + length - at, 0, "inactive", version)] if at < start + length else []
        place = {"device": device, "address": 0x7F00_0000_0000 + start, "total_size": length, "stream": 0}
        return {**place, "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False, "blocks": blocks}


def _block(address: int, size: int, requested: int, state: str, version: str) -> dict[str, Any]:
    block = {"size": size, "state": state}
    if version == "2.0":  # the use of a block stands in its history, its place follows from those before it
        return {**block, "history": [{"addr": address, "real_size": requested, "frames": []}]} if requested else block
    return {**block, "address": 0x7F00_0000_0000 + address, "requested_size": requested, "frames": []}
