"""What a graph can be asked in Cypher: in words, and as queries to begin with."""

from __future__ import annotations

from kgcore.cypher.projection import CypherSchema, Pattern
from kgcore.types import HAS_ATTRIBUTE

_LISTED = 40


def quoted(name: str) -> str:
    """A name as a query can hold it."""
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"


def match_of(pattern: Pattern) -> str:
    """A query that gives relationships of a pattern with their nodes."""
    source, relation, target = quoted(pattern.source), quoted(pattern.relation), quoted(pattern.target)
    return f"MATCH (a:{source})-[r:{relation}]->(b:{target})\nRETURN a, r, b LIMIT 25"


def described(schema: CypherSchema) -> str:
    """The schema in a few lines, the most common first."""
    labels = ", ".join(f"{quoted(name)} ({count:,})" for name, count in list(schema.labels.items())[:_LISTED])
    patterns = [
        f"(:{quoted(p.source)})-[:{quoted(p.relation)}]->(:{quoted(p.target)}) ({p.count:,})"
        for p in schema.patterns[:_LISTED]
    ]
    more = "" if len(schema.patterns) <= _LISTED else f"\nand {len(schema.patterns) - _LISTED:,} more patterns"
    properties = ", ".join(
        quoted(n) for n in sorted({n for names in schema.properties.values() for n in names})[:_LISTED]
    )
    return (
        f"Node labels: {labels or 'none'}. Each node is an :Entity with `id` and `name`.\n"
        f"Patterns:\n{chr(10).join(patterns) or 'none'}{more}\n"
        f"Relationship properties: {properties or 'none'}. Attributes are {HAS_ATTRIBUTE} relationships with a `key`."
    )


def examples_of(schema: CypherSchema) -> tuple[str, ...]:
    """Queries that give rows: a list, the commonest pattern, who is most connected, two hops, attributes."""
    if not schema.patterns:
        return ()
    named = [p for p in schema.patterns if p.relation != HAS_ATTRIBUTE] or list(schema.patterns)
    first = named[0]
    found = [
        f"MATCH (n:{quoted(first.source)}) RETURN n.name AS name ORDER BY name LIMIT 20",
        match_of(first),
        "MATCH (n:Entity)-[r]-()\nRETURN n.name AS name, count(r) AS edges ORDER BY edges DESC, name LIMIT 10",
    ]
    if schema.chain:
        found.append(_two_hops(*schema.chain))
    if any(p.relation == HAS_ATTRIBUTE for p in schema.patterns):
        found.append(
            f"MATCH (n)-[r:{HAS_ATTRIBUTE}]->(v)\nRETURN n.name AS name, r.key AS attribute, v.name AS value "
            "ORDER BY name, attribute LIMIT 25"
        )
    return tuple(found)


def _two_hops(first: Pattern, second: Pattern) -> str:
    return (
        f"MATCH p = (:{quoted(first.source)})-[:{quoted(first.relation)}]->(:{quoted(first.target)})"
        f"-[:{quoted(second.relation)}]->(:{quoted(second.target)})\nRETURN p LIMIT 10"
    )
