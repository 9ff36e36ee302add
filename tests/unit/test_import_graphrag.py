"""A Microsoft GraphRAG index as a graph, in every version's shape, and what is wrong with one."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgcore import IngestError, open_store
from kgcore.ingest import plan_source, write_source
from kgcore.ingest.importers.graphrag import open_graphrag, recognises
from kgcore.ingest.source import GraphParts, Notes
from kgcore.names import edge_id, entity_id
from kgcore.types import HAS_ATTRIBUTE, Chunk
from tests.data.build import ROOT
from tests.unit.reading import edges, reader

REAL = ROOT.parent / "shared" / "data" / "msgraphrag"
U1, U2, U3 = "a" * 128, "b" * 128, "c" * 128
ENTITIES = [
    {"id": "e1", "human_readable_id": 0, "title": "ANN", "type": "PERSON", "description": "Ann leads.", "degree": 2}
    | {"text_unit_ids": [U1, U3], "frequency": 2, "x": 0.5, "y": 0.5},
    {"id": "e2", "human_readable_id": 1, "title": "ACME", "type": "ORGANIZATION", "description": None, "degree": 1}
    | {"text_unit_ids": [U1], "frequency": 1, "x": 0.0, "y": 0.0},
]
RELATIONSHIPS = [
    {"id": "r1", "human_readable_id": 0, "source": "ANN", "target": "ACME", "description": "Ann leads Acme."}
    | {"weight": 8.0, "combined_degree": 3, "text_unit_ids": [U1, U3]},
    {"id": "r2", "human_readable_id": 1, "source": "ANN", "target": "BO", "description": "Ann knows Bo."}
    | {"weight": 1.0, "combined_degree": 3, "text_unit_ids": [U2]},
]
UNITS = [
    {"id": U1, "text": "Ann leads Acme.", "n_tokens": 4, "document_id": "d1", "entity_ids": ["e1"]},
    {"id": U2, "text": "Ann knows Bo.", "n_tokens": 4, "document_id": "d1", "entity_ids": ["e1"]},
    {"id": U3, "text": "Ann again.", "n_tokens": 3, "document_id": "d2", "entity_ids": ["e1"]},
]
DOCUMENTS = [
    {"id": "d1", "human_readable_id": 0, "title": "one.txt", "text": "Long.", "text_unit_ids": [U1, U2]}
    | {"creation_date": "2025-09-16", "metadata": {"year": 2024, "allowed_principals": ["ann", "bo"]}},
    {"id": "d2", "human_readable_id": 1, "title": "two.txt", "text": "Long.", "text_unit_ids": [U3]}
    | {"creation_date": "2025-09-17", "metadata": {"year": None, "allowed_principals": ["bo"]}},
]
INDEX = {"entities": ENTITIES, "relationships": RELATIONSHIPS, "text_units": UNITS, "documents": DOCUMENTS}


def index(folder: Path, prefix: str = "", **tables: list[dict[str, Any]] | pa.Table | bytes) -> Path:
    """Writes each table as a parquet file; bytes as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        path = folder / f"{prefix}{name}.parquet"
        if isinstance(table, bytes):
            path.write_bytes(table)
        else:
            pq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pylist(table), path)
    return folder


read = reader(open_graphrag)


def chunks(parts: list[GraphParts]) -> list[Chunk]:
    return [chunk for part in parts for chunk in part.chunks]


