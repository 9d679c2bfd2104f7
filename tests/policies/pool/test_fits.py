"""Every choice among cached blocks joins its contract."""

from workbench.policies.pool import BestFit, ExactFit, FirstFit, LimitedFit, WorstFit
from workbench.policies.pool.fit import FitContract


class TestBestFit(FitContract):
    policy = BestFit()


class TestExactFit(FitContract):
    policy = ExactFit()


class TestFirstFit(FitContract):
    policy = FirstFit()


class TestLimitedFit(FitContract):
    policy = LimitedFit(waste=0.5)


class TestWorstFit(FitContract):
    policy = WorstFit()
