"""A picture that a person explored, as JSON for its component: colour and letter are an entity's type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kgcore.browse import Explored, Node, edges_at, is_of
from kgcore.types import Fact
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
    layout: Layout | None = None,
    *,
    off_types: Collection[str] = (),
    off_relations: Collection[str] = (),
) -> dict[str, Any]:
    """All that the component needs for a picture, laid out as it came about, else at once.

    `types` counts the graph's entities by type: the most common have colours. What is `off` is in the legend alone.
    """
    looks = type_looks(types)
    layout = layout or laid_out(explored)
    seen = explored.without(off_types, off_relations)
    drawn, facts = seen.drawn, seen.facts
    here: dict[str, list[Fact]] = {}
    for fact in facts:
        for end in {fact.source_id, fact.target_id}:
            here.setdefault(end, []).append(fact)
    labels = node_labels(
        {id_: node.end.name for id_, node in drawn.items()}, {id_: node.end.type for id_, node in drawn.items()}
    )
    curves = Curves(layout)
    return {
        "layout": layout.kind,
        "nodes": [
            _node(node, edges_at(here.get(id_, ()), node.end), labels[id_], looks, layout)
            for id_, node in drawn.items()
        ],
        "edges": [_edge(fact, curves) for fact in facts],
        "types": _types(explored.drawn.values(), looks, off_types),
        "relations": _relations(explored.facts, off_relations),
    }


def laid_out(explored: Explored, before: Layout | None = None) -> Layout:
    """Where everything stands after the last step, going on from where it stood before that: so the same steps lead
    to the same places, of what is away meanwhile too."""
    if before is None or (explored.steps and explored.steps[-1].kind == "tidy"):
        before = Layout(kind="force")
    if all(node.end.id in before.places for node in explored.nodes):
        return before
    depth: dict[str, int] = {}
    for node in explored.nodes:
        depth[node.end.id] = depth.get(node.parent_id or "", -1) + 1
    wanted = [
        Place(entity_id=node.end.id, column=depth[node.end.id], parent_id=node.parent_id) for node in explored.nodes
    ]
    return force(wanted, [(line.fact.source_id, line.fact.target_id) for line in explored.lines], before)


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


def _node(node: Node, edges: int, label: str, looks: Mapping[str, tuple[int, str]], layout: Layout) -> dict[str, Any]:
    end = node.end
    colour, letter = looks.get(end.type, (COLOURS, NO_LETTER))
    x, y = layout.places[end.id]
    about = [plain(end.type), f"{edges:,} of {count(end.degree, 'edge')} drawn", "pinned" if node.pinned else ""]
    return {
        "id": end.id,
        "label": label,
        "title": "\n".join([plain(end.name) or UNNAMED, " · ".join(part for part in about if part)]),
        "name": plain(end.name) or UNNAMED,
        "type": plain(end.type),
        "mark": letter,
        "degree": end.degree,
        "aside": f"+{node.left:,}" if node.left else "",
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
    left_out = {fact.relation for fact in facts if is_of(fact, off)}
    return [
        {"key": name, "name": plain(name) or UNNAMED, "count": counts[name], "on": name not in left_out}
        for name in sorted(counts, key=lambda name: (-counts[name], name))
    ]
