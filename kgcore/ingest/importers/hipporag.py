"""HippoRAG's OpenIE results: a JSON file of passages, each with the triples that a model read in it.

{"docs": [{"idx", "passage", "extracted_entities", "extracted_triples": [[source, relation, target], ...]}]}
Its first version gives "title" and "text" beside "passage", and no "idx".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import properties_of, text_of
from kgcore.ingest.importers.grounded import Grounded, OwnLayout, refuse_mapping
from kgcore.ingest.importers.json_file import decoded_head, read_json
from kgcore.ingest.source import DEFAULT_TYPE, GraphParts, Notes
from kgcore.types import Chunk

_OWN = ("idx", "title", "text", "passage", "extracted_entities", "extracted_triples")
_OPENING = re.compile(r'\s*\{\s*"(docs"\s*:\s*\[|avg_ent_)')
_DOC = re.compile(r'"(passage|extracted_triples|extracted_entities)"\s*:')


@dataclass(frozen=True, kw_only=True)
class HippoRag(OwnLayout):
    """An OpenIE result file."""

    family: str = "HippoRAG OpenIE"

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """Each passage as a document. Raises IngestError that names the file and the doc, or the line."""
        graph = Grounded(self.path, notes)
        for number, doc in enumerate(_docs(self.path), 1):
            _read(graph, doc, f"{self.path.name}, doc {number}", f"{self.path.name}#{number}")
        yield from graph.parts(numbered=False)


def recognises(path: Path) -> bool:
    """Whether a file begins like an OpenIE result."""
    if not path.is_file():
        return False
    head = decoded_head(path, 2**20)
    return bool(_OPENING.match(head) and _DOC.search(head))


def open_hipporag(path: Path, mapping: Mapping[str, str] | None = None) -> HippoRag:
    """The file as a source. Raises IngestError if there is no such file, or for a mapping."""
    refuse_mapping(path, mapping)
    if not path.is_file():
        raise IngestError(f"{path} is not a file.", remedy="Name HippoRAG's openie_results JSON file.")
    return HippoRag(path=path)


def _docs(path: Path) -> list[Any]:
    found = read_json(path)
    docs = found.get("docs") if isinstance(found, dict) else None
    if not isinstance(docs, list) or not docs:
        raise IngestError(f'{path.name} has no list of "docs".', remedy="Name HippoRAG's openie_results JSON file.")
    return docs


def _read(graph: Grounded, doc: Any, where: str, id_: str) -> None:
    triples = doc.get("extracted_triples") if isinstance(doc, dict) else None
    content = text_of(doc.get("text")) or text_of(doc.get("passage")) if isinstance(doc, dict) else None
    if not isinstance(triples, list) or content is None:
        raise IngestError(
            f"{where}: it has no text or no list of triples.",
            remedy='Give each doc a "passage" and a list "extracted_triples", which may be empty.',
        )
    id_ = text_of(doc.get("idx")) or id_
    title = text_of(doc.get("title"))
    metadata = properties_of({name: value for name, value in doc.items() if name not in _OWN}, graph.notes)
    chunk = Chunk(
        id=id_, document_id=id_, content=content, metadata={**metadata, **({"title": title} if title else {})}
    )
    held = graph.chunks.get(id_)
    if held is not None and held != chunk:
        raise IngestError(f"{where}: its idx {id_!r} is another doc's.", remedy="Give each doc an idx of its own.")
    graph.add_chunk(chunk)
    named = {name for triple in triples for name in _relate(graph, triple, id_)}
    entities = doc.get("extracted_entities")
    listed = {text_of(name) for name in entities} if isinstance(entities, list) else set()
    bare = len(listed - named - {None})
    if bare:
        graph.notes.add("extracted entities left out that no triple of their passage names", bare)


def _relate(graph: Grounded, triple: Any, passage: str) -> tuple[str, ...]:
    """Adds a triple; gives the names in it."""
    if not isinstance(triple, list):
        graph.notes.add("triples left out that are not a list")
        return ()
    if len(triple) != 3:
        graph.notes.add(f"triples of {len(triple)} members left out" if len(triple) < 10 else "longer triples left out")
        return ()
    source, relation, target = map(text_of, triple)
    if source is None or target is None:
        graph.notes.add("triples left out whose source or target is empty or no text")
        return ()
    if relation is None:
        graph.notes.add("triples without a relation, kept as RELATED")
    ends = ((graph.entity(DEFAULT_TYPE, name), name) for name in (source, target))
    graph.relate(next(ends), relation, next(ends), [passage])
    return source, target
