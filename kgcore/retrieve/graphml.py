"""A run's facts as a graph for other tools (Gephi, yEd, Cytoscape, networkx): GraphML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as Xml

from kgcore.retrieve.render import source_titles
from kgcore.types import Fact, Retrieval

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
LONGEST = 4_000
"""Characters of a text."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE = {"id": "string", "name": "string", "type": "string", "seed": "boolean"}
_EDGE = {
    "fact": "string",
    "relation": "string",
    "rank": "int",
    "hop": "int",
    "score": "double",
    "description": "string",
    "documents": "string",
}


def facts_graphml(result: Retrieval) -> str:
    """The seeds and the result's facts as a directed graph, an edge a fact; the same result gives the same text.

    Texts are one line without what cannot be seen. Nothing but what the result shows is in it.
    """
    root = Xml.Element("graphml", xmlns=NAMESPACE)
    for domain, keys in (("node", _NODE), ("edge", _EDGE)):
        for name, type_ in keys.items():
            Xml.SubElement(
                root, "key", {"id": f"{domain}_{name}", "for": domain, "attr.name": name, "attr.type": type_}
            )
    graph = Xml.SubElement(root, "graph", edgedefault="directed")
    ends = {seed.entity_id: (seed.name, seed.type) for seed in result.trace.seeds}
    seeds = set(ends)
    for fact in result.facts:
        ends.setdefault(fact.source_id, (fact.source, fact.source_type))
        ends.setdefault(fact.target_id, (fact.target, fact.target_type))
    at = {id_: f"n{number}" for number, id_ in enumerate(ends)}
    for id_, (name, type_) in ends.items():
        node = Xml.SubElement(graph, "node", id=at[id_])
        _data(node, "node", {"id": id_, "name": name, "type": type_, "seed": id_ in seeds})
    titles = source_titles(result)
    for rank, fact in enumerate(result.facts, 1):
        edge = Xml.SubElement(graph, "edge", source=at[fact.source_id], target=at[fact.target_id])
        _data(edge, "edge", _values(fact, rank, titles))
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _values(fact: Fact, rank: int, titles: Mapping[str, str]) -> dict[str, str | float]:
    return {
        "fact": fact.id,
        "relation": fact.relation,
        "rank": rank,
        "hop": fact.hop,
        "score": fact.score,
        "description": fact.description or "",
        "documents": "; ".join(titles.get(id_, id_) for id_ in fact.source_doc_ids),
    }


def _data(element: Xml.Element, domain: str, values: Mapping[str, str | float]) -> None:
    from kgcore.viz.labels import plain  # its package draws graphs too, which no other export needs

    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else _NOT_XML.sub("", plain(str(value), LONGEST))
        Xml.SubElement(element, "data", key=f"{domain}_{name}").text = text
