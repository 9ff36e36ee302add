"""The runs of a session: what changed, undo, pin, history, a saved run opened again, the link, another graph."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kgcore.config import cache_dir
from kgcore.retrieve import export
from kgcore.retrieve.export import read_run
from kgcore.viz import html_of
from tests.app.conftest import Open
from tests.app.test_ask import QUESTION, button, drawn, facts, fire


def hops(at: AppTest, number: int) -> AppTest:
    at.segmented_control(key="hops").set_value(number)
    return at.run()


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return at.run()


def texts(at: AppTest) -> list[str]:
    return [text.value for text in at.text]


def keys(at: AppTest) -> set[str | None]:
    return {button.key for button in at.button}


def upload(at: AppTest, content: bytes, name: str = "run.json") -> AppTest:
    at.file_uploader(key="saved").set_value((name, content, "application/json"))
    return at.run()


def saved(at: AppTest) -> bytes:
    """The shown run as its file, asked of the running app's own data."""
    from kgcore.retrieve.export import run_json

    return run_json(at.session_state["runs"].shown.retrieval).encode()


def with_settings(at: AppTest, **settings: Any) -> bytes:
    """The shown run as the file of one that had these settings."""
    retrieval = at.session_state["runs"].shown.retrieval
    trace = replace(retrieval.trace, settings=replace(retrieval.trace.settings, **settings))
    return export.run_json(replace(retrieval, trace=trace)).encode()


class TestDiff:
    def test_names_the_change_and_marks_what_left(self, opened: Open) -> None:
        at = opened()
        before = facts(at)
        at = hops(at, 1)
        assert "Hops 2→1: −4" in texts(at)
        left = drawn(at, "evidence")["evidence"]["left"]
        assert [(one["source"], one["relation"], one["target"]) for one in left] == [
            fact for fact in before if fact not in facts(at)
        ]

    def test_marks_what_entered(self, opened: Open) -> None:
        at = hops(opened(), 3)
        evidence = drawn(at, "evidence")["evidence"]
        new = {one["id"] for one in evidence["facts"] if one["rank"] and one["hop"] == 3}
        assert new
        assert new <= set(evidence["entered"])

    def test_is_not_made_between_two_questions(self, opened: Open) -> None:
        at = opened()
        at.text_input(key="q").set_value("Who supplies Helios?")
        at.run()
        assert drawn(at, "evidence")["evidence"]["entered"] == []
        assert "undo" not in keys(at)

    def test_the_first_run_has_none(self, opened: Open) -> None:
        at = opened()
        assert {"undo", "unpin"}.isdisjoint(keys(at))
        assert "pin" in keys(at)


class TestUndo:
    def test_restores_settings_picture_and_link(self, opened: Open) -> None:
        at = opened()
        before, link = drawn(at, "graph"), dict(at.query_params)
        at = press(hops(at, 1), "undo")
        assert at.segmented_control(key="hops").value == 2
        assert drawn(at, "graph") == before
        assert dict(at.query_params) == link
        assert "undo" not in keys(at)

    def test_goes_back_step_by_step(self, opened: Open) -> None:
        at = hops(hops(opened(), 1), 3)
        at = press(at, "undo")
        assert at.segmented_control(key="hops").value == 1
        assert "Hops 2→1: −4" in texts(at)
        assert press(at, "undo").segmented_control(key="hops").value == 2

    def test_restores_the_filter_and_the_seeds(self, opened: Open) -> None:
        at = opened()
        at.text_area(key="filter").set_value('{"field": "year", "operator": ">=", "value": 2025}')
        at.run()
        at = press(at, "seed_0")
        assert len(at.query_params["seeds"]) == 4
        at = press(at, "undo")
        assert "seeds" not in at.query_params
        assert "2025" in at.text_area(key="filter").value
        assert press(at, "undo").text_area(key="filter").value == ""


class TestPin:
    def test_compares_with_the_pinned_run_until_unpinned(self, opened: Open) -> None:
        at = press(opened(), "pin")
        at = hops(hops(at, 1), 3)
        assert any("Since " in text and "Hops 2→3" in text for text in texts(at))
        at = press(at, "unpin")
        assert any(text.startswith("Hops 1→3") for text in texts(at))

    def test_compares_two_questions(self, opened: Open) -> None:
        at = press(opened(), "pin")
        at.text_input(key="q").set_value("Who supplies Helios?")
        at.run()
        assert any("Question" in text for text in texts(at))
        assert drawn(at, "evidence")["evidence"]["left"]


