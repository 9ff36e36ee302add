"""Nodes as if they pushed each other away and facts were springs; each stands in a cell of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import rustworkx

from kgcore.viz.layout import Layout, Place, Point

CELL_WIDTH = 172
CELL_HEIGHT = 44
CELLS_A_NODE = 2.4
ASPECT = 1.5
SEED = 7
ROUNDS = 60
PAIRS = 60_000_000
"""How many pairs of nodes all rounds together may look at: some half a second."""

_GOLDEN = math.pi * (3 - math.sqrt(5))


def force(wanted: Sequence[Place], links: Iterable[tuple[str, str]], known: Layout | None = None) -> Layout:
    """A layout for all wanted nodes and all known ones, which do not move. `links` join wanted nodes.

    Fresh, the walk is first spread out as a fan round its seeds. Cells lie as bricks do, so that no two boxes touch.
    """
    places = dict(known.places) if known else {}
    fresh = [node for node in wanted if node.entity_id not in places]
    if fresh:
        size = _size(len(places) + len(fresh))
        sprung = _spring(wanted, links, places, size)
        taken = set(places.values())
        for node in fresh:
            places[node.entity_id] = _free_cell(sprung[node.entity_id], size, taken)
            taken.add(places[node.entity_id])
    return Layout(kind="force", places=places)


def _size(nodes: int) -> tuple[float, float]:
    """Half the width and half the height of a picture with so many nodes."""
    area = nodes * CELLS_A_NODE * CELL_WIDTH * CELL_HEIGHT
    return math.sqrt(area * ASPECT) / 2, math.sqrt(area / ASPECT) / 2


def _spring(
    wanted: Sequence[Place], links: Iterable[tuple[str, str]], places: Mapping[str, Point], size: tuple[float, float]
) -> dict[str, tuple[float, float]]:
    """Where the springs pull each wanted node, in a square from -1 to 1."""
    index = {node.entity_id: at for at, node in enumerate(wanted)}
    graph: rustworkx.PyGraph[str, None] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(list(index))
    graph.add_edges_from_no_data([(index[a], index[b]) for a, b in links if a != b])
    roots = [index[node.entity_id] for node in wanted if node.parent_id is None]
    graph.add_edges_from_no_data([(roots[0], root) for root in roots[1:]])  # so that what nothing joins stays near
    fixed = {index[one] for one in index if one in places}
    start = _beside_known(wanted, places, size) if fixed else _fan(wanted)
    sprung = rustworkx.spring_layout(
        graph,
        pos={index[one]: point for one, point in start.items()},
        fixed=fixed or None,
        k=2 / math.sqrt(len(index)),
        num_iter=max(5, min(ROUNDS, PAIRS // len(index) ** 2)),
        seed=SEED,
    )
    return {one: (sprung[at][0], sprung[at][1]) for one, at in index.items()}


def _beside_known(
    wanted: Sequence[Place], places: Mapping[str, Point], size: tuple[float, float]
) -> dict[str, tuple[float, float]]:
    """Known nodes where they are; a new one beside its parent, on the outer side."""
    start: dict[str, tuple[float, float]] = {}
    step = 2 / math.sqrt(len(wanted))
    for at, node in enumerate(wanted):
        if known := places.get(node.entity_id):
            start[node.entity_id] = known[0] / size[0], known[1] / size[1]
        else:
            x, y = start.get(node.parent_id or "", (0.0, 0.0))
            out = math.hypot(x, y) or 1.0
            turn = at * _GOLDEN
            start[node.entity_id] = (
                x + step * (x / out + 0.3 * math.cos(turn)),
                y + step * (y / out + 0.3 * math.sin(turn)),
            )
    return start


def _fan(wanted: Sequence[Place]) -> dict[str, tuple[float, float]]:
    """A ring a column; each node in the middle of the arc that its own children share."""
    known = {node.entity_id for node in wanted}
    children: dict[str | None, list[Place]] = {}
    for node in wanted:
        children.setdefault(node.parent_id if node.parent_id in known else None, []).append(node)
    weight: dict[str, int] = {}
    for node in reversed(wanted):  # children come after their parents
        weight[node.entity_id] = max(1, sum(weight.get(one.entity_id, 1) for one in children.get(node.entity_id, ())))
    rings = max((node.column for node in wanted), default=0) + 1
    start: dict[str, tuple[float, float]] = {}
    arcs: list[tuple[str | None, float, float]] = [(None, 0.0, math.tau)]
    while arcs:
        parent, begin, width = arcs.pop()
        own = children.get(parent, ())
        whole = sum(weight[one.entity_id] for one in own)
        for node in own:
            share = width * weight[node.entity_id] / whole
            middle = begin + share / 2
            radius = (node.column + 0.4) / rings
            start[node.entity_id] = radius * math.cos(middle), radius * math.sin(middle)
            arcs.append((node.entity_id, begin, share))
            begin += share
    return start


def _free_cell(at: tuple[float, float], size: tuple[float, float], taken: set[Point]) -> Point:
    row = round(at[1] * size[1] / CELL_HEIGHT)
    odd = row % 2
    column = round(at[0] * size[0] / CELL_WIDTH - odd / 2)
    reach = 8
    while True:
        for down, right in _outwards(reach, odd):
            y = row + down
            cell = round((column + right + y % 2 / 2) * CELL_WIDTH), y * CELL_HEIGHT
            if cell not in taken:
                return cell
        reach *= 2


@cache
def _outwards(reach: int, odd: int) -> list[tuple[int, int]]:
    """The cells round one, nearest first, as rows down and columns right; every other row is half a cell aside."""

    def distance(cell: tuple[int, int]) -> float:
        down, right = cell
        return math.hypot((right + ((odd + down) % 2 - odd) / 2) * CELL_WIDTH, down * CELL_HEIGHT)

    cells = [(down, right) for down in range(-3 * reach, 3 * reach + 1) for right in range(-reach, reach + 1)]
    return sorted(cells, key=lambda cell: (distance(cell), cell))
