"""Ask's "Why not?": what is missing, the step that left it out, and the button that brings it in."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import ui.why
from kgcore import KnowledgeGraphRetriever, open_store, write_graph
from kgcore.retrieve import WhyNot
from kgcore.types import Trace
from tests.app.conftest import Open
from tests.app.test_ask import QUESTION, drawn
from tests.contract.graphs import edge, fact_of, things


def asked(opened: Open, **link: Any) -> AppTest:
    at = opened(q=QUESTION, **link)
    at.session_state["why_popover"] = True
    return at.run()


def facts(at: AppTest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = drawn(at, "evidence")["evidence"]["facts"]
    return found


def said(at: AppTest) -> str:
    return "\n".join(text.value for text in at.markdown)


def missed(at: AppTest) -> dict[str, Any]:
    """The best fact of the last hop that the beam cut."""
    cut = drawn(at, "evidence")["evidence"]["near"]
    return max(cut, key=lambda fact: (fact["hop"], -fact["beam"]))


def pick(at: AppTest, name: str) -> AppTest:
    at.text_input(key="why_search").set_value(name)
    at = at.run()
    at.button(key="why_0").click()
    return at.run()


def test_what_the_beam_cut_enters_at_the_width_that_is_offered(opened: Open) -> None:
    at = asked(opened, hops="2", beam="1", auto="false")
    near = missed(at)
    known = {name for fact in facts(at) for name in (fact["source"], fact["target"])}
    name = near["target"] if near["target"] not in known else near["source"]
    assert name not in known
    at = pick(at, name)
    assert not at.exception and "The smallest beam that keeps it is" in said(at)
    width = int(at.button(key="why_beam").label.split()[-1])
    assert f"Cut at hop {near['hop']}" in said(at) and width > 1
    assert at.query_params["why"]
    at.button(key="why_beam").click()
    at = at.run()
    assert at.number_input(key="beam").value == width
    assert name in {name for fact in facts(at) for name in (fact["source"], fact["target"])}
    assert "It is in the result" in said(at)


def link(at: AppTest, **why: str) -> AppTest:
    """The same session with another link."""
    for name in ("why", "why_fact"):
        at.query_params.pop(name, None)
    for name, value in why.items():
        at.query_params[name] = value
    return at.run()


def which_fact(at: AppTest) -> Any:
    return next(one for one in at.selectbox if str(one.key).startswith("why_fact_"))


def view_as(at: AppTest, principal: str) -> AppTest:
    at.selectbox(key="view_as").set_value(principal)
    return at.run()


def told(at: AppTest) -> tuple[Any, ...]:
    """All that stands in the popover or may have to do with it."""
    assert not at.exception
    texts = [text.value for kind in (at.markdown, at.caption, at.error, at.text) for text in kind]
    picked = [(one.options, one.value) for one in at.selectbox if str(one.key).startswith("why_fact")]
    return said(at), texts, [(button.key, button.label) for button in at.button], picked


FOR_FINANCE = "corvane-holdings"
NOT_FOR_PUBLIC = ("aurora-fund", "a3398ccb-7223-5b17-9b57-06da6adc6ecc")
"""A fact that finance alone sees, at an entity that all see."""


def test_what_is_hidden_reads_as_what_does_not_exist(opened: Open) -> None:
    finance = asked(opened, why=FOR_FINANCE)
    assert "Corvane" in said(finance) and "not in the graph as you see it" not in said(finance)
    public = view_as(asked(opened), "public")
    hidden, unknown = (told(link(public, why=entity)) for entity in (FOR_FINANCE, "no-such-entity"))
    assert hidden == unknown and "This entity is not in the graph as you see it" in hidden[0]


def test_a_hidden_fact_reads_as_one_that_does_not_exist(opened: Open) -> None:
    entity, fact = NOT_FOR_PUBLIC
    finance = asked(opened, why=entity, why_fact=fact)
    assert which_fact(finance).value and "not in the graph as you see it" not in said(finance)
    public = view_as(asked(opened), "public")
    hidden, unknown = (told(link(public, why=entity, why_fact=id_)) for id_ in (fact, "no-such-fact"))
    assert hidden == unknown and "This fact is not in the graph as you see it" in hidden[0]
    public.button(key="why_any").click()
    assert "This fact is not" not in said(public.run()) and "why_fact" not in public.query_params


def test_what_was_asked_is_forgotten_when_another_looks(opened: Open) -> None:
    entity, fact = NOT_FOR_PUBLIC
    at = asked(opened, why=entity, why_fact=fact)
    assert at.query_params["why_fact"]
    at = view_as(at, "public")
    assert "why" not in at.query_params and "why_fact" not in at.query_params
    assert at.session_state["why_popover"] is False
    at.session_state["why_popover"] = True
    at = at.run()
    assert not at.exception and "Aurora Fund" not in said(at)
    assert f"why_fact_{entity}" not in at.session_state


def test_the_fact_is_in_the_link(opened: Open) -> None:
    at = asked(opened, why="acme-capital")
    which_fact(at).select_index(3)
    at = at.run()
    fact, chosen, answer = at.query_params["why_fact"], which_fact(at).value, said(at)
    again = opened(q=QUESTION, why="acme-capital", why_fact=fact)
    assert (which_fact(again).value, said(again)) == (chosen, answer)
    which_fact(at).set_value(None)
    assert "why_fact" not in at.run().query_params


def test_another_link_is_followed_in_the_same_session(opened: Open) -> None:
    at = link(opened(q=QUESTION), why="helios")
    assert "Helios" in said(at)
    at = link(at, why="no-such-entity")
    assert "This entity is not in the graph" in said(at)
    at = link(at)
    assert "why" not in at.query_params and "This entity is not" not in said(at)


def test_without_a_question_it_teaches(opened: Open) -> None:
    at = opened(why="helios", q="")
    assert any("Ask a question first" in caption.value for caption in at.caption)


def test_a_hubs_facts_are_those_nearest_to_the_question_and_it_is_said(opened: Open) -> None:
    at = asked(opened, why="acme-capital")
    captions = [caption.value for caption in at.caption]
    assert len(which_fact(at).options) == 50
    assert any(re.fullmatch(r"50 of \d+ facts: those that share most words with the question.", c) for c in captions)
    assert any("Jane Doe" in option for option in which_fact(at).options)


def test_facts_that_read_the_same_are_told_apart(opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"duckdb:///{tmp_path / 'kims.duckdb'}"
    edges = [edge(f"e{i}", "a", "KNOWS", f"k{i}", src="Adelaide", dst="Alex Kim") for i in range(3)]
    store = open_store(address, create=True)
    write_graph(store, things(edges), edges)
    store.close()
    monkeypatch.setenv("HOPSCOPE_STORE", address)
    at = opened(q="Who does Adelaide know?", hops="1", beam="1", auto="false", why="a", seeds=["a"])
    labels = which_fact(at).options
    assert len(set(labels)) == 3 and all(label.startswith("Adelaide KNOWS Alex Kim") for label in labels)
    for one in edges:
        which_fact(at).select_index(next(i for i, label in enumerate(labels) if label.endswith(one.target_id)))
        at = at.run()
        assert at.query_params["why_fact"] == fact_of(one)


def endless(going: list[str]) -> Callable[..., Any]:
    """A search that ends when it is told to only; `going` are those at work."""

    def search(_: Any, result: Any, entity_id: str, *, fact_id: Any, tick: Callable[[], None]) -> None:
        going.append(entity_id)
        try:
            for _ in range(3_000):
                tick()
                time.sleep(0.01)
        finally:
            going.remove(entity_id)

    return search


def settled(going: list[str], expected: list[str]) -> bool:
    until = time.monotonic() + 5
    while going != expected and time.monotonic() < until:
        time.sleep(0.01)
    return going == expected


def test_stop_ends_the_search_and_it_can_be_asked_again(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    going: list[str] = []

    def pressed(job: Any, kind: str, what: str, *, on_stop: Callable[[], None]) -> None:
        if not job.wait(0.1):
            on_stop()
            st.rerun()

    with monkeypatch.context() as patch:
        patch.setattr(KnowledgeGraphRetriever, "why_not", endless(going))
        patch.setattr(ui.why, "wait_for", pressed)
        at = asked(opened, why="helios")
        assert "Stopped." in said(at) and settled(going, [])
    at.button(key="why_again").click()
    at = at.run()
    assert "Stopped." not in said(at) and "It is in the result" in said(at)


def test_a_search_for_another_ends_the_one_before(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    going: list[str] = []
    monkeypatch.setattr(KnowledgeGraphRetriever, "why_not", endless(going))
    monkeypatch.setattr(ui.why, "wait_for", lambda *_, **__: st.stop())
    at = asked(opened)
    for name, entity in (("Helios", "helios"), ("Aurora Fund", "aurora-fund"), ("Acme Capital", "acme-capital")):
        at = pick(at, name)
        assert settled(going, [entity])
        assert at.query_params["why"] == entity  # while it is sought
    view_as(at, "public")
    assert settled(going, [])


def test_an_own_filter_is_named_and_can_be_cleared(opened: Open) -> None:
    whole = asked(opened, hops="1")
    name = facts(whole)[0]["target"]
    at = asked(opened, hops="1", filter='{"field": "year", "operator": "==", "value": 1900}')
    at = pick(at, name)
    assert r"Your own filter drops it\: year \=\= 1900" in said(at)
    at.button(key="why_filter").click()
    assert facts(at.run())


def test_no_path_says_how_far_it_is(opened: Open) -> None:
    far = asked(opened, hops="3", k="60")
    near = asked(opened, hops="1", k="60")
    known = {name for fact in facts(near) for name in (fact["source"], fact["target"])}
    ends = [
        (fact["hop"], name) for fact in facts(far) for name in (fact["source"], fact["target"]) if name not in known
    ]
    at = pick(asked(opened, hops="1", k="60"), next(name for hop, name in ends if hop == 2))
    assert "No path of up to 1 hop leads to it" in said(at) and "The shortest has 2" in said(at)
    at.button(key="why_hops").click()
    assert at.run().segmented_control(key="hops").value == 2


def test_what_is_said_of_the_model_and_of_the_widths_tried(opened: Open) -> None:
    trace = opened(q=QUESTION).session_state["runs"].shown.retrieval.trace
    candidate = trace.hops[0].candidates[0]

    def words(trace: Trace, **why: Any) -> str:
        return " ".join(ui.why._said(WhyNot(**why), trace))

    for rank, begins in ((30, "The chat model did not let it pass"), (31, "The chat model reads only the best 30")):
        text = words(trace, reason="llm_filter", candidate=replace(candidate, rank=rank, fate="llm_cut"))
        assert text.startswith(begins) and candidate.fact.text in text
    tried = (1, 2, 100, 128)
    assert words(trace, reason="beam", beam_width=3, smallest=True, tried=tried).endswith("that keeps it is 3.")
    nearly = words(trace, reason="beam", beam_width=128, tried=tried)
    assert nearly == "A beam of 128 keeps it, one of 100 does not: 4 widths tried."
    assert words(trace, reason="beam", tried=tried) == "No beam brings it in: 4 widths tried, up to 128."
    by_model = replace(trace, settings=replace(trace.settings, llm_filter=True))
    assert "only the chat model could tell" in words(by_model, reason="beam")
