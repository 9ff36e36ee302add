"""What a person explores without a question: steps from entity to entity, and all about one of them."""

from kgcore.browse.card import Card, read_card
from kgcore.browse.explore import Explored, Line, Node, explore
from kgcore.browse.near import GROWTH, Near, closeness, facts_at
from kgcore.browse.path import PATH_HOPS, chain, paths_between
from kgcore.browse.steps import MAX_STEPS, Step, read_steps, steps_text

__all__ = [
    "GROWTH",
    "MAX_STEPS",
    "PATH_HOPS",
    "Card",
    "Explored",
    "Line",
    "Near",
    "Node",
    "Step",
    "chain",
    "closeness",
    "explore",
    "facts_at",
    "paths_between",
    "read_card",
    "read_steps",
    "steps_text",
]
