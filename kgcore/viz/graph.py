"""The beam frontier as a network: entities in columns or as springs pull them, an edge a fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from pyvis.network import Network

from kgcore.types import Candidate, Retrieval, Trace
from kgcore.viz.aliases import link_lines
from kgcore.viz.diff import Diff
from kgcore.viz.force import force
from kgcore.viz.frontier import Frontier, frontier, new_words
from kgcore.viz.labels import UNNAMED, cut, listed, node_labels, plain
from kgcore.viz.layout import Kind, Layout, columns
from kgcore.viz.limits import Drawn, drawn
from kgcore.viz.nodes import Node, entered_nodes, node_title, nodes_of
from kgcore.viz.steps import echo, steps

NODE_KEYS = (
    *("id", "label", "title", "name", "type", "degree", "hop", "near", "hub", "entered", "left", "alias", "x", "y"),
)
EDGE_KEYS = (
    *("id", "from", "to", "label", "title", "hop", "near", "inResult", "entered", "left", "gone", "alias", "chain"),
    "curve",
)
PARALLEL_CURVE = 0.22


def graph_payload(
    retrieval: Retrieval, known: Layout | None = None, *, diff: Diff | None = None, layout: Kind = "columns"
) -> tuple[dict[str, Any], Layout]:
    """All that the graph component needs for one run, and the layout to hand in with the next of the same question.

    What stands in `known` does not move; without it, or with one of the other kind, everything is placed anew. With a
    `diff`, what entered the result is marked, and what left it is drawn too. No more is drawn than `limits` allow.
    """
    trace = retrieval.trace
    found = frontier(trace)
    shown = drawn(trace, found, diff)
    nodes = nodes_of(shown)
    laid_out = _laid_out(nodes, shown, known if known and known.kind == layout else None, layout)
    net_nodes, net_edges, *_ = _network(trace, found, shown, nodes, laid_out, diff).get_network_data()
    payload = {
        "layout": layout,
        "leftOut": shown.left_out,
        "echo": echo(trace),
        "steps": steps(trace),
        "nodes": [_only(NODE_KEYS, node) for node in net_nodes],
        "edges": [_only(EDGE_KEYS, edge) for edge in net_edges],
    }
    if diff and diff.sides:
        payload["sides"] = list(diff.sides)
    return payload, laid_out


def network(retrieval: Retrieval) -> Network:
    """The beam frontier as a pyvis network, placed in columns."""
    found = frontier(retrieval.trace)
    shown = drawn(retrieval.trace, found)
    nodes = nodes_of(shown)
    return _network(retrieval.trace, found, shown, nodes, _laid_out(nodes, shown, None, "columns"), None)


def _laid_out(nodes: Sequence[Node], shown: Drawn, known: Layout | None, kind: Kind) -> Layout:
    """In columns, near misses and what left are placed last, so that the others stand as if alone."""
    if kind == "force":
        facts = [(c.parent_id, c.entity_id) for c in (*shown.kept, *shown.near, *shown.left)]
        aliases = [(link.alias.of_id, alias_id) for alias_id, link in shown.links.items()]
        return force([node.place for node in nodes], [*facts, *aliases], known)
    reached = columns([node.place for node in nodes if not (node.near or node.left)], known)
    return columns([node.place for node in nodes if node.near or node.left], reached)


def _network(
    trace: Trace, found: Frontier, shown: Drawn, nodes: Sequence[Node], layout: Layout, diff: Diff | None
) -> Network:
    """Directed, or pyvis drops parallel edges; no label is empty, or it shows the id."""
    net = Network(directed=True)
    labels = node_labels(
        {node.entity_id: node.name for node in nodes},
        {node.entity_id: node.type for node in nodes},
    )
    new_nodes = entered_nodes(shown, diff) if diff else set()
    for node in nodes:
        x, y = layout.places[node.entity_id]
        hub = node.entity_id in found.hubs
        entered = node.entity_id in new_nodes
        net.add_node(
            node.entity_id,
            label=labels[node.entity_id],
            title=node_title(node, diff, hub=hub, entered=entered),
            name=plain(node.name) or UNNAMED,
            type=plain(node.type),
            degree=node.degree,
            hop=node.hop,
            near=node.near,
            hub=hub,
            entered=entered,
            left=node.left,
            alias=(plain(node.alias.of_name) or UNNAMED) if node.alias else "",
            x=x,
            y=y,
        )
    curves = Curves(layout)
    _add_facts(net, trace, found, shown, curves, diff)
    _add_links(net, found, shown, curves, new_nodes)
    return net


def _add_facts(net: Network, trace: Trace, found: Frontier, shown: Drawn, curves: Curves, diff: Diff | None) -> None:
    entered_facts = diff.entered if diff else frozenset()
    left_facts = {candidate.fact.id for candidate in diff.left} if diff else set()
    gone = {candidate.fact.id for candidate in shown.left}
    candidates = (*shown.kept, *shown.near, *shown.left)
    starts = {c.fact.id: (shown.links[c.parent_id].id,) for c in candidates if c.parent_id in shown.links}
    for candidate in candidates:
        fact = candidate.fact
        marks = {"entered": fact.id in entered_facts, "left": fact.id in left_facts, "gone": fact.id in gone}
        net.add_edge(
            fact.source_id,
            fact.target_id,
            id=fact.id,
            label=cut(plain(fact.relation)),
            title="\n".join(_edge_lines(candidate, trace, found, diff, **marks)),
            hop=candidate.hop,
            near=candidate.fate == "beam_cut",
            inResult=fact.id in found.rank,
            alias=False,
            chain=[id_ for fact_id in candidate.chain for id_ in (*starts.get(fact_id, ()), fact_id)],
            curve=curves.between(fact.source_id, fact.target_id),
            **marks,
        )


def _add_links(net: Network, found: Frontier, shown: Drawn, curves: Curves, new_nodes: Container[str]) -> None:
    """An edge between what was reached and each alias that the walk went on from."""
    in_result = {candidate.parent_id for candidate in shown.kept if candidate.fact.id in found.rank}
    for alias_id, link in shown.links.items():
        net.add_edge(
            link.alias.of_id,
            alias_id,
            id=link.id,
            label="may be",
            title="\n".join(link_lines(link)),
            hop=link.hop,
            near=link.near,
            inResult=not link.left and alias_id in in_result,
            alias=True,
            chain=[],
            curve=curves.between(link.alias.of_id, alias_id),
            entered=not link.left and alias_id in new_nodes,
            left=link.left,
            gone=link.left,
        )


class Curves:
    """Bends all but the first edge between two nodes, and those within a column: none hides another."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._seen: Counter[tuple[str, ...]] = Counter()

    def between(self, start: str, end: str) -> float:
        """How the next edge between the two is bent."""
        ends = start, end
        pair = tuple(sorted(ends))
        places = self._layout.places
        in_column = self._layout.kind == "columns" and places[start][0] == places[end][0]
        bend = self._seen[pair] + int(in_column)
        self._seen[pair] += 1
        # An edge drawn from the other end bends the other way unless its sign is turned too.
        return round(PARALLEL_CURVE * bend * (1 if ends == pair else -1), 2)


def _edge_lines(
    candidate: Candidate, trace: Trace, found: Frontier, diff: Diff | None, *, entered: bool, left: bool, gone: bool
) -> Iterator[str]:
    fact = candidate.fact
    yield f"{plain(fact.source)} —{plain(fact.relation)}→ {plain(fact.target)}"
    if gone and diff:
        yield diff.told_left if diff.sides else f"{diff.told_left}: this walk does not keep it"
        return
    if candidate.rank:
        yield f"hop {candidate.hop} · score {candidate.score:.3f} · rank {candidate.rank}"
    words = listed(new_words(candidate, trace))
    yield f"explains: {words}" if words else "no new words"
    if candidate.fate == "beam_cut":
        yield f"near miss: enters at beam {candidate.rank}"
    elif fact.id not in found.rank:
        yield "kept by the beam, cut from the result"
    if left and diff:
        yield diff.told_left
    if entered and diff:
        yield diff.told_entered


def _only(keys: tuple[str, ...], item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item[key] for key in keys}
