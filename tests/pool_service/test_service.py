"""What clients are told: regions, refusals, other cards' memory; and one application under every policy (H5.9)."""

import itertools
import json
import os
import socket

import pytest

from tests.pool_service.conftest import in_thread
from tests.slow import thinned
from workbench.errors import InputError
from workbench.machine import preset
from workbench.pool_service import OutOfMemory, PoolClient, Refused, ServiceSettings
from workbench.pool_service.__main__ import main
from workbench.pool_service.arenas import Slots
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.holdings import CLIENT, HOLD, SEGMENT, Journal
from workbench.pool_service.listener import started
from workbench.pool_service.protocol import BAD_REQUEST, REPLY, REQUEST, region_id
from workbench.pool_service.service import Service
from workbench.streams import Streams
from workbench.workloads.pool_requests import ALLOC
from workbench.workloads.synthetic.memory_jobs import FullCard

MIB = 1 << 20
POLICIES = (
    {},
    {"target": "most_free"},
    {"target": {"weighted_cards": {"weights": [1, 1, 1]}}, "cache_fit": "first_fit"},
    {"cache": "no_cache"},
    {"cache": {"split_and_coalesce": {"coalesce": False}}, "cache_fit": "worst_fit"},
    {"idle_release": {"least_recently_used": {"limit_bytes_a_card": 65536}}, "target": "random_card"},
    {"cache": "size_classes", "zero_on_reuse": True},
    {"cache": {"binary_buddies": {"segment": 131072}}},
    {"cache": {"rmm_pool": {"initial": 65536}}},
)


@pytest.mark.parametrize("said", thinned(POLICIES, 3), ids=lambda said: "-".join(map(str, said)) or "usual")
def test_one_application_runs_unmodified_under_every_policy_and_no_byte_is_lost(folder, said):
    """H5.9; H5.1: GPU 0 asks for one and a half of its memory."""
    board = preset("pcie3_x8").machine()
    small = board.but(cards=tuple(card.but(memory_bytes=MIB) for card in board.cards))
    requests = FullCard(footprint=1.5, others=0.2, renewed=60, size={"log_uniform": [64, 65536]}).pool_requests(
        small, Streams(3)
    )
    with in_thread(folder, {"board": "pcie3_x8", **said}):
        homes = dict(zip(requests.app.tolist(), requests.card.tolist(), strict=True))
        clients = {app: PoolClient(folder, small.cards[card].id) for app, card in homes.items()}
        held, borrowed = {}, 0
        rows = zip(requests.app.tolist(), requests.action.tolist(), requests.handle.tolist(), requests.bytes.tolist())
        for app, action, handle, size in rows:
            if action == ALLOC:
                region = held[handle] = clients[app].alloc(size)
                borrowed += app == 0 and region.card != "gpu0"
                region.memory[:] = bytes([handle % 251]) * size
            else:
                region = held.pop(handle)
                assert bytes(region.memory) == bytes([handle % 251]) * size
                clients[app].free(region)
        assert not held
        assert borrowed > 0
        assert clients[0].state("gpu0")[0] == 0
        for client in clients.values():
            client.close()


def test_what_is_refused_changes_nothing(folder):
    with in_thread(folder), PoolClient(folder) as client, PoolClient(folder, "gpu1") as other:
        region = client.alloc(1000)
        refusals = [
            (lambda: client.alloc(0), InputError, "a size must be at least 1. Got 0."),
            (lambda: client.alloc(MIB + 1), Refused, f"{MIB + 1} bytes are more than any card has. Nearest: {MIB}."),
            (
                lambda: other.free(region),
                Refused,
                f"the region {region.id} is held by another client, not by this one.",
            ),
            (lambda: client.free(region.id + 8), Refused, f"there is no region {region.id + 8}; it was freed already"),
            (lambda: client.open(region_id(9, 0)), Refused, "there is no region"),
            (lambda: client.alloc(10, card="gpu7"), InputError, "unknown card 'gpu7'; there are cpu0, gpu0, gpu1."),
            (lambda: client.alloc(1.5), InputError, "a size must be a whole number. Got 1.5."),
            (
                lambda: client.alloc(1 << 70),
                InputError,
                f"a size must be below {1 << 62}. Got {1 << 70}.",
            ),
            (lambda: client.free(1 << 70), InputError, "a region must be below"),
            (lambda: client.open(-5), Refused, "there is no region -5"),
            (lambda: client.state("gpu7"), InputError, "unknown card 'gpu7'; there are cpu0, gpu0, gpu1."),
            (lambda: PoolClient(folder, "gpu9"), InputError, "unknown card 'gpu9'"),
            (lambda: client.alloc_many([MIB] * 3), OutOfMemory, f"no card has space for {MIB} bytes now."),
        ]
        for call, kind, says in refusals:
            with pytest.raises(kind) as refused:
                call()
            assert says in str(refused.value)
            assert client.state("gpu0")[0] == 1000
        assert other.state("gpu1")[0] == other.state("cpu0")[0] == 0, "what was granted of a refused lot is back"
        client.free(region)
        with pytest.raises(Refused, match="it was freed already, or never given"):
            client.free(region)


