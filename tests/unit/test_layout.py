"""Where nodes stand: in columns, or as springs pull them; and that what stands does not move."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import pytest

from kgcore.viz.force import CELL_HEIGHT, CELL_WIDTH, force
from kgcore.viz.layout import COLUMN_GAP, ROW_GAP, ROWS, SUBCOLUMN_GAP, Layout, Place, Point, columns

LEAST_WIDTH, LEAST_HEIGHT = 160, 26
"""A box at its widest, and the least between two rows."""


def hop(column: int, count: int, parents: Sequence[str] = ("s0",), first: int = 0) -> list[Place]:
    """`count` nodes of a column, from one parent after the other."""
    return [
        Place(entity_id=f"{column}-{index}", column=column, parent_id=parents[index % len(parents)])
        for index in range(first, first + count)
    ]


SEED = Place(entity_id="s0", column=0)


def in_columns(wanted: Sequence[Place], known: Layout | None = None) -> Layout:
    return columns(wanted, known)


def by_springs(wanted: Sequence[Place], known: Layout | None = None) -> Layout:
    return force(wanted, [(node.parent_id, node.entity_id) for node in wanted if node.parent_id], known)


both = pytest.mark.parametrize("lay", [in_columns, by_springs])
Lay = Callable[..., Layout]


def overlap(places: dict[str, Point]) -> list[tuple[str, str]]:
    at = sorted(places.items(), key=lambda item: item[1])
    return [
        (one, other)
        for (one, a), (other, b) in combinations(at, 2)
        if abs(a[0] - b[0]) < LEAST_WIDTH and abs(a[1] - b[1]) < LEAST_HEIGHT
    ]


@both
@pytest.mark.parametrize("size", [1, 7, 60, 300])
def test_no_two_nodes_touch(lay: Lay, size: int) -> None:
    wanted = [SEED, *hop(1, size), *hop(2, 2 * size, [f"1-{index}" for index in range(size)])]
    layout = lay(wanted)
    assert layout.places.keys() == {node.entity_id for node in wanted}
    assert overlap(dict(layout.places)) == []


@both
def test_what_stands_does_not_move_however_the_walk_changes(lay: Lay) -> None:
    layout = lay([SEED, *hop(1, 5)])
    for wanted in (
        [SEED, *hop(1, 40)],
        [SEED, *hop(1, 3), *hop(2, 90, ["1-0", "1-2"])],
        [SEED, *hop(1, 200), *hop(2, 4, ["1-150"])],
        [Place(entity_id="s1", column=0), *hop(1, 1, ["s1"], 500)],
        [SEED, *hop(1, 30), *hop(2, 300, ["1-9"]), *hop(3, 300, ["2-9"])],
    ):
        after = lay(wanted, layout)
        assert {id: after.places[id] for id in layout.places} == layout.places
        assert overlap(dict(after.places)) == []
        layout = after
    assert lay([SEED, *hop(1, 5)], layout) == layout


@both
def test_a_place_does_not_depend_on_what_is_asked_again(lay: Lay) -> None:
    wanted = [SEED, *hop(1, 30), *hop(2, 50, ["1-3", "1-20"])]
    assert lay(wanted) == lay(wanted)


@both
def test_nothing_has_a_layout(lay: Lay) -> None:
    assert lay([]).places == {}


class TestColumns:
    def test_columns_stand_from_left_to_right_centred(self) -> None:
        layout = columns([SEED, *hop(1, 4), *hop(2, 3)])
        assert [layout.places[id] for id in ("s0", "1-0", "1-3", "2-1")] == [
            (0, 0),
            (COLUMN_GAP, -3 * ROW_GAP // 2),
            (COLUMN_GAP, 3 * ROW_GAP // 2),
            (2 * COLUMN_GAP, 0),
        ]

    def test_a_new_node_takes_the_free_slot_nearest_to_its_parent(self) -> None:
        known = columns([Place(entity_id="a", column=0), *hop(1, 3, ["a"])])
        after = columns([Place(entity_id="d", column=1, parent_id="a")], known)
        assert after.places["d"] in {(COLUMN_GAP, -2 * ROW_GAP), (COLUMN_GAP, 2 * ROW_GAP)}

    def test_a_column_follows_the_heights_of_its_parents(self) -> None:
        layout = columns([*hop(0, 2), *hop(1, 6, ["0-1", "0-0"])])
        of_the_upper = [y for id, (_, y) in layout.places.items() if id in {"1-1", "1-3", "1-5"}]
        of_the_lower = [y for id, (_, y) in layout.places.items() if id in {"1-0", "1-2", "1-4"}]
        assert layout.places["0-0"][1] < layout.places["0-1"][1]
        assert max(of_the_upper) < min(of_the_lower)

    def test_what_has_its_parent_in_its_column_stands_after_it(self) -> None:
        beside = Place(entity_id="b", column=1, parent_id="1-1")
        layout = columns([SEED, *hop(1, 3), beside])
        in_order = sorted(["1-0", "1-1", "1-2", "b"], key=lambda id: layout.places[id][1])
        assert in_order == ["1-0", "1-1", "b", "1-2"]

    def test_it_comes_as_near_as_it_can_where_the_column_stands(self) -> None:
        beside = Place(entity_id="b", column=1, parent_id="1-2")
        for more in (3, 2):
            layout = columns([SEED, *hop(1, 3), beside], columns([SEED, *hop(1, more)]))
            (x, y), own = layout.places["1-2"], layout.places["b"]
            assert own in {(x, y + ROW_GAP), (x, y - ROW_GAP)}

    def test_two_that_are_each_others_parent_have_a_place(self) -> None:
        pair = [Place(entity_id="a", column=1, parent_id="b"), Place(entity_id="b", column=1, parent_id="a")]
        assert columns([SEED, *pair]).places.keys() == {"s0", "a", "b"}

    def test_a_long_column_is_a_band_of_several(self) -> None:
        layout = columns([SEED, *hop(1, ROWS), *hop(2, ROWS + 1)])
        assert {x for id, (x, _) in layout.places.items() if id.startswith("1-")} == {COLUMN_GAP}
        assert {x for id, (x, _) in layout.places.items() if id.startswith("2-")} == {
            2 * COLUMN_GAP,
            2 * COLUMN_GAP + SUBCOLUMN_GAP,
        }

    @pytest.mark.parametrize("size", [100, 300, 2_000])
    def test_the_picture_is_neither_a_pole_nor_a_ribbon(self, size: int) -> None:
        places = columns([SEED, *hop(1, size // 4), *hop(2, size // 2), *hop(3, size // 4)]).places.values()
        width = max(x for x, _ in places) - min(x for x, _ in places)
        height = max(y for _, y in places) - min(y for _, y in places)
        assert 0.8 < width / height < 2.5

    def test_a_full_column_goes_on_underneath(self) -> None:
        first = columns([SEED, *hop(1, ROWS), *hop(2, 2)])
        after = columns(hop(1, 3, first=ROWS), first)
        lowest = max(y for _, y in first.places.values())
        (x, top), *others = [after.places[f"1-{ROWS + index}"] for index in range(3)]
        assert (x, others) == (COLUMN_GAP, [(COLUMN_GAP, top + ROW_GAP), (COLUMN_GAP, top + 2 * ROW_GAP)])
        assert lowest + ROW_GAP <= top < lowest + 2 * ROW_GAP

    def test_many_more_go_on_underneath_as_a_band(self) -> None:
        first = columns([SEED, *hop(1, 4), *hop(2, 4)])
        after = columns([*hop(1, 900, first=4), *hop(2, 900, first=4)], first)
        bands = [band for band in after.bands if band not in first.bands]
        assert [band.column for band in bands] == [1, 2]
        assert all(band.across > 5 for band in bands)
        assert bands[0].right < bands[1].x
        assert overlap(dict(after.places)) == []


def cells(layout: Layout, one: str, other: str) -> float:
    """How far apart two nodes stand, in cells."""
    (ax, ay), (bx, by) = layout.places[one], layout.places[other]
    return math.hypot((ax - bx) / CELL_WIDTH, (ay - by) / CELL_HEIGHT)


class TestForce:
    def test_a_child_stands_nearer_to_its_parent_than_to_others(self) -> None:
        """Two stars side by side come out as two stars."""
        stars = [Place(entity_id=f"s{star}", column=0) for star in range(2)]
        layout = by_springs([*stars, *hop(1, 24, ["s0", "s1"])])
        nearer = [
            cells(layout, f"1-{index}", f"s{index % 2}") < cells(layout, f"1-{index}", f"s{1 - index % 2}")
            for index in range(24)
        ]
        assert sum(nearer) > 20

    def test_a_new_node_comes_near_its_parent_wherever_that_stands(self) -> None:
        wanted = [SEED, *hop(1, 10), *hop(2, 30, [f"1-{index}" for index in range(10)])]
        aside = {id: (x + 20 * CELL_WIDTH, y) for id, (x, y) in by_springs(wanted).places.items()}
        after = by_springs(
            [*wanted, Place(entity_id="new", column=2, parent_id="1-4")], Layout(kind="force", places=aside)
        )
        assert cells(after, "new", "1-4") < 4

    def test_what_nothing_joins_stays_in_the_picture(self) -> None:
        lonely = [Place(entity_id=f"s{index}", column=0) for index in range(1, 5)]
        layout = by_springs([SEED, *lonely, *hop(1, 40)])
        farthest = max(cells(layout, "s0", f"1-{index}") for index in range(40))
        assert all(cells(layout, "s0", node.entity_id) < farthest for node in lonely)
