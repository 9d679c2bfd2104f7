"""SciPy's linear algebra is imported when somebody calls it, and then all of it is there; Matplotlib when one draws."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMPILES = (
    "import workbench as wb; wb.run({'engine': 'shared_memory', 'workload': 'large_uniform', 'seeds': 1}, workers=0)"
)
MULTIPLIES = """
import numba, numpy as np, workbench.compiled
half = np.array([[0.5, 0.0], [0.0, 0.5]])
print(numba.njit(lambda a, b: np.dot(a, b))(half, half).tolist(), numba.njit(lambda a: np.linalg.det(a))(half))
"""
SOLVES = (
    "import workbench.compiled, scipy.linalg as la; print(la.solve([[2.0]], [1.0]).tolist(), la.cython_blas.__name__)"
)


def printed(program: str) -> str:
    reply = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return reply.stdout.strip()


@pytest.mark.slow
def test_a_run_does_not_import_it_nor_do_figures_import_matplotlib():
    """Neither a figure's module imports it, nor the packages that hold it, nor their lists."""
    lists = "import workbench.figures._saving_by_policy; workbench.figures.figures(); workbench.figures.calculations()"
    asked = f"import sys; linear = 'scipy.linalg' in sys.modules; {lists}; print(linear, 'matplotlib' in sys.modules)"
    assert printed(f"{COMPILES}; {asked}") == "False False"


@pytest.mark.parametrize(
    ("program", "result"),
    [(MULTIPLIES, "[[0.25, 0.0], [0.0, 0.25]] 0.25"), (SOLVES, "[0.5] scipy.linalg.cython_blas")],
)
@pytest.mark.slow
def test_who_calls_it_has_it(program, result):
    assert printed(program) == result
