"""HippoRAG's OpenIE results as a graph, and what is wrong with them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from kgcore import IngestError
from kgcore.ingest.importers.hipporag import open_hipporag, recognises
from kgcore.ingest.source import Notes
from kgcore.names import edge_id, entity_id
from tests.data.build import MUSIQUE
from tests.unit.reading import edges, reader

DOC = {
    "idx": "chunk-7a",
    "passage": "Ann\nAnn leads Acme.",
    "extracted_entities": ["Ann", "Acme"],
    "extracted_triples": [["Ann", "leads", "Acme"], ["Acme", " is a ", " firm "]],
}


def results(folder: Path, *docs: Any, **options: Any) -> Path:
    path = folder / "openie_results_ner_gpt-4o-mini.json"
    path.write_text(json.dumps({"docs": docs, "avg_ent_chars": 3.5, "avg_ent_words": 1.0}, **options), "utf-8")
    return path


def raw(folder: Path, content: bytes) -> Path:
    path = folder / "openie.json"
    path.write_bytes(content)
    return path


read = reader(open_hipporag)


class TestGraph:
    def test_a_passage_is_a_document_and_a_triple_an_edge(self, tmp_path: Path) -> None:
        [part], notes = read(results(tmp_path, DOC))
        assert part.whole and notes == {}
        [chunk] = part.chunks
        assert (chunk.id, chunk.document_id, chunk.content) == ("chunk-7a", "chunk-7a", "Ann\nAnn leads Acme.")
        assert [(e.src_name, e.relation, e.dst_name, e.source_doc_id) for e in part.edges] == [
            ("Ann", "leads", "Acme", "chunk-7a"), ("Acme", "is a", "firm", "chunk-7a"),
        ]  # fmt: skip
        ann, acme = entity_id("Entity", "Ann"), entity_id("Entity", "Acme")
        assert part.edges[0].id == edge_id(ann, "leads", None, acme, "chunk-7a")
        assert [(e.id, e.type, e.name) for e in part.entities][:2] == [(ann, "Entity", "Ann"), (acme, "Entity", "Acme")]

    def test_the_first_version_has_titles_and_no_idx(self, tmp_path: Path) -> None:
        doc = {"title": "Ann", "text": "Ann leads Acme.", **{k: v for k, v in DOC.items() if k != "idx"}}
        path = results(tmp_path, doc, {**doc, "title": "Bo", "year": 2024, "tags": ["x"]})
        parts, _ = read(path)
        assert [c.id for part in parts for c in part.chunks] == [f"{path.name}#1", f"{path.name}#2"]
        assert parts[0].chunks[0].content == "Ann leads Acme." and parts[0].chunks[0].metadata == {"title": "Ann"}
        assert parts[1].edges[0].properties == {"title": "Bo", "year": 2024, "tags": ("x",)}

    def test_numbers_are_ids_and_names(self, tmp_path: Path) -> None:
        doc = {**DOC, "idx": 0, "extracted_triples": [["Ann", "born in", 1990], ["Ann", "scored", 1.5]]}
        parts, _ = read(results(tmp_path, doc, {**doc, "idx": 1}))
        assert [part.chunks[0].id for part in parts] == ["0", "1"]
        assert [e.dst_name for e in parts[0].edges] == ["1990", "1.5"]

    def test_other_values_of_a_doc_are_its_metadata(self, tmp_path: Path) -> None:
        given = {"a b": 1, "a_b": 2, "2nd": 3, "big": 2**63, "sure": False, "none": None, "vector": [0.1, 0.2]}
        parts, notes = read(
            results(tmp_path, {**DOC, **given, "tags": ["x", None], "mixed": ["x", ["y"]], "zero": 0.0})
        )
        assert parts[0].edges[0].properties == {
            "a_b_": 1, "a_b": 2, "_2nd": 3, "big": str(2**63), "sure": False, "tags": ("x",), "zero": 0.0,
        }  # fmt: skip
        assert notes == {
            "values kept under a name of letters, digits and _": 2, "values left out that are nested or vectors": 2,
        }  # fmt: skip

    @pytest.mark.parametrize(("encoding", "indent"), [("utf-8", None), ("utf-8-sig", 2), ("utf-16", 4)])
    def test_other_encodings_and_layouts(self, tmp_path: Path, encoding: str, indent: int | None) -> None:
        doc = {**DOC, "extracted_triples": [["安娜", "знает", "Бо\u0007"]]}
        path = raw(tmp_path, json.dumps({"docs": [doc]}, ensure_ascii=False, indent=indent).encode(encoding))
        assert recognises(path)
        assert [(e.src_name, e.dst_name) for e in edges(read(path)[0])] == [("安娜", "Бо\u0007")]

    def test_is_the_same_each_time(self, tmp_path: Path) -> None:
        source = open_hipporag(results(tmp_path, DOC))
        assert list(source.parts(Notes())) == list(source.parts(Notes()))
        assert (source.family, source.columns, source.mapping) == ("HippoRAG OpenIE", (), {})


class TestNotes:
    @pytest.mark.parametrize(
        ("triple", "note"),
        [
            ([], "triples of 0 members left out"),
            (["a"], "triples of 1 members left out"),
            (["a", "b"], "triples of 2 members left out"),
            (["a", "b", "c", "d"], "triples of 4 members left out"),
            (["a"] * 12, "longer triples left out"),
            ("a, b, c", "triples left out that are not a list"),
            ({"a": "b"}, "triples left out that are not a list"),
            (["", "b", "c"], "triples left out whose source or target is empty or no text"),
            (["a", "b", None], "triples left out whose source or target is empty or no text"),
            (["a", "b", ["c"]], "triples left out whose source or target is empty or no text"),
        ],
    )
    def test_a_triple_that_is_none_is_counted(self, tmp_path: Path, triple: Any, note: str) -> None:
        doc = {**DOC, "extracted_triples": [*DOC["extracted_triples"], triple, triple]}
        parts, notes = read(results(tmp_path, doc))
        assert notes == {note: 2} and len(edges(parts)) == 2

    def test_a_triple_without_a_relation_and_one_given_twice(self, tmp_path: Path) -> None:
        doc = {**DOC, "extracted_triples": [["Ann", "", "Acme"], ["Ann", "leads", "Acme"], ["ann", "leads", "ACME"]]}
        parts, notes = read(results(tmp_path, doc))
        assert [(e.src_name, e.relation) for e in edges(parts)] == [("Ann", "RELATED"), ("Ann", "leads")]
        assert notes == {
            "triples without a relation, kept as RELATED": 1,
            "assertions that a passage makes twice, kept once": 1,
        }

    def test_entities_in_no_triple_and_nested_metadata(self, tmp_path: Path) -> None:
        doc = {**DOC, "extracted_entities": ["Ann", "Paris", "Paris", 7], "openie_metadata": {"deep": {}}}
        parts, notes = read(results(tmp_path, doc))
        assert {e.name for e in parts[0].entities} == {"Ann", "Acme", "firm"}
        assert notes["extracted entities left out that no triple of their passage names"] == 2
        assert notes["values left out that are nested or vectors"] == 1

    def test_a_passage_without_triples_is_a_document(self, tmp_path: Path) -> None:
        [part], _ = read(results(tmp_path, {**DOC, "extracted_triples": [], "extracted_entities": []}))
        assert part.edges == () and part.chunks[0].id == "chunk-7a"

    def test_a_doc_that_comes_twice_is_one_and_another_of_its_idx_is_refused(self, tmp_path: Path) -> None:
        parts, notes = read(results(tmp_path, DOC, DOC))
        assert len(parts) == 1 and len(edges(parts)) == 2
        assert notes == {"assertions that a passage makes twice, kept once": 2}
        with pytest.raises(IngestError, match=r"json, doc 2: its idx 'chunk-7a' is another doc's"):
            read(results(tmp_path, DOC, {**DOC, "passage": "Other."}))


class TestFaults:
    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", " is empty"),
            (b'{"docs": [\n{"idx" 1}]}', ", line 2, character 8: not JSON"),
            (b'{"docs": [\n"\xe9"]}', ", line 2: not UTF-8 text"),
            (b'{"docs": ' + b"[" * 200_000, ": not JSON .nested too deep"),
            (b'{"docs": ' + b"[" * 200 + b"]" * 200 + b"}", ", doc 1: it has no text or no list of triples"),
            (b"\x00\x01\x02", ", line 1, character 1: not JSON"),
            (b"[1]", ' has no list of "docs"'),
            (b'{"docs": []}', ' has no list of "docs"'),
            (b'{"docs": [3]}', ", doc 1: it has no text or no list of triples"),
            (b'{"docs": [{"passage": "a", "extracted_triples": {}}]}', ", doc 1: it has no text or no list"),
            (b'{"docs": [{"passage": " ", "extracted_triples": []}]}', ", doc 1: it has no text or no list"),
        ],
    )
    def test_a_bad_file_is_named_with_its_place(self, tmp_path: Path, content: bytes, fault: str) -> None:
        with pytest.raises(IngestError, match=rf"^openie\.json{fault}") as raised:
            read(raw(tmp_path, content))
        assert raised.value.remedy

    def test_other_files_folders_and_mappings(self, tmp_path: Path) -> None:
        for content in (b"", b"{", b"\xff\xfe", b'{"docs": [1]}', b'{"nodes": [], "docs": []}', b"a,b,c\n", bytes(256)):
            assert not recognises(raw(tmp_path, content))
        assert not recognises(tmp_path) and not recognises(tmp_path / "gone")
        assert recognises(results(tmp_path, DOC)) and recognises(results(tmp_path, DOC, indent=2))
        for path in (tmp_path, tmp_path / "gone"):
            with pytest.raises(IngestError, match="is not a file"):
                open_hipporag(path)
        with pytest.raises(IngestError, match="a mapping cannot name others"):
            open_hipporag(results(tmp_path, DOC), {"source": "target"})


@pytest.mark.skipif(not MUSIQUE.is_dir(), reason="the question set is not on this machine")
def test_real_triples_of_a_model(tmp_path: Path) -> None:
    """The set's own records, put back into the file that they came from."""

    def records(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (MUSIQUE / f"{name}.jsonl").read_text("utf-8").splitlines()]

    triples = defaultdict(list)
    for record in records("triples"):
        triples[record["passage"]].append(record["triple"])
    docs = [
        {"title": p["title"], "text": p["text"], "passage": f"{p['title']}\n{p['text']}", "idx": p["id"]}
        | {"extracted_entities": [], "extracted_triples": triples[p["id"]]}
        for p in records("passages")
    ]
    parts, notes = read(results(tmp_path, *docs))
    assert len(parts) == 1890 and len({e.id for e in edges(parts)}) == len(edges(parts))
    twice = notes["assertions that a passage makes twice, kept once"]
    assert len(edges(parts)) + twice == 17_234 and set(notes) == {"assertions that a passage makes twice, kept once"}