def test_the_history_goes_back_to_a_run(opened: Open) -> None:
    at = opened()
    before = drawn(at, "evidence")
    at.text_input(key="q").set_value("Who supplies Helios?")
    at.run()
    history = at.selectbox(key="history")
    assert len(history.options) == 2
    history.set_value(1)
    at.run()
    assert at.text_input(key="q").value == QUESTION
    assert drawn(at, "evidence")["evidence"]["facts"] == before["evidence"]["facts"]
    assert at.selectbox(key="history").value is None


class TestSavedRun:
    def test_opens_as_it_was_and_closes(self, opened: Open) -> None:
        at = opened(q="Who supplies Helios?")
        file = saved(at)
        listed = facts(at)
        at = opened()
        before = drawn(at, "graph")
        at = upload(at, file, "<b>mine</b>.json")
        assert facts(at) == listed
        assert drawn(at, "graph")["run"]["live"] is False
        assert any("<b>mine</b>.json" in text for text in texts(at))
        assert "undo" not in keys(at)
        assert drawn(press(at, "saved_close"), "graph") == before

    def test_is_asked_again_with_its_settings(self, opened: Open) -> None:
        file = saved(opened(q=QUESTION, hops="3", beam="2", relations="WORKS_AT", aliases="false"))
        at = press(upload(opened(q="Who supplies Helios?"), file), "saved_again")
        assert at.text_input(key="q").value == QUESTION
        assert (at.segmented_control(key="hops").value, at.number_input(key="beam").value) == (3, 2)
        assert at.multiselect(key="relations").value == ["WORKS_AT"]
        assert at.checkbox(key="aliases").value is False
        assert drawn(at, "graph")["run"]["live"] is True

    @pytest.mark.parametrize("settings", [{"entities": ("Whatever",)}, {"vector_top_k": 0}])
    def test_is_asked_again_from_its_seeds_where_no_control_leads_to_them(
        self, opened: Open, settings: dict[str, Any]
    ) -> None:
        """Names to start from and how many are found by vector are asked for in code alone."""
        at = opened(q="Who supplies Helios?")
        run = with_settings(at, **settings)
        at = press(upload(opened(), run), "saved_again")
        assert not at.exception and not at.error
        seeds = [seed.entity_id for seed in read_run(run).trace.seeds]
        assert at.query_params["seeds"] == seeds
        assert [seed.entity_id for seed in at.session_state["runs"].shown.retrieval.trace.seeds] == seeds

    def test_is_asked_again_with_any_hub_limit(self, opened: Open) -> None:
        at = press(upload(opened(), with_settings(opened(), hub_limit=5_000_000)), "saved_again")
        assert not at.exception and not at.error
        assert at.number_input(key="hub_limit").value == 5_000_000
        assert opened(q=QUESTION, hub_limit="5000000").number_input(key="hub_limit").value == 5_000_000

    def test_has_the_link_that_asks_the_same(self, opened: Open) -> None:
        file = saved(opened(q="Who supplies Helios?", hops="3", relations="WORKS_AT"))
        at = opened(layout="force", beam="3")
        before = at.code[0].value
        at = upload(at, file)
        assert at.code[0].value.partition("?")[2] == "layout=force&q=Who+supplies+Helios%3F&hops=3&relations=WORKS_AT"
        assert press(at, "saved_close").code[0].value == before

    def test_opens_from_a_page(self, opened: Open) -> None:
        at = opened(q="Who supplies Helios?")
        page = html_of(at.session_state["runs"].shown.retrieval).encode()
        listed = facts(at)
        at = upload(opened(), page, "run.html")
        assert facts(at) == listed
        assert drawn(at, "graph")["run"]["live"] is False
        at = upload(opened(), page.replace(b"Quillstone", b"Millstone"), "run.html")
        assert "changed since it was saved" in at.error[0].value

    def test_is_made_into_a_page_once(self, opened: Open) -> None:
        at = fire(opened(), "graph", {"kind": "layout", "layout": "force"})
        assert at.session_state["runs"].page is None
        at.session_state["share_popover"] = True  # as a click opens it
        at.run()
        retrieval, _, page = at.session_state["runs"].page
        assert page == html_of(at.session_state["runs"].shown.retrieval, layout="force")
        at.session_state["share_popover"] = True
        assert at.run().session_state["runs"].page[2] is page
        at = hops(at, 1)
        at.session_state["share_popover"] = True
        assert at.run().session_state["runs"].page[0] is not retrieval

    def test_gives_way_to_another_request(self, opened: Open) -> None:
        at = opened()
        at = hops(upload(at, saved(at)), 1)
        assert drawn(at, "graph")["run"]["live"] is True
        assert "saved_close" not in keys(at)

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b"null", b'{"trace": {}}'])
    def test_that_is_none_is_refused(self, opened: Open, content: bytes) -> None:
        at = opened()
        before = drawn(at, "graph")
        at = upload(at, content)
        assert len(at.error) == 1
        assert "Not a run of Hopscope" in at.error[0].value
        assert drawn(at, "graph") == before

    def test_that_is_refused_is_forgotten_with_the_next_question(self, opened: Open) -> None:
        at = upload(opened(), b"{}")
        assert at.error
        assert at.run().error
        at.text_input(key="q").set_value("Who supplies Helios?")
        assert not at.run().error
        at = upload(at, b"[]")
        assert at.error
        assert not upload(at, saved(at)).error

    def test_that_is_too_large_to_be_opened_is_not_given(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        at = opened()
        monkeypatch.setattr(export, "MAX_BYTES", 10_000)
        at.session_state["share_popover"] = True  # as a click opens it
        at.run()
        assert not at.exception
        disabled = {download.label for download in at.get("download_button") if download.proto.disabled}
        assert disabled == {"Run as HTML", "Run as JSON"}
        assert any("The run takes" in caption.value and "top k" in caption.value for caption in at.caption)

    def test_is_what_the_download_gives(self, opened: Open) -> None:
        at = opened()
        assert read_run(saved(at)).trace.result
        at.session_state["share_popover"] = True  # as a click opens it
        at.run()
        labels = {download.label for download in at.get("download_button")}
        assert labels == {"Facts as CSV", "Run as HTML", "Run as JSON", "GraphML"}

    def test_shows_its_own_contents_and_nothing_of_this_graph(self, opened: Open) -> None:
        at = opened(q="Who supplies Helios?")
        file = saved(at).replace(b"Quillstone Software", b"Somebody Else")
        at.selectbox(key="view_as").set_value("public")
        at = upload(at.run(), file)
        shown = json.dumps([drawn(at, "graph"), drawn(at, "evidence")])
        assert "Somebody Else" in shown
        assert "Quillstone Software" not in shown


class TestLink:
    def test_is_shown_to_be_copied(self, opened: Open) -> None:
        at = opened(q="Who supplies Helios?", seeds=["helios"], hops="3")
        link = at.code[0].value
        assert "seeds=helios" in link
        assert "q=Who+supplies+Helios%3F" in link

    def test_keeps_the_layout(self, opened: Open) -> None:
        at = fire(opened(), "graph", {"kind": "layout", "layout": "force"})
        assert at.query_params["layout"] == "force"
        assert "layout" not in fire(at, "graph", {"kind": "layout", "layout": "columns"}).query_params

    @pytest.mark.parametrize("bad", ["spiral", "", "<b>"])
    def test_with_another_layout_is_in_columns(self, opened: Open, bad: str) -> None:
        at = opened(q=QUESTION, layout=bad)
        assert not at.exception
        assert "layout" not in at.query_params

    def test_of_the_view_alone_opens_the_example(self, opened: Open) -> None:
        assert opened(tab="trace", step="1").text_input(key="q").value == QUESTION

    def test_cannot_open_a_file(self, opened: Open, own_graph: str) -> None:
        at = opened(q=QUESTION, graph=own_graph)
        assert ("Acme Capital", "USES", "Helios") in facts(at)
        assert "graph" not in at.query_params


class TestAnotherGraph:
    @pytest.fixture(autouse=True)
    def _forgets(self) -> Iterator[None]:
        yield
        (cache_dir() / "graphs.json").unlink(missing_ok=True)

    def open_own(self, at: AppTest, address: str) -> AppTest:
        at.text_input(key="graph_address").set_value(address)
        return at.run()

    def test_is_opened_remembered_and_left_again(self, opened: Open, own_graph: str) -> None:
        at = self.open_own(opened(), own_graph)
        assert not at.exception
        assert not at.get("menu_button")
        at.text_input(key="q").set_value("Whom does Adelaide know?")
        at.run()
        assert facts(at) == [("Adelaide", "KNOWS", "Bob")]
        assert "undo" not in keys(at)
        link = at.query_params["graph"]
        assert facts(opened(q="Whom does Adelaide know?", graph=link)) == [("Adelaide", "KNOWS", "Bob")]
        at.selectbox(key="graph").set_value("demo")
        assert "graph" not in at.run().query_params

    def test_a_path_will_do(self, opened: Open, own_graph: str) -> None:
        at = self.open_own(opened(), own_graph.removeprefix("duckdb:///"))
        assert at.selectbox(key="graph").value != "demo"

    def test_that_cannot_be_opened_is_told_and_this_one_stays(self, opened: Open, tmp_path: Path) -> None:
        at = opened()
        before = facts(at)
        at = self.open_own(at, f"duckdb:///{tmp_path / 'missing.duckdb'}")
        assert len(at.error) == 1
        assert facts(at) == before

    def test_that_is_gone_offers_the_usual_one(self, opened: Open, tmp_path: Path) -> None:
        cache_dir().mkdir(parents=True, exist_ok=True)
        gone = f"duckdb:///{tmp_path / 'gone.duckdb'}"
        (cache_dir() / "graphs.json").write_text(json.dumps([gone]))
        from ui.resources import digest

        at = opened(graph=digest(gone))
        assert len(at.error) == 1
        assert facts(press(at, "graph_usual"))

    @pytest.mark.parametrize("content", ["", "{", "3", '{"a": 1}', "[1, null]", "\x00"])
    def test_a_broken_memory_of_graphs_is_as_none(self, opened: Open, content: str) -> None:
        cache_dir().mkdir(parents=True, exist_ok=True)
        (cache_dir() / "graphs.json").write_text(content)
        assert facts(opened())


class TestSeeds:
    def test_without_a_question_an_entity_is_asked_about(self, opened: Open) -> None:
        at = opened(hops="2")
        at.text_input(key="seed_search").set_value("Helios")
        at.run()
        at = press(at, "found_0")
        assert at.text_input(key="q").value == "Helios"
        assert [seed["foundBy"] for seed in drawn(at, "evidence")["evidence"]["trace"]["seeds"]] == ["id"]

    def test_show_their_degree(self, opened: Open) -> None:
        at = opened()
        degree = drawn(at, "evidence")["evidence"]["trace"]["seeds"][0]["degree"]
        assert button(at, "Jane Doe").label.endswith(f"· {degree} ✕")

    def test_one_of_two_with_one_name_is_picked(self, opened: Open) -> None:
        at = opened(q="Where does Alex Kim work?")
        pick = [one for one in at.button if (one.key or "").startswith("only_")]
        assert len({one.label for one in pick}) == 2
        pick[0].click()
        at.run()
        seeds = drawn(at, "evidence")["evidence"]["trace"]["seeds"]
        assert [seed["name"] for seed in seeds].count("Alex Kim") == 1
        assert not [one for one in at.button if (one.key or "").startswith("only_")]


def test_another_person_finds_no_run_of_the_one_before(opened: Open) -> None:
    at = press(hops(opened(), 3), "pin")
    at.selectbox(key="view_as").set_value("public")
    at.run()
    assert {"undo", "unpin"}.isdisjoint(keys(at))
    assert len(at.selectbox(key="history").options) == 1
    at.selectbox(key="view_as").set_value("finance")
    at.run()
    assert {"undo", "unpin"}.isdisjoint(keys(at))


def test_what_is_slow_can_be_stopped_and_asked_again(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk waits; meanwhile a press of Stop ends this run of the page, as a click in the browser does."""
    import ui.answers

    go_on, walked = threading.Event(), ui.answers._retrieve
    at = opened()
    before = facts(at)

    def slow(*arguments: Any) -> Any:
        go_on.wait(30)
        return walked(*arguments)

    def pressed(job: Any, kind: str, what: str, *, on_stop: Any) -> None:
        if not job.wait(0.05):
            on_stop()
            import streamlit as st

            st.rerun()

    with monkeypatch.context() as patch:
        patch.setattr(ui.answers, "_retrieve", slow)
        patch.setattr(ui.answers, "wait_for", pressed)
        at = hops(at, 3)
        assert "Stopped" in at.error[0].value
        assert facts(at) == before
        go_on.set()
    at = press(at, "ask_again")
    assert not at.error
    assert len(drawn(at, "graph")["graph"]["steps"]) == 5
