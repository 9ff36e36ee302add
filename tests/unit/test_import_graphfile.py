"""Graph files of many tools: GraphML, GEXF, GML and JSON, and what is wrong with them."""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from kgcore import IngestError, open_store
from kgcore.ingest import plan_source, write_source
from kgcore.ingest.importers.graphfile import open_graphfile, recognises
from kgcore.ingest.importers.json_file import MOST_BYTES
from kgcore.ingest.source import DEFAULT_TYPE, Notes
from kgcore.names import edge_id, entity_id
from kgcore.retrieve import facts_csv, facts_graphml, run_json
from kgcore.types import HAS_ATTRIBUTE, Entity
from tests.contract.graphs import edge
from tests.data.build import graph, offline, retriever
from tests.unit.reading import Read, edges, reader

NO_RELATION = "edges without a relation, called RELATED"
NO_DIRECTION = "edges without a direction, kept from their first end to their second"
APART = "nodes whose type and name another has, kept apart"
NESTED = "nodes inside another node, kept beside it"
BARE = "entities left out that no relation and no attribute reaches"
read = reader(open_graphfile)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def graphml(inner: str, keys: str = "", default: str = "directed") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
        f' xmlns:y="http://www.yworks.com/xml/graphml">\n{keys}\n<graph id="G" edgedefault="{default}">\n{inner}\n'
        "</graph>\n</graphml>\n"
    )


def gexf(inner: str, graph: str = 'defaultedgetype="directed"', meta: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz"'
        f' version="1.3">\n{meta}<graph {graph}>\n{inner}\n</graph>\n</gexf>\n'
    )


def said(found: Read) -> list[tuple[str, str, str]]:
    """Each edge as source, relation or key, target."""
    return [(e.src_name, e.key or e.relation, e.dst_name) for e in edges(found[0])]


def known(found: Read) -> dict[str, Entity]:
    return {entity.name: entity for part in found[0] for entity in part.entities}


