"""What a synthesiser makes of a circuit: gates, levels, flip-flops, relative area and delay; kept in a cache."""

from workbench.circuits.synthesis.counts import Counts
from workbench.circuits.synthesis.synthesised import known, synthesised, synthesised_here
from workbench.circuits.synthesis.yosys import synthesiser

__all__ = ["Counts", "known", "synthesised", "synthesised_here", "synthesiser"]
