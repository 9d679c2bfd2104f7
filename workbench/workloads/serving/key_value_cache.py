"""The key-value cache of servers of language models as requests for memory, from drawn or recorded traffic.

While a model answers, it keeps two vectors a layer of every token so far: the key-value cache. It grows by a token a
step until the answer ends, at a time that is not known before. How that memory is laid out decides how many requests
run at once. Traffic is drawn (`serving_cache`), or comes from a CSV file (`serving_file`).

References
----------
Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, SOSP 2023 (arXiv
2309.06180). Section 3: 800 KB a token of OPT-13B, regions of the longest length. Sections 4.3 and 4.5: blocks on
demand; first come, first served; the latest is preempted, all of its blocks at once, and computed again. Section 4.4:
shared prefixes. Section 6.1: the three ways to reserve that it compares with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.pool_requests import PoolRequests, gpus_of
from workbench.workloads.serving.cache_layout import CacheLayout, Paged
from workbench.workloads.serving.server import Rows, Served, Server, ServerRules, merged
from workbench.workloads.serving.traffic import Traffic, prefixes
from workbench.workloads.synthetic.laws import Law, LogNormal
from workbench.workloads.synthetic.portable_math import waiting
from workbench.workloads.workload import Generator, Workload


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
        """Return the requests, for all servers together."""
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
        """Return the start and the end of each request and the number of its preemptions, server by server."""
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


NS_A_SECOND = 1_000_000_000


class ServingCache(Serving, Generator):
    """Prompts come as a Poisson process, lengths of prompt and answer are drawn apart.

    Request n has the n-th rank of the streams `arrivals`, `prompts` and `answers`, whatever the layout: layouts meet
    the same requests.

    References
    ----------
    arXiv 2309.06180, section 6.1: Poisson arrivals, as data sets without times have them; mean prompts and answers of
    ShareGPT are 161 and 338 tokens (figure 11).

    Examples
    --------
    >>> from workbench.machine import Board
    >>> requests = ServingCache(count=3, token_bytes=1 << 16).pool_requests(Board(), Streams(1))
    >>> set(requests.bytes.tolist()), int(np.where(requests.action == 0, 1, -1).sum())
    ({1048576}, 0)
    """

    count: int = lever(300, least=1, most=1_000_000, scale="log", unit="requests", description="how many there are")
    per_second: float = lever(
        4.0, least=0.0001, most=1e6, scale="log", unit="requests", description="how many come a second, on average"
    )
    prompt: Law = lever(
        LogNormal(median=100, sigma=1.0, least=1, most=100_000), unit="tokens", description="how long prompts are"
    )
    answer: Law = lever(
        LogNormal(median=250, sigma=0.8, least=1, most=100_000), unit="tokens", description="how long answers are"
    )

    def check(self) -> None:
        for needed in ("prompt", "answer"):
            getattr(self, needed).check_least(f"{self.name}.{needed}")

    def traffic(self, streams: Streams) -> Traffic:
        gaps = NS_A_SECOND / self.per_second * waiting(streams.uniforms("arrivals", self.count))
        prompt = self.prompt.draw(streams.uniforms("prompts", self.count))
        return Traffic(
            arrival=np.cumsum(gaps).astype(np.int64),
            prompt=prompt,
            answer=self.answer.draw(streams.uniforms("answers", self.count)),
            prefix=prefixes(prompt, self.prefix_tokens, self.prefix_kinds, self.prefix_share, streams),
        )
