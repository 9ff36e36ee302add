"""What an administrator does with the documents of a graph: see who may see them, change it, take one out."""

from __future__ import annotations

from collections.abc import Sequence

from kgcore.errors import ConfigError
from kgcore.filters import WHOLE, AccessFilter
from kgcore.store.protocol import GraphStore
from kgcore.types import FieldValue, PropertyValue

PRINCIPALS = "allowed_principals"
"""The access field that Build writes: a list of who may see an edge or a passage."""
MOST = 100
"""Principals of one document."""
_LONGEST = 200


def principals_of(store: GraphStore, document: str) -> tuple[FieldValue, ...]:
    """Who may see a document, and on how many of its edges it says so; `store` must have access_fields=()."""
    return store.values(PRINCIPALS, _of(store, document), MOST)


def metadata_of(store: GraphStore, document: str) -> dict[str, PropertyValue]:
    """A document's metadata as its first edge has them, else its first passage; `store` must have access_fields=()."""
    edges = store.scan(_of(store, document), None, 1, vectors=False).edges
    if edges:
        return dict(edges[0].properties)
    ids = store.chunks.ids_of([document], WHOLE).get(document, ())
    chunks = store.chunks.get_documents_by_id(ids[:1])
    return {name: value for name, value in chunks[0].metadata.items() if name != "document_id"} if chunks else {}


def set_principals(store: GraphStore, documents: Sequence[str], principals: Sequence[str]) -> None:
    """Says who may see these documents, on all their edges and passages at once.

    Raises ConfigError for names that cannot be one, StoreError.
    """
    store.set_access(documents, {PRINCIPALS: checked_principals(principals)})


def delete_documents(store: GraphStore, documents: Sequence[str]) -> None:
    """Removes documents: their edges, passages and values, and entities that nothing else reaches.

    What another document asserts too stays. Raises StoreError; then nothing is removed.
    """
    with store.transaction():
        store.delete_documents(documents)  # finds edges through the passages, so it comes first
        store.chunks.delete_documents(documents)


def checked_principals(given: Sequence[str]) -> tuple[str, ...]:
    """Names of principals, each once. Raises ConfigError for none, for too many, and for what is no name."""
    names = tuple(dict.fromkeys(name.strip() for name in given))
    if not names or len(names) > MOST or not all(_is_name(name) for name in names):
        raise ConfigError(
            "These are no names of principals.",
            remedy=f"Give one to {MOST} names such as group:finance, each of at most {_LONGEST} characters.",
        )
    return names


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _LONGEST and name.isprintable()


def _of(store: GraphStore, document: str) -> AccessFilter:
    """A document's edges."""
    ids = [document, *store.chunks.ids_of([document], WHOLE).get(document, ())]
    return WHOLE.narrowed({"field": "source_doc_id", "operator": "in", "value": ids[:10_000]})
