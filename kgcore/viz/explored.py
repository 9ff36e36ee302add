"""A picture that a person explored, as JSON for its component: colour and letter are an entity's type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kgcore.browse import Explored, Node
from kgcore.types import HAS_ATTRIBUTE, Fact
from kgcore.viz.force import force
from kgcore.viz.graph import Curves
from kgcore.viz.labels import UNNAMED, count, cut, node_labels, plain
from kgcore.viz.layout import Layout, Place

COLOURS = 8
"""Types that have a colour of their own; all others share the one after, as all facts do the one after that."""
NO_LETTER = "•"
APART = 1.3
"""How much further apart rows stand than on Ask, so that there is room to write on lines."""


def explored_payload(
    explored: Explored,
    types: Mapping[str, int],
    known: Layout | None = None,
    *,
    off_types: Collection[str] = (),
    off_relations: Collection[str] = (),
) -> tuple[dict[str, Any], Layout]:
    """All that the component needs for a picture, and the layout to hand in with the next of the same exploration.

    `types` counts the graph's entities by type: the most common have colours. What is `off` is in the legend alone.
    """
    looks = type_looks(types)
    layout = _laid_out(explored, known)
    drawn = {id_: node for id_, node in explored.drawn.items() if node.end.type not in off_types}
    facts = [
        fact
        for fact in explored.facts
        if fact.source_id in drawn and fact.target_id in drawn and not _is_off(fact, off_relations)
    ]
    labels = node_labels(
        {id_: node.end.name for id_, node in drawn.items()}, {id_: node.end.type for id_, node in drawn.items()}
    )
    curves = Curves(layout)
    payload = {
        "layout": layout.kind,
        "nodes": [_node(node, labels[id_], looks, layout) for id_, node in drawn.items()],
        "edges": [_edge(fact, curves) for fact in facts],
        "types": _types(explored.drawn.values(), looks, off_types),
        "relations": _relations(explored.facts, off_relations),
    }
    return payload, layout


def type_looks(types: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """A colour's number and a letter for each type, the most common first; no two of those with colours share both."""
    ordered = sorted(types, key=lambda name: (-types[name], name))
    taken: set[str] = set()
    looks = {}
    for at, name in enumerate(ordered):
        letters = [letter.upper()[:1] for letter in plain(name) if letter.isalnum()]
        letter = next((one for one in letters if one not in taken), NO_LETTER)
        taken.add(letter)
        looks[name] = min(at, COLOURS), letter
    return looks


def _laid_out(explored: Explored, known: Layout | None) -> Layout:
    """Step by step, as the picture came about: a link places everything as it was placed when it was made."""
    layout = known or Layout(kind="force")
    depth: dict[str, int] = {}
    for node in explored.nodes:
        depth[node.end.id] = depth.get(node.parent_id or "", -1) + 1
    for since in sorted({node.since for node in explored.nodes}):
        here = {node.end.id: node for node in explored.nodes if node.since <= since}
        if here.keys() <= layout.places.keys():
            continue
        wanted = [Place(entity_id=id_, column=depth[id_], parent_id=node.parent_id) for id_, node in here.items()]
        facts = [line.fact for line in explored.lines if line.since <= since]
        layout = force(wanted, [(fact.source_id, fact.target_id) for fact in facts], layout)
    return layout


def _node(node: Node, label: str, looks: Mapping[str, tuple[int, str]], layout: Layout) -> dict[str, Any]:
    end = node.end
    colour, letter = looks.get(end.type, (COLOURS, NO_LETTER))
    x, y = layout.places[end.id]
    more = end.degree - node.shown
    about = [plain(end.type), f"{node.shown:,} of {count(end.degree, 'edge')} drawn", "pinned" if node.pinned else ""]
    return {
        "id": end.id,
        "label": label,
        "title": "\n".join([plain(end.name) or UNNAMED, " · ".join(part for part in about if part)]),
        "name": plain(end.name) or UNNAMED,
        "type": plain(end.type),
        "mark": letter,
        "degree": end.degree,
        "aside": f"+{more:,}" if more else "",
        "hop": colour,
        "grown": node.grown,
        "pinned": node.pinned,
        "x": x,
        "y": round(APART * y),
    }


def _edge(fact: Fact, curves: Curves) -> dict[str, Any]:
    id_ = f"{fact.id} {fact.target_id}"
    says = f"{plain(fact.source) or UNNAMED} —{plain(fact.relation)}→ {plain(fact.target) or UNNAMED}"
    more = [plain(fact.description)] if fact.description else []
    if fact.source_doc_ids:
        more.append(count(len(fact.source_doc_ids), "document"))
    return {
        "id": id_,
        "from": fact.source_id,
        "to": fact.target_id,
        "label": cut(plain(fact.relation)),
        "title": "\n".join([says, *more]),
        "says": says,
        "hop": COLOURS + 1,
        "inResult": True,
        "chain": [id_],
        "curve": curves.between(fact.source_id, fact.target_id),
    }


def _types(nodes: Iterable[Node], looks: Mapping[str, tuple[int, str]], off: Collection[str]) -> list[dict[str, Any]]:
    counts = Counter(node.end.type for node in nodes)
    listed = []
    for name in [*(name for name in looks if name in counts), *sorted(counts.keys() - looks.keys())]:
        colour, letter = looks.get(name, (COLOURS, NO_LETTER))
        said = {"key": name, "name": plain(name) or "(no type)", "count": counts[name], "on": name not in off}
        listed.append({**said, "colour": colour, "mark": letter})
    return listed


def _relations(facts: Sequence[Fact], off: Collection[str]) -> list[dict[str, Any]]:
    counts = Counter(fact.relation for fact in facts)
    left_out = {fact.relation for fact in facts if _is_off(fact, off)}
    return [
        {"key": name, "name": plain(name) or UNNAMED, "count": counts[name], "on": name not in left_out}
        for name in sorted(counts, key=lambda name: (-counts[name], name))
    ]


def _is_off(fact: Fact, off: Collection[str]) -> bool:
    """An attribute goes by its key, and by the relation that all attributes have."""
    return fact.relation in off or (fact.attribute and HAS_ATTRIBUTE in off)
