"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from workbench.policies.pool.target.load_balancing import ConsistentHashing as ConsistentHashing
from workbench.policies.pool.target.load_balancing import RandomCard as RandomCard
from workbench.policies.pool.target.load_balancing import TwoChoices as TwoChoices
from workbench.policies.pool.target.numa import Bind as Bind
from workbench.policies.pool.target.numa import ByName as ByName
from workbench.policies.pool.target.numa import FirstTouch as FirstTouch
from workbench.policies.pool.target.numa import HostOffload as HostOffload
from workbench.policies.pool.target.numa import Interleave as Interleave
from workbench.policies.pool.target.numa import LocalOnly as LocalOnly
from workbench.policies.pool.target.numa import Preferred as Preferred
from workbench.policies.pool.target.numa import RoundRobin as RoundRobin
from workbench.policies.pool.target.question import Target as Target
from workbench.policies.pool.target.score import BandwidthThenMostFree as BandwidthThenMostFree
from workbench.policies.pool.target.score import LeastBorrowed as LeastBorrowed
from workbench.policies.pool.target.score import LeastLoaded as LeastLoaded
from workbench.policies.pool.target.score import MaxBandwidth as MaxBandwidth
from workbench.policies.pool.target.score import MostFree as MostFree
from workbench.policies.pool.target.score import Nearest as Nearest
from workbench.policies.pool.target.score import WeightedCards as WeightedCards
