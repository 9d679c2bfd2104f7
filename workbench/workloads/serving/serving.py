"""Servers of language models on the GPUs of a board: the levers, whatever the traffic comes from."""

from __future__ import annotations

from typing import Any

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.pool_cards import gpus_of
from workbench.workloads.pool_requests import PoolRequests
from workbench.workloads.serving.layouts import CacheLayout, Paged
from workbench.workloads.serving.rows import Rows, merged
from workbench.workloads.serving.server import Served, Server, ServerRules
from workbench.workloads.serving.traffic import Traffic
from workbench.workloads.workload import Workload


class Serving(Workload):
    """The base of what servers ask of memory, each on a GPU of its own; requests are dealt to them in turn."""

    layout: CacheLayout = lever(
        Paged(block_tokens=16), description="how the key-value cache of a request lies in memory"
    )
    servers: int = lever(1, least=1, most=1024, description="GPUs with a server each, from GPU 0 on")
    cache_share: float = lever(
        0.5, least=0.001, most=1, step=0.05, description="share of its GPU's memory that a server keeps for the cache"
    )
    token_bytes: int = lever(
        819_200,
        least=1,
        most=1 << 30,
        unit="bytes",
        scale="log",
        description="of the cache a token: 2 x layers x key-value heads x head size x bytes a number (OPT-13B)",
    )
    longest: int = lever(
        2048, least=2, most=1 << 22, unit="tokens", scale="log", description="prompt and answer; what is longer is cut"
    )
    prefill_ns: int = lever(
        100_000, least=0, most=10**9, unit="ns", description="time a token of the prompt takes, however many run"
    )
    token_ns: int = lever(
        25_000_000, least=1, most=10**12, unit="ns", description="time a token of the answer takes, however many run"
    )
    prefix_tokens: int = lever(
        0,
        least=0,
        most=1 << 20,
        unit="tokens",
        description="how long shared prefixes (instructions) are; 0 = none",
    )
    prefix_kinds: int = lever(1, least=1, most=100_000, description="how many prefixes there are")
    prefix_share: float = lever(
        0.0, least=0, most=1, step=0.05, description="prompts that begin with one of them; shorter prompts never do"
    )

    def traffic(self, streams: Streams) -> Traffic:
        """Return what comes, for all servers together."""
        raise NotImplementedError

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        """Refuse servers without a GPU, and a cache that the longest request alone would not fit in."""
        gpus, name = gpus_of(machine), path or self.name
        if self.servers > len(gpus):
            raise InputError(at(where, f"{name}.servers must be at most {len(gpus)}, the GPUs. Got {self.servers}."))
        for card in gpus[: self.servers]:
            room = self._rules(machine, card)
            needed = -(-self.longest // room.unit) * room.unit * self.token_bytes
            if needed > room.capacity_bytes:
                cache = f"the cache ({room.capacity_bytes} bytes of {machine.cards[card].id})"
                got = f"Got {self.longest} tokens, {needed} bytes. Nearest: {room.units * room.unit}"
                raise InputError(at(where, f"{name}.longest must fit in {cache}. {got}, or a larger cache_share."))

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        return merged([rows.requests() for rows, _ in self._run(machine, streams)])

    def served(self, machine: Any, streams: Streams) -> list[Served]:
        """Return when each request started and ended and how often it was preempted, server by server."""
        return [served for _, served in self._run(machine, streams)]

    def _run(self, machine: Any, streams: Streams) -> list[tuple[Rows, Served]]:
        self.check_machine(machine)
        traffic = self.traffic(streams).cut(self.longest)
        result = []
        for number, card in enumerate(gpus_of(machine)[: self.servers].tolist()):
            rows = Rows(number, card)
            result.append((rows, Server(traffic.dealt(self.servers, number), self._rules(machine, card), rows).run()))
        return result

    def _rules(self, machine: Any, card: int) -> ServerRules:
        return ServerRules(
            layout=self.layout,
            longest=self.longest,
            token_bytes=self.token_bytes,
            prefill_ns=self.prefill_ns,
            token_ns=self.token_ns,
            prefix_tokens=self.prefix_tokens,
            capacity_bytes=int(self.cache_share * machine.cards[card].free_bytes),
        )