class TestGraphML:
    def test_attributes_relations_and_properties(self, tmp_path: Path) -> None:
        keys = "".join(
            f'<key id="{id_}" for="{of}" attr.name="{name}" attr.type="{type_}"/>\n'
            for id_, of, name, type_ in [
                ("d0", "node", "label", "string"), ("d1", "node", "type", "string"), ("d2", "node", "born", "int"),
                ("d3", "edge", "relation", "string"), ("d4", "edge", "description", "string"),
                ("d5", "edge", "sure", "boolean"), ("d6", "edge", "the weight", "double"), ("d7", "edge", "n", "long"),
            ]
        )  # fmt: skip
        inner = """<node id="n0"><data key="d0"> Ann </data><data key="d1">person</data>
<data key="d2">1960</data></node><node id="n1"><data key="d0">安娜 &amp; Co</data><data key="d1">firm</data></node>
<edge id="e0" source="n0" target="n1"><data key="d3"> leads </data><data key="d4">Since ever.</data>
<data key="d5">true</data><data key="d6">0.5</data><data key="d7">9007199254740993</data></edge>"""
        path = written(tmp_path / "g.graphml", graphml(inner, keys))
        source = open_graphfile(path)
        assert recognises(path) and source.family == "Graph file"
        assert source.mapping == {
            "name": "label", "type": "type", "relation": "relation", "description": "description",
        }  # fmt: skip
        assert source.columns == ("label", "type", "born", "id", "relation", "description", "sure", "the weight", "n")
        parts, notes = read(path)
        [part] = parts
        born, leads = part.edges
        ann, firm = entity_id("person", "Ann"), entity_id("firm", "安娜 & Co")
        assert part.whole and part.chunks == ()
        assert (born.key, born.dst_name, born.source_doc_id) == ("born", "1960", "g.graphml")
        assert born.target_id == entity_id("AttributeValue", "1960", f"{ann}:born:g.graphml")
        assert (leads.source_id, leads.relation, leads.target_id) == (ann, "leads", firm)
        assert (leads.src_name, leads.dst_name, leads.description) == ("Ann", "安娜 & Co", "Since ever.")
        assert leads.id == edge_id(ann, "leads", None, firm, "g.graphml")
        assert leads.properties == {"sure": True, "the_weight": 0.5, "n": 9007199254740993}
        assert notes == {"values kept under a name of letters, digits and _": 1}

    def test_direction_is_the_edges_own_and_mixed(self, tmp_path: Path) -> None:
        inner = """<node id="Ann"/><node id="Bo"/><edge source="Bo" target="Ann"/>
<edge source="Bo" target="Ann" directed="true"/><edge source="Ann" target="Bo" directed="false"/>"""
        found = read(written(tmp_path / "g.graphml", graphml(inner, default="undirected")))
        assert said(found) == [("Bo", "RELATED", "Ann"), ("Ann", "RELATED", "Bo")]
        assert found[1] == {
            NO_RELATION: 3, NO_DIRECTION: 2, "assertions that a passage makes twice, kept once": 1,
        }  # fmt: skip

    def test_parallel_edges_that_say_something_else_stay(self, tmp_path: Path) -> None:
        keys = '<key id="w" for="edge" attr.name="w" attr.type="int"/><key id="label" for="edge" attr.name="label"/>'
        inner = "".join(
            f'<edge id="1" source="Ann" target="Bo"><data key="w">{w}</data><data key="label">{label}</data></edge>'
            for w, label in [(1, "knows"), (2, "knows"), (2, "likes")]
        )
        found = read(written(tmp_path / "g.graphml", graphml(inner, keys)))
        assert [(e.relation, e.properties["w"]) for e in edges(found[0])] == [("knows", 1), ("knows", 2), ("likes", 2)]
        assert len({e.id for e in edges(found[0])}) == 3
        assert found[1] == {"names that only edges give, taken as entities of the type Entity": 2}

    def test_defaults_lists_and_nested_nodes(self, tmp_path: Path) -> None:
        keys = """<key id="k" for="node" attr.name="kind"><default>thing</default></key>
<key id="t" for="node" attr.name="tags" attr.type="string" attr.list="string"/>
<key id="y" for="edge" attr.name="year" attr.type="int"><desc>of it</desc><default>1999</default></key>"""
        inner = """<data key="title">Some graph</data><desc>About all.</desc>
<node id="Outer"><data key="t">["a|b", "c"]</data><graph edgedefault="undirected">
<node id="Inner"><data key="k">part</data><desc>Small.</desc></node><edge source="Inner" target="Other"/></graph>
<port name="p"><data key="k">no</data></port></node><node id="Other"/>
<hyperedge><data key="y">5</data><endpoint node="Outer"/><endpoint node="Other"/></hyperedge>
<edge source="Outer" target="Inner"><data key="y">2001</data></edge>"""
        found = read(written(tmp_path / "g.graphml", graphml(inner, keys)))
        about = {"title": "Some graph", "graph_description": "About all."}
        assert {name: e.type for name, e in known(found).items() if e.type != "AttributeValue"} == {
            "Outer": "thing", "Inner": "part", "Other": "thing",
        }  # fmt: skip
        assert said(found) == [
            ("Inner", "description", "Small."), ("Outer", "tags", "a|b"), ("Outer", "tags", "c"),
            ("Inner", "RELATED", "Other"), ("Outer", "RELATED", "Inner"),
        ]  # fmt: skip
        assert [e.properties for e in edges(found[0])][2:] == [about, {**about, "year": 1999}, {**about, "year": 2001}]
        assert found[1] == {
            NESTED: 1, NO_RELATION: 2, NO_DIRECTION: 1, "edges of more than two ends left out": 1,
        }  # fmt: skip

    def test_what_yed_draws(self, tmp_path: Path) -> None:
        keys = """<key for="node" id="d6" yfiles.type="nodegraphics"/>
<key for="edge" id="d9" yfiles.type="edgegraphics"/>
<key for="graphml" id="d7" yfiles.type="resources"/><key for="node" id="d5" attr.name="url"/>"""
        boss = "Ann\nthe boss"
        label = """<y:{0}Label visible="true">{1}<y:LabelModel>
<y:SmartLabelModel/></y:LabelModel></y:{0}Label>"""
        inner = f"""<node id="n0"><data key="d5"/><data key="d6"><y:ShapeNode><y:Geometry x="1.0"/>
{label.format("Node", boss)}{label.format("Node", "second")}</y:ShapeNode></data></node>
<node id="n1" yfiles.foldertype="group"><data key="d6"><y:GroupNode>{label.format("Node", "")}</y:GroupNode></data>
<graph edgedefault="directed"><node id="n1::n0"><data key="d6">{label.format("Node", "Acme")}</data></node></graph>
</node><edge id="e0" source="n0" target="n1::n0"><data key="d9">{label.format("Edge", "leads")}</data></edge>
<edge id="n1::e0" source="n1" target="n0"><data key="d9"><y:PolyLineEdge/></data></edge>"""
        found = read(written(tmp_path / "y.graphml", graphml(inner, keys)))
        assert said(found) == [("Ann the boss", "leads", "Acme"), ("n1", "RELATED", "Ann the boss")]
        assert [dict(e.properties) for e in edges(found[0])] == [{}, {}]
        assert known(found)["Acme"].id == entity_id("Entity", "Acme")
        assert known(found)["n1"].id == entity_id("Entity", "n1", "y.graphml:n1")
        assert found[1] == {"further labels of a node or edge left out": 1, NESTED: 1, NO_RELATION: 1}

    def test_what_neo4j_exports(self, tmp_path: Path) -> None:
        keys = '<key id="name" for="node" attr.name="name"/><key id="r" for="edge" attr.name="roles" attr.list="any"/>'
        inner = """<node id="n0" labels=":Movie"><data key="labels">:Movie</data><data key="title">Heat</data></node>
<node id="n1" labels=":Person:Actor"><data key="labels">:Person:Actor</data><data key="name">Al</data></node>
<edge id="e0" source="n1" target="n0" label="ACTED_IN"><data key="label">ACTED_IN</data>
<data key="r">["Vincent","x"]</data></edge>"""
        found = read(written(tmp_path / "n.graphml", graphml(inner, keys)))
        assert said(found) == [("Al", "labels", "Actor"), ("Al", "ACTED_IN", "Heat")]
        assert (known(found)["Heat"].type, known(found)["Al"].type) == ("Movie", "Person")
        assert edges(found[0])[1].properties == {"roles": ("Vincent", "x")}

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_other_encodings_and_prefixes(self, tmp_path: Path, encoding: str) -> None:
        inner = '<node id="Ж"/><edge source="Ж" target="王"/>'
        plain = written(tmp_path / "g.graphml", graphml(inner))
        expected = read(plain)
        text = graphml(inner).replace(' encoding="UTF-8"', "").replace("<", "<g:").replace("<g:/", "</g:")
        written(plain, text.replace("<g:?", "<?").replace("xmlns=", "xmlns:g=").encode(encoding))
        assert recognises(plain) and read(plain) == expected


