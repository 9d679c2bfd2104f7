"""How does a file become a trace? One importer a format; `read_trace` finds the right one."""

from workbench.workloads.importers.importer import Importer, enter_only, importer_of, importers, read_trace
from workbench.workloads.importers.trace import Card, Trace

__all__ = ["Card", "Importer", "Trace", "enter_only", "importer_of", "importers", "read_trace"]
