"""A folder of JSONL as a graph, and what is wrong with one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgcore import IngestError, read_ontology
from kgcore.ingest.importers.folder import GraphParts, read_folder
from kgcore.names import edge_id, entity_id
from kgcore.types import HAS_ATTRIBUTE

PASSAGE = {"id": "p1", "text": "Text."}
TRIPLE = {"passage": "p1", "triple": ["Ann", "knows", "Bo"]}


def folder(path: Path, **files: Any) -> Path:
    """Writes NAME.jsonl for each list of records; what is text or bytes is written as it is."""
    for name, content in files.items():
        if isinstance(content, list):
            content = "\n".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in content)
        data = content if isinstance(content, bytes) else content.encode()
        (path / f"{name}.jsonl").write_bytes(data)
    return path


def parts(path: Path, **files: Any) -> GraphParts:
    return read_folder(folder(path, **files))


class TestGraph:
    def test_of_passages_and_bare_triples(self, tmp_path: Path) -> None:
        found = parts(tmp_path, passages=[{**PASSAGE, "title": "One", "year": 2024, "document": "d"}], triples=[TRIPLE])
        ann, bo = entity_id("Entity", "Ann"), entity_id("Entity", "Bo")
        assert [(e.id, e.type, e.name) for e in found.entities] == [(ann, "Entity", "Ann"), (bo, "Entity", "Bo")]
        [edge] = found.edges
        assert edge.id == edge_id(ann, "knows", None, bo, "p1")
        assert (edge.src_name, edge.relation, edge.dst_name, edge.source_doc_id) == ("Ann", "knows", "Bo", "p1")
        assert edge.properties == {"title": "One", "year": 2024}
        [chunk] = found.chunks
        assert (chunk.id, chunk.document_id, chunk.content) == ("p1", "d", "Text.")

    def test_of_documents_has_a_chunk_for_each_paragraph(self, tmp_path: Path) -> None:
        document = {
            "id": "d",
            "text": "One.\r\n\r\n  Two.\nStill two.\n\n\n\nThree.\n\n",
            "tags": ["a", 1],
            "none": None,
        }
        found = parts(tmp_path, documents=[document], triples=[{"passage": "d#2", "triple": ["A", "r", "B"]}])
        assert [(c.id, c.content) for c in found.chunks] == [
            ("d#1", "One."), ("d#2", "Two.\nStill two."), ("d#3", "Three."),
        ]  # fmt: skip
        assert {c.document_id for c in found.chunks} == {"d"}
        assert found.chunks[1].metadata == {"tags": ("a", 1), "chunk": 2, "chunks": 3}
        assert found.edges[0].properties == {"tags": ("a", 1)}

    def test_with_entities_keeps_two_of_one_name_apart(self, tmp_path: Path) -> None:
        found = parts(
            tmp_path,
            passages=[PASSAGE],
            entities=[{"id": "k1", "name": "Alex Kim", "type": "Person"}, {"id": "k2", "name": "Alex Kim"}],
            triples=[
                {"passage": "p1", "triple": ["k1", "knows", "k2"]},
                {"passage": "p1", "source": "k1", "relation": "IN", "target": "Paris", "target_type": "City",
                 "source_name": "A. Kim", "description": "Since May.", "id": "own"},
            ],
        )  # fmt: skip
        assert [e.type for e in found.entities] == ["Person", "Entity", "City"]
        first, second = found.edges
        assert (first.source_id, first.src_name, first.target_id) == ("k1", "Alex Kim", "k2")
        assert (second.id, second.src_name, second.description) == ("own", "A. Kim", "Since May.")
        assert second.target_id == entity_id("City", "Paris")

    def test_an_attributes_value_belongs_to_its_document(self, tmp_path: Path) -> None:
        found = parts(
            tmp_path,
            passages=[PASSAGE, {**PASSAGE, "id": "p2"}],
            triples=[
                {"passage": p, "source": "Ann", "relation": HAS_ATTRIBUTE, "key": "age", "value": 7}
                for p in ("p1", "p2")
            ],
        )
        assert [(e.key, e.dst_name) for e in found.edges] == [("age", "7")] * 2
        assert len({e.target_id for e in found.edges}) == 2
        assert {e.type for e in found.entities} == {"Entity", "AttributeValue"}

    def test_ids_and_names_may_be_numbers(self, tmp_path: Path) -> None:
        found = parts(tmp_path, passages=[{"id": 1, "text": 2}], triples=[{"passage": 1, "triple": [3, 4, 5.5]}])
        assert found.chunks[0].id == "1" and found.edges[0].dst_name == "5.5"

    def test_blank_lines_and_a_byte_order_mark_are_no_trouble(self, tmp_path: Path) -> None:
        found = parts(tmp_path, passages=b"\xef\xbb\xbf\n" + json.dumps(PASSAGE).encode() + b"\r\n\n", triples=[TRIPLE])
        assert len(found.chunks) == len(found.edges) == 1

    def test_the_same_folder_gives_the_same_ids(self, tmp_path: Path) -> None:
        first = parts(tmp_path, passages=[PASSAGE], triples=[TRIPLE, TRIPLE])
        assert len(first.edges) == 1 and read_folder(tmp_path) == first


LINE_2 = [
    ("passages", '{"id": "p2"', "not JSON"),
    ("passages", "[" * 100_000, "not JSON"),
    ("passages", '["p2"]', "object"),
    ("passages", {"id": "p2"}, "'text'"),
    ("passages", {"text": "No id."}, "'id'"),
    ("passages", {"id": "", "text": "x"}, "'id'"),
    ("passages", {"id": ["p2"], "text": "x"}, "'id'"),
    ("passages", {"id": True, "text": "x"}, "'id'"),
    ("passages", {"id": "p2", "text": {"a": 1}}, "'text'"),
    ("passages", {"id": "p2", "text": "x", "meta": {"a": 1}}, "'meta'"),
    ("passages", {"id": "p2", "text": "x", "meta": [[1]]}, "'meta'"),
    ("passages", {"id": "p2", "text": "x", "document": []}, "'document'"),
    ("triples", {"passage": "p9", "triple": ["a", "b", "c"]}, "'p9'"),
    ("triples", {"triple": ["a", "b", "c"]}, "'passage'"),
    ("triples", {"passage": "p1"}, "'relation'"),
    ("triples", {"passage": "p1", "triple": ["a", "b"]}, "three parts"),
    ("triples", {"passage": "p1", "triple": "a b c"}, "three parts"),
    ("triples", {"passage": "p1", "triple": ["a", None, "c"]}, "'relation'"),
    ("triples", {"passage": "p1", "triple": ["a", "b", ""]}, "'target'"),
    ("triples", {"passage": "p1", "triple": [{}, "b", "c"]}, "'source'"),
    ("triples", {"passage": "p1", "source": "a", "relation": "b"}, "'target'"),
    ("triples", {"passage": "p1", "source": "a", "relation": HAS_ATTRIBUTE, "key": "k"}, "'target'"),
    ("triples", {"passage": "p1", "source": "a", "relation": HAS_ATTRIBUTE, "value": "v"}, "'key'"),
    ("triples", {"passage": "p1", "triple": ["a", "b", "c"], "description": ["x"]}, "'description'"),
    ("entities", {"id": "e1"}, "'name'"),
    ("entities", {"name": "Ann"}, "'id'"),
    ("entities", {"id": "e1", "name": "Ann", "type": {}}, "'type'"),
    ("documents", {"id": "d"}, "'text'"),
    ("documents", {"id": "d", "text": "x", "meta": {"a": 1}}, "'meta'"),
]
FIRST = {
    "passages": PASSAGE,
    "triples": TRIPLE,
    "entities": {"id": "e0", "name": "Zoe"},
    "documents": {"id": "d0", "text": "Zero."},
}


class TestFaults:
    @pytest.mark.parametrize(
        ("file", "record", "fault"),
        LINE_2,
        ids=[f"{case[0]}-{str(case[1])[:50]}" for case in LINE_2],
    )
    def test_name_the_file_and_the_line(self, tmp_path: Path, file: str, record: Any, fault: str) -> None:
        files = {"passages": [PASSAGE], "triples": [TRIPLE], file: [FIRST[file], record]}
        with pytest.raises(IngestError) as raised:
            parts(tmp_path, **files)
        assert str(raised.value).startswith(f"{file}.jsonl, line 2: ")
        assert fault in str(raised.value) and raised.value.remedy.endswith(".")

    def test_count_blank_lines(self, tmp_path: Path) -> None:
        with pytest.raises(IngestError, match=r"^triples\.jsonl, line 4: "):
            parts(tmp_path, passages=[PASSAGE], triples="\n\n" + json.dumps(TRIPLE) + "\n{}")

    @pytest.mark.parametrize("file", ["passages", "triples", "entities"])
    def test_a_file_that_is_not_utf_8(self, tmp_path: Path, file: str) -> None:
        files: dict[str, Any] = {"passages": [PASSAGE], "triples": [TRIPLE]}
        with pytest.raises(IngestError, match=rf"^{file}\.jsonl.*UTF-8"):
            parts(tmp_path, **{**files, file: b'{"id": "\xe9"}'})

    @pytest.mark.parametrize(
        "files", [{}, {"triples": [TRIPLE]}, {"passages": [PASSAGE]}, {"passages": "", "triples": ""}]
    )
    def test_a_folder_without_a_graph(self, tmp_path: Path, files: dict[str, Any]) -> None:
        with pytest.raises(IngestError) as raised:
            parts(tmp_path, **files)
        assert "triples.jsonl" in str(raised.value) and raised.value.remedy

    def test_a_folder_that_is_not_there_or_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "nowhere", tmp_path / "file"):
            with pytest.raises(IngestError, match=path.name):
                read_folder(path)


class TestOntology:
    def test_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "o.json"
        path.write_text('{"entity_types": [{"name": "A"}], "relation_types": [{"name": "R", "source": ["A"]}]}')
        found = read_ontology(path)
        assert found.entity_types[0].name == "A" and found.relation_types[0].source == ("A",)

    @pytest.mark.parametrize(
        ("text", "fault"),
        [("{", "o.json"), ("[]", "o.json"), ('{"entity_types": [{}]}', "entity_types.0.name"), ("{}", "entity_types")],
    )
    def test_that_is_wrong_says_where(self, tmp_path: Path, text: str, fault: str) -> None:
        path = tmp_path / "o.json"
        path.write_text(text)
        with pytest.raises(IngestError) as raised:
            read_ontology(path)
        assert fault in str(raised.value) and raised.value.remedy

    def test_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(IngestError, match=r"gone\.json"):
            read_ontology(tmp_path / "gone.json")