class TestGraph:
    def test_a_relationship_is_an_edge_for_each_text_unit(self, tmp_path: Path) -> None:
        parts, _ = read(index(tmp_path, **INDEX))
        related = [e for e in edges(parts) if e.relation == "RELATED"]
        assert [(e.src_name, e.dst_name, e.description, e.source_doc_id) for e in related] == [
            ("ANN", "ACME", "Ann leads Acme.", U1),
            ("ANN", "BO", "Ann knows Bo.", U2),
            ("ANN", "ACME", "Ann leads Acme.", U3),
        ]
        assert related[0].source_id == "e1" and related[0].target_id == "e2"
        assert related[0].id == edge_id("e1", "RELATED", None, "e2", U1)

    def test_a_description_is_an_attribute_in_each_text_unit(self, tmp_path: Path) -> None:
        parts, _ = read(index(tmp_path, **INDEX))
        held = [e for e in edges(parts) if e.relation == HAS_ATTRIBUTE]
        assert [(e.source_id, e.src_name, e.key, e.dst_name, e.source_doc_id) for e in held] == [
            ("e1", "ANN", "description", "Ann leads.", U1),
            ("e1", "ANN", "description", "Ann leads.", U3),
        ]
        assert held[0].target_id == entity_id("AttributeValue", "Ann leads.", "e1:description:d1")
        assert held[1].target_id == entity_id("AttributeValue", "Ann leads.", "e1:description:d2")

    def test_each_document_is_a_part_with_its_metadata_on_edges_and_chunks(self, tmp_path: Path) -> None:
        parts, _ = read(index(tmp_path, **INDEX))
        assert [part.whole for part in parts] == [True, True]
        assert [[c.id for c in part.chunks] for part in parts] == [[U1, U2], [U3]]
        metadata = {
            "year": 2024,
            "allowed_principals": ("ann", "bo"),
            "creation_date": "2025-09-16",
            "title": "one.txt",
        }
        assert chunks(parts)[1].metadata == {**metadata, "chunk": 2, "chunks": 2}
        assert chunks(parts)[1].content == "Ann knows Bo." and chunks(parts)[1].document_id == "d1"
        [leads, *_] = [e for e in edges(parts) if e.relation == "RELATED"]
        assert leads.properties == {"weight": 8.0, **metadata}
        [described, _] = [e for e in edges(parts) if e.relation == HAS_ATTRIBUTE]
        assert described.properties == metadata
        assert "year" not in parts[1].edges[0].properties and parts[1].chunks[0].metadata["title"] == "two.txt"

    def test_ends_of_edges_are_in_their_part_and_a_name_without_a_row_is_one(self, tmp_path: Path) -> None:
        parts, notes = read(index(tmp_path, **INDEX))
        for part in parts:
            ends = {end for e in part.edges for end in (e.source_id, e.target_id)}
            assert {e.id for e in part.entities} == ends
        types = {e.name: (e.id, e.type) for part in parts for e in part.entities}
        assert types["ANN"] == ("e1", "PERSON")
        assert types["BO"] == (entity_id("Entity", "BO"), "Entity")
        assert notes["names that only relationships give, taken as entities of the type Entity"] == 1

    def test_numbers_of_the_whole_graph_are_no_properties(self, tmp_path: Path) -> None:
        parts, notes = read(index(tmp_path, **INDEX))
        assert {e.key for e in edges(parts)} == {None, "description"}
        assert not any("degree" in name or "human" in name for e in edges(parts) for name in e.properties)
        assert notes["columns of numbering, counts, layout and vectors not read"] == 10

    def test_is_the_same_each_time(self, tmp_path: Path) -> None:
        source = open_graphrag(index(tmp_path, **INDEX))
        assert list(source.parts(Notes())) == list(source.parts(Notes()))
        assert (source.family, source.columns, source.mapping) == ("Microsoft GraphRAG", (), {})


