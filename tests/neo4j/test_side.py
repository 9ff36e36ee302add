"""Vectors kept beside a graph that others built."""

from __future__ import annotations

from pathlib import Path

import neo4j
import pytest

from kgcore import ConfigError, KnowledgeGraphRetriever, StoreError, open_store
from kgcore.ingest.side import compute_side
from kgcore.models.offline import OfflineEmbedder
from kgcore.store.neo4j import NeoStore, side_folder
from kgcore.store.neo4j_server import Address
from tests.contract.graphs import OPEN
from tests.neo4j.addresses import addresses, emptied

FILMS = """
CREATE (a:Film {name: 'Paris, Texas'}), (b:Person {name: 'Wim Wenders'}), (c:Person {name: 'Ry Cooder'}),
       (d:Place {name: 'Mojave Desert'}),
       (b)-[:DIRECTED {year: 1984}]->(a), (c)-[:SCORED]->(a), (a)-[:FILMED_IN]->(d),
       (b)-[:BORN_IN]->(:Place {name: 'Düsseldorf'})
"""


@pytest.fixture(params=addresses())
def address(request: pytest.FixtureRequest) -> str:
    """A database with a small graph that others built."""
    emptied(request.param)
    parsed = Address.parse(request.param)
    with neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver:
        driver.execute_query(FILMS)
    return str(request.param)


def test_they_are_computed_once_and_used(address: str, tmp_path: Path) -> None:
    embedder, file = OfflineEmbedder(), tmp_path / "graph.json"
    bare = open_store(address, mapping_file=file)
    before = bare.describe(OPEN)
    assert before.embedder is None
    assert compute_side(bare, side_folder(file), embedder, page=2) == 4 + 5
    bare.close()
    store = open_store(address, mapping_file=file)
    seen = store.describe(OPEN)
    assert (seen.embedder, seen.dimension, seen.edges) == (embedder.name, 384, before.edges)
    near = store.nearest_entities(list(embedder.embed(["composer of film music"])), OPEN, 1)
    assert len(near) == 1
    question = embedder.embed(["Who directed it?"])[0]
    scores = {v.edge.relation: v.score for e in store.entities(store_ids(store), OPEN)
              for v in store.expand([e.id], (), OPEN, question, 9).edges}  # fmt: skip
    assert None not in scores.values()
    assert max(scores, key=lambda relation: scores[relation] or 0.0) == "DIRECTED"
    result = KnowledgeGraphRetriever(store, embedder=embedder, scoring="edge").retrieve("Who directed Paris, Texas?")
    assert result.facts[0].relation == "DIRECTED" and result.trace.warnings == ()
    assert all(edge.embedding is not None for edge in store.scan(OPEN, None).edges)
    assert all(entity.embedding is not None for entity in store.scan(OPEN, None).entities)
    store.close()


def store_ids(store: object) -> list[str]:
    """The ids of all entities."""
    assert isinstance(store, NeoStore)
    return [id_ for id_, _ in store.all_names()]


def test_what_came_later_has_none(address: str, tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    bare = open_store(address, mapping_file=file)
    compute_side(bare, side_folder(file), OfflineEmbedder())
    bare.close()
    parsed = Address.parse(address)
    with neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver:
        driver.execute_query("MATCH (a:Film) CREATE (a)-[:SEQUEL_OF]->(:Film {name: 'Alice in the Cities'})")
    store = open_store(address, mapping_file=file)
    assert {e.relation: e.embedding is None for e in store.scan(OPEN, None).edges}["SEQUEL_OF"]
    store.close()


def test_a_damaged_folder_is_told(address: str, tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    side_folder(file).mkdir()
    (side_folder(file) / "about.json").write_text("{}")
    with pytest.raises(StoreError, match="cannot be read") as caught:
        open_store(address, mapping_file=file)
    assert "vectors" in caught.value.remedy


def test_a_graph_of_our_own_keeps_its_vectors_itself(tmp_path: Path) -> None:
    store = open_store("duckdb:///:memory:", create=True)
    with pytest.raises(ConfigError):
        compute_side(store, tmp_path / "x", OfflineEmbedder())
