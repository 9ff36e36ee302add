"""An answer as a table of texts, and as CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from kgcore.cypher.answer import CypherAnswer, Node, Relationship, Value, Way
from kgcore.retrieve.export import csv_cell

Cell = bool | int | float | str | None


def cell(value: Value) -> Cell:
    """A value in words: `Helios (System)`, `acme -[USES]-> helios`, a path as its nodes in order, else JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Node):
        return _node(value)
    if isinstance(value, Relationship):
        ends = _end(value, "src_name", value.source_id), _end(value, "dst_name", value.target_id)
        return f"{ends[0]} -[{value.relation}]-> {ends[1]}"
    if isinstance(value, Way):
        return _way(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_inner(item) for item in value) + "]"
    return "{" + ", ".join(f"{name}: {_inner(item)}" for name, item in value.items()) + "}"


def table(answer: CypherAnswer) -> list[dict[str, Cell]]:
    """The rows by column; a column that holds several kinds of values holds texts."""
    columns = [_column([cell(row[at]) for row in answer.rows]) for at in range(len(answer.columns))]
    return [dict(zip(answer.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def answer_csv(answer: CypherAnswer) -> str:
    """The rows with a head; no cell is taken for a formula by what opens it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(csv_cell(name) for name in answer.columns)
    for row in answer.rows:
        writer.writerow(csv_cell(shown) if isinstance(shown := cell(value), str) else shown for value in row)
    return out.getvalue()


def _column(cells: list[Cell]) -> list[Cell]:
    kinds = {float if isinstance(one, float) else type(one) for one in cells if one is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return cells
    return [one if one is None or isinstance(one, str) else json.dumps(one) for one in cells]


def _node(node: Node) -> str:
    name = node.name or node.id
    return f"{name} ({node.type})" if node.type else name


def _end(edge: Relationship, name: str, id_: str) -> str:
    held = edge.properties.get(name)
    return held if isinstance(held, str) and held else id_


def _way(way: Way) -> str:
    text = _node(way.nodes[0]) if way.nodes else ""
    for before, edge, node in zip(way.nodes, way.relationships, way.nodes[1:], strict=False):
        forth = edge.source_id == before.id
        text += f" -[{edge.relation}]-> " if forth else f" <-[{edge.relation}]- "
        text += _node(node)
    return text


def _inner(value: Any) -> str:
    shown = cell(value)
    return shown if isinstance(shown, str) else json.dumps(shown)
