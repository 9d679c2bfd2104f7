"""Models of power and heat, both off unless asked for: what a module's instructions cost, and how warm modules become.

Modules lie on a die as a rectangular grid; what spreads between neighbors is solved by the grid's modes, in closed
form.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from workbench.levers import Family, lever
from workbench.units import seconds, watts

CLASSES = 6
"""Instruction classes: move, load, store, matrix, compare, jump (spec 3, R78)."""


class Power(Family, noun="power model", example="{class_power: {idle_watts: 0.5}}"):
    """The base of every power model: a module draws its idle power, and an energy for each instruction.

    A new one has levers and says its `energies_pj()` and `idle()`. What several instructions cost is their sum; what
    they do to each other, and where in memory a load is served, is not part of the model.
    """

    simulated: ClassVar[bool] = True
    """Whether there is a power to speak of; where not, no measure of power is computed."""

    def energies_pj(self) -> np.ndarray:
        """Return the energy of one instruction of each class: float64[6], picojoules."""
        raise NotImplementedError

    def idle(self) -> float:
        """Return the watts of a module that does nothing, which it draws at work too."""
        raise NotImplementedError

    def watts(self, rates: np.ndarray, clock_mhz: float) -> np.ndarray:
        """Return the power of modules that work at steady rates: float64[...], watts.

        Parameters
        ----------
        rates : float64[..., 6]
            Instructions of each class a cycle.
        clock_mhz : float
            The clock of the cycles.
        """
        return self.idle() + watts(np.asarray(rates) @ self.energies_pj(), clock_mhz)


class NoPower(Power):
    """Power is not simulated.

    >>> NoPower().simulated, NoPower().watts(np.ones(6), 1000.0).item()
    (False, 0.0)
    """

    simulated = False

    def energies_pj(self) -> np.ndarray:
        return np.zeros(CLASSES)

    def idle(self) -> float:
        return 0.0


class ClassPower(Power):
    """Energy by instruction class, an instruction being that of a whole wave, and idle power.

    The defaults are assumptions of the right order, derived for 64 lanes from published energies of circuits [1]: 2 pJ
    a register access, 0.4 pJ an integer addition, 40 pJ a 64-bit multiply-add, 50 pJ for 256 bits of an 8 KB memory.

    - every instruction is fetched: one access of 256 bits, 50 pJ, which is all that a jump costs;
    - move: a read and a write of a register a lane, 64 x 4 + 50 = 306 pJ;
    - compare: two reads, a write and an addition a lane, 64 x 6.4 + 50 = 460 pJ;
    - load, store: 4 bytes a lane are 8 accesses of 256 bits, and two register accesses a lane: 400 + 256 + 50 = 706 pJ
      (served in the module; what memory beyond it draws is not the module's);
    - matrix: 16 x 16 x 16 multiply-adds of 16 bits, each 1/16 of a 64-bit one: 4096 x 2.5 + 50 = 10,290 pJ.

    The idle power is that of an SM of a Quadro GV100 as AccelWattch has fitted it [2]. For conclusions about a
    particular GPU, calibrate: what matters to a policy is the ratio of the classes.

    References
    ----------
    .. [1] BMC Bioinformatics 19 (2018), doi 10.1186/s12859-018-2389-6, table 7: energies at 28 nm.
    .. [2] accel-sim/gpgpu-sim_distribution, configs/tested-cfgs/SM7_QV100/accelwattch_sass_hybrid.xml @ bf4519189c18:
       idle_core_power 0.283 W.
    .. [3] spec 3, R78: the classes.

    Examples
    --------
    >>> power = ClassPower(idle_watts=0.5, instr_matrix_pj=4000)
    >>> power.watts(np.array([0, 0, 0, 0.25, 0, 0]), clock_mhz=1000.0).item()  # 0.5 W + a nanojoule a nanosecond
    1.5
    """

    instr_move_pj: float = lever(306, least=0, most=1e9, unit="pJ", description="energy of a data move")
    instr_load_pj: float = lever(706, least=0, most=1e9, unit="pJ", description="energy of a load")
    instr_store_pj: float = lever(706, least=0, most=1e9, unit="pJ", description="energy of a store")
    instr_matrix_pj: float = lever(10_290, least=0, most=1e9, unit="pJ", description="energy of a matrix operation")
    instr_compare_pj: float = lever(460, least=0, most=1e9, unit="pJ", description="energy of a comparison")
    instr_jump_pj: float = lever(50, least=0, most=1e9, unit="pJ", description="energy of a jump")
    idle_watts: float = lever(
        0.283, least=0, most=1e4, unit="W", description="what a module draws whether it works or not"
    )

    def energies_pj(self) -> np.ndarray:
        return np.array(self.numbers()[:CLASSES])

    def idle(self) -> float:
        return self.idle_watts


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
        """Return the matrices of one step: `heat = keeps @ heat + gains @ power`.

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
    """A network of resistors and capacitors: one node a module, coupled to the ambient and to its neighbors.

    Every module has a heat capacity C. It loses heat to the ambient through a resistance R and to its (up to four)
    neighbors in `module_grid` through a conductance g. So C dT/dt = P - T / R - g sum(T - T_neighbour). A step is the
    exact solution for a power that is constant during it, whatever its length; nothing is integrated numerically.

    The defaults are assumptions, derived for a module of 9 mm2 from the default configuration of HotSpot [2]. It takes
    silicon of 0.15 mm with 100 W/(m K) and 1.75e6 J/(m3 K), and an interface of 20 um with 4 W/(m K). It takes a heat
    sink of 0.1 K/W and an ambient of 45 degrees:

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
        0.015, least=0, most=1e6, unit="W/K", description="thermal conductance between modules that are neighbors"
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


class Modes(NamedTuple):
    """The modes of something that spreads along a row of equal cells and does not leave it at the ends."""

    values: np.ndarray
    """float64[cells], how fast each mode evens out at unit conductance, the eigenvalues of the row's Laplacian."""
    vectors: np.ndarray
    """float64[cells, cells], each mode a column of unit length."""


def module_grid(modules: int) -> tuple[int, int]:
    """Return the rows and columns of the grid in which modules lie, row by row: as nearly square as fills it exactly.

    >>> module_grid(16), module_grid(304), module_grid(7)
    ((4, 4), (16, 19), (1, 7))
    """
    rows = next(rows for rows in range(math.isqrt(modules), 0, -1) if modules % rows == 0)
    return rows, modules // rows


def row_modes(cells: int) -> Modes:
    """Return the modes of a row: cosines that are flat at both ends.

    >>> row_modes(2).values.round(12).tolist()
    [0.0, 2.0]
    """
    mode = np.arange(cells)
    waves = np.cos(np.pi * (mode[:, None] + 0.5) * mode / cells)
    return Modes(4 * np.sin(np.pi * mode / (2 * cells)) ** 2, waves / np.sqrt((waves**2).sum(axis=0)))


def on_grid(of_mode: np.ndarray, along: Modes, across: Modes) -> np.ndarray:
    """Return the matrix over the modules of a grid that is known by what it does to each mode: float64[modules,
    modules].

    It is for matrices without negative entries, whose entries near 0 may not become negative by rounding. Sums are
    formed in a fixed order and without a library that shares them out over threads, so that the bits are the same
    wherever a run is made; 512 modules take some milliseconds.

    Parameters
    ----------
    of_mode : float64[rows, columns]
        The factor of each mode.
    along, across : Modes
        The modes of a column (`rows` cells) and of a row (`columns` cells).
    """
    rows = np.einsum("jb,ab,lb->ajl", across.vectors, of_mode, across.vectors)
    whole = np.einsum("ia,ka,ajl->ijkl", along.vectors, along.vectors, rows)
    return np.maximum(whole.reshape(of_mode.size, of_mode.size), 0.0)
