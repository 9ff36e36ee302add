"""What a store can do, in the domain's verbs and in batches. The contract suite is the definition.

Every reading method takes the access filter it reads under; nothing that the filter hides changes what it
returns. Unless said otherwise a method raises StoreError when the store cannot be read or written, skips ids
that are not visible, ignores duplicates in what it is asked, and orders what it returns as its text says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kgcore.filters import AccessFilter
from kgcore.types import (
    Chunk,
    Description,
    Document,
    DocumentInfo,
    Edge,
    End,
    Entity,
    Expansion,
    FieldValue,
    Match,
    PropertyValue,
    RelationCount,
    Vector,
)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A part of a scan: edges with their vectors, the entities they join, and where the next part begins."""

    edges: tuple[Edge, ...]
    entities: tuple[Entity, ...]
    after: str | None


@dataclass(frozen=True, kw_only=True)
class ChunkPage:
    """A part of a scan of passages, with their vectors, and where the next part begins."""

    chunks: tuple[Chunk, ...]
    after: str | None


@dataclass(frozen=True, kw_only=True)
class ChunkState:
    """What passages are like: the model and size of their vectors, None without, and a name for the data as it is."""

    embedder: str | None
    dimension: int | None
    version: str


class GraphReader(Protocol):
    """All that retrieval needs."""

    def describe(self, filter: AccessFilter) -> Description:
        """Counts, types and properties of what is visible, with the embedder of its vectors."""
        ...

    def match_names(self, names: Sequence[str], filter: AccessFilter, limit: int) -> tuple[Match, ...]:
        """Visible entities whose name is, or is like, each of `names`; at most `limit` a name.

        Tokens are AND-ed within a name: each must stand in the entity's name, equal or within
        `spelling_distance` with the same first letter. A name that equals a visible one once folded gives
        only such entities (score 1); else exact tokens are tried before spelling variants. Ordered by
        (query, score descending, entity id).
        """
        ...

    def find_mentions(self, spans: Sequence[str], filter: AccessFilter, *, spelled: bool = False) -> tuple[Match, ...]:
        """Visible entities that a span of a text names: one of their names has the same words (`words_of`).

        With `spelled`, also names with the same first letter whose words, as one text, differ in at most
        `spelling_distance` letters (score 1 - letters / length). Ordered by (query, score descending, entity id).
        """
        ...

    def nearest_entities(self, vectors: Sequence[Vector], filter: AccessFilter, k: int) -> tuple[Match, ...]:
        """The k visible entities nearest to each vector by the vector of a name that a visible edge gives.

        Ordered by (query, cosine descending, entity id). Empty without vectors.
        """
        ...

    def expand(
        self,
        frontier: Sequence[str],
        exclude: Sequence[str],
        filter: AccessFilter,
        query_vector: Vector | None,
        limit: int,
        *,
        words: Sequence[str] = (),
        relations: Sequence[str] = (),
    ) -> Expansion:
        """One hop: the visible edges at `frontier`, but for the facts in `exclude`, cut to `limit` facts.

        The cut is by the cosine of `query_vector` with the best edge's vector (6 decimals), without vectors
        by how many of `words` (lower case) the edge's text holds; then by fact id. All visible edges of a
        kept fact are returned. `relations` limits the walk to these relations or attribute keys.
        `ends` holds every end of the returned edges with its visible name, type and degree.
        """
        ...

    def entities(self, ids: Sequence[str], filter: AccessFilter) -> tuple[End, ...]:
        """Visible entities, in the order asked for. An entity's name is the one most of its visible edges give."""
        ...

    def edges(self, ids: Sequence[str], filter: AccessFilter) -> tuple[Edge, ...]:
        """Visible edges without vectors, in the order asked for."""
        ...


