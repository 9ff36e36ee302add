"""Source passages as whoever holds them gives them, made into what a result may hold."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from datetime import time as time_of_day
from typing import Any

import numpy as np

from kgcore.store.protocol import DocumentRetriever
from kgcore.text import whole_characters
from kgcore.types import Document, PropertyValue, Scalar


@dataclass(kw_only=True)
class Fetched:
    """Passages that were fetched for a question, by id, and the milliseconds that it took.

    `each` is what one took of the first that were fetched together; `wanted` is how many the last run wanted.
    """

    documents: dict[str, Document] = field(default_factory=dict)
    ms: float = 0.0
    each: float = 0.0
    wanted: int = 0

    def get(self, ids: Sequence[str], retriever: DocumentRetriever, hidden: frozenset[str]) -> dict[str, Document]:
        """Those of these that there are, without the `hidden` metadata, fetched where they were not before."""
        missing = [id_ for id_ in ids if id_ not in self.documents]
        if missing:
            began = time.perf_counter()
            found = retriever.get_documents_by_id(missing)
            self.documents |= {document.id: own_document(document, hidden) for document in found}
            ms = (time.perf_counter() - began) * 1000
            self.ms, self.each = self.ms + ms, self.each or ms / len(missing)
        self.wanted = len(ids)
        return {id_: self.documents[id_] for id_ in ids if id_ in self.documents}


def own_document(document: Document, hidden: frozenset[str]) -> Document:
    """A passage of any retriever as a run can be saved with it and opened again: whole characters, plain values.

    Of its metadata the `hidden`, what has no value (None, NaN) and what is nested are left out; dates are as ISO
    writes them, anything else that is neither text nor number is its text.
    """
    metadata = {whole_characters(str(name)): value for name, value in (document.metadata or {}).items()}
    values = {name: _value(value) for name, value in metadata.items() if name not in hidden}
    score = _scalar(document.score)
    return Document(
        id=document.id,
        content=whole_characters(document.content or ""),
        metadata={name: value for name, value in values.items() if value is not None},
        score=float(score) if isinstance(score, int | float) else None,
    )


def _value(value: Any) -> PropertyValue | None:
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return tuple(scalar for item in value if (scalar := _scalar(item)) is not None)
    return _scalar(value)


def _scalar(value: Any) -> Scalar | None:
    """A single value as ours, None for what is none."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, Mapping | list | tuple | set | frozenset | np.ndarray):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, date | time_of_day):
        return value.isoformat()
    return whole_characters(value if isinstance(value, str) else str(value))