class TestVersions:
    def test_the_names_of_the_first_versions(self, tmp_path: Path) -> None:
        entities = [
            {"id": e["id"], "name": f'"{e["title"]}"', "type": f'"{e["type"]}"', "description": e["description"]}
            | {"human_readable_id": 0, "text_unit_ids": e["text_unit_ids"], "description_embedding": [0.1, 0.2]}
            for e in ENTITIES
        ]
        relationships = [
            {**{k: v for k, v in r.items() if k != "combined_degree"}, "source": f'"{r["source"]}"', "rank": 3}
            for r in RELATIONSHIPS
        ]
        units = [{"id": u["id"], "text": u["text"], "document_ids": [u["document_id"]]} for u in UNITS]
        documents = [{"id": d["id"], "title": d["title"], "raw_content": "Long."} for d in DOCUMENTS]
        folder = index(
            tmp_path,
            "create_final_",
            entities=entities,
            relationships=relationships,
            text_units=units,
            documents=documents,
        )
        old, _ = read(folder)
        new, _ = read(index(tmp_path / "new", **INDEX))
        assert [(e.id, e.src_name, e.dst_name, e.description) for e in edges(old)] == [
            (e.id, e.src_name, e.dst_name, e.description) for e in edges(new)
        ]
        assert {e.type for e in old[0].entities} == {"PERSON", "ORGANIZATION", "Entity", "AttributeValue"}
        assert edges(old)[0].properties == {"title": "one.txt"}

    def test_the_output_folder_is_found_in_a_project(self, tmp_path: Path) -> None:
        index(tmp_path / "output", **INDEX)
        assert recognises(tmp_path) and recognises(tmp_path / "output")
        assert read(tmp_path)[0] == read(tmp_path / "output")[0]

    def test_text_units_of_several_documents_go_to_the_first(self, tmp_path: Path) -> None:
        units = [
            {"id": U1, "text": "A.", "document_ids": ["d1", "d2"]},
            {"id": U2, "text": "B.", "document_ids": ["d2"]},
        ]
        parts, notes = read(index(tmp_path, **{**INDEX, "text_units": units}))
        assert [c.document_id for c in chunks(parts)] == ["d1", "d2"]
        assert notes["text units of several documents, kept with the first"] == 1

    @pytest.mark.parametrize("key", ["metadata", "raw_data"])
    def test_metadata_in_json_or_raw_data(self, tmp_path: Path, key: str) -> None:
        given = {"year": 2020, "tags": ["a", "b"], "text": "Long.", "deep": {"er": 1}, "source url": "x"}
        documents = [{"id": "d1", "title": "one", "text": "Long.", key: json.dumps(given)}]
        parts, notes = read(index(tmp_path, **{**INDEX, "documents": documents}))
        assert chunks(parts)[0].metadata == {
            "year": 2020, "tags": ("a", "b"), "source_url": "x", "title": "one", "chunk": 1, "chunks": 2,
        }  # fmt: skip
        assert notes["values left out that are nested or vectors"] == 1
        assert notes["values kept under a name of letters, digits and _"] == 1

    def test_dates_and_exact_numbers_lose_nothing(self, tmp_path: Path) -> None:
        row = {
            "when": datetime.datetime(2025, 1, 2, 3, 4, 5),
            "day": datetime.date(2025, 1, 2),
            "price": Decimal("1.10"),
        }
        documents = [{"id": "d1", "title": "one", **row}]
        relationships = [{**RELATIONSHIPS[0], "weight": float("nan"), "big": 2**53 + 1, "sure": True}]
        parts, _ = read(index(tmp_path, **{**INDEX, "documents": documents, "relationships": relationships}))
        [edge] = [e for e in parts[0].edges if e.relation == "RELATED"]
        assert edge.properties == {
            "when": "2025-01-02T03:04:05", "day": "2025-01-02", "price": "1.10", "title": "one",
            "big": 2**53 + 1, "sure": True,
        }  # fmt: skip