class GraphBrowser(Protocol):
    """What pages and copies need beside."""

    def search(self, prefix: str, filter: AccessFilter, limit: int = 20) -> tuple[End, ...]:
        """Visible entities with a name or a word of it that begins so: whole names first, then degree, id."""
        ...

    def hubs(self, filter: AccessFilter, k: int) -> tuple[End, ...]:
        """The k entities with the most visible edges, by (degree descending, id)."""
        ...

    def relations(self, id: str, filter: AccessFilter) -> tuple[RelationCount, ...]:
        """What an entity's visible edges are, by relation (of an attribute its key) and direction; a loop goes out.

        Edges are counted, not facts: together they are the entity's degree. Ordered by (count descending, relation,
        outgoing first). Empty for an id that is not visible.
        """
        ...

    def paths(
        self, a: str, b: str, filter: AccessFilter, max_hops: int, limit: int = 20
    ) -> tuple[tuple[Edge, ...], ...]:
        """The shortest visible paths between two entities, each its edges in order; the first `limit` by edge ids.

        Of the edges between two entities that assert one fact, the first by id is on a path.
        """
        ...

    def documents(self, filter: AccessFilter) -> tuple[DocumentInfo, ...]:
        """The documents of visible edges and of chunks whose own metadata pass, by id.

        An edge counts for the document of the chunk that it names, else for what it names itself.
        """
        ...

    def values(self, field: str, filter: AccessFilter, limit: int = 100) -> tuple[FieldValue, ...]:
        """The most common values that visible edges have in a filter's field; of a list, its items.

        Each counts the visible edges that `==` or `contains_any` finds by it: equal numbers are one value, an
        integer where they are whole. Ordered by (count descending, kind, value). Empty for an access field and
        for one that no visible edge has.
        """
        ...

    def principals(self, field: str, limit: int = 1_000) -> tuple[FieldValue, ...]:
        """The most common values that edges have in an access field, visible or not, counted and ordered as `values`.

        For administrators: the one verb that reads under no filter and tells who may see what. Nothing but the page
        Access may call it. Raises ConfigError for a field that is not an access field.
        """
        ...

    def scan(self, filter: AccessFilter, after: str | None, limit: int = 5_000, *, vectors: bool = True) -> Page:
        """Visible edges by id, `limit` at a time; `after` is None at the start and at the end.

        Without `vectors` none are read, which takes a small part of the time.
        """
        ...


class GraphWriter(Protocol):
    """Changes. Each call is one transaction unless it stands inside `transaction()`."""

    @property
    def part(self) -> int | None:
        """How many records one transaction should hold at most; None for any number."""
        ...

    def upsert(self, entities: Sequence[Entity], edges: Sequence[Edge], *, embedder: str | None = None) -> None:
        """Adds or replaces by id. Several records of one entity id give it several names.

        `embedder` names the model of the vectors. Raises StoreError when it, or a vector's dimension, is not
        the store's own.
        """
        ...

    def delete_documents(self, ids: Sequence[str]) -> None:
        """Removes the edges of these source documents, and entities left without edges."""
        ...

    def delete_edges(self, ids: Sequence[str]) -> None:
        """Removes these edges, and entities left without edges."""
        ...

    def set_access(self, document_ids: Sequence[str], metadata: Mapping[str, PropertyValue]) -> None:
        """Sets these properties on every edge of the documents."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing for the calls within."""
        ...

    def optimize(self) -> None:
        """Puts the file in the order that reading is fast in; called once after an import."""
        ...


@runtime_checkable
class DocumentRetriever(Protocol):
    """Anything that fetches passages by id."""

    def get_documents_by_id(self, ids: Sequence[str]) -> Sequence[Document]:
        """The documents that exist, in the order asked for."""
        ...


@runtime_checkable
class Similar(Protocol):
    """What compares its passages with a vector."""

    def similar(self, vector: Vector, filter: AccessFilter, k: int, ids: Sequence[str] = ()) -> Mapping[str, float]:
        """The cosines (6 decimals) of the k chunks that `nearest` finds, in its order, then of those of `ids` that
        have a vector: these are behind visible facts, so the filter is not asked about them."""
        ...


class ChunkStore(DocumentRetriever, Similar, Protocol):
    """Passages. Behind visible facts they need no further check; vector search reads under a filter."""

    def state(self) -> ChunkState:
        """What the passages are like now; equal versions mean equal passages."""
        ...

    def nearest(self, vector: Vector, filter: AccessFilter, k: int) -> tuple[Document, ...]:
        """The k chunks nearest to the vector whose own metadata pass; by (cosine descending, id)."""
        ...

    def scan(self, filter: AccessFilter, after: str | None, limit: int = 5_000, *, vectors: bool = True) -> ChunkPage:
        """The chunks whose own metadata pass, by id, `limit` at a time; `after` is None at the start and at the end.

        Without `vectors` none are read.
        """
        ...

    def ids_of(self, document_ids: Sequence[str], filter: AccessFilter) -> Mapping[str, tuple[str, ...]]:
        """The ids of the chunks of each of these documents whose own metadata pass, by document and id."""
        ...

    def upsert(self, chunks: Sequence[Chunk], *, embedder: str | None = None) -> None:
        """Adds or replaces by id."""
        ...

    def delete_documents(self, ids: Sequence[str]) -> None:
        """Removes chunks by their own or their document's id."""
        ...


class GraphStore(GraphReader, GraphBrowser, GraphWriter, Protocol):
    """A whole store."""

    @property
    def chunks(self) -> ChunkStore: ...

    @property
    def access_fields(self) -> frozenset[str]: ...

    def whole(self) -> GraphStore:
        """The same store with no access field left out: to write into, and for administrators to look after.

        It shares the file or the connections, and is closed with them.
        """
        ...

    def close(self) -> None: ...