class TestGexf:
    def test_attributes_kinds_and_directions(self, tmp_path: Path) -> None:
        inner = """<attributes class="node"><attribute id="0" title="url" type="anyURI"/>
<attribute id="1" title="frog" type="boolean"><default>true</default></attribute>
<attribute id="2" title="parts" type="listinteger"/><attribute id="3" title="Degree" type="integer"/></attributes>
<attributes class="edge"><attribute id="0" title="since" type="integer"/></attributes>
<nodes><node id="0" label="Ann"><attvalues><attvalue for="0" value="http://a"/><attvalue for="1" value="false"/>
<attvalue for="3" value="7"/></attvalues><viz:size value="2"/><viz:position x="1" y="2" z="3"/></node>
<node id="1" label="Bo"><attvalues><attvalue for="2" value="[1, 2]"/></attvalues></node><node id="2"/></nodes>
<edges><edge id="0" source="0" target="1" label="knows" weight="2.5"><attvalues><attvalue for="0" value="1999"/>
</attvalues></edge><edge id="1" source="1" target="0" kind="likes" type="mutual"/>
<edge id="2" source="1" target="2" type="undirected"/></edges>"""
        meta = '<meta lastmodifieddate="2020-01-01"><creator>Gephi</creator><description>Web</description></meta>\n'
        path = written(tmp_path / "g.gexf", gexf(inner, meta=meta))
        found = read(path)
        assert recognises(path)
        assert said(found) == [
            ("Ann", "url", "http://a"), ("Ann", "frog", "false"), ("Bo", "parts", "1"), ("Bo", "parts", "2"),
            ("Bo", "frog", "true"), ("2", "frog", "true"), ("Ann", "knows", "Bo"), ("Bo", "RELATED", "Ann"),
            ("Ann", "RELATED", "Bo"), ("Bo", "RELATED", "2"),
        ]  # fmt: skip
        about = {"graph_description": "Web"}
        assert edges(found[0])[6].properties == {"weight": 2.5, "since": 1999, **about}
        assert edges(found[0])[7].properties == {"kind": "likes", **about}
        assert found[1] == {
            "places, colours, sizes and counts over the whole graph left out": 1, NO_RELATION: 2, NO_DIRECTION: 1,
        }  # fmt: skip

    def test_a_kind_is_a_relation_where_no_edge_has_a_label(self, tmp_path: Path) -> None:
        found = read(written(tmp_path / "g.gexf", gexf('<edges><edge source="A" target="Bo" kind="knows"/></edges>')))
        assert said(found) == [("A", "knows", "Bo")]

    def test_what_changes_in_time_is_kept_without_its_time(self, tmp_path: Path) -> None:
        inner = """<attributes class="node" mode="dynamic"><attribute id="2" title="size of it" type="integer"/>
</attributes><nodes><node id="0" label="Ann" start="2009-03-01"><attvalues>
<attvalue for="2" value="1" end="2009-03-01"/>
<attvalue for="2" value="2" start="2009-03-01"/></attvalues><spells><spell start="2009-03-05"/></spells></node>
<node id="1" label="Bo" pid="0"/></nodes><edges>
<edge source="0" target="1" start="2009-03-01" end="2009-03-10"/></edges>"""
        found = read(written(tmp_path / "g.gexf", gexf(inner, 'mode="dynamic" timeformat="date"')))
        assert said(found) == [
            ("Ann", "start", "2009-03-01"), ("Ann", "size of it", "1"), ("Ann", "size of it", "2"),
            ("Ann", "RELATED", "Bo"),
        ]  # fmt: skip
        assert edges(found[0])[-1].properties == {"start": "2009-03-01", "end": "2009-03-10"}
        assert found[1] == {
            "values of a time, kept without it": 2, "spans of time of nodes and edges left out": 1, NESTED: 1,
            NO_RELATION: 1, NO_DIRECTION: 1,
        }  # fmt: skip

    def test_nodes_in_nodes(self, tmp_path: Path) -> None:
        inner = """<nodes><node id="Outer"><nodes><node id="Inner"/></nodes><edges><edge source="Inner" target="Outer"/>
</edges></node></nodes>"""
        found = read(written(tmp_path / "g.gexf", gexf(inner)))
        assert said(found) == [("Inner", "RELATED", "Outer")] and found[1][NESTED] == 1


