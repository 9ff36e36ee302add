"""Vectors of a graph that is only read, kept beside it in a folder: by edge id, and by entity and name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgcore.errors import StoreError
from kgcore.types import Vector

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class SideVectors:
    """`embedder` made them all. Row `edges[id]` of `edge_vectors` is an edge's, row i of `name_vectors` that of
    `names[i]`, an entity's id and a name of it."""

    embedder: str
    edges: Mapping[str, int]
    edge_vectors: Matrix
    names: Sequence[tuple[str, str]]
    name_vectors: Matrix

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self.edge_vectors.shape[1])

    def of_edge(self, id_: str) -> Vector | None:
        """An edge's vector, None for one that came later."""
        row = self.edges.get(id_)
        return None if row is None else np.asarray(self.edge_vectors[row])

    def of_name(self, id_: str, name: str) -> Vector | None:
        """A name's vector, None for one that came later."""
        row = self._rows.get((id_, name))
        return None if row is None else self.name_vectors[row]

    @cached_property
    def _rows(self) -> dict[tuple[str, str], int]:
        return {named: row for row, named in enumerate(self.names)}

    def score(self, id_: str, vector: Vector) -> float | None:
        """The cosine of an edge's vector with another, 6 decimals."""
        held = self.of_edge(id_)
        return None if held is None else round(float(held.astype(np.float64) @ vector.astype(np.float64)), 6)

    def nearest(self, vector: Vector, size: int) -> list[tuple[float, str, str]]:
        """(cosine, entity id, name) of the names nearest to a vector, with all that tie with the last."""
        rough = self.name_vectors @ vector
        cut = np.partition(rough, -size)[-size] - 1e-5 if size < len(rough) else -2.0
        rows = np.flatnonzero(rough >= cut)
        exact = (self.name_vectors[rows].astype(np.float64) * vector.astype(np.float64)).sum(axis=1).round(6)
        return [(float(score), *self.names[int(row)]) for score, row in zip(exact, rows, strict=True)]


def read_side(folder: Path) -> SideVectors | None:
    """The vectors that were kept in a folder, None without any. Raises StoreError for ones that cannot be read."""
    if not (folder / "about.json").is_file():
        return None
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        side = SideVectors(
            embedder=str(about["embedder"]),
            edges={id_: row for row, id_ in enumerate(about["edges"])},
            edge_vectors=np.load(folder / "edges.npy", mmap_mode="r", allow_pickle=False),
            names=[(id_, name) for id_, name in about["names"]],
            name_vectors=np.load(folder / "names.npy", allow_pickle=False),
        )
        if side.edge_vectors.shape[0] != len(side.edges) or side.name_vectors.shape[0] != len(side.names):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"The vectors in {folder.name} cannot be read.",
            remedy="Remove the folder, or compute them again with `python -m kgcore vectors STORE`.",
        ) from error
    return side


def save_side(
    folder: Path,
    embedder: str,
    edges: Mapping[str, Vector],
    names: Mapping[tuple[str, str], Vector],
) -> None:
    """Keeps vectors in a folder; what was there is replaced. Raises StoreError when it cannot be written."""
    fresh = folder.with_suffix(".tmp")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        np.save(fresh / "edges.npy", np.array([edges[id_] for id_ in edges], np.float32))
        np.save(fresh / "names.npy", np.array([names[named] for named in names], np.float32))
        about = {"embedder": embedder, "edges": list(edges), "names": [list(named) for named in names]}
        (fresh / "about.json").write_text(json.dumps(about), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    except OSError as error:
        raise StoreError(f"The folder {folder.name} cannot be written.", remedy="Check its rights.") from error
