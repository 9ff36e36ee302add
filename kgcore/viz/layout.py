"""Columns from left to right, one a hop; a node keeps the first place that it was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

COLUMN_GAP = 200
ROW_GAP = 40

Positions = dict[str, tuple[int, int]]
"""Entity id -> where its middle is, in graph units (pixels at scale 1)."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A node that wants a place: its column, and the node whose height it would like to be at."""

    entity_id: str
    column: int
    parent_id: str | None = None


def place(wanted: Sequence[Place], known: Mapping[str, tuple[int, int]]) -> Positions:
    """Positions for all wanted nodes and all known ones, which do not move.

    The nodes of an untouched column stand centred, in the order of their parents and then as given. In
    a column that holds some already, a node takes the free slot nearest to its parent's height. A place
    once given stays taken, so a node that comes back finds it free.
    """
    positions = dict(known)
    for column in sorted({node.column for node in wanted}):
        x = column * COLUMN_GAP
        fresh = [node for node in wanted if node.column == column and node.entity_id not in positions]
        fresh.sort(key=lambda node: _height_of_parent(node, positions))
        taken = {y for at, y in positions.values() if at == x}
        heights = _nearest_free(fresh, taken, positions) if taken else _centred(len(fresh))
        positions.update((node.entity_id, (x, y)) for node, y in zip(fresh, heights, strict=True))
    return positions


def _height_of_parent(node: Place, positions: Positions) -> int:
    return positions.get(node.parent_id or "", (0, 0))[1]


def _centred(nodes: int) -> list[int]:
    top = -(nodes - 1) * ROW_GAP // 2
    return [top + row * ROW_GAP for row in range(nodes)]


def _nearest_free(fresh: Iterable[Place], taken: set[int], positions: Positions) -> list[int]:
    heights = []
    for node in fresh:
        y = _free_slot(_height_of_parent(node, positions), taken)
        taken.add(y)
        heights.append(y)
    return heights


def _free_slot(wanted: int, taken: set[int]) -> int:
    """A column's heights are all whole rows apart, so a height that nobody has is free."""
    one = min(taken)
    nearest = one + round((wanted - one) / ROW_GAP) * ROW_GAP
    return next(y for step in count() for y in (nearest + step * ROW_GAP, nearest - step * ROW_GAP) if y not in taken)
