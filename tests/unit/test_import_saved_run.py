"""A saved run as a graph: its facts and passages come back, what it does not hold is noted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgcore import IngestError
from kgcore.ingest.importers.saved_run import open_saved_run, recognises
from kgcore.ingest.source import Notes
from kgcore.retrieve import run_json
from kgcore.retrieve.export import MAX_PAGE, run_element
from kgcore.types import HAS_ATTRIBUTE, Chunk, Entity, Retrieval
from tests.contract.graphs import edge, only
from tests.data.build import graph, offline, retriever
from tests.unit.reading import edges, reader

read = reader(open_saved_run)


@pytest.fixture(scope="module")
def run() -> Retrieval:
    store = graph(
        edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", properties={"year": 2024, "title": "One"}),
        edge("e2", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="ACME", doc="d2", properties={"year": 1, "n": 1}),
        edge("e3", "acme", "USES", "helios", src="Acme", dst="Helios", doc="gone", properties={"n": 0.5}),
        edge("e4", "helios", HAS_ATTRIBUTE, "v", key="status", src="Helios", dst="Активен </script>"),
        entities=[Entity(id="jane", type="person", name="Jane Doe")],
        chunks=[
            Chunk(id="d1", document_id="d", content="Jane works.", metadata={"title": "One", "year": 2024}),
            Chunk(id="d2", document_id="d", content="So she does.", metadata={"year": 1}),
        ],
        embedder=offline(),
    )
    found = retriever(store, max_hops=3, document_retriever=store.chunks).retrieve("What does Jane Doe's employer use?")
    store.close()
    assert {f.relation for f in found.facts} == {"WORKS_AT", "USES", "status"}
    return found


def saved(path: Path, run: Retrieval) -> Path:
    path.write_text(run_json(run))
    return path


class TestSavedRun:
    def test_facts_and_passages_come_back(self, tmp_path: Path, run: Retrieval) -> None:
        path = saved(tmp_path / "run.json", run)
        assert recognises(path)
        parts, notes = read(path)
        held = {(e.relation, e.source_doc_id): e for e in edges(parts)}
        assert held.keys() == {("WORKS_AT", "d1"), ("WORKS_AT", "d2"), ("USES", "run.json"), (HAS_ATTRIBUTE, "d1")}
        works, status = held["WORKS_AT", "d2"], held[HAS_ATTRIBUTE, "d1"]
        assert (works.source_id, works.target_id, works.properties) == ("jane", "acme", {"year": 1, "n": 1})
        assert held["WORKS_AT", "d1"].properties["year"] == 2024
        assert held["USES", "run.json"].properties == {"n": 0.5}
        assert (status.source_id, status.key, status.dst_name) == ("helios", "status", "Активен </script>")
        chunks = {c.id: (c.document_id, c.content) for part in parts for c in part.chunks}
        assert chunks == {"d1": ("d", "Jane works."), "d2": ("d", "So she does.")}
        assert {e.name: e.type for part in parts for e in part.entities}["Jane Doe"] == "person"
        assert notes == {
            "passages named that are not there": 1,
            "relations and attributes that no passage holds, kept with the file": 1,
        }

    def test_a_page_holds_the_same(self, tmp_path: Path, run: Retrieval) -> None:
        path = tmp_path / "run.json"
        expected = read(saved(path, run))
        path.write_text(f"<!doctype html>\n<html><body>{run_element(run)}</body></html>")
        assert recognises(path) and read(path) == expected

    def test_is_the_same_each_time(self, tmp_path: Path, run: Retrieval) -> None:
        source = open_saved_run(saved(tmp_path / "run.json", run))
        assert list(source.parts(Notes())) == list(source.parts(Notes()))
        assert (source.family, source.columns, source.mapping) == ("Saved run", (), {})


class TestFaults:
    @pytest.mark.parametrize("text", ["", "{}", '{"content": "a", "facts": 1}', "<html>", "\x00", "[" * 200_000])
    def test_what_is_no_run(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "run.json"
        path.write_text(text)
        recognises(path)
        with pytest.raises(IngestError, match=r"^run\.json: ") as raised:
            read(path)
        assert raised.value.remedy

    def test_a_run_without_facts(self, tmp_path: Path) -> None:
        store = graph(edge("e1", "jane", "KNOWS", "bo", src="Jane", dst="Bo"), embedder=offline())
        found = retriever(store).retrieve("Who?", filters=only("year", ">", 9999))
        store.close()
        with pytest.raises(IngestError, match=r"run\.json: this run found no fact"):
            read(saved(tmp_path / "run.json", found))

    def test_other_files_and_mappings(self, tmp_path: Path, run: Retrieval) -> None:
        huge = tmp_path / "huge"
        with huge.open("wb") as file:
            file.truncate(MAX_PAGE + 1)
        for path in (tmp_path, tmp_path / "gone", huge):
            assert not recognises(path)
        with pytest.raises(IngestError, match="is not a file"):
            open_saved_run(tmp_path)
        with pytest.raises(IngestError, match=r"^huge: .* run"):
            read(huge)
        with pytest.raises(IngestError, match="a mapping cannot name others"):
            open_saved_run(saved(tmp_path / "run.json", run), {"source": "target"})