def test_a_full_card_borrows_from_the_one_with_the_fastest_link(folder):
    with in_thread(folder), PoolClient(folder) as client:
        regions = client.alloc_many([MIB // 2] * 5)
        assert [region.card for region in regions] == ["gpu0", "gpu0", "gpu1", "gpu1", "cpu0"]
        assert client.alloc(10, card="cpu0").card == "cpu0"
        pointers = [client.pointer(region) for region in regions]
        assert len(set(pointers)) == 5
        client.free(pointers[0])
        with pytest.raises(Refused, match=f"there is no region {regions[0].id}; it was freed already"):
            client.free(regions[0])


def test_a_release_that_nobody_waits_for_goes_with_the_next_request(folder):
    with in_thread(folder), PoolClient(folder) as client, PoolClient(folder, "gpu1") as watch:
        kept, gone = client.alloc_many([100, 200])
        client.free_later(gone)
        assert watch.state("gpu0")[0] == 300
        with pytest.raises(Refused, match="it was freed already, or never given"):
            client.free_later(gone)
        with pytest.raises(ValueError, match="released memoryview"):
            client.pointer(gone)
        assert client.alloc(200).id == gone.id, "it was free before the allocation was served"
        client.free_later(client.pointer(kept))
        assert client.state("gpu0")[0] == watch.state("gpu0")[0] == 200


def test_reused_memory_holds_what_was_there_unless_it_is_to_be_zeros(folder):
    """E20; what was the driver's meanwhile is zeros in any case, as with the driver of a GPU."""
    cases = (({}, b"secret"), ({"zero_on_reuse": True}, bytes(6)), ({"cache": "no_cache"}, bytes(6)))
    for (message, left), size in itertools.product(cases, (64, 10_000)):
        with in_thread(folder, message), PoolClient(folder) as client:
            region = client.alloc(size)
            region.memory[-6:] = b"secret"
            client.free(region)
            again = client.alloc(size)
            assert again.id == region.id
            assert bytes(again.memory[-6:]) == left


def test_garbage_is_answered_and_a_client_that_says_nothing_of_itself_gets_nothing(folder):
    with in_thread(folder), socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(folder / "socket"))
        raw.sendall(REQUEST.pack(2, -1, 64, 1)[:10])
        raw.sendall(REQUEST.pack(2, -1, 64, 1)[10:] + REQUEST.pack(77, 2**31 - 1, -1, -1) + REQUEST.pack(1, 99, 0, 0))
        replies = b""
        while len(replies) < 3 * REPLY.size:
            replies += raw.recv(1000)
        assert [reply[0] for reply in REPLY.iter_unpack(replies)] == [BAD_REQUEST] * 3


def test_a_number_that_is_not_ones_own_brings_nothing_back(folder):
    with in_thread(folder), PoolClient(folder) as client:
        region = client.alloc(100)
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(str(folder / "socket"))
            raw.sendall(REQUEST.pack(1, 1, client._channel._client, 0))
            assert REPLY.unpack(raw.recv(100))[0] == BAD_REQUEST
        client.free(region)


def test_where_no_service_runs_one_is_told(folder):
    with pytest.raises(Refused, match="no service runs in this folder"):
        PoolClient(folder, patience_s=0.05)


def _killed(folder, message):
    """A service that is gone without an end, as after a kill: its lock is free, its arenas are there."""
    service = Service(folder, ServiceSettings.read(message))
    service._let_go()
    os.close(service._held)


def test_what_a_killed_service_left_is_for_the_same_cards_alone_and_can_be_cleared(folder, capsys):
    _killed(folder, {"card_bytes": 4096})
    other = ServiceSettings.read({"card_bytes": 8192})
    with pytest.raises(
        InputError, match=r"holds the regions of a service with other cards \(cpu0, gpu0, gpu1\); start"
    ):
        Service(folder, other)
    assert main([str(folder), "--clear"]) == 0
    assert ServiceFolder(folder).description() is None
    assert main([str(folder), "--settings", '{"target": "fastest"}']) == 2
    assert "settings.target: unknown target policy 'fastest'" in capsys.readouterr().err
    assert main([str(folder), "--settings", "[]"]) == 2
    assert main([str(folder), "--settings", "{"]) == 2
    assert "--settings must be JSON (" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "the following arguments are required: FOLDER"),
        (["F", "--card-bytes", "many"], "--card-bytes must be bytes such as 40GiB, 16GB or 1048576. Got 'many'."),
        (["F", "--card-bytes", "-1"], "--card-bytes must be bytes such as"),
        (["F", "--card-bytes", "2048TiB"], "settings.card_bytes"),
        (["F", "--machine", "dgx_9"], "dgx_9"),
        (["F", "--settings", '{"tarket": 1}'], "tarket"),
        (["/proc/none"], "/proc/none: is not to be had as a folder (No such file or directory)."),
    ],
)
def test_a_mistake_at_the_command_line_is_one_sentence(words, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    output = capsys.readouterr().err
    assert says in output
    assert output.startswith("workbench: ")
    assert output.count("\n") == 1


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"card_bytes": 1 << 36, "board": "dgx_1v"}, "bytes of shared memory"),
        ({"cache": "stitching"}, "does not serve with the cache stitching: a region is one range of its arena"),
        ({"cache": "expandable_segments"}, "does not serve with the cache expandable_segments"),
        ({"target": {"bind": {"cards": ["gpu99"]}}}, "gpu99"),
    ],
)
def test_a_service_that_cannot_serve_says_why(folder, said, says):
    with pytest.raises(InputError) as refused:
        Service(folder, ServiceSettings.read(said))
    assert says in str(refused.value)
    assert not folder.exists()


