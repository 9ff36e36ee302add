"""What plays which role in a table of triples, by the names of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from kgcore.ingest.importers.cells import text_of
from kgcore.ingest.importers.tables import Table, plain

ENDS = ("source", "source_id", "source_type"), ("target", "target_id", "target_type")
ROLES = (
    "source", "relation", "target", "source_type", "target_type", "source_id", "target_id", "description", "document",
    "key", "id",
)  # fmt: skip
_PAIRS = tuple(
    tuple(pair.split("/"))
    for pair in "subject/object subj/obj head/tail source/target source/dest source/destination src/dst src/tgt from/to"
    " start/end entity1/entity2 node1/node2 u/v s/o h/t".split()
)
"""What tools call the two ends; the first pair that is there is it."""
_OTHERS = {
    "relation": "relation relationship predicate relationtype relationshiptype relationname relationlabel"
    " predicatename predicatelabel edgetype rel pred verb property edge r p label type",
    "description": "description desc fact evidence sentence",
    "document": "document documentid doc docid sourcedocid sourcedocument passage passageid chunk chunkid",
    "key": "key attribute",
    "id": "edgeid tripleid id",
}
_NAME, _ID, _TYPE = ("name", "label", "entity", ""), ("id", ""), ("type", "entitytype")
_DIRECTIONS = frozenset(("directed", "undirected", "mutual"))

HEADER = frozenset(
    [word + ending for pair in _PAIRS for word in pair for ending in {*_NAME, *_ID}] + _OTHERS["relation"].split()
)
"""Names of columns of which two make a row a header."""


def proposed_roles(table: Table) -> dict[str, str]:
    """Each role's column, by its name; where names say nothing the first three, or two: source, relation, target."""
    named = {plain(column): column for column in reversed(table.columns)}
    roles = _ends(named)
    for role, words in _OTHERS.items():
        for word in words.split():
            column = named.get(word)
            if column is not None and column not in roles.values() and _plays(table, role, column):
                roles[role] = column
                break
    if table.form != "objects":
        roles |= _by_place(table, roles)
    return {role: roles[role] for role in ROLES if role in roles}


def has_ends(roles: Mapping[str, str]) -> bool:
    """Whether a source and a target are named, or have ids."""
    return all(name in roles or id_ in roles for name, id_, _ in ENDS)


def _ends(named: Mapping[str, str]) -> dict[str, str]:
    """Both ends in the words of one pair, else of two: a column "source" beside subject and object is no end."""
    firsts, seconds = zip(*_PAIRS, strict=True)
    for words in (*_PAIRS, *product(dict.fromkeys(firsts), seconds)):
        roles: dict[str, str] = {}
        for (name, id_, type_), word in zip(ENDS, words, strict=True):
            for role, endings in ((name, _NAME), (id_, _ID), (type_, _TYPE)):
                columns = (named.get(word + ending) for ending in endings)
                column = next((found for found in columns if found and found not in roles.values()), None)
                if column is not None:
                    roles[role] = column
        if has_ends(roles):
            return roles
    return {}


def _by_place(table: Table, roles: Mapping[str, str]) -> dict[str, str]:
    if has_ends(roles):
        return {}
    needed = ["source", "target"] if len(table.columns) == 2 else ["source", "relation", "target"]
    free = [column for column in table.columns if column not in roles.values() and column != table.counting]
    return dict(zip((role for role in needed if role not in roles), free, strict=False))


def _plays(table: Table, role: str, column: str) -> bool:
    """Not so: a count or a kind of relation as ids of edges, and the directions that graph tools write as a type."""
    values = [value for row in table.sample if (value := text_of(row.get(column)))]
    if role == "id":
        return len({*values}) == len(values) and not any(value.isdigit() for value in values)
    return role != "relation" or not values or not {value.lower() for value in values} <= _DIRECTIONS
