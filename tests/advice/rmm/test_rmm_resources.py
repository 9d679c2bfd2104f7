"""RMM's resources beside a slow twin, on random programs of several streams; what a log says of streams is heard."""

import re

import numpy as np
import pytest

from tests.oracles.rmm_resources import SlowArena, SlowPool
from workbench.advice.replay import replay_sweep
from workbench.advice.resource_advice import advise_resources
from workbench.advice.rmm import (
    DEFAULT_STREAM,
    Arena,
    Binning,
    Bins,
    CardRequests,
    Driver,
    StreamPool,
    requests_by_card,
    rules_of,
    serve,
    smallest_arena,
    smallest_maximum,
    smallest_pool,
    version_of,
)
from workbench.engines.pool import Pool
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.records.pool import BYTES
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
    assert fast.driver.calls == slow.calls
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


KIB = 1 << 10
VERSIONS = ["0.15", "0.16", "0.17", "21.08", "21.10", "24.12", "26.08"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("streams", [1, 2, 5])
def test_the_pool_gives_the_addresses_of_its_twin(version, streams):
    """25 programs each, 525 in all: with a maximum and without, on cards that run out and cards that do not."""
    served, whole, seen = 0, 0, version_of(version)
    for seed in range(25):
        draw, requests = np.random.default_rng([seed, streams]), program(seed, streams, rows=80, largest=4 * KIB)
        live = requests.live_peak()
        initial = int(draw.choice([0, 256, KIB, live // 512 * 256, live]))
        maximum = None if draw.random() < 0.4 else max(initial, int(live * draw.uniform(0.8, 4)) // 256 * 256)
        card = None if draw.random() < 0.3 and (seen >= (0, 17) or maximum) else int(live * draw.uniform(0.9, 4))
        if maximum is None and card is not None:
            initial = min(initial, card // 256 * 256)
        fast = StreamPool(initial, Driver(card), maximum, rules_of(version))
        slow = SlowPool(initial, card, maximum, seen)
        rows = same_steps(fast, slow, requests)
        assert fast.size == sum(slow.calls)
        served, whole = served + rows, whole + (rows == len(requests.block))
    assert 0 < whole < 25 and served > 25 * 20, "some run out, some do not"


def sizes_of(log, **more):
    """The reserved MiB and the driver calls of each setting of RMM's pool, by its sizes in MiB."""
    table = advise_resources(log, **more).table.set_index("setting")
    pools = table[table.index.str.startswith("rmm.reinitialize(")]
    return {
        tuple(int(size) / MIB for size in re.findall(r"_size=(\d+)", setting)): (
            row.reserved_peak_bytes / MIB,
            row.driver_calls,
        )
        for setting, row in pools.iterrows()
    }


@pytest.mark.parametrize("streams", [("0", "0"), ("0", "1"), ("0x0", "0x7f01"), ("0x7f01", "0x7f02"), ("2", "2")])
def test_a_pool_takes_its_initial_block_and_then_grows_by_what_it_has(tmp_path, streams):
    """rmm#1664, #1957, #496: two requests of 32 MiB from a pool of 1 MiB take 1 + 32 + 33 MiB."""
    requests = CardRequests([0, 1, -1, -2], [32 * MIB] * 4, [0, 1, 0, 1])
    place = written(tmp_path / "rmm.csv", requests)
    rows = [line.split(",") for line in place.read_text().splitlines()]
    lines = [",".join([*row[:5], streams[int(row[5])]]) for row in rows[1:]]
    place.write_text("\n".join([HEADER, *lines]) + "\n")
    pools = sizes_of(place)
    assert pools[(1,)] == (66, 3)
    assert pools[(1, 66)] == (65.5, 3), "with a maximum it grows by half of the 65 MiB that remain, then by the request"
    assert pools[(64,)] == (64, 1)
    assert advise_resources(place).best == f"rmm.reinitialize(pool_allocator=True, initial_pool_size={64 * MIB})"


def test_a_request_larger_than_the_initial_pool_leaves_that_unused(tmp_path):
    place = written(tmp_path / "rmm.csv", CardRequests([0, -1], [1536 * MIB] * 2, [0, 0]))
    pools = sizes_of(place)
    assert pools[(1024,)] == (2560, 2)
    assert pools[(64,)] == (1600, 2) and pools[(1,)] == (1537, 2) and pools[(1536,)] == (1536, 1)


def test_a_pool_that_the_driver_refuses_to_double_tries_half_of_it(tmp_path):
    place = written(tmp_path / "rmm.csv", CardRequests([0, 1, 2], [32 * MIB, 32 * MIB, 8 * MIB], [0, 0, 0]))
    assert sizes_of(place)[(1,)] == (132, 4), "1 + 32 + 33 + 66"
    on_card = sizes_of(place, card_bytes=100 * MIB)
    assert on_card[(1,)] == (99, 4), "66 MiB are refused, half of them is had"
    advice = advise_resources(place, card_bytes=100 * MIB)
    assert advice.table.set_index("setting").fits.to_dict()[
        "rmm.reinitialize(pool_allocator=True, initial_pool_size=1048576)"
    ]


@pytest.mark.parametrize(
    ("version", "calls"),
    [("0.15", [1, 127, 64]), ("0.16", [1, 127, 64]), ("0.17", [1, 32, 33]), ("26.08", [1, 32, 33])],
)
def test_growth_without_a_maximum_depends_on_the_version(version, calls):
    """Before 0.17 a pool grew by half of what remained of the card (rmm#601)."""
    pool = StreamPool(MIB, Driver(255 * MIB), rules=rules_of(version))
    for _ in range(2):
        assert pool.allocate(0, 32 * MIB) >= 0
    assert pool.allocate(0, 64 * MIB) >= 0
    assert [size // MIB for size in pool.driver.calls][:3] == [*calls[:2], calls[2]]


def test_a_version_decides_what_another_stream_keeps_and_what_is_joined():
    def calls(version, requests):
        pool = StreamPool(4096, Driver(16384), 16384, rules_of(version))
        assert serve(pool, CardRequests(*map(list, zip(*requests, strict=True)))).failed_at < 0
        return pool.driver.calls

    halves = [(0, 2048, 1), (1, 2048, 2), (-1, 2048, 1), (-2, 2048, 2), (2, 4096, 1)]
    assert [len(calls(version, halves)) for version in ("0.15", "0.16", "21.10")] == [2, 1, 1], "rmm#532 joins lists"


@pytest.mark.parametrize(
    ("text", "says"), [("0.14", "at least 0.15"), ("newest", "must be like 24.12 or 0.17"), ("", "must be like")]
)
def test_a_version_that_is_none_is_refused(text, says):
    with pytest.raises(InputError, match=says):
        rules_of(text)


def test_a_pool_of_an_old_version_needs_the_size_of_the_card():
    with pytest.raises(InputError, match="name card_bytes"):
        StreamPool(MIB, rules=rules_of("0.16"))
    with pytest.raises(InputError, match="initial_pool_size must be at most maximum_pool_size"):
        StreamPool(2 * MIB, maximum=MIB)


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
    assert as_streams.stream == as_threads.stream == expected and set(as_one.stream) == {DEFAULT_STREAM}
    assert as_streams.block == requests.block and as_streams.size == requests.size


@pytest.mark.parametrize("seed", range(5))
def test_the_engine_pool_makes_the_same_driver_calls(tmp_path, seed):
    """The cache `rmm_pool` is the same pool for one stream, if no request is larger than its first block."""
    requests = program(seed, 1)
    trace = str(written(tmp_path / "rmm.csv", requests, "0"))
    for initial in (4 * MIB, 16 * MIB, requests.live_peak()):
        config = replay_sweep(trace, [{"rmm_pool": {"initial": initial}}], ["local_only"], card_bytes=1 << 42)
        setup = make_plan(read_sweep({**config, "figures": [], "measures": []})).points[0].setup
        calls = Pool().simulate(setup, 0).calls[:, BYTES].tolist()
        assert calls == serve(StreamPool(initial), requests._replace(stream=[-1] * len(requests.stream))).calls


def test_the_advice_tries_every_resource_with_the_streams_of_the_log(tmp_path):
    requests = program(11, 5, rows=400, largest=MIB)
    several = advise_resources(written(tmp_path / "several.csv", requests, "0x7f0{}"))
    one = advise_resources(written(tmp_path / "one.csv", requests, "0"))
    assert (several.streams, one.streams) == (5, 1)
    assert several.least_arena_bytes == smallest_arena([requests])
    assert several.least_pool_bytes == smallest_pool([requests])
    assert several.active_peak_bytes == one.active_peak_bytes
    assert any("on 5 streams, told apart as RMM does." in line for line in several.sentences())
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


def test_the_smallest_maximum_serves_and_a_step_less_does_not():
    requests = program(2, 3)
    most = smallest_maximum([requests], 256 * 64, step=MIB)
    assert serve(StreamPool(256 * 64, maximum=most), requests).failed_at < 0
    assert serve(StreamPool(256 * 64, maximum=most - MIB), requests).failed_at >= 0


def test_on_a_card_that_is_too_small_nothing_is_built_or_served():
    requests = CardRequests([0], [MIB], [0])
    small = [
        StreamPool(4 * MIB, Driver(2 * MIB)),
        Arena(4 * MIB, Driver(2 * MIB)),
        Binning(Bins(16, 20), driver=Driver(2 * MIB)),
        Binning(Bins(8, 9), MIB // 2, Driver(MIB)),
    ]
    assert [serve(it, requests).failed_at for it in small] == [0, 0, 0, 0]


def test_bins_get_128_blocks_at_a_time_and_keep_them():
    blocks = list(range(200))
    requests = CardRequests([*blocks, *(-1 - it for it in blocks), 200, 201], [4096] * 401 + [8 * MIB], [0] * 402)
    chunks = {k: 128 << k for k in (8, 12, 13)}
    assert serve(Binning(Bins(12, 13)), requests).calls == [chunks[12], chunks[13], chunks[12], 8 * MIB]
    smallest = serve(Binning(Bins(13, 13)), requests)
    assert smallest.calls == [chunks[13], chunks[13], 8 * MIB], "what is smaller than any bin is the first one's"
    pooled = serve(Binning(Bins(12, 13), pool=2 * MIB), requests)
    assert pooled.calls == [2 * MIB, 8 * MIB], "three chunks fit the pool, which grows for what is larger than any bin"
