"""What a module's instructions cost: a model of power that is off unless asked for."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.levers import Family, lever
from workbench.units import watts

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
