"""Does a region stay where it was granted? (spec 5, E17; section 7)"""

from workbench.policies.pool.residency.managed_memory import ManagedMemory
from workbench.policies.pool.residency.migrate_back import MigrateBack
from workbench.policies.pool.residency.question import Residency, ResidencyRules
from workbench.policies.pool.residency.stay import Stay

__all__ = ["ManagedMemory", "MigrateBack", "Residency", "ResidencyRules", "Stay"]
