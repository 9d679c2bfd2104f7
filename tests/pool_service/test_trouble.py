"""What goes wrong: ends at every step, full disks, clients that flood, never read, are interrupted, or are too many."""

import os
import socket
import threading
import time

import pytest

from tests.pool_service.conftest import in_thread, soon
from workbench.pool_service import OutOfMemory, PoolClient, Refused, ServiceSettings
from workbench.pool_service.arenas import attach_arena, detach_arena, make_arena
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.protocol import ALLOC, FINE, FREE, HELLO, REPLY, REQUEST, STATE
from workbench.pool_service.service import Service

SAID = {"card_bytes": 1 << 20}
MUCH = 2 << 20
"""Bytes, far more than two sockets hold."""
GREETING = REQUEST.pack(HELLO, 1, 0, 0)


def raw(folder, text=b""):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(folder / "socket"))
    connection.sendall(text)
    return connection


def replies(connection, count):
    text = b""
    while len(text) < count * REPLY.size:
        text += connection.recv(1 << 16)
    return list(REPLY.iter_unpack(text))


def test_a_client_may_end_at_every_step(folder):
    requested = REQUEST.pack(ALLOC, -1, 64, 1)
    with in_thread(folder), PoolClient(folder, "gpu1") as watch:
        kept = watch.alloc(100, card="gpu0")
        whole = GREETING + requested + REQUEST.pack(FREE, 0, kept.id, 0) + requested
        for length in (0, 1, 24, 30, 48, 60, 72, 95, 96):
            raw(folder, whole[:length]).close()
        late = raw(folder, GREETING + requested)
        region = replies(late, 2)[1][2]  # it came last, so the others have been heard
        late.sendall(REQUEST.pack(FREE, 0, region, 0)[:20])
        late.close()
        assert soon(lambda: watch.state("gpu0")[0] == 100)


class Breaks(Exception):
    """Stands for a kill of the service."""


@pytest.mark.parametrize("step", ["before the journal", "before the reply"])
def test_a_service_that_ends_between_journal_and_reply_has_served_once(folder, step):
    """All is left as after a kill; the client asks again, and has got once what it asked for."""
    first, ended = Service(folder, ServiceSettings.read(SAID)), []

    def break_down(*_):
        raise Breaks

    def serve():
        with pytest.raises(Breaks):
            first.run()
        ended.append(True)

    thread = threading.Thread(target=serve)
    thread.start()
    client = PoolClient(folder)
    kept, freed = client.alloc_many([1000, 500])
    kept.memory[:4] = b"kept"
    if step == "before the journal":
        first._holdings.write = break_down
    else:
        first._answer = break_down
    answers = []
    asking = threading.Thread(target=lambda: answers.append(client.alloc_many([2000, 3000])))
    client.free_later(freed)
    asking.start()
    thread.join()
    assert ended
    with in_thread(folder):
        asking.join()
        assert client.state("gpu0")[0] == 6000
        assert bytes(kept.memory[:4]) == b"kept"
        for region in (kept, *answers[0]):
            client.free(region)
        assert client.state("gpu0")[0] == 0
        client.close()


def test_a_service_may_end_while_it_makes_its_arenas(folder):
    for made in (0, 1):
        place = ServiceFolder(folder)
        place.make()
        os.close(place.lock())
        message = place.describe(["cpu0", "gpu0", "gpu1"], [1 << 20] * 3)
        for name in message.arenas[:made]:
            detach_arena(make_arena(name, 4096))
        with in_thread(folder), PoolClient(folder) as client:
            assert client.alloc(10).memory[:1] == b"\0"
        assert not any(attach_arena(name) for name in message.arenas)


