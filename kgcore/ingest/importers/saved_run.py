"""A run that Hopscope saved, as JSON or as a page that holds it: its facts, and the passages behind them.

A run holds what its reader saw. Who may see what is not in it, and a fact of several documents has one description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kgcore.errors import IngestError
from kgcore.ingest.importers.grounded import Grounded, OwnLayout, refuse_mapping
from kgcore.ingest.importers.json_file import decoded_head
from kgcore.ingest.source import GraphParts, Notes
from kgcore.retrieve.export import MAX_PAGE, read_run
from kgcore.types import Chunk, Fact, PropertyValue

_JSON = re.compile(r'\s*\{\s*"content"\s*:')
_PAGE = 'id="hopscope-run"'
# What a run says of a fact beside its documents' metadata.
_OWN = frozenset("source_id target_id source target relation edge_ids source_doc_ids hop score document_id".split())


@dataclass(frozen=True, kw_only=True)
class SavedRun(OwnLayout):
    """A file of one run."""

    family: str = "Saved run"

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """Each passage's facts as a document. Raises IngestError that names the file and the first fault."""
        try:
            run = read_run(_read(self.path))
        except IngestError as error:
            raise IngestError(f"{self.path.name}: {error}", remedy=error.remedy) from error
        graph = Grounded(self.path, notes)
        for passage in run.source_documents:
            metadata = dict(passage.metadata)
            document = str(metadata.pop("document_id", passage.id))
            graph.add_chunk(Chunk(id=passage.id, document_id=document, content=passage.content, metadata=metadata))
        for fact in run.facts:
            _add(graph, fact)
        if not run.facts:
            raise IngestError(f"{self.path.name}: this run found no fact.", remedy="Name a run that has facts.")
        yield from graph.parts(numbered=False)


def recognises(path: Path) -> bool:
    """Whether a file begins like a saved run, or is a page with one in it."""
    if not path.is_file() or path.stat().st_size > MAX_PAGE:
        return False
    head = decoded_head(path)
    if head.lstrip("\ufeff \t\r\n").startswith("<"):
        return "<html" in head.lower() and _PAGE in decoded_head(path, MAX_PAGE)
    return bool(_JSON.match(head)) and '"facts"' in decoded_head(path, MAX_PAGE)


def open_saved_run(path: Path, mapping: Mapping[str, str] | None = None) -> SavedRun:
    """The file as a source. Raises IngestError if there is no such file, or for a mapping."""
    refuse_mapping(path, mapping)
    if not path.is_file():
        raise IngestError(f"{path} is not a file.", remedy="Name a run that Hopscope saved.")
    return SavedRun(path=path)


def _read(path: Path) -> bytes:
    """At most a byte more than a run can have, which `read_run` refuses."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_PAGE + 1)
    except OSError as error:
        raise IngestError(f"it cannot be read ({error.strerror}).", remedy="Name a readable file.") from error


def _add(graph: Grounded, fact: Fact) -> None:
    source = (graph.entity(fact.source_type, fact.source, fact.source_id), fact.source)
    if fact.attribute:
        graph.describe(source, {fact.relation: fact.target}, fact.source_doc_ids)
        return
    target = (graph.entity(fact.target_type, fact.target, fact.target_id), fact.target)
    graph.relate(
        source,
        fact.relation,
        target,
        fact.source_doc_ids,
        description=fact.description,
        properties=_properties(graph, fact),
    )


def _properties(graph: Grounded, fact: Fact) -> dict[str, PropertyValue]:
    """What is not its passages' own; where several edges differ, it is not told which has what."""
    known = [graph.chunks[id_].metadata for id_ in fact.source_doc_ids if id_ in graph.chunks]
    own = {
        name: value
        for name, value in fact.metadata.items()
        if name not in _OWN and not any(name in metadata for metadata in known)
    }
    merged = [name for name, value in own.items() if isinstance(value, tuple) and len(fact.edge_ids) > 1]
    if merged:
        graph.notes.add("values left out that edges of a fact do not share", len(merged))
    return {name: value for name, value in own.items() if name not in merged}
