"""Columns from left to right, one a hop; a node keeps the first place that it was given."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

Kind = Literal["columns", "force"]
Point = tuple[int, int]

COLUMN_GAP = 210
SUBCOLUMN_GAP = 178
ROW_GAP = 36
ROWS = 24
WIDEST = 1.6


@dataclass(frozen=True, kw_only=True)
class Band:
    """The slots of one column: `across` sub-columns of `rows` rows; `x` and `y` are the first slot's middle."""

    column: int
    x: int
    y: int
    across: int
    rows: int

    @property
    def right(self) -> int:
        """The middle of the last sub-column."""
        return self.x + (self.across - 1) * SUBCOLUMN_GAP

    @property
    def below(self) -> int:
        """The height of the row that would come next."""
        return self.y + self.rows * ROW_GAP

    def slots(self) -> list[Point]:
        """The middle of each slot, row by row."""
        xs = [self.x + across * SUBCOLUMN_GAP for across in range(self.across)]
        return [(x, self.y + row * ROW_GAP) for row in range(self.rows) for x in xs]

    def middle(self, count: int) -> list[Point]:
        """The first `count` slots of those rows in the middle that hold as many."""
        first = (self.rows - -(-count // self.across)) // 2 * self.across
        return self.slots()[first : first + count]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What must stay where it is while a question is asked with other settings.

    `places` holds every node that was ever placed, by id: the middle of its box in graph units (pixels at scale 1).
    A place once given stays taken, so a node that comes back finds it free. `bands` are the columns' slots.
    """

    kind: Kind
    places: Mapping[str, Point] = field(default_factory=dict)
    bands: tuple[Band, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Place:
    """A node that wants a place: its column, and the node that it would like to be near, mostly of the one before."""

    entity_id: str
    column: int
    parent_id: str | None = None


def columns(wanted: Sequence[Place], known: Layout | None = None) -> Layout:
    """A layout for all wanted nodes and all known ones, which do not move.

    A column of more than some 24 nodes is a band of sub-columns, so that the picture is not much higher than wide.
    The nodes of a new column stand centred, in the order of their parents and then as given; after each those whose
    parent it is. In one that stands already, a node takes the free slot nearest to its parent's height; when it is
    full, it goes on underneath.
    """
    places = dict(known.places) if known else {}
    bands = known.bands if known else ()
    fresh = [node for node in wanted if node.entity_id not in places]
    bands += _opened(Counter(node.column for node in fresh), bands, set(places.values()))
    for column, nodes in groupby(sorted(fresh, key=lambda node: node.column), key=lambda node: node.column):
        in_order = _in_order(list(nodes), places)
        own = [band for band in bands if band.column == column]
        if len(own) == 1 and own[0] not in (known.bands if known else ()):
            places.update(zip((node.entity_id for node in in_order), own[0].middle(len(in_order)), strict=True))
        else:
            places.update(_nearest_free(in_order, own, places))
    return Layout(kind="columns", places=places, bands=bands)


def _opened(wanted: Counter[int], bands: tuple[Band, ...], taken: set[Point]) -> tuple[Band, ...]:
    """A band to the right for each new column, and one underneath for what a full one cannot hold."""
    free = Counter(band.column for band in bands for slot in band.slots() if slot not in taken)
    known = {band.column for band in bands}
    beside = _beside({column: count for column, count in wanted.items() if column not in known}, bands)
    full = {
        column: count - free[column] for column, count in wanted.items() if column in known and count > free[column]
    }
    return (*beside, *_underneath(full, (*bands, *beside)))


def _beside(counts: Mapping[int, int], bands: Sequence[Band]) -> list[Band]:
    """Centred at height 0, with room for some rows more above and below."""
    rows = max([_rows(counts), *(band.rows for band in bands[:1])])
    right = max((band.right for band in bands), default=-COLUMN_GAP)
    opened = []
    for column, count in sorted(counts.items()):
        across = -(-count // rows)
        used = -(-count // across)
        y = -(used - 1) * ROW_GAP // 2 - (rows - used) // 2 * ROW_GAP
        opened.append(Band(column=column, x=right + COLUMN_GAP, y=y, across=across, rows=rows))
        right = opened[-1].right
    return opened


def _underneath(counts: Mapping[int, int], bands: Sequence[Band]) -> list[Band]:
    """Below all that stands, under the column's own place where there is room."""
    rows = _rows(counts, fewest=min(ROWS, max(counts.values(), default=1)))
    top = max((band.below for band in bands), default=0)
    opened: list[Band] = []
    for column, count in sorted(counts.items()):
        own = min(band.x for band in bands if band.column == column)
        x = max([own, *(band.right + COLUMN_GAP for band in opened[-1:])])
        opened.append(Band(column=column, x=x, y=top, across=-(-count // rows), rows=rows))
    return opened


def _rows(counts: Mapping[int, int], *, fewest: int = ROWS) -> int:
    """The fewest rows with which the bands side by side are at most `WIDEST` times as wide as high."""
    rows = fewest
    while True:
        across = [-(-count // rows) for count in counts.values()]
        width = sum(COLUMN_GAP + (one - 1) * SUBCOLUMN_GAP for one in across)
        if all(one == 1 for one in across) or width <= WIDEST * rows * ROW_GAP:
            return rows
        rows += max(1, rows // 8)


def _nearest_free(nodes: Iterable[Place], bands: Iterable[Band], places: Mapping[str, Point]) -> dict[str, Point]:
    """Each node in the free slot nearest to its parent's height, the leftmost of its row."""
    taken = set(places.values())
    rows: dict[int, list[int]] = {}
    for x, y in sorted(slot for band in bands for slot in band.slots() if slot not in taken):
        rows.setdefault(y, []).append(x)
    heights = sorted(rows)
    placed: dict[str, Point] = {}
    for node in nodes:
        wanted = _height_of_parent(node, placed if node.parent_id in placed else places)
        at = bisect_left(heights, wanted)
        y = min(heights[max(0, at - 1) : at + 1], key=lambda height: abs(height - wanted))
        placed[node.entity_id] = rows[y].pop(0), y
        if not rows[y]:
            heights.remove(y)
    return placed


def _in_order(nodes: Sequence[Place], places: Mapping[str, Point]) -> list[Place]:
    own = {node.entity_id for node in nodes}
    beside: defaultdict[str | None, list[Place]] = defaultdict(list)
    for node in nodes:
        beside[node.parent_id if node.parent_id in own else None].append(node)
    first = sorted(beside.pop(None, ()), key=lambda node: _height_of_parent(node, places))
    in_order = [one for node in first for one in (node, *beside.pop(node.entity_id, ()))]
    return [*in_order, *(node for rest in beside.values() for node in rest)]


def _height_of_parent(node: Place, places: Mapping[str, Point]) -> int:
    return places.get(node.parent_id or "", (0, 0))[1]
