"""H5.9b and H5.11b: what is said of what was measured, kept and left out; slow tests run the service itself."""

import json

import numpy as np
import pytest

from workbench import claims as room
from workbench.claims.claim import Evidence
from workbench.claims.plan import outcome_of
from workbench.claims.pool import CLAIMS, CLIENTS, EVERY, SERVICE_GAPS

TRANSPARENT, BOTTLENECK = (claim for claim in CLAIMS if claim.on_real_service)
GOOD = {"ended": True, "regions": 9, "intact": 9, "borrowed": 3}


def outcome(claim, monkeypatch, name, measured):
    monkeypatch.setattr(Evidence, "measured", lambda self, requested, make: {name: measured}[requested])
    return outcome_of(claim, Evidence(2, None, 1, None), room.family_sizes(room.known_claims()))


def applications(**changed):
    return {target: {"0.75": GOOD, "1.5": {**GOOD, **changed}} for target in EVERY}


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [({}, "holds"), ({"intact": 8}, "fails_where"), ({"ended": False}, "fails_where"), ({"regions": 0}, "fails_where")],
)
def test_an_application_ends_and_reads_back_what_it_wrote(monkeypatch, changed, verdict):
    judged = outcome(TRANSPARENT, monkeypatch, "service_application", applications(**changed))
    assert (judged.verdict, judged.kind, len(judged.cases)) == (verdict, "counted", 13)


@pytest.mark.parametrize(
    ("times", "verdict"), [(lambda clients: clients, "holds"), (lambda clients: 1 / clients, "contradicted")]
)
def test_a_bottleneck_is_waiting_that_grows_with_the_clients(monkeypatch, times, verdict):
    draws = np.random.default_rng(1)
    waits = {str(clients): (1000 * times(clients) + draws.normal(0, 9, 30)).tolist() for clients in CLIENTS}
    judged = outcome(BOTTLENECK, monkeypatch, "service_clients", dict.fromkeys(SERVICE_GAPS, waits))
    assert (judged.verdict, judged.kind, len(judged.cases)) == (verdict, "measured", 8)
    kinds = [claim.kind for claim in room.known_claims().values() if claim.family == "H5"]
    assert judged.family_size == len(kinds) - kinds.count("counted") - kinds.count("by_construction") == 7


def test_what_was_measured_is_kept_with_the_machine_and_not_measured_again(tmp_path):
    first = Evidence(2, tmp_path, 1, None).measured("waits", lambda: {"1": [1.5]})
    again = Evidence(2, tmp_path, 1, None).measured("waits", lambda: {"1": [2.5]})
    assert first == again == {"1": [1.5]}
    assert json.loads((tmp_path / "measured" / "waits.json").read_text())["environment"]["machine"]


def test_a_quick_report_leaves_the_real_service_out(monkeypatch):
    known = {"H1.8": room.known_claims()["H1.8"], "H5.9b": TRANSPARENT}
    monkeypatch.setattr(room, "known_claims", lambda: known)
    monkeypatch.setattr(Evidence, "measured", lambda self, name, make: {"service_application": applications()}[name])
    assert [one.id for one in room.claims(quick=True).verdicts] == ["H1.8"]
    assert [one.id for one in room.claims().verdicts] == ["H1.8", "H5.9b"]
    assert [one.id for one in room.claims(["H5.9b"], quick=True).verdicts] == ["H5.9b"]
