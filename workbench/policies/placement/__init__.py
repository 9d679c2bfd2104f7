from workbench.policies.placement.first_fit import FirstFit
from workbench.policies.placement.last_fit import LastFit
