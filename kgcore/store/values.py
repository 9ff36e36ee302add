"""What every store checks of what it is given to keep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from kgcore.errors import StoreError
from kgcore.names import fold, is_unicode, tokens
from kgcore.types import DocumentInfo, Edge, Entity, PropertyValue, Vector

_PLACE = frozenset(("title", "chunk", "chunks"))
_INT64 = (-(2**63), 2**63 - 1)


def checked(properties: Mapping[str, PropertyValue]) -> dict[str, Any]:
    """The properties that have a value, lists as lists. Raises StoreError for what cannot be kept."""
    return {name: _checked(name, value) for name, value in properties.items() if value is not None}


def check_dimension(vector: npt.NDArray[Any], dimension: int | None) -> None:
    """Raises StoreError for a vector that has not this many numbers."""
    if vector.shape != (dimension,):
        raise StoreError(
            f"A vector has {vector.size} numbers, the graph's have {dimension}.",
            remedy="Use the embedder that the graph was made with.",
        )


def check_embedder(shown: str, own: str, dimension: int, embedder: str | None, given: int) -> None:
    """Raises StoreError for vectors of another model, or of `given` numbers, than a graph's own."""
    own = own or "another embedder"
    if given != dimension or (embedder or own) != own:
        raise StoreError(
            f"The vectors in {shown} were made by {own} ({dimension} numbers), not by "
            f"{embedder or 'this embedder'} ({given}).",
            remedy=f"Write with {own}, or import into a new file.",
        )


def unit(vector: Vector, dimension: int | None) -> Vector | None:
    """The vector's direction, None where it has none. Raises StoreError for another dimension."""
    check_dimension(vector, dimension)
    length = float(np.linalg.norm(vector))
    if not length > 0 or not np.isfinite(length):
        return None
    return vector if abs(length - 1) < 1e-5 else (vector / length).astype(np.float32)


def closest(
    matrix: npt.NDArray[np.float32], vector: Vector, size: int
) -> tuple[npt.NDArray[np.intp], list[float], float]:
    """At least `size` rows nearest to a vector, their cosines (6 decimals), and what no other row's cosine is above.

    Compared again row by row in float64: a product's last bits depend on how many rows it has.
    """
    rough = matrix @ vector
    near = np.argpartition(-rough, size)[:size] if size < len(rough) else np.arange(len(rough))
    exact = cosines(matrix[near], vector)
    return near, exact, float(rough[near].min()) + 1e-5 if size < len(rough) else -2.0


def cosines(matrix: npt.NDArray[np.float32], vector: Vector) -> list[float]:
    """The cosine of each row, all of unit length, with a vector: 6 decimals."""
    exact: list[float] = (matrix.astype(np.float64) * vector.astype(np.float64)).sum(axis=1).round(6).tolist()
    return exact


def likeness(asked: str, name: str) -> float:
    """How like two names are, 0..0.99: rapidfuzz's token_sort_ratio of their words."""
    score = fuzz.token_sort_ratio(" ".join(tokens(asked)), " ".join(tokens(name))) / 100
    return round(min(score, 0.99), 6)


def grouped(pairs: Iterable[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The second of each pair by its first, in their order."""
    found: dict[str, list[str]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return {key: tuple(items) for key, items in found.items()}


def spellings(entities: Sequence[Entity], edges: Sequence[Edge]) -> dict[tuple[str, str], Vector | None]:
    """Every (id, name) of entities and edges; a spelling has the vector of the record whose folded name it shares."""
    vectors = {(e.id, fold(e.name)): e.embedding for e in entities if e.embedding is not None}
    pairs = [(e.id, e.name) for e in entities]
    pairs += [pair for e in edges for pair in ((e.source_id, e.src_name), (e.target_id, e.dst_name))]
    each = dict.fromkeys(pairs)
    return {(id_, name): vectors.get((id_, fold(name))) for id_, name in each} if vectors else each


def documents_of(
    told: Iterable[Sequence[Any]],
    held: Iterable[Sequence[Any]],
    read: Callable[[Any], Mapping[str, PropertyValue]],
    hidden: Collection[str],
) -> tuple[DocumentInfo, ...]:
    """Documents by id, from rows of (id, title, edges, facts, properties) and of (id, title, chunks, properties)."""
    edges = {row[0]: row for row in told}
    chunks = {row[0]: row for row in held if row[0] is not None}
    found = []
    for id_ in sorted({*edges, *chunks}):
        _, title, count, facts, said = edges.get(id_, (id_, None, 0, 0, None))
        _, other, passages, of_passage = chunks.get(id_, (id_, None, 0, None))
        name = None if "title" in hidden else title or other
        properties = read(said if said is not None else of_passage)
        metadata = {key: value for key, value in properties.items() if key not in _PLACE}
        found.append(
            DocumentInfo(id=id_, title=name or id_, edges=count, facts=facts, chunks=passages, metadata=metadata)
        )
    return tuple(found)


def _checked(name: str, value: Any) -> Any:
    if isinstance(value, tuple | list) and not any(isinstance(item, tuple | list) for item in value):
        return [_checked(name, item) for item in value]
    if isinstance(value, bool) or (isinstance(value, int) and _INT64[0] <= value <= _INT64[1]):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    if isinstance(value, str) and "\0" not in value and is_unicode(value):
        return value
    raise StoreError(
        f"The property {name!r} has a value that cannot be stored: {str(value)[:60]!r}.",
        remedy="Keep numbers finite and within 64 bits, texts valid Unicode, and lists flat.",
    )