class TestNotes:
    def test_without_text_units_the_folder_is_the_document(self, tmp_path: Path) -> None:
        folder = index(tmp_path / "acme", entities=ENTITIES, relationships=RELATIONSHIPS)
        parts, notes = read(folder)
        assert len(parts) == 1 and parts[0].chunks == () and {e.source_doc_id for e in parts[0].edges} == {"acme"}
        assert len(parts[0].edges) == 3
        assert notes["files not there: text_units.parquet"] == notes["files not there: documents.parquet"] == 1
        assert notes["passages named that are not there"] == 3

    def test_text_units_that_are_named_and_not_there(self, tmp_path: Path) -> None:
        relationships = [{**RELATIONSHIPS[0], "text_unit_ids": [U1, "gone"]}, {**RELATIONSHIPS[1], "text_unit_ids": []}]
        parts, notes = read(index(tmp_path / "acme", **{**INDEX, "relationships": relationships}))
        related = [(e.dst_name, e.source_doc_id) for e in edges(parts) if e.relation == "RELATED"]
        assert related == [("ACME", U1), ("BO", "acme")]
        assert notes["passages named that are not there"] == 1
        assert notes["relations and attributes that no passage holds, kept with the file"] == 1

    def test_a_text_unit_of_no_document_is_the_folders(self, tmp_path: Path) -> None:
        units = [{**UNITS[0], "document_id": None}, UNITS[1]]
        parts, _ = read(index(tmp_path / "acme", **{**INDEX, "text_units": units}))
        assert [c.document_id for c in chunks(parts)] == ["acme", "d1"]

    def test_rows_without_names_and_entities_without_edges(self, tmp_path: Path) -> None:
        entities = [*ENTITIES, {**ENTITIES[0], "id": "e3", "title": " "}, {**ENTITIES[1], "id": "e4", "title": "ALONE"}]
        relationships = [*RELATIONSHIPS, {**RELATIONSHIPS[0], "source": None}, {**RELATIONSHIPS[0], "target": ""}]
        units = [*UNITS, {**UNITS[0], "id": "empty", "text": ""}]
        parts, notes = read(
            index(tmp_path, **{**INDEX, "entities": entities, "relationships": relationships, "text_units": units})
        )
        assert len(edges(parts)) == 5 and len(chunks(parts)) == 3
        assert notes["entities without a title left out"] == 1
        assert notes["entities left out that no relation and no attribute reaches"] == 1
        assert notes["relationships without a source or a target left out"] == 2
        assert notes["text units without text left out"] == 1

    def test_two_entities_of_one_title_stay_two(self, tmp_path: Path) -> None:
        entities = [*ENTITIES, {**ENTITIES[0], "id": "e9", "type": "SHIP", "description": "A ship."}]
        parts, notes = read(index(tmp_path, **{**INDEX, "entities": entities}))
        assert {e.source_id for e in edges(parts) if e.relation == HAS_ATTRIBUTE} == {"e1", "e9"}
        assert {e.source_id for e in edges(parts) if e.relation == "RELATED"} == {"e1"}
        assert notes["entities whose title another has; relationships go to the first"] == 1

    def test_two_rows_of_one_pair_stay_two_and_one_row_twice_is_one(self, tmp_path: Path) -> None:
        second = {**RELATIONSHIPS[0], "id": "r9", "description": "Ann owns Acme."}
        parts, notes = read(index(tmp_path, **{**INDEX, "relationships": [*RELATIONSHIPS, second, second]}))
        said = [e.description for e in parts[0].edges if e.dst_name == "ACME"]
        assert said == ["Ann leads Acme.", "Ann owns Acme."] and len({e.id for e in edges(parts)}) == len(edges(parts))
        assert notes["assertions that a passage makes twice, kept once"] == 2

    def test_a_documents_metadata_wins_over_a_relationships(self, tmp_path: Path) -> None:
        relationships = [{**r, "allowed_principals": "everybody"} for r in RELATIONSHIPS]
        parts, notes = read(index(tmp_path, **{**INDEX, "relationships": relationships}))
        assert {e.properties["allowed_principals"] for e in edges(parts)} == {("ann", "bo"), ("bo",)}
        assert notes["values of relations left out for their document's of the same name"] == 3

    def test_ends_may_be_ids_where_titles_are_not(self, tmp_path: Path) -> None:
        relationships = [{"source": "e1", "target": "e2", "description": "works at"}]
        parts, _ = read(index(tmp_path, entities=ENTITIES, relationships=relationships))
        [edge] = [e for e in edges(parts) if e.relation == "RELATED"]
        assert (edge.source_id, edge.src_name, edge.target_id, edge.dst_name) == ("e1", "ANN", "e2", "ACME")

    def test_files_that_are_not_read_are_named(self, tmp_path: Path) -> None:
        _, notes = read(index(tmp_path, **INDEX, communities=[{"id": "0"}], covariates=[{"id": "0"}]))
        assert notes["files not read: covariates, communities"] == 2

    def test_half_a_character_becomes_a_question_mark(self, tmp_path: Path) -> None:
        documents = [{"id": "d1", "title": "one", "metadata": '{"by": "\\ud800", "sign": "\\u0007"}'}]
        parts, _ = read(index(tmp_path, **{**INDEX, "documents": documents}))
        assert (chunks(parts)[0].metadata["by"], chunks(parts)[0].metadata["sign"]) == ("?", "\u0007")


