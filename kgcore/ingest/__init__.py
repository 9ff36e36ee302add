"""Ways into a store."""

from kgcore.ingest.copy import Copied, copy_graph
from kgcore.ingest.write import write_graph

__all__ = ["Copied", "copy_graph", "write_graph"]
