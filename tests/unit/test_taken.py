"""What is taken along of a run: its facts as GraphML, and the program that asks the same."""

from __future__ import annotations

import ast
import io
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgcore import open_store
from kgcore.ingest.demo import ensure_demo
from kgcore.models.offline import MaxSimReranker
from kgcore.retrieve.graphml import NAMESPACE, facts_graphml
from kgcore.retrieve.script import run_script
from kgcore.store import GraphStore
from kgcore.types import Fact, Retrieval
from tests.contract.graphs import edge, only
from tests.data.build import JANE, graph, offline, retriever
from tests.unit.test_export import ALL, small

HOSTILE = "</data><script>alert(1)</script>\x00\x0b\ufffe\ud800 ]]> &amp; \u202e'''\"\"\"\\"


def asked(question: str = JANE, **settings: Any) -> Retrieval:
    store = small()
    result = retriever(store, filters=ALL, max_hops=3, document_retriever=store.chunks).retrieve(question, **settings)
    store.close()
    return result


def data(element: Xml.Element) -> dict[str, str]:
    return {one.get("key", "").partition("_")[2]: one.text or "" for one in element.findall(f"{{{NAMESPACE}}}data")}


def parts(text: str, name: str) -> list[Xml.Element]:
    return Xml.fromstring(text).findall(f".//{{{NAMESPACE}}}{name}")


class TestGraphml:
    def test_has_the_facts_in_their_order_between_their_ends(self) -> None:
        result = asked()
        text = facts_graphml(result)
        names = {node.get("id"): data(node)["id"] for node in parts(text, "node")}
        edges = [(names[e.get("source")], data(e)["relation"], names[e.get("target")]) for e in parts(text, "edge")]
        assert edges == [(f.source_id, f.relation, f.target_id) for f in result.facts]
        assert [float(data(e)["score"]) for e in parts(text, "edge")] == [f.score for f in result.facts]
        seeds = {data(n)["id"] for n in parts(text, "node") if data(n)["seed"] == "true"}
        assert seeds == {seed.entity_id for seed in result.trace.seeds}

    def test_declares_every_key_that_it_uses(self) -> None:
        text = facts_graphml(asked())
        declared = {key.get("id") for key in parts(text, "key")}
        assert {one.get("key") for one in parts(text, "data")} == declared

    def test_is_the_same_text_for_the_same_run_and_tells_no_lock(self) -> None:
        text = facts_graphml(asked())
        assert text == facts_graphml(asked())
        assert "allowed_principals" not in text and "Spyglass" not in text

    def test_of_nothing_is_a_graph(self) -> None:
        assert parts(facts_graphml(replace(asked(), facts=())), "graph")

    @given(st.sampled_from([HOSTILE]) | st.text())
    def test_text_is_text(self, name: str) -> None:
        result = asked_once()
        fact = replace(result.facts[0], source=name, relation=name, description=name, source_id=f"x{name}")
        text = facts_graphml(replace(result, facts=(fact,)))
        (edge,) = parts(text, "edge")
        assert all(not list(one) for one in edge) and text.encode()


@cache
def asked_once() -> Retrieval:
    return asked()


def ran(script: str) -> list[str]:
    """The lines that a program prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(script, "script.py", "exec"), {})
    return printed.getvalue().splitlines()


def model(**answers: Any) -> Any:
    """A chat model that gives whichever of these lists it is asked for."""
    ask = lambda system, user, schema: {name: answers[name] for name in schema["required"]}  # noqa: E731
    return SimpleNamespace(name="model", complete_json=ask)


def call(script: str) -> dict[str, Any]:
    """The arguments of the program's question."""
    nodes = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]
    (asked,) = (node for node in nodes if ast.unparse(node.func) == "retriever.retrieve")
    return {str(given.arg): ast.literal_eval(given.value) for given in asked.keywords}


def facts_of_call(store: GraphStore, result: Retrieval) -> tuple[Fact, ...]:
    """What the program's question gives here, where there is no chat model."""
    return retriever(store).retrieve(result.trace.question, **call(run_script(result))).facts


SETTINGS: list[dict[str, Any]] = [
    {},
    {"max_hops": 2, "beam_width": 4, "top_k": 7, "scoring": "edge", "aliases": False, "hub_limit": 9},
    {"filters": {"field": "year", "operator": ">=", "value": 2024}, "relations": ["WORKS_AT", "USES"]},
    {"document_reranker": MaxSimReranker, "seed_mode": "query"},
]


