"""H3.1 to H3.18: what the source document asserts of its dispatcher, and one objection to it (spec 3, section 6)."""

from workbench.studies.claims.dispatch.allocation import ALLOCATION
from workbench.studies.claims.dispatch.matching import MATCHING
from workbench.studies.claims.dispatch.modules import MODULES
from workbench.studies.claims.dispatch.probe_accuracy import PROBE_ACCURACY
from workbench.studies.claims.dispatch.probe_hardware import PROBE_HARDWARE
from workbench.studies.claims.dispatch.probe_synthesised import PROBE_SYNTHESISED
from workbench.studies.claims.dispatch.recent_past import RECENT_PAST
from workbench.studies.claims.dispatch.sharing import SHARING
from workbench.studies.claims.dispatch.splitting import SPLITTING
from workbench.studies.claims.dispatch.starvation import STARVATION
from workbench.studies.claims.dispatch.units import UNITS
from workbench.studies.claims.in_order import in_order

CLAIMS = sorted(
    (
        claim
        for part in (
            MATCHING,
            ALLOCATION,
            STARVATION,
            SPLITTING,
            PROBE_HARDWARE,
            PROBE_ACCURACY,
            PROBE_SYNTHESISED,
            SHARING,
            UNITS,
            MODULES,
            RECENT_PAST,
        )
        for claim in part
    ),
    key=lambda claim: in_order(claim.id),
)
