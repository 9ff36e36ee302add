"""A filter as rows and groups to edit: all that its JSON holds, as it holds it, and drafts among it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgcore.filters.grammar import LIST_COMPARISONS
from kgcore.names import is_unicode

MAX_ROWS, MAX_LEVELS = 40, 4

_STEP = re.compile(r"conditions\[(\d+)\]")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A condition. `held` is what the JSON holds in its place; a draft is not complete, and not in the JSON.

    `refused` is what was typed as its value and cannot be one; `turn` counts its changes of field.
    """

    id: int
    held: Any
    draft: bool = False
    refused: tuple[str, ...] = ()
    turn: int = 0


@dataclass(frozen=True, kw_only=True)
class Group:
    """Conditions under one AND or OR. `held` is the JSON's object, `parts` stand for its conditions."""

    id: int
    held: Mapping[str, Any]
    parts: tuple[Part, ...]


Part = Row | Group


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A filter and its drafts. An implied root is in the JSON only while it joins at least two parts."""

    root: Group
    implied: bool
    next_id: int


def tree_of(held: Any, first_id: int = 0) -> Tree:
    """The tree of what a text in JSON holds, whether the grammar allows it or not; not for one `too_large`."""
    if _is_group(held):
        root, next_id = _group(held, first_id)
        return Tree(root=root, implied=False, next_id=next_id)
    return _implied(Row(id=first_id + 1, held=held), first_id=first_id, next_id=first_id + 2)


def empty_tree(first_id: int = 0) -> Tree:
    """The tree of no filter."""
    return _implied(first_id=first_id, next_id=first_id + 1)


def too_large(held: Any) -> bool:
    """Whether it has more conditions, or deeper groups, than rows can show."""
    rows, waiting = 0, [(held, 1)]
    while waiting:
        part, level = waiting.pop()
        if not _is_group(part):
            rows += 1
        elif level > MAX_LEVELS:
            return True
        else:
            waiting += [(condition, level + 1) for condition in part["conditions"]]
        if rows > MAX_ROWS:
            return True
    return False


def text_of(tree: Tree) -> str:
    """The filter as JSON, "" for none. Drafts are not in it."""
    told = _told(tree.root)
    if tree.implied and len(told["conditions"]) < 2:
        return json_text(told["conditions"][0]) if told["conditions"] else ""
    return json_text(told) if in_filter(tree.root) else ""


def json_text(held: Any) -> str:
    """JSON in one line; half characters, which no page can show, are written as escapes."""
    text = json.dumps(held, ensure_ascii=False)
    return text if is_unicode(text) else json.dumps(held)


def in_filter(part: Part) -> bool:
    """Whether a part is in the JSON: a complete row, a group with something in it that is or with nothing at all."""
    if isinstance(part, Row):
        return not part.draft
    return not part.parts or any(map(in_filter, part.parts))


def part_at(tree: Tree, path: str) -> int:
    """The id of the part that a FilterError's path points to, or into."""
    part: Part = tree.root
    told = _parts_told(tree.root)
    if tree.implied and len(told) == 1:
        part = told[0]
    for step in path.split("."):
        place = _STEP.fullmatch(step)
        if not place or isinstance(part, Row) or int(place[1]) >= len(_parts_told(part)):
            break
        part = _parts_told(part)[int(place[1])]
    return part.id


def rows_of(part: Part) -> list[Row]:
    """Every row, drafts too, in the order that they are shown in."""
    return [part] if isinstance(part, Row) else [row for inner in part.parts for row in rows_of(inner)]


def drafts_of(tree: Tree) -> tuple[Part, ...]:
    """What is not in the filter yet: rows, and groups of nothing else."""
    found: list[Part] = []
    waiting: list[Part] = list(reversed(tree.root.parts))
    while waiting:
        part = waiting.pop()
        if not in_filter(part):
            found.append(part)
        elif isinstance(part, Group):
            waiting += reversed(part.parts)
    return tuple(found)


# -- changes: each gives another tree, in which only what it names is different


def with_parts(tree: Tree, parts: Sequence[Part]) -> Tree:
    """The tree with these of another one at its end, under ids of its own."""
    for part in parts:
        added, next_id = _renumbered(part, tree.next_id)
        tree = replace(tree, root=_with(tree.root, added), next_id=next_id)
    return tree


def with_row(tree: Tree, group: int) -> Tree:
    """With a draft at the end of a group."""
    row = Row(id=tree.next_id, held={}, draft=True)
    return replace(_changed(tree, group, lambda part: _with(part, row)), next_id=tree.next_id + 1)


