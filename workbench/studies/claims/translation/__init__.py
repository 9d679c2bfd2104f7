"""H4.1 to H4.9: what the source document asserts of its sharing directory, and three objections (spec 4, section 6)."""

from workbench.studies.claims.translation.benefit import BENEFIT
from workbench.studies.claims.translation.equal_budget import EQUAL_BUDGET
from workbench.studies.claims.translation.eviction import EVICTION
from workbench.studies.claims.translation.filling import FILLING
from workbench.studies.claims.translation.objections import OBJECTIONS
from workbench.studies.claims.translation.throughput import THROUGHPUT

CLAIMS = sorted((*BENEFIT, *EQUAL_BUDGET, *EVICTION, *FILLING, *THROUGHPUT, *OBJECTIONS), key=lambda claim: claim.id)
