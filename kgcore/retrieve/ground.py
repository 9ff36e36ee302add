"""The source passages behind the facts."""

from __future__ import annotations

from collections.abc import Sequence

from kgcore.errors import KgError
from kgcore.store.protocol import DocumentRetriever
from kgcore.types import Document, Fact


def ground(facts: Sequence[Fact], retriever: DocumentRetriever | None, warnings: list[str]) -> tuple[Document, ...]:
    """The passages that assert the facts, in the facts' order; none, with a warning, if they cannot be fetched.

    The facts came through visible edges, so their passages need no further check.
    """
    ids = list(dict.fromkeys(id_ for fact in facts for id_ in fact.source_doc_ids))
    if retriever is None or not ids:
        return ()
    try:
        found = {document.id: document for document in retriever.get_documents_by_id(ids)}
    except Exception as error:
        reason = f" {error}" if isinstance(error, KgError) else ""
        warnings.append(f"The source passages could not be fetched.{reason}")
        return ()
    missing = [id_ for id_ in ids if id_ not in found]
    if missing:
        warnings.append(f"{len(missing)} of {len(ids)} source passages are missing from the document store.")
    return tuple(found[id_] for id_ in ids if id_ in found)
