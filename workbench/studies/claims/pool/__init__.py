"""H5.1 to H5.11: what the source document asserts of its memory pool, and two objections (spec 5, section 6)."""

from workbench.studies.claims.in_order import in_order
from workbench.studies.claims.pool.borrowing import BORROWING
from workbench.studies.claims.pool.caching import CACHING
from workbench.studies.claims.pool.objections import OBJECTIONS
from workbench.studies.claims.pool.real_service import REAL_SERVICE
from workbench.studies.claims.pool.targets import TARGETS

CLAIMS = sorted((*BORROWING, *CACHING, *TARGETS, *OBJECTIONS, *REAL_SERVICE), key=lambda claim: in_order(claim.id))