def test_no_shared_memory_left_is_said_and_takes_nothing_from_anybody(folder, monkeypatch):
    with in_thread(folder), PoolClient(folder) as client, PoolClient(folder, "gpu1") as other:
        kept = other.alloc(5000)
        kept.memory[:] = b"x" * 5000

        def full(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as system:
            system.setattr(os, "posix_fallocate", full)
            with pytest.raises(
                OutOfMemory, match="has space for 100000 bytes, but the system has no shared memory left"
            ):
                client.alloc(100_000)
            assert client.state("gpu0") == (0, 0)
        assert bytes(kept.memory) == b"x" * 5000
        client.alloc(100_000).memory[-1:] = b"y"


def as_much_as_it_takes(connection, text):
    """Bytes that are sent until for a while nothing more is taken."""
    sent, refused = 0, 0
    while refused < 50 and sent < MUCH:
        try:
            sent += connection.send(text)
            refused = 0
        except BlockingIOError:
            refused += 1
            time.sleep(0.01)  # stands for a client that tries again and again
    return sent


def test_who_floods_or_never_reads_waits_alone(folder):
    state = REQUEST.pack(STATE, 1, 0, 0)
    with in_thread(folder) as service, PoolClient(folder) as client, raw(folder, GREETING) as flood:
        flood.setblocking(False)
        sent = as_much_as_it_takes(flood, state * 1000)
        assert sent < MUCH, "nothing is read from who does not read"
        region = client.alloc(100)
        waiting = max(len(it._unsent) for it in service._connections.values())
        assert waiting <= 2 * 128 * REPLY.size, "what waits for it is bounded"
        flood.setblocking(True)
        whole = sent // REQUEST.size
        assert {reply[0] for reply in replies(flood, whole)} == {FINE}, "it gets all, when it reads"
        client.free(region)


@pytest.mark.slow
def test_ten_thousand_regions_come_and_go(folder):
    with in_thread(folder, {"target": "local_only"}) as service, PoolClient(folder) as client:
        regions = client.alloc_many([64] * 1000)
        if not service_is_interpreted():
            regions += client.alloc_many([64] * 9000)
        assert len({it.id for it in regions}) == len(regions)
        assert service._connections
        client.close()
        with PoolClient(folder) as watch:
            assert soon(lambda: watch.state("gpu0")[0] == 0)


def service_is_interpreted():
    from workbench.compiled import INTERPRETED

    return INTERPRETED


def test_more_clients_than_files_are_told_so(folder):
    with in_thread(folder) as service, PoolClient(folder) as client:
        service._listener.most = 1
        with pytest.raises(Refused, match="the service has 1 clients already, as many as it can have"):
            PoolClient(folder)
        service._listener.most = 2
        PoolClient(folder).close()
        assert client.state("gpu0") == (0, 0)


def test_an_interrupted_request_is_forgotten_and_what_it_got_goes_back(folder, monkeypatch):
    """As where a cell of a notebook is stopped: the next request does not get the replies of that one."""
    with in_thread(folder), PoolClient(folder) as client:
        receive, count = client._channel._receive, []

        def interrupted():
            count.append(1)
            if len(count) == 2:
                raise KeyboardInterrupt
            return receive()

        with monkeypatch.context() as patched:
            patched.setattr(client._channel, "_receive", interrupted)
            with pytest.raises(KeyboardInterrupt):
                client.alloc_many([100, 200, 300])
        region = client.alloc(1000)
        assert len(region.memory) == 1000
        assert client.state("gpu0")[0] == 1000


def test_a_connection_that_is_closed_or_anothers_says_so(folder):
    with in_thread(folder):
        client = PoolClient(folder)
        client._channel._process += 1
        with pytest.raises(Refused, match="this connection belongs to another process; connect again after a fork"):
            client.alloc(10)
        client.close()
        client._channel._process -= 1
        with pytest.raises(Refused, match="this connection was closed"):
            client.alloc(10)


def test_threads_share_a_client(folder):
    with in_thread(folder), PoolClient(folder) as client:
        sizes = {}

        def work(size):
            for _ in range(20):
                region = client.alloc(size)
                sizes.setdefault(size, set()).add(len(region.memory))
                client.free(region)

        threads = [threading.Thread(target=work, args=(size,)) for size in (100, 200, 300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sizes == {100: {100}, 200: {200}, 300: {300}}
