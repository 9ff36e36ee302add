"""Read-only Cypher: one query, over what its asker may see."""

from kgcore.cypher.answer import CypherAnswer, Node, Relationship, Value, Way
from kgcore.cypher.executor import CypherExecutor
from kgcore.cypher.projection import CypherSchema, Pattern
from kgcore.cypher.unscoped import UnscopedCypher

__all__ = [
    "CypherAnswer",
    "CypherExecutor",
    "CypherSchema",
    "Node",
    "Pattern",
    "Relationship",
    "UnscopedCypher",
    "Value",
    "Way",
]
