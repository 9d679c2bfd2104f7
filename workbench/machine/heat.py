"""How warm the modules become: a model of heat that is off unless asked for."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.levers import Family, lever
from workbench.machine.module_grid import module_grid, on_grid, row_modes
from workbench.units import seconds


class Heat(Family, noun="thermal model", example="{rc_heat: {ambient_c: 35}}"):
    """The base of every thermal model: degrees above the ambient that follow power, in steps of whole cycles."""

    simulated: ClassVar[bool] = True
    """Whether there is heat to speak of; where not, no measure of temperature is computed."""

    def cycles(self) -> int:
        """Return the length of a step in cycles; during a step the power counts as constant."""
        raise NotImplementedError

    def ambient(self) -> float:
        """Return the temperature of the ambient, degrees Celsius."""
        raise NotImplementedError

    def matrices(self, modules: int, clock_mhz: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what one step does: `heat = keeps @ heat + gains @ power`.

        Heat is in degrees above the ambient, power the mean of each module in the step in watts.

        Parameters
        ----------
        modules : int
            How many there are.
        clock_mhz : float
            The clock of the cycles.

        Returns
        -------
        keeps : float64[modules, modules]
            Degrees that a degree at the start of a step leaves at its end.
        gains : float64[modules, modules]
            Degrees at the end of a step a watt.
        """
        raise NotImplementedError


class NoHeat(Heat):
    """Heat is not simulated.

    >>> NoHeat().simulated
    False
    """

    simulated = False

    def cycles(self) -> int:
        return 0

    def ambient(self) -> float:
        return 0.0

    def matrices(self, modules: int, clock_mhz: float) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((modules, modules)), np.zeros((modules, modules))


class RcHeat(Heat):
    """A network of resistors and capacitors: one node a module, coupled to the ambient and to its neighbours.

    Every module has a heat capacity C, loses heat to the ambient through a resistance R and to its (up to four)
    neighbours in `module_grid` through a conductance g: C dT/dt = P - T / R - g sum(T - T_neighbour). A step is the
    exact solution for a power that is constant during it, whatever its length; nothing is integrated numerically.

    The defaults are assumptions, derived for a module of 9 mm2 from the default configuration of HotSpot [2], which
    takes silicon of 0.15 mm with 100 W/(m K) and 1.75e6 J/(m3 K), an interface of 20 um with 4 W/(m K), a heat sink
    of 0.1 K/W and an ambient of 45 degrees:

    - capacity: 1.75e6 x 9e-6 x 0.15e-3 = 2.36e-3 J/K;
    - resistance: silicon 0.15e-3 / (100 x 9e-6) = 0.17, interface 20e-6 / (4 x 9e-6) = 0.56, and the heat sink as 80
      equally loaded modules share it, 80 x 0.1 = 8; together 8.7 K/W. A node's time constant is thus 20 ms;
    - coupling of squares that touch along an edge: 100 x 0.15e-3 = 0.015 W/K.

    References
    ----------
    .. [1] Skadron et al., "Temperature-Aware Microarchitecture: Modeling and Implementation", ACM TACO 1(1), 2004.
    .. [2] HotSpot 6.0, hotspot.config (sywen-scut/HotSpot-6.0 @ 5f882a4cf38a).
    .. [3] spec 3, H3.15.

    Examples
    --------
    >>> keeps, gains = RcHeat(resistance_k_per_w=2, capacity_j_per_k=0.5, step_cycles=10**9).matrices(1, 1000.0)
    >>> round(keeps.item(), 6)  # a second is one time constant: 1/e
    0.367879
    >>> round(gains.item(), 6)  # 2 (1 - 1/e)
    1.264241
    """

    resistance_k_per_w: float = lever(
        8.7,
        least=1e-6,
        most=1e6,
        scale="log",
        unit="K/W",
        description="thermal resistance from a module to the ambient",
    )
    capacity_j_per_k: float = lever(
        2.36e-3, least=1e-9, most=1e6, scale="log", unit="J/K", description="heat capacity of a module"
    )
    coupling_w_per_k: float = lever(
        0.015, least=0, most=1e6, unit="W/K", description="thermal conductance between modules that are neighbours"
    )
    ambient_c: float = lever(45.0, least=-273.15, most=1000, unit="degrees C", description="temperature of the ambient")
    step_cycles: int = lever(
        1024, least=1, most=1 << 40, scale="log", unit="cycles", description="how often temperatures are renewed"
    )

    def cycles(self) -> int:
        return self.step_cycles

    def ambient(self) -> float:
        return self.ambient_c

    def matrices(self, modules: int, clock_mhz: float) -> tuple[np.ndarray, np.ndarray]:
        along, across = (row_modes(length) for length in module_grid(modules))
        coupling = self.coupling_w_per_k * (along.values[:, None] + across.values[None, :])
        conductance = 1 / self.resistance_k_per_w + coupling
        decay = conductance * seconds(self.step_cycles, clock_mhz) / self.capacity_j_per_k
        return on_grid(np.exp(-decay), along, across), on_grid(-np.expm1(-decay) / conductance, along, across)
