"""The storage service of spec 5 as a program: one process serves many, over memory that they really share.

    $ python -m workbench.pool_service FOLDER --machine dgx_1v --card-bytes 16777216

Each card of a board is an arena of shared memory; the policies are those of the engine `pool`, asked the same
questions. An application connects, asks, and writes; another opens what it got by its identifier:

    with PoolClient("FOLDER", card="gpu0") as client:
        region = client.alloc(4096)
        region.memory[:5] = b"hello"
"""

from typing import TYPE_CHECKING, Any

from workbench.pool_service.client import PoolClient, Region
from workbench.pool_service.folder import running_service
from workbench.pool_service.protocol import OutOfMemory, Refused

if TYPE_CHECKING:
    from workbench.pool_service.service import ServiceSettings


def __getattr__(name: str) -> Any:
    """Return the settings, when they are asked for: they bring policies and their compiler, which no application
    needs."""
    if name == "ServiceSettings":
        from workbench.pool_service.service import ServiceSettings

        return ServiceSettings
    raise AttributeError(f"module {__name__} has no attribute {name}")