class TestGml:
    def test_values_of_all_kinds(self, tmp_path: Path) -> None:
        text = """Creator "by hand"
# a comment [ with a bracket
graph [
  directed 1
  label "Some graph"
  node [ id 1 label "Ann &amp; Bo &#233;" age 42 share -0.5e-3 graphics [ x 1.0 y 2 fill "#FF0000" ]
    tags "a" tags "b" only "_networkx_list_start" only "c" none "[]" ]
  node [ id B label "安娜" big 99999999999999999999 odd NAN nested [ a 1 ] ]
  edge [ source 1 target B label "knows" weight +INF value 2 ]
  edge [ source B target 1 label "knows" value 2 ] edge [ source B target 1 label "knows" value 3 ]
]
"""
        path = written(tmp_path / "g.gml", text)
        found = read(path)
        assert recognises(path)
        assert said(found) == [
            ("Ann & Bo é", "age", "42"), ("Ann & Bo é", "share", "-0.0005"), ("Ann & Bo é", "tags", "a"),
            ("Ann & Bo é", "tags", "b"), ("Ann & Bo é", "only", "c"), ("安娜", "big", "99999999999999999999"),
            ("Ann & Bo é", "knows", "安娜"), ("安娜", "knows", "Ann & Bo é"), ("安娜", "knows", "Ann & Bo é"),
        ]  # fmt: skip
        assert [e.properties["value"] for e in edges(found[0])[-3:]] == [2, 2, 3]
        assert {e.properties["title"] for e in edges(found[0])} == {"Some graph"}
        assert found[1] == {"numbers left out that are not finite": 2, "values left out that are nested or vectors": 1}

    def test_undirected_groups_and_labels_that_are_drawn(self, tmp_path: Path) -> None:
        text = """graph [ hierarchic 1 node [ id 0 LabelGraphics [ text "Ann" ] ] node [ id 1 gid 0 label "Bo" ]
edge [ source 1 target 0 LabelGraphics [ text "knows" ] ] ]"""
        found = read(written(tmp_path / "g.gml", text))
        assert said(found) == [("Bo", "knows", "Ann")]
        assert found[1] == {NESTED: 1, NO_DIRECTION: 1}

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_other_encodings_and_line_ends(self, tmp_path: Path, encoding: str) -> None:
        text = 'graph [\nnode [\nid 1\nlabel "王"\n]\nedge [\nsource 1\ntarget 1\n]\n]\n'
        expected = read(written(tmp_path / "g.gml", text))
        path = written(tmp_path / "g.gml", text.replace("\n", "\r\n").encode(encoding))
        assert recognises(path) and read(path) == expected


NODE_LINK: dict[str, Any] = {
    "directed": True, "multigraph": True, "graph": {"name": "Some graph", "year": 1999},
    "nodes": [{"id": "ann", "name": "Ann", "type": "person", "age": 42, "vector": [0.1, 0.2], "seen": None},
              {"id": 7, "name": "Acme", "tags": ["a", "b"], "more": {"a": 1}}],
    "links": [{"source": "ann", "target": 7, "key": 0, "relation": "leads", "weight": 0.5, "description": "Since."},
              {"source": "ann", "target": 7, "key": 1, "relation": "owns"}],
}  # fmt: skip


