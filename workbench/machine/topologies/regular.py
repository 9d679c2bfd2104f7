"""`machine: {arrangement: ring, gpus: 8, ...}`: a board whose links follow a rule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal

from workbench.errors import InputError
from workbench.levers import Spec, lever

GIB = 1 << 30


class RegularBoard(Spec):
    """GPUs of equal memory, linked among themselves by a rule, and CPUs to which each of them has a PCIe link.

    `fully_connected` links every two GPUs, `ring` each with the next one, `pairs` the first with the second, the third
    with the fourth and so on; `pcie_only` none. The GPUs are dealt out to the CPUs in equal shares, the first ones to
    the first CPU; every two CPUs are linked. CPUs have the lower ids, as in the presets.

    References
    ----------
    spec 5, section 6 (topologies) and section 2: 150 GB/s of a direct link and 16 of PCIe are the document's (¶17), the
    40 GB/s between CPUs are assumed as in V11.

    Examples
    --------
    >>> ring = RegularBoard(arrangement="ring", gpus=4, hosts=1).board()
    >>> [link["between"] for link in ring["links"] if link["kind"] == "nvlink"]
    ['gpu0 gpu1', 'gpu1 gpu2', 'gpu2 gpu3', 'gpu3 gpu0']
    >>> RegularBoard(arrangement="pairs", gpus=4, hosts=0)
    Traceback (most recent call last):
    workbench.errors.InputError: regular_board: pairs of 4 GPUs are linked through a CPU alone, so hosts must be at \
least 1. Got 0. Nearest: 1.
    """

    arrangement: Literal["fully_connected", "ring", "pairs", "pcie_only"] = lever(
        "fully_connected", description="which GPUs have direct links"
    )
    gpus: int = lever(8, least=1, most=48, description="how many GPUs")
    card_gib: float = lever(16.0, least=0.001, most=1024, scale="log", unit="GiB", description="memory of every GPU")
    link_gbps: float = lever(
        150.0, least=1, most=2000, scale="log", unit="GB/s", description="a direct link of two GPUs per direction"
    )
    parallel_links: int = lever(1, least=1, most=32, unit="links", description="links between two GPUs that are linked")
    hosts: int = lever(1, least=0, most=8, description="how many CPUs")
    host_gib: float = lever(64.0, least=0, most=4096, unit="GiB", description="memory that every CPU lends")
    pcie_gbps: float = lever(
        16.0, least=1, most=500, scale="log", unit="GB/s", description="between a GPU and its CPU per direction"
    )
    gpus_a_channel: int = lever(1, least=1, most=48, unit="GPUs", description="neighbors that share one PCIe channel")
    socket_gbps: float = lever(
        40.0, least=1, most=1000, scale="log", unit="GB/s", description="between two CPUs per direction"
    )

    def check(self) -> None:
        apart = self.gpus > {"fully_connected": 48, "ring": 48, "pairs": 2, "pcie_only": 1}[self.arrangement]
        if apart and not self.hosts:
            raise InputError(
                f"{self.name}: {self.arrangement} of {self.gpus} GPUs are linked through a CPU alone, so hosts must be "
                "at least 1. Got 0. Nearest: 1."
            )

    def board(self) -> dict[str, Any]:
        """Return the levers of the board."""
        hosts = [
            {"id": f"cpu{k}", "kind": "cpu", "memory_bytes": round(self.host_gib * GIB)} for k in range(self.hosts)
        ]
        gpus = [{"id": f"gpu{k}", "memory_bytes": round(self.card_gib * GIB)} for k in range(self.gpus)]
        return {"cards": [*hosts, *gpus], "links": [*self._direct(), *self._to_hosts(), *self._sockets()]}

    def _direct(self) -> Iterator[dict[str, Any]]:
        for one, other in self._linked():
            link = {"between": f"gpu{one} gpu{other}", "gbps": self.link_gbps, "kind": "nvlink"}
            yield {**link, "count": self.parallel_links}

    def _linked(self) -> Iterator[tuple[int, int]]:
        """Yield the GPUs that have direct links."""
        if self.arrangement == "fully_connected":
            yield from combinations(range(self.gpus), 2)
        elif self.arrangement == "ring":
            last = self.gpus if self.gpus > 2 else self.gpus - 1  # two GPUs are neighbors once
            yield from ((k, (k + 1) % self.gpus) for k in range(last))
        elif self.arrangement == "pairs":
            yield from ((k, k + 1) for k in range(0, self.gpus - 1, 2))

    def _to_hosts(self) -> Iterator[dict[str, Any]]:
        for gpu in range(self.gpus if self.hosts else 0):
            host = gpu * self.hosts // self.gpus
            channel = f"cpu{host}-{gpu // self.gpus_a_channel}" if self.gpus_a_channel > 1 else ""
            yield {"between": f"cpu{host} gpu{gpu}", "gbps": self.pcie_gbps, "kind": "pcie", "channel": channel}

    def _sockets(self) -> Iterator[dict[str, Any]]:
        for one, other in combinations(range(self.hosts), 2):
            yield {"between": f"cpu{one} cpu{other}", "gbps": self.socket_gbps, "kind": "qpi"}
