"""Laws from which sizes and durations are drawn; one file a law. All draw whole numbers, at least 1 but for two.

`sometimes` and `constant: 0` draw nothing: for what need not be asked for.
"""

from workbench.workloads.synthetic.laws.bimodal import Bimodal
from workbench.workloads.synthetic.laws.constant import Constant
from workbench.workloads.synthetic.laws.correlated import Correlated
from workbench.workloads.synthetic.laws.empirical import Empirical
from workbench.workloads.synthetic.laws.exponential import Exponential
from workbench.workloads.synthetic.laws.geometric import Geometric
from workbench.workloads.synthetic.laws.law import LARGEST, Law
from workbench.workloads.synthetic.laws.log_normal import LogNormal
from workbench.workloads.synthetic.laws.log_uniform import LogUniform
from workbench.workloads.synthetic.laws.powers_of_two import PowersOfTwo
from workbench.workloads.synthetic.laws.sometimes import Sometimes
from workbench.workloads.synthetic.laws.uniform import Uniform

__all__ = [
    "LARGEST",
    "Bimodal",
    "Constant",
    "Correlated",
    "Empirical",
    "Exponential",
    "Geometric",
    "Law",
    "LogNormal",
    "LogUniform",
    "PowersOfTwo",
    "Sometimes",
    "Uniform",
]