class TestJson:
    def test_node_link(self, tmp_path: Path) -> None:
        path = written(tmp_path / "g.json", json.dumps(NODE_LINK))
        found = read(path)
        about = {"year": 1999, "title": "Some graph"}
        assert recognises(path)
        assert said(found) == [
            ("Ann", "age", "42"), ("Acme", "tags", "a"), ("Acme", "tags", "b"), ("Ann", "leads", "Acme"),
            ("Ann", "owns", "Acme"),
        ]  # fmt: skip
        leads = edges(found[0])[3]
        assert (leads.description, leads.properties) == ("Since.", {"weight": 0.5, **about})
        assert leads.source_id == entity_id("person", "Ann") and leads.target_id == entity_id("Entity", "Acme")
        assert found[1] == {"values left out that are nested or vectors": 2}

    @pytest.mark.parametrize(
        "given",
        [
            {"nodes": [{"id": "Ann"}, {"id": "Bo"}], "edges": [{"from": "Ann", "to": "Bo", "label": "knows"}]},
            {"nodes": ["Ann", "Bo"], "links": [{"source": 0, "target": 1, "relation": "knows"}]},
            {"nodes": [{"name": "Ann"}, {"name": "Bo"}], "links": [{"source": 0, "target": 1, "type": "knows"}]},
            {"links": [{"source": {"id": "Ann", "x": 1}, "target": {"id": "Bo"}, "type": "knows"}]},
            {"elements": {"nodes": [{"data": {"id": "1", "name": "Ann"}, "position": {"x": 1}},
                                    {"data": {"id": "2", "name": "Bo"}}],
                          "edges": [{"data": {"id": "3", "source": "1", "target": "2", "interaction": "knows"}}]}},
            {"elements": [{"data": {"id": "Ann"}}, {"data": {"id": "Bo"}},
                          {"data": {"source": "Ann", "target": "Bo", "label": "knows"}}]},
            {"graph": {"directed": True, "nodes": {"a": {"label": "Ann"}, "b": {"label": "Bo"}},
                       "edges": [{"source": "a", "target": "b", "relation": "knows"}]}},
            {"graphs": [{"nodes": {"a": {"label": "Ann"}, "b": {"label": "Bo"}},
                         "edges": [{"source": "a", "target": "b", "relation": "knows"}]}]},
            {"attributes": {}, "options": {"multi": True},
             "nodes": [{"key": "Ann", "attributes": {"x": 1.5, "y": 2}}, {"key": "Bo"}],
             "edges": [{"key": "e1", "source": "Ann", "target": "Bo", "attributes": {"label": "knows"}}]},
        ],
    )  # fmt: skip
    def test_the_same_in_many_shapes(self, tmp_path: Path, given: Any) -> None:
        path = written(tmp_path / "g.json", json.dumps(given))
        assert recognises(path)
        parts, notes = read(path)
        assert [(e.src_name, e.relation, e.dst_name) for e in edges(parts)] == [("Ann", "knows", "Bo")]
        assert notes.keys() <= {
            "names that only edges give, taken as entities of the type Entity",
            "places, colours, sizes and counts over the whole graph left out",
        }

    def test_undirected_as_a_whole_and_by_edge(self, tmp_path: Path) -> None:
        links = [{"source": "Ann", "target": "Bo"}, {"source": "Ann", "target": "Cy", "directed": True}]
        given = {"directed": False, "nodes": [], "links": [*links, {"source": "Bo", "target": "Cy", "directed": False}]}
        _, notes = read(written(tmp_path / "g.json", json.dumps(given)))
        assert notes[NO_DIRECTION] == 2

    def test_half_a_character_and_other_encodings(self, tmp_path: Path) -> None:
        text = (
            '{"nodes": [{"id": "王", "\\ud800": 1, " ": 2}], '
            '"links": [{"source": "\\ud800 a", "target": "王", "relation": "x\\u0000y"}]}'
        )
        path = written(tmp_path / "g.json", text.encode("utf-16"))
        assert recognises(path) and said(read(path)) == [("王", "?", "1"), ("? a", "x\x00y", "王")]


class TestIds:
    def test_an_id_that_says_something_wins(self, tmp_path: Path) -> None:
        nodes = [{"id": "Q42", "label": "Ann"}, {"id": "n17", "label": "Bo"}, {"id": "Cy"}, {"id": "v1::n2"}]
        links = [{"source": "Q42", "target": id_} for id_ in ("n17", "Cy", "v1::n2")]
        links[0]["id"] = "knows-7"
        found = read(written(tmp_path / "g.json", json.dumps({"nodes": nodes, "links": links})))
        assert {name: entity.id for name, entity in known(found).items()} == {
            "Ann": "Q42", "Bo": entity_id("Entity", "Bo"), "Cy": entity_id("Entity", "Cy"),
            "v1::n2": entity_id("Entity", "v1::n2", "g.json:v1::n2"),
        }  # fmt: skip
        assert edges(found[0])[0].properties == {"id": "knows-7"}

    def test_namesakes_stay_two_in_a_file_and_numbers_of_two_files_are_not_one(self, tmp_path: Path) -> None:
        nodes = [{"id": 1, "label": "Alex Kim"}, {"id": 2, "label": "Alex  kim"}, {"id": 3}]
        given = json.dumps({"nodes": nodes, "links": [{"source": 1, "target": 2}, {"source": 2, "target": 3}]})
        first, second = (read(written(tmp_path / name, given)) for name in ("a.json", "b.json"))
        assert len({e.id for part in first[0] for e in part.entities}) == 3 and first[1][APART] == 2
        assert not {e.id for part in first[0] for e in part.entities} & {e.id for p in second[0] for e in p.entities}

    def test_an_id_that_comes_twice_is_one_node(self, tmp_path: Path) -> None:
        nodes = [{"id": "Ann", "age": 1}, {"id": "Ann", "age": 2, "town": "Rome"}]
        found = read(written(tmp_path / "g.json", json.dumps({"nodes": nodes, "links": []})))
        assert said(found) == [("Ann", "age", "1"), ("Ann", "town", "Rome")]
        assert found[1] == {"nodes whose id another has, taken as one": 1}


