"""The engine `dispatch`: which workgroup goes where, and when (spec 3)."""

from workbench.engines.dispatch.engine import Dispatch
from workbench.engines.dispatch.prepare import DispatchOptions
