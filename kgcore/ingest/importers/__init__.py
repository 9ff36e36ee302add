"""Importers, one a family of files: each recognises its own by what it holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kgcore.errors import IngestError
from kgcore.ingest.importers import folder, graphfile, graphrag, hipporag, lightrag, saved_run, triples
from kgcore.ingest.source import Source, readable

__all__ = ["open_source"]

_FAMILIES = (
    (folder.recognises, folder.open_folder),
    (graphrag.recognises, graphrag.open_graphrag),
    (lightrag.recognises, lightrag.open_lightrag),
    (hipporag.recognises, hipporag.open_hipporag),
    (saved_run.recognises, saved_run.open_saved_run),
    (graphfile.recognises, graphfile.open_graphfile),
    (triples.recognises, triples.open_triples),
)


def open_source(path: str | Path, mapping: Mapping[str, str] | None = None) -> Source:
    """The file or the folder as its family reads it; `mapping` names the column of each role where a family has some.

    The column "" says that none plays the role. Raises IngestError if it is not there, cannot be read, belongs to no
    family, or the mapping does not fit.
    """
    place = Path(path)
    if not os.path.exists(place):  # a name that is too long is not there either
        raise IngestError(f"There is no {str(place)[:500]}.", remedy="Name a file or a folder that is there.")
    with readable(place):
        for recognises, opened in _FAMILIES:
            if recognises(place):
                return opened(place, mapping)
    raise IngestError(
        f"{place.name or place} is no graph that can be imported.",
        remedy="Name a folder with triples.jsonl, a Microsoft GraphRAG or LightRAG folder, a HippoRAG result, a "
        "GraphML, GEXF or GML file, or triples as CSV, TSV or JSONL.",
    )
