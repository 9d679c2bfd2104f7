"""Open to all against its contract: spec 3's dispatcher, which keeps no group away."""

from __future__ import annotations

from workbench.policies.dispatch.admission import AdmissionContract, OpenToAll


class TestOpenToAll(AdmissionContract):
    policy = OpenToAll()


def test_engines_need_not_ask_it():
    assert OpenToAll().neutral()
