"""`GraphBrowser`: hubs, relations, paths, documents, values, principals, scan. (Search is with the names.)"""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgcore import ConfigError
from kgcore.filters import WHOLE, AccessFilter
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, DocumentInfo, Edge, End, Entity, FieldValue, PropertyValue
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import (
    BOARD,
    NOBODY,
    OPEN,
    PUBLIC,
    READER,
    SECRET,
    VALUES,
    WORLD_EDGES,
    chunk,
    edge,
    exact,
    hidden,
    only,
    vec,
    write,
    write_world,
)
from tests.contract.test_hops import DIAMOND


class TestHubs:
    def test_by_degree_then_id(self, store: GraphStore) -> None:
        write_world(store)
        assert store.hubs(READER, 4) == (
            End(id="acme", name="Acme Capital", type="Company", degree=5),
            End(id="helios", name="Helios", type="System", degree=5),
            End(id="jane", name="Jane Doe", type="Person", degree=3),
            End(id="globex", name="Globex", type="Company", degree=2),
        )
        assert [end.id for end in store.hubs(READER, 1)] == ["acme"]
        assert [(end.id, end.degree) for end in store.hubs(BOARD, 3)] == [("acme", 5), ("helios", 5), ("jane", 5)]
        assert len(store.hubs(READER, 100)) == 10
        assert store.hubs(NOBODY, 5) == ()

    def test_an_empty_store_has_none(self, store: GraphStore) -> None:
        assert store.hubs(OPEN, 5) == ()


def related(store: GraphStore, id: str, filter: AccessFilter = READER) -> list[tuple[str, str, int]]:
    """An entity's relations with their direction and count."""
    return [(one.relation, "out" if one.outgoing else "in", one.count) for one in store.relations(id, filter)]


class TestRelations:
    def test_edges_by_relation_or_key_and_direction(self, store: GraphStore) -> None:
        write_world(store)
        assert related(store, "helios") == [("USES", "in", 2), ("status", "out", 2), ("region", "out", 1)]
        assert related(store, "jane") == [("WORKS_AT", "out", 2), ("KNOWS", "in", 1)]
        assert related(store, "d1/status") == [("status", "in", 1)]

    def test_they_sum_up_to_the_degree_a_loop_goes_out_once(self, store: GraphStore) -> None:
        write_world(store)
        assert related(store, "acme") == [("WORKS_AT", "in", 3), ("OWNS", "out", 1), ("USES", "out", 1)]
        for filter in (READER, BOARD, OPEN):
            for end in store.hubs(filter, 100):
                assert sum(one.count for one in store.relations(end.id, filter)) == end.degree

    def test_a_loop_of_two_names_is_one_edge(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "IS", "a", src="A", dst="Also A"), edge("f", "a", "IS", "b"))
        assert related(store, "a") == [("IS", "out", 2)]

    def test_by_count_then_relation_then_outgoing_first(self, store: GraphStore) -> None:
        write(store, edge("1", "a", "é", "b"), edge("2", "b", "Z", "a"), edge("3", "a", "Z", "b"),
              edge("4", "a", "a", "b"), edge("5", "c", "y", "a"), edge("6", "b", "y", "a"))  # fmt: skip
        assert related(store, "a") == [
            ("y", "in", 2), ("Z", "out", 1), ("Z", "in", 1), ("a", "out", 1), ("é", "out", 1),
        ]  # fmt: skip

    def test_a_key_counts_for_attributes_only(self, store: GraphStore) -> None:
        write(store, edge("1", "a", "R", "b", key="k"), edge("2", "a", HAS_ATTRIBUTE, "c"),
              edge("3", "a", HAS_ATTRIBUTE, "d", key=""), edge("4", "a", HAS_ATTRIBUTE, "e", key="R"))  # fmt: skip
        assert related(store, "a") == [(HAS_ATTRIBUTE, "out", 2), ("R", "out", 2)]

    def test_only_what_is_visible_counts(self, store: GraphStore) -> None:
        write_world(store)
        assert related(store, "jane", BOARD) == [("WORKS_AT", "out", 3), ("KNOWS", "in", 2)]
        assert related(store, "jane", READER.narrowed(only("source_doc_id", "==", "d1"))) == [("WORKS_AT", "out", 1)]
        assert related(store, "jane", READER.narrowed(only("src_name", "==", "Bob Roe"))) == [("KNOWS", "in", 1)]
        for unseen in ("ghost", "loner", "nobody", "", "gh\0st", "\ud800", "acme' OR true"):
            assert related(store, unseen) == []
        assert related(store, "jane", NOBODY) == []


