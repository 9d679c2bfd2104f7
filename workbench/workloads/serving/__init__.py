"""The key-value cache of servers of language models as requests for memory, from drawn or recorded traffic.

While a model answers, it keeps two vectors a layer of every token so far: the key-value cache, which grows by a token a
step until the answer ends, nobody knows when. How that memory is laid out decides how many requests run at once.
Traffic is drawn (`serving_cache`), or comes from a CSV file, a public serving trace or one of one's own
(`serving_file`).

References
----------
Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, SOSP 2023
(arXiv 2309.06180): section 3 (800 KB a token of OPT-13B, regions of the longest length), 4.3 and 4.5 (blocks on demand;
first come, first served; the latest is preempted, all of its blocks at once, and computed anew), 4.4 (shared prefixes),
6.1 (the three ways to reserve that it compares with).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError, at, shown
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import column_names, row_place
from workbench.workloads.csv_file import CsvFile
from workbench.workloads.pool_requests import PoolRequests, gpus_of
from workbench.workloads.serving.cache_layout import CacheLayout, Paged, ReserveExact, ReserveLongest, ReservePowerOfTwo
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


_NS_A_SECOND = 1_000_000_000


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
    >>> asked = ServingCache(count=3, token_bytes=1 << 16).pool_requests(Board(), Streams(1))
    >>> set(asked.bytes.tolist()), int(np.where(asked.action == 0, 1, -1).sum())
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
        gaps = _NS_A_SECOND / self.per_second * waiting(streams.uniforms("arrivals", self.count))
        prompt = self.prompt.draw(streams.uniforms("prompts", self.count))
        return Traffic(
            arrival=np.cumsum(gaps).astype(np.int64),
            prompt=prompt,
            answer=self.answer.draw(streams.uniforms("answers", self.count)),
            prefix=prefixes(prompt, self.prefix_tokens, self.prefix_kinds, self.prefix_share, streams),
        )


_MOST_TOKENS = 1 << 32


def nanoseconds(text: str) -> int:
    """Return the nanoseconds of a date and a time of day since 1970, digits behind the microseconds included.

    >>> nanoseconds("2023-11-16 18:17:04.0319607") - nanoseconds("2023-11-16 18:17:03.9799600")
    52000700
    """
    moment, _, rest = text.partition(".")
    digits = rest.partition("+")[0]
    whole = datetime.fromisoformat(moment.partition("+")[0] + "+00:00")
    return int(whole.timestamp()) * _NS_A_SECOND + int(digits.ljust(9, "0")[:9] or 0)


class _Columns(NamedTuple):
    """The names that one publisher gives its columns."""

    arrival: str
    prompt: str
    answer: str
    time: Callable[[str], int]
    """From the text of an arrival to nanoseconds."""


PUBLISHED = (
    _Columns("TIMESTAMP", "ContextTokens", "GeneratedTokens", nanoseconds),
    _Columns("Timestamp", "Request tokens", "Response tokens", lambda text: round(float(text) * _NS_A_SECOND)),
    _Columns("arrival_ns", "prompt_tokens", "answer_tokens", int),
)
"""Azure LLM inference traces (Azure/AzurePublicDataset, CC-BY), BurstGPT (HPMLL/BurstGPT, CC-BY), one's own."""


class ServingFile(Serving, CsvFile):
    """The requests of a serving trace, one a row, in the order of time: when each came, tokens of prompt and answer.

    Columns are those of the Azure LLM inference traces (`TIMESTAMP,ContextTokens,GeneratedTokens`), of BurstGPT
    (`Timestamp,Request tokens,Response tokens` and others), or `arrival_ns,prompt_tokens,answer_tokens`. A row without
    an answer is a request that failed, and is left out. Times count from the first row on. No trace tells prefixes:
    those of `prefix_share` are drawn.

    References
    ----------
    Patel et al., Splitwise, ISCA 2024 (the Azure traces of 2023); Wang et al., BurstGPT, arXiv 2401.17644.
    """

    more_seeds: ClassVar[str] = "prefix_share"
    count: int = lever(0, least=0, most=1 << 31, unit="requests", description="the first ones alone; 0 = all")
    speed: float = lever(
        1.0,
        least=0.001,
        most=1e6,
        scale="log",
        description="how many times as fast requests come as recorded",
    )

    @classmethod
    def reads(cls, header: list[str]) -> bool:
        """Return whether a header is that of a serving trace."""
        return any({names.arrival, names.prompt, names.answer} <= set(header) for names in PUBLISHED)

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Content:
        header = column_names(text)
        names = next((it for it in PUBLISHED if {it.arrival, it.prompt, it.answer} <= set(header)), None)
        if names is None:
            expected = " or ".join(",".join(it[:3]) for it in PUBLISHED)
            raise InputError(f"{where}: the first line must name the columns {expected}. Got {','.join(header)[:80]}.")
        rows = np.array(list(_rows_of_file(text, header, names, where)), np.int64).reshape(-1, 3)
        if not len(rows):
            raise InputError(f"{where}: must have at least one row with an answer below the header. It has none.")
        return Content(sha256, rows[:, 0] - rows[0, 0], rows[:, 1], rows[:, 2])

    def traffic(self, streams: Streams) -> Traffic:
        content: Content = self.content()
        arrival, prompt, answer = (column[: self.count or None] for column in content[1:])
        prefix = prefixes(prompt, self.prefix_tokens, self.prefix_kinds, self.prefix_share, streams)
        return Traffic((arrival / self.speed).astype(np.int64), prompt, answer, prefix)

    def different_seeds(self, machine: Any) -> int | None:
        return None if self.prefix_tokens and self.prefix_share else 1


class Content(NamedTuple):
    """What a serving trace holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    arrival: np.ndarray
    prompt: np.ndarray
    answer: np.ndarray


def _rows_of_file(text: bytes, header: list[str], names: _Columns, where: str) -> Iterator[tuple[int, int, int]]:
    """Yield arrival, prompt and answer of each row that has an answer; the first row that is wrong is refused."""
    last = None
    lines = csv.reader(io.StringIO(text.decode("utf-8-sig", errors="replace")))
    next(lines)
    for number, fields in enumerate(lines):
        if not fields:
            continue
        place = f"{where}: {row_place(number)}"
        if len(fields) != len(header):
            raise InputError(f"{place}: must have {len(header)} fields. It has {len(fields)}.")
        row = dict(zip(header, fields, strict=True))
        arrival = _time(row, names, place)
        if last is not None and arrival < last:
            raise InputError(f"{place}: {names.arrival} must not be before the row above it. Sort the rows by time.")
        last = arrival
        prompt, answer = (_tokens(row, name, place) for name in (names.prompt, names.answer))
        if answer:
            yield arrival, max(prompt, 1), answer


def _time(row: Mapping[str, str], names: _Columns, place: str) -> int:
    try:
        result = names.time(row[names.arrival].strip())
    except (ValueError, OverflowError):
        result = -1
    if not 0 <= result < 1 << 62:
        raise InputError(f"{place}: {names.arrival} must be a time. Got {shown(row[names.arrival])}.")
    return result


def _tokens(row: Mapping[str, str], name: str, place: str) -> int:
    field = row[name].strip()
    if not (field.isdigit() and len(field) < 12 and int(field) < _MOST_TOKENS):
        raise InputError(f"{place}: {name} must be a whole number of tokens, at least 0. Got {shown(row[name])}.")
    return int(field)
