"""What LightRAG and nano-graphrag keep as a graph, and what is wrong with it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest

from kgcore import IngestError, open_store
from kgcore.ingest import plan_source, write_source
from kgcore.ingest.importers.json_file import MOST_BYTES
from kgcore.ingest.importers.lightrag import CHUNKS, GRAPH, open_lightrag, recognises
from kgcore.ingest.source import Notes
from kgcore.names import edge_id, entity_id
from kgcore.types import HAS_ATTRIBUTE
from tests.unit.reading import edges, reader

NODE_KEYS = {"entity_id": "string", "entity_type": "string", "description": "string", "source_id": "string"}
NODE_KEYS |= {"file_path": "string", "created_at": "long", "truncate": "string", "clusters": "string", "rank": "double"}
EDGE_KEYS = {"weight": "double", "description": "string", "keywords": "string", "source_id": "string"}
EDGE_KEYS |= {"file_path": "string", "created_at": "long", "order": "int", "sure": "boolean"}
TEXTS = {
    "chunk-1": {"tokens": 4, "content": "Ann leads Acme.", "chunk_order_index": 0, "full_doc_id": "doc-1"}
    | {"file_path": "one.txt"},
    "chunk-2": {"tokens": 4, "content": "安娜 знает Бо.", "chunk_order_index": 1, "full_doc_id": "doc-1"}
    | {"file_path": "one.txt"},
    "chunk-3": {"tokens": 4, "content": "Ann again.", "chunk_order_index": 0, "full_doc_id": "doc-2"}
    | {"file_path": "unknown_source"},
}
NODES = {
    "Ann": {"entity_id": "Ann", "entity_type": "person", "description": "Ann leads.<SEP>She is old.<SEP>Ann leads."}
    | {"source_id": "chunk-1<SEP>chunk-3", "file_path": "one.txt<SEP>unknown_source", "created_at": 1768466143},
    "Бо": {"entity_id": "Бо", "entity_type": "", "source_id": "chunk-2"},
    "Acme": {"entity_id": "Acme", "entity_type": "organization", "description": "A firm.", "source_id": "chunk-1"},
}
EDGES = [
    ("Бо", "Ann", {"weight": 1.0, "description": "Ann knows Bo.", "keywords": "friends", "source_id": "chunk-2"}),
    ("Ann", "Acme", {"weight": 2.0, "description": "Leads.<SEP>Owns.", "source_id": "chunk-1<SEP>chunk-3"}
     | {"file_path": "one.txt<SEP>unknown_source", "created_at": 5, "order": 1, "sure": "true", "keywords": ""}),
]  # fmt: skip


def graphml(nodes: dict[str, dict[str, Any]], edges: list[tuple[str, str, dict[str, Any]]]) -> str:
    """As networkx writes it."""

    def data(values: dict[str, Any], kind: str) -> str:
        return "".join(f"<data key={quoteattr(f'{kind}.{k}')}>{escape(str(v))}</data>\n" for k, v in values.items())

    keys = [
        f'<key id="{kind}.{name}" for="{kind}" attr.name="{name}" attr.type="{type_}" />\n'
        for kind, names in (("edge", EDGE_KEYS), ("node", NODE_KEYS))
        for name, type_ in names.items()
    ]
    return (
        "<?xml version='1.0' encoding='utf-8'?>\n"
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        + "".join(keys)
        + '<graph edgedefault="undirected">\n'
        + "".join(f"<node id={quoteattr(id_)}>\n{data(values, 'node')}</node>\n" for id_, values in nodes.items())
        + "".join(
            f"<edge source={quoteattr(s)} target={quoteattr(t)}>\n{data(values, 'edge')}</edge>\n"
            for s, t, values in edges
        )
        + "</graph>\n</graphml>\n"
    )


def working(folder: Path, graph: str | bytes | None = None, texts: Any = TEXTS) -> Path:
    """A working folder; `texts` None for none, bytes as they are."""
    folder.mkdir(exist_ok=True)
    given = graphml(NODES, EDGES) if graph is None else graph
    (folder / GRAPH).write_bytes(given if isinstance(given, bytes) else given.encode())
    if texts is not None:
        (folder / CHUNKS).write_bytes(texts if isinstance(texts, bytes) else json.dumps(texts).encode())
    return folder


read = reader(open_lightrag)


class TestGraph:
    def test_an_edge_for_each_chunk_in_the_files_direction(self, tmp_path: Path) -> None:
        parts, _ = read(working(tmp_path / "w"))
        related = [e for e in edges(parts) if e.relation == "RELATED"]
        assert [(e.src_name, e.dst_name, e.description, e.source_doc_id) for e in related] == [
            ("Бо", "Ann", "Ann knows Bo.", "chunk-2"),
            ("Ann", "Acme", "Leads.\nOwns.", "chunk-1"),
            ("Ann", "Acme", "Leads.\nOwns.", "chunk-3"),
        ]
        ann, acme = entity_id("person", "Ann"), entity_id("organization", "Acme")
        assert (related[1].source_id, related[1].target_id) == (ann, acme)
        assert related[1].id == edge_id(ann, "RELATED", None, acme, "chunk-1")
        own = {"weight": 2.0, "created_at": 5, "order": 1, "sure": True}
        assert related[1].properties == {**own, "title": "one.txt"} and related[2].properties == own
        assert related[0].properties == {"weight": 1.0, "keywords": "friends", "title": "one.txt"}

    def test_a_description_is_an_attribute_in_each_chunk(self, tmp_path: Path) -> None:
        parts, notes = read(working(tmp_path / "w"))
        held = [e for e in edges(parts) if e.relation == HAS_ATTRIBUTE]
        assert [(e.src_name, e.key, e.dst_name, e.source_doc_id) for e in held] == [
            ("Ann", "description", "Ann leads.\nShe is old.", "chunk-1"),
            ("Acme", "description", "A firm.", "chunk-1"),
            ("Ann", "description", "Ann leads.\nShe is old.", "chunk-3"),
        ]
        value = entity_id("AttributeValue", held[0].dst_name, f"{held[0].source_id}:description:doc-1")
        assert held[0].target_id == value
        assert notes == {"nodes whose clusters, files or times of writing are not kept": 1}

    def test_each_document_is_a_part(self, tmp_path: Path) -> None:
        parts, _ = read(working(tmp_path / "w"))
        assert [[(c.id, c.document_id) for c in part.chunks] for part in parts] == [
            [("chunk-1", "doc-1"), ("chunk-2", "doc-1")], [("chunk-3", "doc-2")],
        ]  # fmt: skip
        assert parts[0].chunks[1].content == "安娜 знает Бо."
        assert parts[0].chunks[1].metadata == {"title": "one.txt", "chunk": 2, "chunks": 2}
        assert parts[1].chunks[0].metadata == {"chunk": 1, "chunks": 1}
        for part in parts:
            assert part.whole and {e.id for e in part.entities} == {
                end for e in part.edges for end in (e.source_id, e.target_id)
            }
        assert {e.name: e.type for e in parts[0].entities if e.type != "AttributeValue"} == {
            "Ann": "person", "Бо": "Entity", "Acme": "organization",
        }  # fmt: skip

    def test_other_attributes_of_a_node_are_kept_without_loss(self, tmp_path: Path) -> None:
        nodes = {**NODES, "Бо": {**NODES["Бо"], "rank": 0.1}}
        parts, _ = read(working(tmp_path / "w", graphml(nodes, EDGES)))
        assert [(e.src_name, e.dst_name) for e in edges(parts) if e.key == "rank"] == [("Бо", "0.1")]

    def test_nano_graphrag_keeps_quotes(self, tmp_path: Path) -> None:
        nodes = {
            '"ANN"': {"entity_type": '"PERSON"', "description": '"Ann "the boss"."<SEP>"Old."', "source_id": "chunk-1"}
            | {"clusters": '[{"level": 0}]'},
            '"THE "BEST" FIRM"': {"entity_type": '"ORGANIZATION"', "description": '""', "source_id": "chunk-1"},
            '""': {"entity_type": '"X"', "source_id": "chunk-1"},
        }
        data = {"weight": 9.0, "description": '"Leads."', "source_id": "chunk-1", "order": 1}
        given = [('"ANN"', '"THE "BEST" FIRM"', data), ('"ANN"', '""', data)]
        parts, notes = read(working(tmp_path / "w", graphml(nodes, given)))
        [related] = [e for e in edges(parts) if e.relation == "RELATED"]
        assert (related.src_name, related.dst_name, related.description) == ("ANN", '"THE "BEST" FIRM"', "Leads.")
        assert related.source_id == entity_id("PERSON", "ANN")
        [described] = [e for e in edges(parts) if e.key == "description"]
        assert described.dst_name == '"Ann "the boss"."\nOld.'
        assert notes == {
            "names taken without the quotes around them": 1,
            "nodes without a name left out": 1,
            "nodes whose clusters, files or times of writing are not kept": 1,
            "edges left out whose source or target has no name": 1,
        }

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_other_encodings_with_their_mark(self, tmp_path: Path, encoding: str) -> None:
        graph = graphml(NODES, EDGES).replace("encoding='utf-8'", "")
        texts = json.dumps(TEXTS, ensure_ascii=False).encode(encoding)
        parts, _ = read(working(tmp_path / "w", graph.encode(encoding), texts))
        assert parts == read(working(tmp_path / "v"))[0]
        assert recognises(tmp_path / "w" / GRAPH)

    def test_tags_may_have_a_prefix(self, tmp_path: Path) -> None:
        graph = graphml(NODES, EDGES).replace("<", "<g:").replace("<g:/", "</g:").replace("<g:?", "<?")
        graph = graph.replace("&lt;g:", "&lt;").replace("xmlns=", "xmlns:g=")
        assert read(working(tmp_path / "w", graph))[0] == read(working(tmp_path / "v"))[0]

    def test_all_on_one_line_and_long(self, tmp_path: Path) -> None:
        node = {"entity_type": "person", "description": "x" * 2_000_000, "source_id": "chunk-1"}
        graph = graphml({"Ann": node}, []).replace("\n", "")
        parts, _ = read(working(tmp_path / "w", graph))
        assert len(edges(parts)[0].dst_name) == 2_000_000

    def test_is_the_same_each_time_and_again_nothing(self, tmp_path: Path) -> None:
        source = open_lightrag(working(tmp_path / "w"))
        assert list(source.parts(Notes())) == list(source.parts(Notes()))
        assert (source.family, source.columns, source.mapping) == ("LightRAG", (), {})
        with closing(open_store(f"duckdb:///{tmp_path / 'g.duckdb'}", access_fields=(), create=True)) as store:
            assert write_source(store, source.parts(Notes())).edges.new == 6
            assert plan_source(store, source.parts(Notes())).is_nothing


class TestNotes:
    def test_the_graph_alone(self, tmp_path: Path) -> None:
        for path in (working(tmp_path / "w", texts=None), tmp_path / "w" / GRAPH):
            assert recognises(path)
            parts, notes = read(path)
            assert len(parts) == 1 and parts[0].chunks == () and {e.source_doc_id for e in edges(parts)} == {path.name}
            assert len(edges(parts)) == 4
            assert [e.properties.get("file_path") for e in edges(parts)][-1] == "one.txt<SEP>unknown_source"
            assert notes[f"files not there: {CHUNKS}"] == 1 and notes["passages named that are not there"] == 3

    def test_chunks_that_are_not_there_or_empty(self, tmp_path: Path) -> None:
        texts = {**TEXTS, "chunk-2": {"content": " "}, "chunk-3": None}
        parts, notes = read(working(tmp_path / "w", texts=texts))
        assert sorted({str(e.source_doc_id) for e in edges(parts)}) == ["chunk-1", "w"]
        assert [e.src_name for e in edges(parts) if e.source_doc_id == "w"] == ["Бо"]
        assert notes["chunks without text left out"] == 2 and notes["passages named that are not there"] == 2
        assert notes["relations and attributes that no passage holds, kept with the file"] == 1

    def test_a_chunk_of_no_document_is_the_folders(self, tmp_path: Path) -> None:
        parts, _ = read(working(tmp_path / "w", texts={"chunk-1": {"content": "A."}}))
        assert parts[0].chunks[0].document_id == "w" and len(parts) == 1

    def test_nodes_that_only_edges_name_and_nodes_without_edges(self, tmp_path: Path) -> None:
        nodes = {"Lone": {"entity_type": "person", "source_id": "chunk-1"}, "Ann": NODES["Ann"]}
        parts, notes = read(working(tmp_path / "w", graphml(nodes, EDGES)))
        assert {e.name: e.type for e in parts[0].entities if e.type != "AttributeValue"} == {
            "Ann": "person", "Бо": "Entity", "Acme": "Entity",
        }  # fmt: skip
        assert notes["names that only edges give, taken as entities of the type Entity"] == 2
        assert notes["entities left out that no relation and no attribute reaches"] == 1

    def test_names_that_fold_alike_are_one_entity_and_lose_no_edge(self, tmp_path: Path) -> None:
        nodes = {**NODES, "ANN": {**NODES["Ann"], "entity_id": "ANN", "description": "Loud."}}
        given = [*EDGES, ("ANN", "Acme", {"description": "Shouts at.", "source_id": "chunk-1"})]
        parts, notes = read(working(tmp_path / "w", graphml(nodes, given)))
        ann = entity_id("person", "Ann")
        said = [(e.src_name, e.description or e.dst_name) for e in parts[0].edges if e.source_id == ann]
        assert said == [
            ("Ann", "Ann leads.\nShe is old."), ("ANN", "Loud."), ("Ann", "Leads.\nOwns."), ("ANN", "Shouts at."),
        ]  # fmt: skip
        assert notes["nodes of one type and name but for letters' case and white space, taken as one entity"] == 1


class TestFaults:
    @pytest.mark.parametrize(
        ("graph", "fault"),
        [
            ("", "line 1: not XML .no element found"),
            ("a,b,c\n", "line 1: not XML"),
            (b"\x00\x01\x02" * 100, "line 1: not XML"),
            ("\n<graphml>\n<graph>\n<node id='a'>\n", "line 5: not XML"),
            ("<graphml>\n<graph></graphml>", "line 2: not XML .mismatched tag"),
            (b"<graphml>\n\n<node id='\xe9'/></graphml>", "line 3: not XML .not well-formed"),
            (
                "<?xml version='1.0' encoding='nonsense'?>\n<graphml/>",
                "line 1: not XML .unknown encoding|cannot be read",
            ),
            ("<gexf></gexf>", "is not GraphML"),
            ("<graphml>\n<node/></graphml>", "line 2: a node has no id"),
            ("<graphml>\n<edge source='a'/></graphml>", "line 2: an edge has no target"),
            ("<!DOCTYPE graphml [\n<!ENTITY a 'b'>]>\n<graphml>&a;</graphml>", r"line 1: a document type .DTD. is not"),
            ("<!DOCTYPE graphml SYSTEM 'file:///etc/passwd'>\n<graphml/>", r"line 1: a document type .DTD. is not"),
            ("<graphml>&undeclared;</graphml>", "line 1: not XML .undefined entity"),
        ],
    )
    def test_what_is_no_graphml_is_named_by_line(self, tmp_path: Path, graph: str | bytes, fault: str) -> None:
        with pytest.raises(IngestError, match=rf"^{GRAPH},? ({fault})") as raised:
            read(working(tmp_path / "w", graph))
        assert raised.value.remedy

    def test_entities_that_expand_are_refused_at_once(self, tmp_path: Path) -> None:
        bomb = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "ha"}">\n' for i in range(12))
        with pytest.raises(IngestError, match="DTD"):
            read(working(tmp_path / "w", f"<!DOCTYPE g [\n{bomb}]>\n<graphml>&a11;</graphml>"))

    @pytest.mark.parametrize("opening", ["<node id='", "<!--", "<?x ", "<"])
    def test_a_tag_that_does_not_end_is_refused_soon(self, tmp_path: Path, opening: str) -> None:
        with pytest.raises(IngestError, match=f"^{GRAPH}, line 2: a tag of more than 1 MB"):
            read(working(tmp_path / "w", "<graphml>\n" + opening + "a" * 20_000_000))

    def test_deep_nesting_is_no_trouble(self, tmp_path: Path) -> None:
        deep = "<a>" * 200_000 + "</a>" * 200_000
        parts, _ = read(working(tmp_path / "w", graphml(NODES, EDGES).replace("<graph ", deep + "<graph ")))
        assert len(edges(parts)) == 6

    @pytest.mark.parametrize("value", ["heavy", "1,5", "9" * 5000 + "x"])
    def test_a_number_that_is_none_is_named_by_line(self, tmp_path: Path, value: str) -> None:
        graph = graphml(NODES, [("Ann", "Acme", {"weight": value, "source_id": "chunk-1"})])
        with pytest.raises(IngestError, match=rf"^{GRAPH}, line \d+: 'weight' is not a number"):
            read(working(tmp_path / "w", graph))

    @pytest.mark.parametrize(
        ("texts", "fault"),
        [
            (b"", "is empty"),
            (b"\n \n", "is empty"),
            (b"{\n\n'a': 1}", "line 3, character 1: not JSON"),
            (b'{"a": {"content": "b"}', "line 1, character 23: not JSON"),
            (b"[" * 200_000, r"not JSON .nested too deep"),
            (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
            (b'{"a":\n"\xe9"}', "line 2: not UTF-8 text"),
            ("{".encode("utf-16") + b"\x00", "line 1: not UTF-16 text"),
            (b"[1, 2]", "is not an object of chunks by id"),
            (bytes(range(256)), "line 2: not UTF-8 text"),
        ],
    )
    def test_what_is_wrong_with_the_chunks(self, tmp_path: Path, texts: bytes, fault: str) -> None:
        with pytest.raises(IngestError, match=rf"^{CHUNKS}[:,]? {fault}") as raised:
            read(working(tmp_path / "w", texts=texts))
        assert raised.value.remedy

    @pytest.mark.parametrize("name", [GRAPH, CHUNKS])
    def test_a_huge_file_is_refused_unread(self, tmp_path: Path, name: str) -> None:
        with (working(tmp_path / "w") / name).open("r+b") as file:
            file.truncate(MOST_BYTES + 1)
        with pytest.raises(IngestError, match=rf"^{name} has 512 MB"):
            read(tmp_path / "w")

    def test_other_folders_files_and_mappings(self, tmp_path: Path) -> None:
        other = tmp_path / "other.graphml"
        other.write_text(graphml({}, []).replace("entity_type", "kind").replace("source_id", "from"))
        for path in (tmp_path, tmp_path / "gone", other):
            assert not recognises(path)
        for path in (tmp_path, tmp_path / "gone"):
            with pytest.raises(IngestError, match=f"has no {GRAPH}"):
                open_lightrag(path)
        with pytest.raises(IngestError, match="a mapping cannot name others"):
            open_lightrag(working(tmp_path / "w"), {"source": "target"})
