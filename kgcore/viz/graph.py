"""The beam frontier as a network: entities in columns, an edge a fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyvis.network import Network

from kgcore.types import Candidate, Retrieval, Trace
from kgcore.viz.frontier import Frontier, frontier, new_words
from kgcore.viz.labels import UNNAMED, count, cut, listed, node_labels, plain
from kgcore.viz.layout import Place, Positions, place
from kgcore.viz.steps import echo, steps

NODE_KEYS = ("id", "label", "title", "name", "type", "degree", "hop", "near", "hub", "x", "y")
EDGE_KEYS = ("id", "from", "to", "label", "title", "hop", "near", "inResult", "chain", "curve")
PARALLEL_CURVE = 0.22


@dataclass(frozen=True, kw_only=True)
class _Node:
    entity_id: str
    name: str
    type: str
    degree: int
    hop: int
    near: bool
    reached: str
    parent_id: str | None


def graph_payload(retrieval: Retrieval, known: Mapping[str, tuple[int, int]]) -> tuple[dict[str, Any], Positions]:
    """All that the graph component needs for one run, and the positions to hand in with the next."""
    trace = retrieval.trace
    found = frontier(trace)
    nodes = _nodes(trace, found)
    positions = _positions(nodes, known)
    drawn, edges, *_ = _network(trace, found, nodes, positions).get_network_data()
    payload = {
        "echo": echo(trace),
        "steps": steps(trace),
        "nodes": [_only(NODE_KEYS, node) for node in drawn],
        "edges": [_only(EDGE_KEYS, edge) for edge in edges],
    }
    return payload, positions


def network(retrieval: Retrieval) -> Network:
    """The beam frontier as a pyvis network, placed in columns."""
    found = frontier(retrieval.trace)
    nodes = _nodes(retrieval.trace, found)
    return _network(retrieval.trace, found, nodes, _positions(nodes, {}))


def _network(trace: Trace, found: Frontier, nodes: dict[str, _Node], positions: Positions) -> Network:
    """Directed, or pyvis drops parallel edges; no label is empty, or it shows the id."""
    net = Network(directed=True)
    labels = node_labels(
        {node.entity_id: node.name for node in nodes.values()},
        {node.entity_id: node.type for node in nodes.values()},
    )
    for node in nodes.values():
        x, y = positions[node.entity_id]
        hub = node.entity_id in found.hubs
        net.add_node(
            node.entity_id,
            label=labels[node.entity_id] or UNNAMED,
            title=_node_title(node, hub=hub),
            name=plain(node.name) or UNNAMED,
            type=plain(node.type),
            degree=node.degree,
            hop=node.hop,
            near=node.near,
            hub=hub,
            x=x,
            y=y,
        )
    for candidate, curve in _with_curves((*found.kept, *found.near), positions):
        fact = candidate.fact
        net.add_edge(
            fact.source_id,
            fact.target_id,
            id=fact.id,
            label=cut(plain(fact.relation)),
            title=_edge_title(candidate, trace, found),
            hop=candidate.hop,
            near=candidate.fate == "beam_cut",
            inResult=fact.id in found.rank,
            chain=list(candidate.chain),
            curve=curve,
        )
    return net


def _nodes(trace: Trace, found: Frontier) -> dict[str, _Node]:
    """Seeds, then what each hop reached, then what only near misses reach; each once, as it was first met."""
    nodes: dict[str, _Node] = {}
    for seed in trace.seeds:
        reached = f"seed, found by {seed.found_by} ({seed.score:.2f})"
        nodes.setdefault(
            seed.entity_id,
            _Node(
                entity_id=seed.entity_id,
                name=seed.name,
                type=seed.type,
                degree=seed.degree,
                hop=0,
                near=False,
                reached=reached,
                parent_id=None,
            ),
        )
    for candidate in (*found.kept, *found.near):
        for entity_id in (candidate.parent_id, candidate.entity_id):
            nodes.setdefault(entity_id, _met(candidate, entity_id))
    return nodes


def _met(candidate: Candidate, entity_id: str) -> _Node:
    fact = candidate.fact
    far = entity_id == candidate.entity_id
    return _Node(
        entity_id=entity_id,
        name=candidate.entity_name if far else candidate.parent_name,
        type=fact.source_type if entity_id == fact.source_id else fact.target_type,
        degree=candidate.degree if far else 0,
        hop=candidate.hop if far else candidate.hop - 1,
        near=candidate.fate == "beam_cut",
        reached=f"hop {candidate.hop} from {plain(candidate.parent_name)}",
        parent_id=candidate.parent_id if far else None,
    )


def _positions(nodes: dict[str, _Node], known: Mapping[str, tuple[int, int]]) -> Positions:
    """Near misses are placed last, so that showing them moves nothing."""
    places = {
        near: [
            Place(entity_id=node.entity_id, column=node.hop, parent_id=node.parent_id)
            for node in nodes.values()
            if node.near is near
        ]
        for near in (False, True)
    }
    return place(places[True], place(places[False], known))


def _with_curves(candidates: tuple[Candidate, ...], positions: Positions) -> list[tuple[Candidate, float]]:
    """Bends all but the first edge between two nodes, and those within a column: none hides another."""
    seen: Counter[tuple[str, ...]] = Counter()
    curved = []
    for candidate in candidates:
        ends = candidate.fact.source_id, candidate.fact.target_id
        pair = tuple(sorted(ends))
        same_column = positions[ends[0]][0] == positions[ends[1]][0]
        bend = seen[pair] + int(same_column)
        # An edge drawn from the other end bends the other way unless its sign is turned too.
        curved.append((candidate, round(PARALLEL_CURVE * bend * (1 if ends == pair else -1), 2)))
        seen[pair] += 1
    return curved


def _node_title(node: _Node, *, hub: bool) -> str:
    about = [plain(node.type)] if node.type else []
    if node.degree:
        about.append(count(node.degree, "edge"))
    lines = [plain(node.name), " · ".join(about), node.reached]
    if hub:
        lines.append("a hub: it has too many edges to be walked through")
    return "\n".join(line for line in lines if line)


def _edge_title(candidate: Candidate, trace: Trace, found: Frontier) -> str:
    fact = candidate.fact
    lines = [f"{plain(fact.source)} —{plain(fact.relation)}→ {plain(fact.target)}"]
    if candidate.rank:
        lines.append(f"hop {candidate.hop} · score {candidate.score:.3f} · rank {candidate.rank}")
    words = listed(new_words(candidate, trace))
    lines.append(f"explains: {words}" if words else "no new words")
    if candidate.fate == "beam_cut":
        lines.append(f"near miss: enters at beam {candidate.rank}")
    elif fact.id not in found.rank:
        lines.append("kept by the beam, cut from the result")
    return "\n".join(lines)


def _only(keys: tuple[str, ...], item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item[key] for key in keys}
