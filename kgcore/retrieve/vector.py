"""Passages for a question, by vector and by words: search without the graph, under the same filters."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kgcore.errors import ConfigError, ModelError
from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter
from kgcore.models.protocol import Embedder
from kgcore.retrieve.settings import check_question
from kgcore.retrieve.words import WordIndexes
from kgcore.store.protocol import ChunkStore
from kgcore.types import Document, PropertyValue, Vector

WORDS = 0.2
"""What a standard deviation of BM25 weighs beside one of the cosine, in a hybrid score."""
_LOOKED_AT = 50
"""Passages that are looked at by each of both, at least; and ten times as many as are asked for."""
_MAX_K = 1_000


@dataclass(frozen=True, kw_only=True)
class Passages:
    """The passages found for a question with their scores, the best first; `milliseconds` stands outside equality."""

    question: str
    documents: tuple[Document, ...]
    warnings: tuple[str, ...] = ()
    milliseconds: float = field(default=0.0, compare=False)


class VectorStoreRetriever:
    """Finds passages under a locked filter, which is AND-ed with every caller's and works on a passage's own metadata.

    The score is the cosine of the question with the passage. A `hybrid` one is that plus `WORDS` times the passage's
    BM25, each in standard deviations among the passages looked at: those that are best by either. Without vectors of
    this embedder passages are found by their words alone, said in the warnings. `access_fields` are never shown.
    Raises ConfigError for `top_k` out of bounds, FilterError.
    """

    def __init__(
        self,
        store: ChunkStore,
        *,
        embedder: Embedder | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 5,
        hybrid: bool = False,
        access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.filter = AccessFilter.of(filters, access_fields=access_fields)
        self.top_k = _checked(top_k)
        self.hybrid = hybrid
        self._words = WordIndexes(store)

    def retrieve(
        self,
        question: str,
        *,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        hybrid: bool | None = None,
    ) -> Passages:
        """The `top_k` best passages; what is None takes the retriever's own value. Ties break by id.

        Raises ConfigError (an empty or over-long question, `top_k` out of bounds), FilterError, StoreError. An embedder
        that fails is a warning.
        """
        began = time.perf_counter()
        asked = check_question(question)
        k = self.top_k if top_k is None else _checked(top_k)
        filter = self.filter.narrowed(filters)
        vector, warnings = self._vector(asked)
        if vector is None:
            documents = self._by_words(asked, filter, k)
        elif self.hybrid if hybrid is None else hybrid:
            documents = self._by_both(asked, vector, filter, k)
        else:
            documents = self.store.nearest(vector, filter, k)
        return Passages(
            question=asked,
            documents=tuple(self._shown(document) for document in documents),
            warnings=warnings,
            milliseconds=round((time.perf_counter() - began) * 1000, 1),
        )

    def run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The same call as a dict in, dict out: `query`, `top_k`, `filters`, `hybrid`.

        Gives content (the texts), documents and warnings. Raises ConfigError for an argument that there is not.
        """
        known = {"query", "top_k", "filters", "hybrid"}
        for name in arguments:
            if name not in known:
                raise ConfigError(f"There is no argument {name!r}.", remedy=f"Use one of {', '.join(sorted(known))}.")
        options = {name: value for name, value in arguments.items() if name != "query"}
        found = self.retrieve(arguments.get("query", ""), **options)
        documents = [
            {"id": one.id, "content": one.content, "metadata": _plain(one.metadata), "score": one.score}
            for one in found.documents
        ]
        content = "\n\n".join(one.content for one in found.documents) or "No matching passages found."
        return {"content": content, "documents": documents, "warnings": list(found.warnings)}

    def get_documents_by_id(self, ids: Sequence[str]) -> tuple[Document, ...]:
        """The passages of these ids that the locked filter lets through, in the order asked for. Raises StoreError."""
        found = self.store.get_documents_by_id(ids)
        of = {document.id: str(document.metadata.get("document_id", "")) for document in found}
        seen = self.store.ids_of(sorted(set(of.values())), self.filter)
        return tuple(self._shown(one) for one in found if one.id in seen.get(of[one.id], ()))

    def _vector(self, question: str) -> tuple[Vector | None, tuple[str, ...]]:
        held = self.store.state().embedder
        if self.embedder is None or held is None or held != self.embedder.name:
            why = "no vectors" if held is None else "no vectors of this embedder"
            return None, (f"The passages have {why}: they are found by their words alone.",)
        try:
            return self.embedder.embed([question])[0], ()
        except ModelError as error:
            return None, (f"{error} {error.remedy} Passages are found by their words alone.",)

    def _by_words(self, question: str, filter: AccessFilter, k: int) -> tuple[Document, ...]:
        index = self._words.of(filter)
        scores = index.scores(question)
        found = {index.ids[at]: round(float(scores[at]), 6) for at in _best(scores, k) if scores[at] > 0}
        return self._documents(found, k)

    def _by_both(self, question: str, vector: Vector, filter: AccessFilter, k: int) -> tuple[Document, ...]:
        index = self._words.of(filter)
        scores = index.scores(question)
        size = max(_LOOKED_AT, 10 * k)
        by_words = [index.ids[at] for at in _best(scores, size) if scores[at] > 0]
        near = self.store.similar(vector, filter, size, by_words)
        place = {id_: at for at, id_ in enumerate(index.ids)}
        ids = sorted(id_ for id_ in {*near, *by_words} if id_ in place)
        cosines = np.array([near.get(id_, 0.0) for id_ in ids])
        words = np.array([float(scores[place[id_]]) for id_ in ids])
        both = _standard(cosines) + WORDS * _standard(words)
        return self._documents({id_: round(float(score), 6) for id_, score in zip(ids, both, strict=True)}, k)

    def _documents(self, scores: Mapping[str, float], k: int) -> tuple[Document, ...]:
        best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:k]
        return tuple(replace(one, score=scores[one.id]) for one in self.store.get_documents_by_id(best))

    def _shown(self, document: Document) -> Document:
        hidden = self.filter.access_fields
        kept = {name: value for name, value in document.metadata.items() if name not in hidden}
        return replace(document, metadata=kept)


def _standard(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each in standard deviations from their mean; zeros where all are equal."""
    spread = float(values.std()) if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _best(scores: npt.NDArray[np.float32], k: int) -> list[int]:
    """The places of the k highest, the earlier one first where two are equal."""
    return [int(at) for at in np.argsort(-scores, kind="stable")[:k]]


def _checked(top_k: object) -> int:
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= _MAX_K:
        raise ConfigError(f"top_k is {top_k!r}.", remedy=f"Give a whole number from 1 to {_MAX_K:,}.", field="top_k")
    return top_k


def _plain(metadata: Mapping[str, PropertyValue]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in metadata.items()}
