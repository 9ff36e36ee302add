"""Facts as a reader sees them, merged from the edges that assert them."""

from __future__ import annotations

from collections.abc import Callable

from kgcore import run_json
from kgcore.retrieve.render import NO_FACTS, fact_documents, facts_text, match_text
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Entity
from tests.contract.graphs import SECRET, edge, hidden, only
from tests.data.build import JANE, offline, retriever, texts

Build = Callable[..., GraphStore]
ALL = only("allowed_principals", "contains_any", ["group:all"])
SEEN = {"allowed_principals": ("group:all", "user:ann")}


class TestText:
    def test_is_source_relation_target_and_description(self, build: Build) -> None:
        store = build(
            edge("e1", "a", "WORKS_AT", "b", src="Ann Lee", dst="Acme", description="since 2019"),
            edge("e2", "a", "KNOWS", "c", src="Ann Lee", dst="王晓梅"),
            edge("e3", "a", HAS_ATTRIBUTE, "v", key="job title", src="Ann Lee", dst="Chief"),
            edge("e4", "a", HAS_ATTRIBUTE, "w", src="Ann Lee", dst="Nameless"),
        )
        assert set(texts(retriever(store).retrieve(JANE, entity_ids=["a"]))) == {
            "Ann Lee -[WORKS_AT]-> Acme: since 2019",
            "Ann Lee -[KNOWS]-> 王晓梅",
            "Ann Lee -[job title]-> Chief",
            "Ann Lee -[HAS_ATTRIBUTE]-> Nameless",
        }

    def test_to_match_has_spaces_for_underscores(self) -> None:
        assert match_text(edge("e", "a", "WORKS_AT", "b_c", description="x_y")) == "a WORKS AT b c: x_y"
        assert match_text(edge("e", "a", HAS_ATTRIBUTE, "v", key="job_title", dst="Chief")) == "a job title Chief"

    def test_of_no_facts_says_so(self) -> None:
        assert facts_text(()) == NO_FACTS == "No matching facts found."
        assert fact_documents(()) == ()

    def test_of_the_graph_is_only_text(self, build: Build) -> None:
        nasty = "<img src=x onerror=alert(1)>\n</script> -[R]-> `"
        result = retriever(build(edge("e1", "a", "R", "b", dst=nasty))).retrieve(JANE, entity_ids=["a"])
        assert result.facts[0].target == nasty and nasty in result.facts[0].text


class TestMerging:
    def test_is_by_ids_so_two_of_one_name_stay_two(self, build: Build) -> None:
        store = build(
            edge("e1", "kim-1", "WORKS_AT", "acme", src="Alex Kim", dst="Acme"),
            edge("e2", "kim-2", "WORKS_AT", "acme", src="Alex Kim", dst="Acme", doc="d2"),
        )
        result = retriever(store).retrieve("Where does Alex Kim work?")
        assert texts(result) == ["Alex Kim -[WORKS_AT]-> Acme"] * 2
        assert {f.source_id for f in result.facts} == {"kim-1", "kim-2"}
        assert len({f.id for f in result.facts}) == 2

    def test_joins_what_several_documents_say(self, build: Build) -> None:
        store = build(
            edge("e2", "a", "R", "b", doc="d2", properties={**SEEN, "year": 2024, "lang": "en", "tags": ("x", "y")}),
            edge("e1", "a", "R", "b", doc="d1", properties={**SEEN, "year": 2023, "lang": "en", "tags": ("y", "z")}),
            edge("e3", "a", "R", "b", doc="d1", properties={**SEEN, "year": 2023, "draft": True, "one": 1}),
            edge("e4", "a", "R", "b", doc=None, properties={**SEEN, "one": True}),
        )
        [fact] = retriever(store).retrieve(JANE, entity_ids=["a"]).facts
        assert fact.edge_ids == ("e1", "e2", "e3", "e4")
        assert fact.source_doc_ids == ("d1", "d2")
        assert fact.metadata["year"] == (2023, 2024)
        assert fact.metadata["lang"] == "en"
        assert fact.metadata["tags"] == ("y", "z", "x")
        assert fact.metadata["draft"] is True
        assert [repr(item) for item in fact.metadata["one"]] == ["1", "True"]

    def test_takes_text_from_the_edge_that_covers_the_question_best(self, build: Build) -> None:
        store = build(
            edge("e1", "a", "R", "b", doc="d1", src="Old Name", description="a banana"),
            edge("e2", "a", "R", "b", doc="d2", src="New Name", description="the system of the employer"),
        )
        [fact] = retriever(store).retrieve(JANE, entity_ids=["a"]).facts
        assert fact.text == "New Name -[R]-> b: the system of the employer"
        assert fact.source == fact.metadata["source"] == "New Name"
        [alone] = retriever(store).retrieve(JANE, entity_ids=["a"], filters=only("source_doc_id", "==", "d2")).facts
        assert fact.score == alone.score and alone.edge_ids == ("e2",) and alone.id == fact.id

    def test_leaves_hidden_edges_out(self, build: Build) -> None:
        store = build(
            edge("e1", "a", "R", "b", properties=SEEN),
            hidden("h1", "a", "R", "b", description="the system of Jane Doe's employer", doc="d7"),
        )
        [fact] = retriever(store, filters=ALL).retrieve(JANE, entity_ids=["a"]).facts
        assert (fact.edge_ids, fact.source_doc_ids, fact.description) == (("e1",), ("d1",), None)


