"""Every policy for the place of regions joins its contract."""

from workbench.policies.pool import ManagedMemory, MigrateBack, Stay
from workbench.policies.pool.residency import ResidencyContract


class TestManagedMemory(ResidencyContract):
    policy = ManagedMemory(to="target", back=True)


class TestMigrateBack(ResidencyContract):
    policy = MigrateBack(order="slowest_link", at_most=3)


class TestStay(ResidencyContract):
    policy = Stay()
