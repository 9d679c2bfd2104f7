"""Every policy of the question `remote_fill` against its contract."""

from __future__ import annotations

from workbench.policies.translation.remote_fill import Always, Never, RemoteFillContract, Threshold


class TestAlways(RemoteFillContract):
    policy = Always()


class TestNever(RemoteFillContract):
    policy = Never()


class TestThreshold(RemoteFillContract):
    policy = Threshold()
