"""From passages that a model read to a graph that answers."""

from __future__ import annotations

from kgcore.filters import WHOLE
from kgcore.ingest import plan_source, write_source
from kgcore.ingest.assemble import assemble, existing_in, names_in
from kgcore.ingest.extract import Read
from kgcore.ingest.said import Mention, Said
from kgcore.ingest.source import GraphParts
from kgcore.names import entity_id
from kgcore.store import GraphStore, open_store
from kgcore.types import HAS_ATTRIBUTE, Chunk, EntityType, Ontology

ONTOLOGY = Ontology(entity_types=(EntityType(name="Company"), EntityType(name="Person")))
LARK, LARKS = Mention(type="Company", name="Lark Shipping"), Mention(type="Company", name="Lark Shippings")
IDA, LARK_IDA = Mention(type="Person", name="Ida Lark"), Mention(type="Company", name="Ida Lark")


def passage(id_: str, *facts: Said) -> Read:
    document = id_.partition("#")[0]
    metadata = {"year": 2024, "allowed_principals": ("group:a",), "title": document, "chunk": 1, "chunks": 2}
    chunk = Chunk(id=id_, document_id=document, content=f"Text of {id_}.", metadata=metadata)
    return Read(chunk=chunk, facts=facts)


READS = (
    passage(
        "one#1",
        Said(source=IDA, relation="OWNS", target=LARK, description="Ida Lark owns it."),
        Said(source=LARK, relation=HAS_ATTRIBUTE, key="seat", value="Port Ellis"),
    ),
    passage("one#2", Said(source=IDA, relation="OWNS", target=LARKS)),
    passage("two#1", Said(source=LARKS, relation=HAS_ATTRIBUTE, key="seat", value="Port Ellis")),
    passage("two#2"),
)


def parts(*, refused: frozenset[str] = frozenset(), store: GraphStore | None = None) -> list[GraphParts]:
    existing = existing_in(store, ONTOLOGY) if store else ()
    return list(assemble(READS, names_in(READS, existing).resolved(refused)))


def test_a_document_has_its_facts_and_all_its_passages() -> None:
    one, two = parts()
    assert [chunk.id for chunk in (*one.chunks, *two.chunks)] == ["one#1", "one#2", "two#1", "two#2"]
    first = one.edges[0]
    assert (first.source_id, first.relation, first.source_doc_id) == (entity_id("Person", "Ida Lark"), "OWNS", "one#1")
    assert first.properties == {"year": 2024, "allowed_principals": ("group:a",), "title": "one"}
    assert first.description == "Ida Lark owns it."


def test_names_that_merge_are_one_entity_in_their_own_spelling() -> None:
    one, _ = parts()
    (merge,) = names_in(READS).resolved().merges
    assert (merge.kept, merge.merged, merge.type) == ("Lark Shippings", "Lark Shipping", "Company")
    owns = [edge for edge in one.edges if edge.relation == "OWNS"]
    assert len({edge.target_id for edge in owns}) == 1
    assert [edge.dst_name for edge in owns] == ["Lark Shipping", "Lark Shippings"]
    apart, _ = parts(refused=frozenset([merge.id]))
    assert len({edge.target_id for edge in apart.edges if edge.relation == "OWNS"}) == 2


def test_a_value_is_its_documents_own() -> None:
    one, two = parts()
    values = [edge.target_id for part in (one, two) for edge in part.edges if edge.key == "seat"]
    assert len({*values}) == 2


def test_names_of_two_types_stay_two() -> None:
    reads = (*READS, passage("three#1", Said(source=LARK_IDA, relation="OWNS", target=LARK)))
    three = list(assemble(reads, names_in(reads).resolved()))[2]
    assert three.edges[0].source_id != parts()[0].edges[0].source_id


def test_written_again_beside_what_is_there_nothing_changes() -> None:
    store = open_store("duckdb:///:memory:", create=True, access_fields=())
    write_source(store, parts())
    before = store.scan(WHOLE, None)
    assert plan_source(store, parts(store=store)).is_nothing
    assert {end.name for end in existing_in(store, ONTOLOGY)} == {"Ida Lark", "Lark Shipping"}
    assert store.scan(WHOLE, None) == before
