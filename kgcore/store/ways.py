"""The shortest ways through a graph, from what a search by breadth reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

N = TypeVar("N")
E = TypeVar("E")


def onward(before: Mapping[N, Sequence[tuple[N, E]]], goal: N) -> dict[N, list[tuple[N, E]]]:
    """(node after, edge) of each node on a shortest way to the goal, of (node before, edge) of each node reached."""
    after: dict[N, list[tuple[N, E]]] = {}
    seen, front = {goal}, [goal]
    while front:
        nodes: dict[N, None] = {}
        for node in front:
            for near, edge in before.get(node, ()):
                after.setdefault(near, []).append((node, edge))
                nodes[near] = None
        front = [node for node in nodes if node not in seen]
        seen.update(front)
    return after


def first_ways(after: Mapping[N, Sequence[tuple[N, E]]], start: N, goal: N, limit: int) -> list[tuple[E, ...]]:
    """The first `limit` ways as their edges, by the order of the edges at each node. Every edge leads to the goal."""

    def walk(node: N, way: tuple[E, ...]) -> Iterator[tuple[E, ...]]:
        if node == goal:
            yield way
            return
        for far, edge in after.get(node, ()):
            yield from walk(far, (*way, edge))

    return list(islice(walk(start, ()), max(limit, 0)))
