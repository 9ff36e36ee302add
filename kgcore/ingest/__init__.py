"""Ways into a store."""

from kgcore.ingest.write import write_graph

__all__ = ["write_graph"]