class TestMetadata:
    ALWAYS = frozenset(
        {"source_id", "target_id", "source", "target", "relation", "edge_ids", "source_doc_ids", "hop", "score"}
    )

    def test_always_hold_what_the_next_call_needs(self, build: Build) -> None:
        store = build(edge("e1", "a", "WORKS_AT", "b", src="Ann", dst="Bo", doc=None, properties={}))
        search = retriever(store)
        result = search.retrieve(JANE, entity_ids=["a"])
        [fact] = result.facts
        assert set(fact.metadata) == self.ALWAYS
        assert fact.metadata["source_doc_ids"] == () and fact.metadata["edge_ids"] == ("e1",)
        assert result.documents[0].metadata == fact.metadata and result.documents[0].score == fact.score
        again = search.retrieve(JANE, entity_ids=[fact.metadata["target_id"]])
        assert again.facts[0].id == fact.id

    def test_a_documents_own_fields_cannot_take_their_place(self, build: Build) -> None:
        taken = dict.fromkeys(self.ALWAYS, "forged")
        store = build(
            edge("e1", "a", "R", "b", properties=taken), edge("e2", "a", "R", "b", doc="d2", properties=taken)
        )
        [fact] = retriever(store).retrieve(JANE, entity_ids=["a"]).facts
        assert "forged" not in repr(fact)

    def test_types_are_told_by_visible_entities(self, build: Build) -> None:
        store = build(edge("e1", "a", "R", "b"), entities=[Entity(id="a", type="Person", name="a")], type="Place")
        [fact] = retriever(store).retrieve(JANE, entity_ids=["a"]).facts
        assert (fact.source_type, fact.target_type) == ("Person", "Place")


class TestSecrets:
    def test_access_metadata_stand_nowhere_in_a_run(self, build: Build) -> None:
        clearance = {"clearance": "level-omega", "allowed_principals": ("group:all", "user:zeta-9")}
        store = build(
            *(edge(f"e{i}", "a", "R", f"b{i}", doc=f"d{i}", properties={**clearance, "year": i}) for i in range(4)),
            hidden("h1", "a", "R", "b1", properties={**SECRET, "codename": "bluebird"}, doc="d-secret"),
            embedder=offline(),
        )
        locked = {"operator": "AND", "conditions": [ALL, only("clearance", "==", "level-omega")]}
        search = retriever(store, filters=locked, max_hops=2, document_retriever=store.chunks)
        result = search.retrieve(JANE, filters=only("codename", "==", "x"))
        plain = search.retrieve(JANE, entity_ids=["a"])
        assert result.facts == () and len(plain.facts) == 4
        for text in (run_json(result), run_json(plain), repr(result), repr(plain), str(search.run({"query": JANE}))):
            for secret in ("allowed_principals", "group:all", "zeta-9", "clearance", "omega", "bluebird", "d-secret"):
                assert secret not in text
        assert "embedding" not in run_json(plain)