class TestFaults:
    @pytest.mark.parametrize("name", ["entities", "relationships", "text_units", "documents"])
    @pytest.mark.parametrize("content", [b"", b"PAR1", b"\x00" * 500, b"a,b\n", "a,b".encode("utf-16")])
    def test_what_is_no_parquet_is_named(self, tmp_path: Path, name: str, content: bytes) -> None:
        folder = index(tmp_path, **{**INDEX, name: content})
        assert recognises(folder)
        with pytest.raises(IngestError, match=rf"^{name}\.parquet cannot be read as parquet") as raised:
            read(folder)
        assert raised.value.remedy

    @pytest.mark.parametrize("at", [0.1, 0.3, 0.5, 0.7, 0.9])
    def test_a_damaged_file_is_no_traceback(self, tmp_path: Path, at: float) -> None:
        folder = index(tmp_path, **INDEX)
        path = folder / "relationships.parquet"
        data = bytearray(path.read_bytes())
        start = int(len(data) * at)
        data[start : start + 40] = b"\xff" * 40
        path.write_bytes(bytes(data))
        with suppress(IngestError):
            read(folder)

    @pytest.mark.parametrize(
        ("name", "column"),
        [("entities", "name"), ("relationships", "source"), ("relationships", "target"), ("text_units", "text")],
    )
    def test_a_column_that_is_missing_is_named(self, tmp_path: Path, name: str, column: str) -> None:
        dropped = {column, "title"} if column == "name" else {column}
        rows = [{k: v for k, v in row.items() if k not in dropped} for row in INDEX[name]]
        with pytest.raises(IngestError, match=rf"^{name}\.parquet has no column '{column}'"):
            read(index(tmp_path, **{**INDEX, name: rows}))

    def test_ids_that_are_missing_or_doubled_are_named_by_row(self, tmp_path: Path) -> None:
        for units, fault in (
            ([UNITS[0], {**UNITS[1], "id": None}], r"text_units\.parquet, row 2: a text unit has no id"),
            ([UNITS[0], UNITS[0]], r"text_units\.parquet, row 2: there is a text unit 'a+' already"),
        ):
            with pytest.raises(IngestError, match=rf"^{fault}"):
                read(index(tmp_path, **{**INDEX, "text_units": units}))
        with pytest.raises(IngestError, match=r"^documents\.parquet, row 1: a document has no id"):
            read(index(tmp_path, **{**INDEX, "documents": [{"id": "", "title": "x"}]}))

    def test_text_that_is_not_utf8_names_the_row(self, tmp_path: Path) -> None:
        column = pa.Array.from_buffers(
            pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
        )
        table = pa.table({"source": column, "target": pa.array(["BO"])})
        with pytest.raises(IngestError, match=r"^relationships\.parquet, after row 0: cannot be read"):
            read(index(tmp_path, **{**INDEX, "relationships": table}))

    def test_a_file_that_unpacks_to_too_much_is_refused(self, tmp_path: Path) -> None:
        many = pa.table({"source": pa.nulls(5_000_001, pa.string()), "target": pa.nulls(5_000_001, pa.string())})
        with pytest.raises(IngestError, match=r"^relationships\.parquet has 5,000,001 rows"):
            read(index(tmp_path, **{**INDEX, "relationships": many}))

    @pytest.mark.parametrize("listed", [False, True])
    def test_a_text_that_is_repeated_without_end_is_refused(self, tmp_path: Path, listed: bool) -> None:
        once = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array(["x" * 3_000_000]))
        ids = pa.ListArray.from_arrays(pa.array([0, 1000], pa.int32()), once)
        rows = {"source": ["A"], "target": ["B"], "text_unit_ids": ids} if listed else {"source": once, "target": once}
        folder = index(tmp_path, **{**INDEX, "relationships": pa.table(rows)})
        assert (folder / "relationships.parquet").stat().st_size < 1_000_000
        with pytest.raises(IngestError, match=r"^relationships\.parquet has over 1,024 MB of text"):
            read(folder)

    def test_other_folders_files_and_mappings(self, tmp_path: Path) -> None:
        index(tmp_path / "half", entities=ENTITIES)
        (tmp_path / "file.parquet").write_bytes(b"PAR1")
        for path in (tmp_path, tmp_path / "half", tmp_path / "file.parquet", tmp_path / "gone"):
            assert not recognises(path)
            with pytest.raises(IngestError, match=r"has no entities\.parquet and relationships\.parquet") as raised:
                open_graphrag(path)
            assert raised.value.remedy
        with pytest.raises(IngestError, match="a mapping cannot name others"):
            open_graphrag(index(tmp_path / "whole", **INDEX), {"source": "target"})


@pytest.mark.skipif(not REAL.is_dir(), reason="the index is not on this machine")
def test_a_real_index(tmp_path: Path) -> None:
    parts, notes = read(REAL)
    [part] = parts
    relationships = pq.read_table(REAL / "relationships.parquet").to_pylist()
    entities = pq.read_table(REAL / "entities.parquet").to_pylist()
    grounded = sum(len(row["text_unit_ids"]) for row in relationships)
    described = sum(len(row["text_unit_ids"]) for row in entities)
    assert Counter(e.relation for e in part.edges) == {"RELATED": grounded, HAS_ATTRIBUTE: described}
    assert len(relationships) == 978 == len({(e.source_id, e.target_id) for e in part.edges if e.relation == "RELATED"})
    types = Counter("value" if e.type == "AttributeValue" else e.type == "Entity" for e in part.entities)
    assert types == {"value": 529, False: 529, True: 32}
    assert len(part.chunks) == 42 and {e.source_doc_id for e in part.edges} <= {c.id for c in part.chunks}
    assert part.chunks[-1].metadata["chunk"] == 42 and part.edges[0].properties["title"] == "a-christmas-carol.txt"
    assert notes == {
        "columns of numbering, counts, layout and vectors not read": 11,
        "names that only relationships give, taken as entities of the type Entity": 32,
    }
    with closing(open_store(f"duckdb:///{tmp_path / 'g.duckdb'}", access_fields=(), create=True)) as store:
        written = write_source(store, open_graphrag(REAL).parts(Notes()))
        assert (written.edges.new, written.chunks.new, written.entities.new) == (len(part.edges), 42, 1090)
        assert plan_source(store, open_graphrag(REAL).parts(Notes())).is_nothing
