"""A walk that goes on from an alias: Napoleon lived in a parish that may be the island of its name."""

from __future__ import annotations

from pathlib import Path

from kgcore import Chunk, Entity, open_store, write_graph
from tests.contract.graphs import edge

PARISH = "Saint Helena Parish"
QUESTION = "Which crown has the place where Napoleon lived?"
EDGES = (
    edge("e1", "napoleon", "LIVED_IN", "parish", src="Napoleon", dst=PARISH, doc="d1"),
    edge("e2", "island", "PART_OF", "crown", src="Saint Helena", dst="The Crown", doc="d2"),
    edge("e3", "crown", "SEATED_IN", "london", src="The Crown", dst="London"),
)
CHUNKS = (
    Chunk(id="d1", document_id="d", content="Napoleon lived in Saint Helena Parish."),
    Chunk(id="d2", document_id="d", content="Saint Helena is part of the Crown."),
)


def parish_file(folder: Path) -> str:
    """The address of the graph in a file, without vectors."""
    address = f"duckdb:///{folder / 'parish.duckdb'}"
    store = open_store(address, create=True)
    names = {id_: name for e in EDGES for id_, name in ((e.source_id, e.src_name), (e.target_id, e.dst_name))}
    write_graph(store, [Entity(id=id_, type="Thing", name=name) for id_, name in names.items()], EDGES, CHUNKS)
    store.close()
    return address
