"""What a person explores without a question: steps from entity to entity, and all about one of them."""

from kgcore.browse.card import Card, read_card
from kgcore.browse.explore import MAX_NODES, Explored, Line, Node, edges_at, explore, is_of
from kgcore.browse.near import GROWTH, RANKED, Near, closeness, facts_at
from kgcore.browse.path import PATH_HOPS, PATHS, chain, paths_between
from kgcore.browse.steps import LONGEST, MAX_STEPS, Step, read_steps, steps_text

__all__ = [
    "GROWTH",
    "LONGEST",
    "MAX_NODES",
    "MAX_STEPS",
    "PATHS",
    "PATH_HOPS",
    "RANKED",
    "Card",
    "Explored",
    "Line",
    "Near",
    "Node",
    "Step",
    "chain",
    "closeness",
    "edges_at",
    "explore",
    "facts_at",
    "is_of",
    "paths_between",
    "read_card",
    "read_steps",
    "steps_text",
]
