"""The source documents by the number of their specification: what `spec 1` stands for in a bibliography."""

from __future__ import annotations

from typing import NamedTuple


class Patent(NamedTuple):
    """A source document, as `docs/specification` gives it."""

    key: str
    title: str
    applicant: str
    number: str
    """Its publication number; empty where the copy that was read prints none and none was found."""
    filed: str
    published: str


PATENTS = {
    1: Patent(
        "CN114153753A",
        "Storage resource allocation method and device and non-transitory storage medium",
        "{Hygon Information Technology}",
        "CN114153753A",
        "2021-12-06",
        "2022-03-08",
    ),
    2: Patent(
        "CN113722111A",
        "Memory allocation method, system, apparatus and computer-readable medium",
        "{Beijing Biren Technology Development} and {Shanghai Biren Intelligent Technology}",
        "CN113722111A",
        "2021-11-03",
        "2021-11-30",
    ),
    3: Patent(
        "CN116450339A",
        "GPU resource scheduling method",
        "{MetaX Integrated Circuits (Shanghai)}",
        "CN116450339A",
        "2022-01-10",
        "2023-07-20",
    ),
    4: Patent(
        "address-translation-patent-2021",
        "Method, system, device and storage medium for optimising address translation in a GPU",
        "",
        "",
        "",
        "2021-11-05",
    ),
    5: Patent(
        "storage-regions-patent-2023",
        "Method and system for allocating storage regions among multiple processing cards",
        "{Alipay (Hangzhou) Information Technology}",
        "",
        "2023-06-15",
        "2023-07-22",
    ),
}
"""Specification 6, of the whole node, is this project's own."""
