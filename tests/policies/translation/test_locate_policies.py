"""Every policy of the question `locate` against its contract."""

from __future__ import annotations

from workbench.policies.translation.locate import (
    CentralDirectory,
    Clustered,
    Directory,
    LocateContract,
    NoDirectory,
    RingProbe,
)


class TestNoDirectory(LocateContract):
    policy = NoDirectory()


class TestDirectory(LocateContract):
    policy = Directory(entries=2048, max_remote_tries=2)


class TestCentralDirectory(LocateContract):
    policy = CentralDirectory()


class TestRingProbe(LocateContract):
    policy = RingProbe()


class TestClustered(LocateContract):
    policy = Clustered()