class TestScript:
    @pytest.mark.parametrize("settings", SETTINGS)
    def test_asks_the_same(self, settings: dict[str, Any]) -> None:
        """Run on the demo, it prints the facts of the run."""
        given = dict(settings)
        if "document_reranker" in given:
            given["document_reranker"] = MaxSimReranker(offline())
        store = open_store(ensure_demo())
        result = retriever(store, document_retriever=store.chunks).retrieve(JANE, **given)
        store.close()
        script = run_script(result, demo=True)
        assert ran(script) == [f"{f.score:.3f}  {f.text}" for f in result.facts]

    def test_what_a_model_found_is_given_by_its_id(self) -> None:
        result = asked_once()
        seeds = tuple(replace(seed, found_by="name") for seed in result.trace.seeds)
        settings = replace(result.trace.settings, seed_mode="llm", entity_types=("Person",))
        script = run_script(replace(result, trace=replace(result.trace, seeds=seeds, settings=settings)))
        assert f"entity_ids={[seed.entity_id for seed in seeds]!r}" in script
        assert "llm" not in script and "entity_types" not in script

    def test_what_a_model_named_and_a_vector_found_is_given_by_its_id(self) -> None:
        store = graph(
            edge("e1", "vw", "MAKES", "golf", src="Car Manufacturer", dst="Golf"),
            edge("e2", "jane", "WORKS_AT", "shop", src="Jane Doe", dst="Shop"),
            embedder=offline(),
        )
        search = retriever(store, vector_top_k=1, llm=model(names=["automaker"]))
        result = search.retrieve("What does Jane Doe think?")
        assert [(seed.entity_id, seed.found_by) for seed in result.trace.seeds] == [("vw", "vector")]
        assert call(run_script(result))["entity_ids"] == ["vw"]
        assert facts_of_call(store, result) == result.facts

    def test_more_seeds_than_names_may_be_given(self) -> None:
        names = [f"Alpha{n}" for n in range(20)]
        edges = [edge(f"{n}{i}", f"{n}{i}", "X", "z", src=f"{n} {i}", dst="Z") for n in names for i in range(5)]
        store = graph(*edges, embedder=offline())
        result = retriever(store, llm=model(names=names)).retrieve("Which?")
        assert len(result.trace.seeds) > 50
        assert facts_of_call(store, result) == result.facts

    def test_a_chat_models_filter_is_asked_for_and_no_model_for_seeds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        llm = model(names=[], numbers=[1])
        store = open_store(ensure_demo())
        result = retriever(store, llm=llm).retrieve(JANE, llm_filter=True)
        store.close()
        for demo in (True, False):
            given = call(run_script(result, demo=demo))
            assert (given["llm_filter"], given["seed_mode"]) == (True, "mentions")
        monkeypatch.setattr("kgcore.models.chat.OpenAIChat.from_config", lambda config: model(numbers=[1]))
        assert ran(run_script(result, demo=True)) == [f"{f.score:.3f}  {f.text}" for f in result.facts]

    def test_a_model_that_named_nothing_is_not_asked_again(self) -> None:
        store = small()
        result = retriever(store, llm=model(names=[])).retrieve(JANE, seed_mode="llm", entity_types=["Person"])
        store.close()
        given = call(run_script(result))
        assert given["seed_mode"] == "mentions" and "entity_types" not in given

    @pytest.mark.parametrize("demo", [True, False])
    def test_says_that_it_reads_under_no_locked_filter_and_shows_none(self, demo: bool) -> None:
        store = small()
        result = retriever(store, filters=only("allowed_principals", "contains_any", ["all"])).retrieve(JANE)
        store.close()
        script = run_script(result, demo=demo)
        assert "# Without filters={...}, the access filter of whoever runs this, it reads the whole graph." in script
        assert "allowed_principals" not in script and "contains_any" not in script

    def test_asks_the_graph_of_its_reader(self, monkeypatch: pytest.MonkeyPatch) -> None:
        address = ensure_demo()
        monkeypatch.setenv("HOPSCOPE_STORE", address)
        store = open_store(address)
        result = retriever(store, document_retriever=store.chunks).retrieve("Who supplies Helios?", max_hops=2)
        store.close()
        assert ran(run_script(result)) == [f"{f.score:.3f}  {f.text}" for f in result.facts]

    def test_opens_what_its_readers_settings_name(self) -> None:
        script = run_script(asked())
        assert "load_config" in script and "duckdb" not in script and "allowed_principals" not in script

    @given(st.sampled_from([HOSTILE]) | st.text(min_size=1))
    def test_a_question_is_a_literal(self, question: str) -> None:
        result = asked_once()
        trace = replace(result.trace, question=question)
        tree = ast.parse(run_script(replace(result, trace=trace)))
        (call,) = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "retriever.retrieve")
        assert isinstance(call.args[0], ast.Constant) and call.args[0].value == question