def with_group(tree: Tree, group: int) -> Tree:
    """With another group at the end of a group, a draft in it; joined by what its parent is not joined by."""
    row = Row(id=tree.next_id + 1, held={}, draft=True)

    def add(part: Part) -> Part:
        operator = "AND" if isinstance(part, Group) and part.held.get("operator") == "OR" else "OR"
        return _with(part, Group(id=tree.next_id, held={"operator": operator, "conditions": []}, parts=(row,)))

    return replace(_changed(tree, group, add), next_id=tree.next_id + 2)


def without(tree: Tree, part: int) -> Tree:
    """Without a row or a group, nor the groups that this leaves empty."""
    if part == tree.root.id:
        return empty_tree(tree.next_id)
    return _changed(tree, part, lambda _: None)


def joined(tree: Tree, group: int, operator: Any) -> Tree:
    """With a group under another AND or OR."""
    return _changed(tree, group, lambda part: replace(part, held={**part.held, "operator": operator}))


def with_field(tree: Tree, row: int, field: Any, operators: Sequence[str]) -> Tree:
    """With another field in a row: its value goes, its operator only where it is none of `operators`."""

    def change(old: Row) -> Row:
        if old.held.get("field", old) == field:
            return old
        held = {**old.held, "field": field}
        held.pop("value", None)
        if held.get("operator") not in operators:
            held["operator"] = operators[0]
        return replace(old, held=held, draft=True, refused=(), turn=old.turn + 1)

    return _changed(tree, row, change)


def with_operator(tree: Tree, row: int, operator: Any) -> Tree:
    """With another operator in a row; its value becomes a list of itself, or the first of its list, as it must."""

    def change(old: Row) -> Row:
        held = {**old.held, "operator": operator}
        value = held.get("value")
        listed = operator in LIST_COMPARISONS
        if listed and isinstance(value, str | int | float):
            held["value"] = [value]
        elif not listed and isinstance(value, list):
            held.pop("value")
            held |= {"value": value[0]} if value else {}
        same = listed == (old.held.get("operator") in LIST_COMPARISONS)
        return _settled(old, held, old.refused if same else ())

    return _changed(tree, row, change)


def with_value(tree: Tree, row: int, value: Any, refused: Sequence[str] = ()) -> Tree:
    """With another value in a row, None or an empty list for none, and what was typed but refused."""

    def change(old: Row) -> Row:
        held = {name: kept for name, kept in old.held.items() if name != "value"}
        if value is not None and value != []:
            held["value"] = value
        return _settled(old, held, tuple(refused))

    return _changed(tree, row, change)


def _settled(row: Row, held: Mapping[str, Any], refused: tuple[str, ...]) -> Row:
    return replace(row, held=held, draft="value" not in held or bool(refused), refused=refused)


def _with(group: Part, part: Part) -> Group:
    assert isinstance(group, Group)
    return replace(group, parts=(*group.parts, part))


def _renumbered(part: Part, id: int) -> tuple[Part, int]:
    if isinstance(part, Row):
        return replace(part, id=id), id + 1
    parts: list[Part] = []
    next_id = id + 1
    for inner in part.parts:
        renumbered, next_id = _renumbered(inner, next_id)
        parts.append(renumbered)
    return replace(part, id=id, parts=tuple(parts)), next_id


def _changed(tree: Tree, id: int, change: Callable[[Any], Part | None]) -> Tree:
    root = _replaced(tree.root, id, change)
    if root is None:
        return empty_tree(tree.next_id)
    assert isinstance(root, Group)
    return replace(tree, root=root)


def _replaced(part: Part, id: int, change: Callable[[Any], Part | None]) -> Part | None:
    if part.id == id:
        return change(part)
    if isinstance(part, Row):
        return part
    replaced = [_replaced(inner, id, change) for inner in part.parts]
    if all(new is old for new, old in zip(replaced, part.parts, strict=True)):
        return part
    parts = tuple(new for new in replaced if new is not None)
    return replace(part, parts=parts) if parts else None


# -- to and from JSON


def _is_group(held: Any) -> bool:
    return isinstance(held, dict) and "field" not in held and isinstance(held.get("conditions"), list)


def _implied(*parts: Part, first_id: int, next_id: int) -> Tree:
    root = Group(id=first_id, held={"operator": "AND", "conditions": []}, parts=parts)
    return Tree(root=root, implied=True, next_id=next_id)


def _group(held: Mapping[str, Any], id: int) -> tuple[Group, int]:
    parts: list[Part] = []
    next_id = id + 1
    for condition in held["conditions"]:
        if _is_group(condition):
            part: Part
            part, next_id = _group(condition, next_id)
        else:
            part, next_id = Row(id=next_id, held=condition), next_id + 1
        parts.append(part)
    return Group(id=id, held=held, parts=tuple(parts)), next_id


def _parts_told(group: Group) -> list[Part]:
    return [part for part in group.parts if in_filter(part)]


def _told(part: Part) -> Any:
    if isinstance(part, Row):
        return part.held
    return {**part.held, "conditions": [_told(inner) for inner in _parts_told(part)]}
