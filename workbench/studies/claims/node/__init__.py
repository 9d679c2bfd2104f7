"""H6.1 to H6.8: what the whole node can tell that no engine alone can (spec 6, section 8)."""

from workbench.studies.claims.in_order import in_order
from workbench.studies.claims.node.additive import ADDITIVE
from workbench.studies.claims.node.balance import BALANCE
from workbench.studies.claims.node.five import FIVE
from workbench.studies.claims.node.fragmentation import FRAGMENTATION
from workbench.studies.claims.node.lending import LENDING
from workbench.studies.claims.node.locality import LOCALITY
from workbench.studies.claims.node.slowest import SLOWEST
from workbench.studies.claims.node.splitting import SPLITTING

EVERY = (*FRAGMENTATION, *ADDITIVE, *LENDING, *SLOWEST, *FIVE, *LOCALITY, *BALANCE, *SPLITTING)
CLAIMS = sorted(EVERY, key=lambda claim: in_order(claim.id))