class TestPaths:
    def test_a_filter_decides_what_is_shortest(self, store: GraphStore) -> None:
        write(store, *DIAMOND)
        assert [[e.id for e in way] for way in store.paths("A", "D", BOARD, 3)] == [["h1"]]
        narrowed = READER.narrowed(only("source_doc_id", "==", "d2"))
        assert store.paths("A", "D", narrowed, 3) == ()

    def test_edges_come_without_access_fields(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", properties={**PUBLIC, "year": 1}))
        assert store.paths("a", "b", READER, 1) == (
            (Edge(id="e", source_id="a", target_id="b", relation="R", src_name="a", dst_name="b", source_doc_id="d1",
                  properties={"year": 1}),),
        )  # fmt: skip

    def test_twenty_at_most_the_first_by_edge_ids(self, store: GraphStore) -> None:
        middle = [f"m{i:02}" for i in range(30)]
        write(store, *(e for i, m in enumerate(middle) for e in (
            edge(f"x{29 - i:02}", "a", "R", m), edge(f"y{i:02}", m, "R", "b"),
        )))  # fmt: skip
        ways = [[e.id for e in way] for way in store.paths("a", "b", READER, 4)]
        assert ways == [[f"x{i:02}", f"y{29 - i:02}"] for i in range(20)]
        assert [[e.id for e in way] for way in store.paths("a", "b", READER, 4, 2)] == ways[:2]
        assert len(store.paths("a", "b", READER, 4, 100)) == 30 and store.paths("a", "b", READER, 4, 0) == ()

    def test_edges_of_one_fact_are_one_way_by_the_first_of_them(self, store: GraphStore) -> None:
        write(store, *(edge(f"e{i:02}", "a", "R", "m", doc=f"d{i}") for i in range(25)), edge("f", "m", "R", "z"),
              edge("g", "m", "R", "a"), edge("h", "n", "R", "a"), edge("i", "n", "R", "z"),
              edge("j", "n", "S", "z"))  # fmt: skip
        ways = [[e.id for e in way] for way in store.paths("a", "z", READER, 4)]
        assert ways == [["e00", "f"], ["g", "f"], ["h", "i"], ["h", "j"]]

    def test_values_of_one_attribute_are_ways_of_their_own(self, store: GraphStore) -> None:
        write(store, *(edge(f"{doc}{on}", near, HAS_ATTRIBUTE, f"{doc}/x", key="k", dst="X", doc=doc)
                       for doc in ("d1", "d2") for on, near in (("a", "a"), ("b", "b"))))  # fmt: skip
        ways = [[e.id for e in way] for way in store.paths("a", "b", READER, 4)]
        assert ways == [["d1a", "d1b"], ["d2a", "d2b"]]

    def test_of_very_many_ways_the_first_are_found(self, store: GraphStore) -> None:
        many = range(150)
        write(store, *(edge(f"a{i:03}", "a", "R", f"m{i}") for i in many),
              *(edge(f"b{149 - i:03}", f"m{i}", "R", "hub") for i in many),
              *(edge(f"c{149 - i:03}", "hub", "R", f"n{i}") for i in many),
              *(edge(f"d{i:03}", f"n{i}", "R", "b") for i in many))  # fmt: skip
        ways = [[e.id for e in way] for way in store.paths("a", "b", READER, 4)]
        assert ways == [["a000", "b149", f"c{i:03}", f"d{149 - i:03}"] for i in range(20)]


class TestDocuments:
    def test_by_id_with_title_and_count(self, store: GraphStore) -> None:
        write_world(store)
        told = {"doc-a": ("Report One", 10), "doc-b": ("doc-b", 1)}
        assert {d.id: (d.title, d.edges) for d in store.documents(READER) if d.edges} == told
        assert {d.id: (d.title, d.edges) for d in store.documents(BOARD) if d.edges} == told | {"doc-x": ("Minutes", 2)}
        assert store.documents(READER.narrowed(only("relation_of_none", "==", 1))) == ()
        assert store.documents(NOBODY) == ()

    def test_a_title_that_only_hidden_edges_give_is_not_told(self, store: GraphStore) -> None:
        write(
            store, edge("e", "a", "R", "b"), hidden("h", "a", "S", "b", doc="d1", properties={**SECRET, "title": "A"})
        )
        assert store.documents(READER) == (DocumentInfo(id="d1", title="d1", edges=1, facts=1),)

    def test_passages_are_of_their_document(self, store: GraphStore) -> None:
        said = [edge("e1", "a", "R", "b", doc="one#1"), edge("e2", "a", "R", "b", doc="one#2")]
        write(store, *said, edge("e3", "a", "R", "c", doc="one"), hidden("h", "a", "R", "d", doc="one#2"))
        store.chunks.upsert([
            replace(chunk("one#1"), document_id="one"), replace(chunk("one#2"), document_id="one"),
            replace(chunk("one#3"), document_id="one", metadata=SECRET),
            replace(chunk("two#1"), document_id="two", metadata={**PUBLIC, "title": "Two", "chunk": 1, "year": 2024}),
            replace(chunk("nine#1"), document_id="nine", metadata={**SECRET, "title": "Nine"}),
        ])  # fmt: skip
        assert store.documents(READER) == (
            DocumentInfo(id="one", title="one", edges=3, facts=2, chunks=2),
            DocumentInfo(id="two", title="Two", chunks=1, metadata={"year": 2024}),
        )
        assert store.documents(BOARD) == (
            DocumentInfo(id="nine", title="Nine", chunks=1),
            DocumentInfo(id="one", title="one", edges=4, facts=3, chunks=3),
            DocumentInfo(id="two", title="Two", chunks=1, metadata={"year": 2024}),
        )
        (nine, one, two) = store.whole().documents(WHOLE)
        assert (nine.metadata, one.metadata) == (SECRET, PUBLIC)
        assert two.metadata == {**PUBLIC, "year": 2024}


def counted(store: GraphStore, field: str, filter: AccessFilter = READER, **limit: int) -> list[tuple[object, int]]:
    """A field's values with their counts."""
    return [(found.value, found.count) for found in store.values(field, filter, **limit)]


def with_each(store: GraphStore, *values: PropertyValue, field: str = "p", **more: PropertyValue) -> None:
    """One edge for each value of a property."""
    write(store, *(
        edge(f"e{i}", "a", "R", f"b{i}", doc=f"d{i}", properties={**PUBLIC, field: value, **more})
        for i, value in enumerate(values)
    ))  # fmt: skip


class TestValues:
    def test_the_most_common_first_then_by_kind_and_value(self, store: GraphStore) -> None:
        write_world(store)
        assert store.values("year", READER) == (
            FieldValue(value=2023, count=5), FieldValue(value=2024, count=5), FieldValue(value="2024", count=1),
        )  # fmt: skip
        assert counted(store, "flag") == [(True, 5)]
        assert counted(store, "ratio") == [(0.25, 1)]
        assert counted(store, "title") == [("Report One", 5)]

    def test_of_a_list_its_items_each_once_an_edge(self, store: GraphStore) -> None:
        with_each(store, ("b", "a"), ("a", "a"), "a", (), ("c", 1, True))
        assert counted(store, "p") == [("a", 3), (True, 1), (1, 1), ("b", 1), ("c", 1)]

    def test_an_edges_own_fields(self, store: GraphStore) -> None:
        write_world(store)
        assert counted(store, "key") == [("status", 2), ("region", 1)]
        assert counted(store, "description") == [("since 2019", 1)]
        assert counted(store, "source_doc_id") == [("d1", 5), ("d2", 5), ("d3", 1)]
        assert counted(store, "dst_name", limit=2) == [("Acme Capital", 4), ("Helios", 2)]
        assert counted(store, "src_name", limit=3) == [("Helios", 3), ("Acme Capital", 2), ("Alex Kim", 2)]

    def test_an_own_field_goes_before_a_property_of_its_name(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", key="own", properties={**PUBLIC, "key": "of the document"}))
        assert counted(store, "key") == [("own", 1)]

    def test_only_what_is_visible_counts(self, store: GraphStore) -> None:
        write_world(store)
        assert counted(store, "codename") == []
        assert counted(store, "codename", BOARD) == [("Bluebird", 2)]
        assert (2025, 2) in counted(store, "year", BOARD)
        assert counted(store, "year", OPEN) == counted(store, "year", BOARD)
        assert counted(store, "year", NOBODY) == counted(store, "src_name", NOBODY) == []
        write(store, *(hidden(f"x{i}", "jane", "R", "bob", key="status", properties={**SECRET, "year": 2024})
                       for i in range(9)))  # fmt: skip
        assert counted(store, "year")[0] == (2023, 5)
        assert counted(store, "key") == [("status", 2), ("region", 1)]

    def test_a_caller_narrows(self, store: GraphStore) -> None:
        write_world(store)
        assert counted(store, "year", READER.narrowed(only("source_doc_id", "!=", "d1"))) == [(2023, 5), ("2024", 1)]
        assert counted(store, "key", READER.narrowed(only("year", "==", 2024))) == [("region", 1), ("status", 1)]

    def test_an_access_field_or_an_unknown_one_gives_nothing(self, store: GraphStore) -> None:
        write_world(store)
        for field in (
            "allowed_principals",
            "relation",
            "id",
            "nothing",
            "",
            "year'",
            "$.year",
            "ye\0ar",
            "\ud800",
            "*",
        ):
            for seen in (READER, OPEN):
                assert counted(store, field, seen) == []
        for field in ("lang", "src_name"):
            locked = AccessFilter.of(locked=only(field, "!=", "none"))
            assert counted(store, field, OPEN) and not counted(store, field, locked)

    def test_a_store_made_with_access_fields_tells_none(self, factory: StoreFactory) -> None:
        store = factory.make(access_fields=frozenset({"year", "dst_name"}))
        write_world(store)
        assert counted(store, "year", OPEN) == counted(store, "dst_name", OPEN) == []
        assert counted(store, "ratio", OPEN) == [(0.25, 1)]

    def test_kinds_never_mix_and_equal_numbers_are_one(self, store: GraphStore) -> None:
        with_each(store, 1, 1.0, "1", True, "true", 1.5, False, "")
        told = [(type(value), value, count) for value, count in counted(store, "p")]
        assert told == [
            (int, 1, 2), (bool, False, 1), (bool, True, 1), (float, 1.5, 1), (str, "", 1), (str, "1", 1),
            (str, "true", 1),
        ]  # fmt: skip

    def test_numbers_keep_every_digit(self, store: GraphStore) -> None:
        exactly = [-(2**63), -(2**53) - 1, -0.5, 5e-324, 0.1 + 0.2, 2**53, 2**53 + 1, 2**63 - 1, 2.0**63, 1e300]
        with_each(store, *reversed(exactly), 2.0**53, -0.0, 0)
        told = counted(store, "p")
        assert [(value, count) for value, count in told[:2]] == [(0, 2), (2**53, 2)]
        assert [repr(value) for value, _ in told[2:]] == [repr(value) for value in exactly if value != 2**53]

    def test_texts_come_back_to_the_letter_by_code_point(self, store: GraphStore) -> None:
        texts = [
            "",
            " ",
            "A",
            'O\'Hara "x" \\ $limit {where}',
            "Z",
            "a",
            "a\nb\tc",
            "e\u0301",
            "null",
            "é",
            "日本",
            "🚀",
        ]
        with_each(store, *reversed(texts))
        assert counted(store, "p") == [(text, 1) for text in sorted(texts)]

    @pytest.mark.parametrize("field", [name for name in VALUES if name != "no_items"])
    def test_any_property_by_its_name(self, store: GraphStore, field: str) -> None:
        held = VALUES[field]
        write(store, edge("e", "a", "R", "b", properties={**PUBLIC, **VALUES}))
        told = {(type(value).__name__, value) for value, _ in counted(store, field)}
        items = held if isinstance(held, tuple) else (held,)
        whole = [int(i) if isinstance(i, float) and i.is_integer() and abs(i) < 2**63 else i for i in items]
        assert told == {(type(item).__name__, item) for item in whole}

    def test_a_name_like_a_path_is_a_name(self, store: GraphStore) -> None:
        odd = {"a/b": 1, "a~1b": 2, "a~b": 3, "~0": 4, "a": ("x",), "$.a": 5, "a.b": 6}
        write(store, edge("e", "a", "R", "b", properties={**PUBLIC, **odd}))
        assert {field: counted(store, field) for field in odd} == {
            field: [("x" if field == "a" else value, 1)] for field, value in odd.items()
        }
        assert counted(store, "a/0") == counted(store, "$") == []

    def test_ties_and_the_limit(self, store: GraphStore) -> None:
        with_each(store, *(f"v{i:03}" for i in reversed(range(150))), "v149")
        assert counted(store, "p") == [("v149", 2), *((f"v{i:03}", 1) for i in range(99))]
        assert counted(store, "p", limit=2) == [("v149", 2), ("v000", 1)]
        assert len(counted(store, "p", limit=1_000)) == 150
        assert counted(store, "p", limit=0) == []

    def test_a_write_is_seen(self, store: GraphStore) -> None:
        assert counted(store, "p") == []
        with_each(store, "x", "y")
        assert counted(store, "p") == [("x", 1), ("y", 1)]
        store.upsert([], [edge("e0", "a", "R", "b0", doc="d0", properties={**PUBLIC, "p": "y"})])
        assert counted(store, "p") == [("y", 2)]
        store.set_access(["d1"], SECRET)
        assert counted(store, "p") == [("y", 1)]
        store.delete_documents(["d0"])
        assert counted(store, "p") == []
        assert counted(store, "p", BOARD) == [("y", 1)]


def named(store: GraphStore, field: str = "allowed_principals", **limit: int) -> list[tuple[object, int]]:
    """The principals of an access field, and how many edges name each."""
    return [(found.value, found.count) for found in store.principals(field, **limit)]


class TestPrincipals:
    def test_are_those_of_all_edges_the_most_named_first(self, store: GraphStore) -> None:
        assert named(store) == []
        write_world(store)
        assert named(store) == [("all", 11), ("board", 2)]
        assert counted(store, "allowed_principals", OPEN) == []

    def test_each_counts_an_edge_once_and_ties_go_by_value(self, store: GraphStore) -> None:
        with_each(store, ("b", "a"), ("a", "a"), "a", (), (7, "c"), field="allowed_principals")
        assert named(store) == [("a", 3), (7, 1), ("b", 1), ("c", 1)]
        assert named(store, limit=2) == [("a", 3), (7, 1)]
        assert named(store, limit=0) == []

    def test_a_thousand_at_most_unless_more_are_asked_for(self, store: GraphStore) -> None:
        with_each(store, tuple(f"p{i:04}" for i in range(1_003)), field="allowed_principals")
        assert len(named(store)) == 1_000 and len(named(store, limit=2_000)) == 1_003

    def test_each_sees_the_edges_that_it_is_counted_for(self, store: GraphStore) -> None:
        write_world(store)
        for principal, count in named(store):
            seen = AccessFilter.of(only("allowed_principals", "contains_any", [principal]))
            assert store.describe(seen).edges == count

    def test_any_access_field_and_no_other(self, factory: StoreFactory) -> None:
        store = factory.make(access_fields=frozenset({"year", "source_doc_id", "unheard_of"}))
        write_world(store)
        assert named(store, "year") == [(2023, 5), (2024, 5), (2025, 2), ("2024", 1)]
        assert named(store, "source_doc_id") == [("d1", 5), ("d2", 5), ("d9", 2), ("d3", 1)]
        assert named(store, "unheard_of") == []
        for field in ("allowed_principals", "ratio", "", "\ud800", "*"):
            with pytest.raises(ConfigError, match="not an access field") as refused:
                store.principals(field)
            assert refused.value.remedy == "Name one of them: source_doc_id, unheard_of, year."

    def test_a_write_is_seen(self, store: GraphStore) -> None:
        with_each(store, ("x",), ("y",), field="allowed_principals")
        assert named(store) == [("x", 1), ("y", 1)]
        store.set_access(["d0"], {"allowed_principals": ("y", "z")})
        assert named(store) == [("y", 2), ("z", 1)]
        store.delete_documents(["d0"])
        assert named(store) == [("y", 1)]


def scanned(store: GraphStore, limit: int) -> list[list[str]]:
    """The pages of a scan as edge ids."""
    pages, after = [], None
    while len(pages) < 50:
        page = store.scan(READER, after, limit)
        pages.append([e.id for e in page.edges])
        after = page.after
        if after is None:
            break
    return pages


class TestScan:
    def test_in_parts_by_id(self, store: GraphStore) -> None:
        write_world(store)
        ids = [f"e{i:02}" for i in range(1, 12)]
        assert scanned(store, 100) == [ids]
        assert scanned(store, 4) == [ids[:4], ids[4:8], ids[8:]]
        for limit in (1, 3, 11):
            assert [id_ for page in scanned(store, limit) for id_ in page] == ids

    def test_edges_come_with_their_vectors(self, store: GraphStore) -> None:
        write_world(store)
        bare = store.scan(READER, None, vectors=False)
        assert bare == store.scan(READER, None)
        assert all(each.embedding is None for each in (*bare.edges, *bare.entities))
        vectors = {e.id: e.embedding for e in store.scan(READER, None).edges}
        for written in WORLD_EDGES[:11]:
            if written.embedding is None:
                assert vectors[written.id] is None
            else:
                assert vectors[written.id] == pytest.approx(written.embedding, abs=1e-6)

    def test_entities_come_once_a_visible_name_by_id_and_name(self, store: GraphStore) -> None:
        write_world(store)
        entities = store.scan(READER, None).entities
        assert [(e.id, e.name) for e in entities] == [
            ("acme", "Acme Capital"), ("bob", "Bob Roe"), ("d1/region", "EU"), ("d1/status", "Active"),
            ("d2/status", "active"), ("globex", "Globex"), ("helios", "Helios"), ("jane", "Jane Doe"),
            ("jane", "Jane M. Doe"), ("kim-1", "Alex Kim"), ("kim-2", "Alex Kim"),
        ]  # fmt: skip
        jane, alias = entities[7:9]
        assert jane.embedding == pytest.approx(vec(1, 0, 0, 0), abs=1e-6)
        assert alias.embedding == pytest.approx(vec(0.8, 0, 0.6, 0), abs=1e-6)
        assert (jane.type, entities[1].embedding) == ("Person", None)

    def test_a_part_brings_the_ends_of_its_own_edges(self, store: GraphStore) -> None:
        write_world(store)
        page = store.scan(READER, "e10", 5)
        assert ([e.id for e in page.edges], page.after) == (["e11"], None)
        assert [e.id for e in page.entities] == ["globex", "helios"]

    def test_nothing_to_scan(self, store: GraphStore) -> None:
        assert (store.scan(OPEN, None).edges, store.scan(OPEN, None).after) == ((), None)
        write_world(store)
        page = store.scan(NOBODY, None)
        assert (page.edges, page.entities, page.after) == ((), (), None)
        assert store.scan(READER, "zzz").edges == ()

    def test_a_copy_reads_as_the_original_does(self, store: GraphStore) -> None:
        write_world(store)
        first = store.scan(READER, None)
        again = [e for page in (store.scan(READER, None, 5), store.scan(READER, "e05", 6)) for e in page.edges]
        assert exact(again) == exact(first.edges)
        assert {type(e) for e in first.entities} == {Entity}
