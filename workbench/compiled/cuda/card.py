"""Is there a card, and what is it called? One place that asks Numba."""

from __future__ import annotations

import os
from typing import Any

from workbench.errors import WorkbenchError, missing_extra


def simulated() -> bool:
    """Return whether Numba's simulator stands for a card: NUMBA_ENABLE_CUDASIM=1 before anything was imported."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def needs_card() -> None:
    """Refuse to go on where nothing can run.

    Raises
    ------
    WorkbenchError
        The optional part is missing, or there is no card.
    """
    if not simulated() and not _cuda().is_available():
        raise WorkbenchError(
            "measuring on a card needs an NVIDIA GPU with its driver; there is none. NUMBA_ENABLE_CUDASIM=1 checks the "
            "kernels without one, but gives no times."
        )


def card_name() -> str:
    """Return what the card calls itself."""
    if simulated():
        return "Numba's CUDA simulator"
    needs_card()
    name = _cuda().get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def _cuda() -> Any:
    try:
        from numba import cuda
    except ImportError:
        raise missing_extra("measuring on a card", "gpu") from None
    return cuda
