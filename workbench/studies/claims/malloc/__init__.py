"""H2.1 to H2.11: what the source document asserts of warp aggregation, and two objections to it (spec 2, section 6)."""

from workbench.studies.claims.malloc.contention import CONTENTION
from workbench.studies.claims.malloc.effort import EFFORT
from workbench.studies.claims.malloc.pieces import PIECES
from workbench.studies.claims.malloc.reuse import REUSE

CLAIMS = sorted(
    (claim for part in (CONTENTION, EFFORT, PIECES, REUSE) for claim in part),
    key=lambda claim: int(claim.id.rsplit(".", 1)[1]),
)