GIVEN: dict[str, Any] = {
    "nodes": [{"id": 1, "who": "Ann", "group": "staff", "name": "x"}, {"id": 2, "who": "Bo"}],
    "links": [{"source": 1, "target": 2, "verb": "knows", "why": "Since.", "label": "y"}],
}


class TestMapping:
    def test_a_role_that_no_attribute_plays(self, tmp_path: Path) -> None:
        nodes = '<node id="a"><data key="k">Thing</data></node><node id="b"/>'
        path = tmp_path / "t.graphml"
        key = '<key id="k" for="node" attr.name="type"/>'
        path.write_text(f'<graphml>{key}<graph>{nodes}<edge source="a" target="b"/></graph></graphml>')
        [part] = open_graphfile(path).parts(Notes())
        assert {entity.type for entity in part.entities} == {"Thing", DEFAULT_TYPE}
        [part] = open_graphfile(path, {"type": ""}).parts(Notes())
        assert ("a", "type", "Thing") in {(e.src_name, e.key, e.dst_name) for e in part.edges}

    def test_a_mapping_wins(self, tmp_path: Path) -> None:
        path = written(tmp_path / "g.json", json.dumps(GIVEN))
        given = {"name": "who", "type": "group", "relation": "verb", "description": "why"}
        source = open_graphfile(path, given)
        notes = Notes()
        parts = list(source.parts(notes))
        assert source.mapping == given
        assert said((parts, {})) == [("Ann", "name", "x"), ("Ann", "knows", "Bo")]
        assert parts[0].edges[1].description == "Since." and parts[0].edges[1].properties == {"label": "y"}
        assert parts[0].entities[0].type == "staff"

    def test_what_is_no_text_plays_no_role(self, tmp_path: Path) -> None:
        given = {"nodes": [{"id": "Ann", "type": True}], "links": [{"source": "Ann", "target": "Bo", "label": "5"}]}
        source = open_graphfile(written(tmp_path / "g.json", json.dumps(given)))
        assert source.mapping == {}

    @pytest.mark.parametrize(("role", "column", "fault"), [("who", "who", "no role 'who'"), ("name", "no", "no attri")])
    def test_roles_and_attributes_that_are_not_there(self, tmp_path: Path, role: str, column: str, fault: str) -> None:
        with pytest.raises(IngestError, match=fault):
            open_graphfile(written(tmp_path / "g.json", json.dumps(GIVEN)), {role: column})


def _sample(kind: type[Any]) -> Any:
    """Names as ids, edges against the order of the nodes, parallel ones where it can."""
    made = kind(name="Some graph")
    made.add_node("Ann", type="person", age=42, share=0.1, old=True)
    made.add_node("安娜 & Co", type="firm")
    made.add_edge("安娜 & Co", "Ann", relation="pays", weight=2)
    made.add_edge("Ann", "Bo", relation="knows")
    if made.is_multigraph():
        made.add_edge("Ann", "Bo", relation="likes")
    return made


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "graphml": lambda made, path: nx.write_graphml_xml(made, path),
    "gexf": lambda made, path: nx.write_gexf(made, path),
    "gml": lambda made, path: nx.write_gml(made, path),
    "json": lambda made, path: path.write_text(json.dumps(nx.node_link_data(made, edges="links"))) and None,
    "cyjs": lambda made, path: path.write_text(json.dumps(nx.cytoscape_data(made))) and None,
}


class TestNetworkx:
    @pytest.mark.parametrize("ending", WRITERS)
    @pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
    def test_what_it_writes_is_read_alike(self, tmp_path: Path, kind: type[Any], ending: str) -> None:
        path = tmp_path / f"g.{ending}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            WRITERS[ending](_sample(kind), path)
        assert recognises(path)
        found = read(path)
        known_ = {("Ann", "knows", "Bo")} | ({("Ann", "likes", "Bo")} if "Multi" in kind.__name__ else set())
        pays = {("安娜 & Co", "pays", "Ann")} if "Di" in kind.__name__ else {("Ann", "pays", "安娜 & Co")}
        assert {s for s in said(found) if s[1] not in ("age", "share", "old")} == known_ | pays
        assert {s for s in said(found) if s[1] in ("age", "share")} == {("Ann", "age", "42"), ("Ann", "share", "0.1")}
        assert {e.type for name, e in known(found).items() if name == "安娜 & Co"} == {"firm"}
        assert known(found)["Ann"].id == entity_id("person", "Ann")
        assert [e.properties.get("weight") for e in edges(found[0]) if e.relation == "pays"] == [2]
        assert found[1].get(NO_DIRECTION, 0) == (0 if "Di" in kind.__name__ else len(known_) + 1)


