"""The engine `malloc`: the threads of a GPU ask one heap for memory (spec 2)."""

from workbench.engines.malloc.engine import Malloc
from workbench.engines.malloc.options import MallocOptions
