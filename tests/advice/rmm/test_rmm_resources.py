"""RMM's resources beside a slow twin, on random programs of several streams; what a log says of streams is heard."""

import numpy as np
import pytest

from tests.oracles.rmm_resources import SlowArena, SlowPool
from workbench.advice.resource_advice import STEP, _Runs, advise_resources
from workbench.advice.rmm import (
    Arena,
    Binning,
    Bins,
    CardRequests,
    StreamPool,
    requests_by_card,
    serve,
    smallest_arena,
    smallest_pool,
)
from workbench.policies.pool import RmmPool
from workbench.workloads.workload_key import read_workload

MIB = 1 << 20
HEADER = "Thread,Time,Action,Pointer,Size,Stream"


def program(seed, streams, rows=300, largest=4 * MIB):
    """Allocations and releases of random sizes; a release may come from another stream."""
    draw, live, result, count = np.random.default_rng(seed), {}, [], 0
    for _ in range(rows):
        stream = int(draw.integers(streams))
        if live and draw.random() < 0.47:
            block = list(live)[int(draw.integers(len(live)))]
            result.append((-1 - block, live.pop(block), stream))
        else:
            size = 256 * int(np.exp(draw.uniform(0, np.log(largest / 256))))
            live[count] = size
            result.append((count, size, stream))
            count += 1
    return CardRequests(*map(list, zip(*result, strict=True)))


def same_steps(fast, slow, requests):
    """Serve a program with both and compare every address; stop where neither has room. Return the requests served."""
    places = {}
    for row, (block, size, stream) in enumerate(zip(*requests, strict=True)):
        if block < 0:
            address = places.pop(-1 - block)
            fast.free(stream, address, size)
            slow.free(stream, address, size)
            continue
        one, other = fast.allocate(stream, size), slow.allocate(stream, size)
        assert one == other, row
        if one < 0:
            return row
        places[block] = one
    assert fast.calls == slow.calls
    return len(requests.block)


@pytest.mark.parametrize("streams", [1, 2, 5])
@pytest.mark.parametrize("seed", range(6))
def test_the_arena_gives_the_addresses_of_its_twin(seed, streams):
    requests = program(seed, streams)
    live = requests.live_peak() // MIB * MIB
    sizes = [live // 2, live, 2 * live + 16 * streams * MIB]
    served = [same_steps(Arena(size), SlowArena(size), requests) for size in sizes]
    assert served[0] < len(requests.block), "memory runs out in the smallest"
    assert served == sorted(served) and served[-1] == len(requests.block)


class Shifted(SlowPool):
    """The same with the addresses of `StreamPool`, which leaves 256 bytes between upstream blocks."""

    def upstream(self, size, stream):
        piece = super().upstream(size, stream)
        self.end += 256 - 7
        return piece


@pytest.mark.parametrize("streams", [1, 2, 5])
@pytest.mark.parametrize("seed", range(6))
def test_the_pool_gives_the_addresses_of_its_twin(seed, streams):
    requests = program(seed, streams)
    for initial in (MIB, requests.live_peak()):
        assert same_steps(StreamPool(initial), Shifted(initial), requests) == len(requests.block)


def written(path, requests, stream="{}", thread="1"):
    """The log of RMM that such a program leaves."""
    lines = [HEADER]
    for row, (block, size, owner) in enumerate(zip(*requests, strict=True)):
        action, block = ("allocate", block) if block >= 0 else ("free", -1 - block)
        said = f"{thread.format(owner)},9:00:00.{row:06d},{action},0x{block + 1:x}00,{size},{stream.format(owner)}"
        lines.append(said)
    path.write_text("\n".join(lines) + "\n")
    return path


def requests_in(path):
    return requests_by_card(read_workload({"trace_pool": {"trace": str(path)}}, wants="pool_requests").trace_file())


def test_a_log_tells_streams_and_threads_of_the_default_stream(tmp_path):
    requests = program(3, 4, rows=60)
    order = list(dict.fromkeys(requests.stream))
    expected = [order.index(stream) for stream in requests.stream]
    (as_streams,) = requests_in(written(tmp_path / "streams.csv", requests, "0x7f{}"))
    (as_threads,) = requests_in(written(tmp_path / "threads.csv", requests, "2", "10{}"))
    (as_one,) = requests_in(written(tmp_path / "one.csv", requests, "0", "10{}"))
    assert as_streams.stream == as_threads.stream == expected and set(as_one.stream) == {0}
    assert as_streams.block == requests.block and as_streams.size == requests.size


def test_one_stream_is_what_the_engine_has(tmp_path):
    requests = program(5, 1)
    runs = _Runs(str(written(tmp_path / "rmm.csv", requests)))
    least = smallest_pool(runs.requests())
    assert runs.serves(RmmPool(initial=least)) and not runs.serves(RmmPool(initial=least - STEP))


def test_the_advice_tries_every_resource_with_the_streams_of_the_log(tmp_path):
    requests = program(11, 5, rows=400, largest=MIB)
    several = advise_resources(written(tmp_path / "several.csv", requests))
    one = advise_resources(written(tmp_path / "one.csv", requests, "0"))
    assert (several.streams, one.streams) == (5, 1)
    assert several.least_arena_bytes == smallest_arena([requests])
    assert several.least_pool_bytes == smallest_pool([requests])
    assert several.active_peak_bytes == one.active_peak_bytes
    assert "and on 5 streams, told apart as RMM does;" in several.sentences()[-1]
    table = several.table.set_index("setting")
    arena = f"rmm.mr.ArenaMemoryResource(rmm.mr.CudaMemoryResource(), arena_size={several.least_arena_bytes})"
    assert table.loc[arena, ["reserved_peak_bytes", "driver_calls"]].tolist() == [several.least_arena_bytes, 1]
    pool = f"rmm.reinitialize(pool_allocator=True, initial_pool_size={several.least_pool_bytes})"
    assert table.loc[pool, ["reserved_peak_bytes", "driver_calls"]].tolist() == [several.least_pool_bytes, 1]
    bins = [name for name in table.index if "Binning" in name]
    assert len(bins) == 10 and all(table.loc[name, "reserved_peak_bytes"] > 0 for name in bins)


def test_the_smallest_arena_and_pool_serve_and_a_step_less_does_not():
    requests = program(2, 3)
    arena, pool = smallest_arena([requests]), smallest_pool([requests], step=MIB)
    assert serve(Arena(arena), requests).failed_at < 0 <= serve(Arena(arena - MIB), requests).failed_at
    assert len(serve(StreamPool(pool), requests).calls) == 1 < len(serve(StreamPool(pool - MIB), requests).calls)


def test_bins_get_128_blocks_at_a_time_and_keep_them():
    blocks = list(range(200))
    requests = CardRequests([*blocks, *(-1 - it for it in blocks), 200, 201], [4096] * 401 + [8 * MIB], [0] * 402)
    chunks = {k: 128 << k for k in (8, 12, 13)}
    assert serve(Binning(Bins(12, 13)), requests).calls == [chunks[12], chunks[13], chunks[12], 8 * MIB]
    smallest = serve(Binning(Bins(13, 13)), requests)
    assert smallest.calls == [chunks[13], chunks[13], 8 * MIB], "what is smaller than any bin is the first one's"
    pooled = serve(Binning(Bins(12, 13), pool=2 * MIB), requests)
    assert pooled.calls == [2 * MIB, 8 * MIB], "three chunks fit the pool, which grows for what is larger than any bin"