class TestOwnExports:
    def test_a_runs_graph_comes_back(self, tmp_path: Path) -> None:
        store = graph(
            edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme"),
            edge("e2", "acme", "USES", "helios", src="Acme", dst="Helios"),
            edge("e3", "helios", HAS_ATTRIBUTE, "v", key="status", src="Helios", dst="Активен"),
            entities=[Entity(id="v", type="AttributeValue", name="Активен")],
            embedder=offline(),
        )
        result = retriever(store, max_hops=3).retrieve("What does Jane Doe's employer use, and its status?")
        store.close()
        path = written(tmp_path / "run.graphml", facts_graphml(result))
        found = read(path)
        assert recognises(path) and len(result.facts) == 3
        assert sorted(said(found)) == sorted((f.source, f.relation, f.target) for f in result.facts)
        assert {(e.source_id, e.target_id) for e in edges(found[0]) if e.key is None} == {
            ("jane", "acme"), ("acme", "helios"),
        }  # fmt: skip
        [status] = [e for e in edges(found[0]) if e.key]
        assert (status.source_id, status.relation, status.dst_name) == ("helios", HAS_ATTRIBUTE, "Активен")
        assert not {"rank", "hop", "score", "fact"} & {name for e in edges(found[0]) for name in e.properties}
        assert not recognises(written(tmp_path / "run.csv", facts_csv(result)))
        assert not recognises(written(tmp_path / "run.json", run_json(result)))


BAD: list[tuple[str, str | bytes, str]] = [
    ("empty", "", "is empty"),
    ("blank", "\n \n", "is no graph file"),
    ("binary", bytes(range(256)) * 10, "is no graph file"),
    ("csv", "source,target\na,b\n", "is no graph file"),
    ("html", "<html><body>graph [ node [ ]</body></html>", "is no graph file"),
    ("dot", "digraph { graph [rankdir=LR]; node [shape=box]; a -> b }", "is no graph file"),
    ("json", '{"docs": []}', "is no graph file"),
    ("cut", graphml("<node id='a'/>")[:-20], r", line 6: not XML"),
    ("latin", graphml("\n<node id='é'/>").encode("latin-1"), ", line 6: not XML"),
    ("encoding", "<?xml version='1.0' encoding='nonsense'?>\n<graphml/>", ", line 1: not XML|cannot be read as XML"),
    ("dtd", "<!DOCTYPE graphml SYSTEM 'file:///etc/passwd'>\n<graphml/>", r", line 1: a document type \(DTD\)"),
    ("outer", "<a>\n<graphml/></a>", ", line 1: <a> is no graph"),
    ("entity", graphml("&undeclared;"), ", line 5: not XML"),
    ("no id", graphml("<node/>"), ", line 5: a node has no id"),
    ("no end", gexf("<edges>\n<edge source='a'/></edges>"), ", line 5: an edge has no target"),
    ("number", gexf("<edges>\n<edge source='a' target='b' weight='1,5'/></edges>"), ", line 5: 'weight' is not a num"),
    ("truth", graphml("<node id='a'>\n<data key='k'>maybe</data></node>", '<key id="k" attr.type="boolean"/>'),
     ", line 6: 'k' is not true or false"),
    ("1_0", graphml("<node id='a'>\n<data key='k'>1_0</data></node>", '<key id="k" attr.type="int"/>'),
     ", line 6: 'k' is not a number"),
    ("nothing", graphml(""), "holds no edge, and no attribute"),
    ("gml", 'graph [\nnode [\nid 1\n"x"\n]\n]', ", line 4: a name is expected, not '\"x\"'"),
    ("gml open", "graph [\nnode [\nid 1\n]\n", r", line 1: a \[ that does not close"),
    ("gml closed", "graph [ node [ id 1 ] ]\n]", r", line 2: a name is expected, not '\]'"),
    ("gml valueless", "graph [\nnode [ id ]\n]", ", line 2: 'id' has no value"),
    ("gml quote", 'graph [\nnode [ id 1\nlabel "a ]\n]\n', ", line 3: a quotation mark that does not close"),
    ("gml quotes", 'graph [\nnode [ id 1\nlabel "a ]\nnode [ id 2 label "b" ]\n]\n', "a quotation mark of line 3 does"),
    ("gml latin", 'graph [\nnode [\nid 1 label "é" ] ]'.encode("latin-1"), ", line 3: not UTF-8 text"),
    ("gml no id", 'graph [ node [ label "a" ] ]', ", node 1: it has no id"),
    ("gml no end", "graph [ node [ id 1 ] edge [ source 1 ] ]", ", edge 1: it has no target"),
    ("gml flat", "graph [ node [ id 1 ] node 5 ]", ", node 2: it is no list"),
    ("json cut", '{"nodes": [\n', ", line 2, character 1: not JSON"),
    ("json deep", '{"nodes": ' + "[" * 200_000, "nested too deep"),
    ("json digits", '{"nodes": [' + "9" * 5000 + "]}", "digits"),
    ("json latin", '{"nodes": [\n"é"]}'.encode("latin-1"), ", line 2: not UTF-8"),
    ("json node", '{"nodes": [{"id": 1}, null]}', ", node 2: it is no object"),
    ("json edge", '{"nodes": [], "links": [["a", "b"]]}', ", edge 1: it has no source"),
    ("json empty", '{"nodes": [], "links": []}', "holds no edge, and no attribute"),
    ("json lists", '[{"nodes": []}]', "has no lists of"),
]  # fmt: skip