def test_a_folder_that_others_may_write_to_is_refused(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(InputError, match="must belong to you, and no other user may write to it"):
        Service(folder, ServiceSettings.read({"card_bytes": 4096}))
    with pytest.raises(InputError, match="is too long for a socket"):
        ServiceFolder("x" * 120)
    folder.chmod(0o700)
    os.close(ServiceFolder(folder).lock())
    (folder / "service.json").write_text(json.dumps([1]))
    with pytest.raises(InputError, match="is damaged; clear the folder with --clear"):
        ServiceFolder(folder).description()
    assert main([str(folder), "--clear"]) == 0
    assert ServiceFolder(folder).description() is None
    with pytest.raises(InputError, match=r"below: is not to be had as a folder \(Not a directory\)"):
        Service(folder / "lock" / "below", ServiceSettings.read({"card_bytes": 4096}))


def test_after_a_kill_another_process_cannot_take_what_was_a_clients(folder):
    """Process 1 is alive, so its regions wait for it; this process, which is another, does not get them."""
    _killed(folder, {"card_bytes": MIB})
    journal = Journal(folder / "journal")
    journal.note(CLIENT, 5, 1, started(1), 1)
    offset = Slots(MIB).take(64)
    journal.note(SEGMENT, 1, 0, offset, 64)
    journal.note(HOLD, 5, region_id(1, offset), 64, 1)
    journal.write()
    journal.close()
    with in_thread(folder), PoolClient(folder) as watch:
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(str(folder / "socket"))
            raw.sendall(REQUEST.pack(1, 1, 5, 0))
            assert REPLY.unpack(raw.recv(100))[0] == BAD_REQUEST
        assert watch.state("gpu0") == (64, 0)