class TestFaults:
    @pytest.mark.parametrize(("name", "text", "fault"), BAD, ids=[name for name, _, _ in BAD])
    def test_a_bad_file_is_named_with_its_line(self, tmp_path: Path, name: str, text: str | bytes, fault: str) -> None:
        path = written(tmp_path / "bad file", text)
        recognises(path)
        with pytest.raises(IngestError, match=f"^bad file.*({fault})") as raised:
            read(path)
        assert raised.value.remedy

    def test_entities_that_expand_are_refused_at_once(self, tmp_path: Path) -> None:
        bomb = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "ha"}">\n' for i in range(12))
        with pytest.raises(IngestError, match="DTD"):
            read(written(tmp_path / "g", f"<!DOCTYPE g [\n{bomb}]>\n<gexf>&a11;</gexf>"))

    @pytest.mark.parametrize("opening", ["<node id='", "<!--", "<?x ", "<"])
    def test_a_tag_that_does_not_end_is_refused_soon(self, tmp_path: Path, opening: str) -> None:
        with pytest.raises(IngestError, match=r"^g, line 2: a tag of more than 1 MB"):
            read(written(tmp_path / "g", "<gexf>\n" + opening + "a" * 20_000_000))

    def test_deep_nesting_is_no_trouble(self, tmp_path: Path) -> None:
        deep = "<a>" * 200_000 + "</a>" * 200_000
        assert said(read(written(tmp_path / "g", graphml(deep + '<edge source="Ann" target="Bo"/>')))) == [
            ("Ann", "RELATED", "Bo")
        ]
        nested = "deep [ " * 100_000 + "] " * 100_000
        text = f'graph [ node [ id 1 label "Ann" {nested} ] edge [ source 1 target 1 ] ]'
        assert read(written(tmp_path / "g", text))[1]["values left out that are nested or vectors"] == 1

    @pytest.mark.parametrize("text", ["graph" + " " * 60_000, "graph [ " * 8_000, "a " * 30_000, '{"nodes"' * 8_000])
    def test_to_recognise_is_quick(self, tmp_path: Path, text: str) -> None:
        assert not recognises(written(tmp_path / "g", text))

    def test_an_id_of_many_digits_is_quick(self, tmp_path: Path) -> None:
        node = {"id": "n1:" * 50_000 + "x", "label": "1" * 100_000 + "x"}
        given = {"nodes": [node], "links": [{"source": node["id"], "target": "Bo"}]}
        assert len(edges(read(written(tmp_path / "g", json.dumps(given)))[0])) == 1

    def test_what_is_no_file_or_too_large(self, tmp_path: Path) -> None:
        huge = written(tmp_path / "huge", graphml(""))
        with huge.open("r+b") as file:
            file.truncate(MOST_BYTES + 1)
        for path, fault in ((tmp_path, "is not a file"), (tmp_path / "gone", "is not a file"), (huge, "has 512 MB")):
            with pytest.raises(IngestError, match=fault):
                open_graphfile(path)
        assert not recognises(tmp_path) and not recognises(tmp_path / "gone")

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        done = threading.Thread(target=recognises, args=(tmp_path / "pipe",), daemon=True)
        done.start()
        done.join(5)
        assert not done.is_alive()

    def test_is_the_same_each_time_and_again_nothing(self, tmp_path: Path) -> None:
        path = written(tmp_path / "g.json", json.dumps(NODE_LINK))
        source = open_graphfile(path)
        assert list(source.parts(Notes())) == list(source.parts(Notes())) == read(path)[0]
        with closing(open_store(f"duckdb:///{tmp_path / 'g.duckdb'}", access_fields=(), create=True)) as store:
            assert write_source(store, source.parts(Notes())).edges.new == 5
            assert plan_source(store, source.parts(Notes())).is_nothing
