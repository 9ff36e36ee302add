"""The Tune page: what it sweeps, what it shows, and what it says of input that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from kgcore import ConfigError, KnowledgeGraphRetriever, StoreError
from kgcore.evals import Gold
from kgcore.types import Retrieval
from tests.app.conftest import ROOT, Open
from tests.app.test_ask import QUESTION, drawn, facts
from tests.app.test_ask_runs import press
from ui import tuning
from ui.jobs import Job
from ui.state import Request
from ui.tuning import Sweep, numbers, settings_of

AXES = {
    "beam_width": (2, 4), "max_hops": (1, 2), "top_k": (20,), "scoring": ("coverage",), "seed_mode": ("auto",),
    "rerank": (False,),
}  # fmt: skip


def tune(at: AppTest) -> AppTest:
    at.session_state["beams"] = "2, 4"
    at = at.switch_page(str(ROOT / "pages" / "tune.py")).run()
    assert not at.exception
    return at


def over(at: AppTest, what: str) -> AppTest:
    at.selectbox(key="over").set_value(what)
    return at.run()


def said(at: AppTest) -> str:
    assert not at.exception
    return "\n".join(str(one.value) for kind in (at.markdown, at.text, at.caption, at.error) for one in kind)


def cells(at: AppTest) -> list[list[float]]:
    (frame,) = at.dataframe
    return [list(row) for row in frame.value.to_numpy().tolist()]


def question(at: AppTest) -> Any:
    """The choice of the question that is looked at."""
    (found,) = (one for one in at.selectbox if one.label.startswith("Question, by"))
    return found


def link(at: AppTest) -> dict[str, list[str]]:
    """What `Open in Ask` asks for."""
    (found,) = (one for one in at.get("page_link") if one.proto.label == "Open in Ask")
    return parse_qs(found.proto.query_string)


def swept(at: AppTest) -> Sweep:
    return list(at.session_state["runs"].tuned.values())[-1]


def upload(at: AppTest, *lines: dict[str, Any] | str, name: str = "gold.jsonl") -> AppTest:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    at.file_uploader(key="tune_upload").set_value((name, text.encode(), "application/json"))
    return at.run()


class TestOneQuestion:
    def test_opens_on_asks_question_with_its_gold(self, opened: Open) -> None:
        at = tune(opened())
        assert at.text_input(key="tuned").value == QUESTION
        assert cells(at) == [[0.5, 1.0, 1.0, 1.0]] * 2
        assert "**Best:** beam 2\\, hops 2\\, top k 20\\, coverage\\, seeds auto" in said(at)

    def test_another_question_is_asked_at_once_and_needs_no_gold(self, opened: Open) -> None:
        at = tune(opened())
        at.text_input(key="tuned").set_value("Which systems hold client data?")
        at = at.run()
        assert at.selectbox(key="figure").options == ["explained", "facts"]
        at.selectbox(key="figure").set_value("facts")
        assert all(value <= 2 * 4 for value in cells(at.run())[0])

    def test_a_and_b_are_drawn_and_listed(self, opened: Open) -> None:
        at = tune(opened(q=QUESTION, beam="4", auto="false"))
        assert "**A** beam 4\\, hops 2" in said(at) and "**B** beam 2\\, hops 2" in said(at)
        graph = drawn(at, "graph", view="tune")
        assert {"Helios"} <= {node["name"] for node in graph["graph"]["nodes"]}
        assert "**Only A** 4" in said(at) and "**Both** 4" in said(at) and "**Only B** 0" in said(at)

    def test_a_setting_is_made_a_or_b(self, opened: Open) -> None:
        at = press(tune(opened()), "tune_set_a")
        assert "**A** beam 2\\, hops 2" in said(at)
        assert at.query_params["a"] == "beam 2, hops 2, top k 20, coverage, seeds auto" and "b" not in at.query_params

    def test_a_link_says_which_are_a_and_b(self, opened: Open) -> None:
        at = opened()
        at.query_params["a"] = "beam 4, hops 1, top k 20, coverage, seeds auto"
        at.query_params["b"] = "beam 3, hops 1, <b>"
        assert "**A** beam 4\\, hops 1" in said(tune(at)) and "<b>" not in said(at)

    def test_what_is_not_there_any_more_is_not_chosen(self, opened: Open) -> None:
        at = tune(opened())
        at.button_group(key="modes").set_value(["auto", "mentions", "query"])
        at = at.run()
        at.selectbox(key="tune_kind").set_value(2)
        at = at.run()
        at.button_group(key="modes").set_value(["auto", "mentions"])
        assert len(cells(at.run())) == 2
        at.button_group(key="modes").set_value([])
        assert "No value of seeds from is chosen" in said(at.run())

    def test_takes_over_the_filter_of_ask(self, opened: Open) -> None:
        filter = '{"field": "year", "operator": ">=", "value": 2025}'
        at = opened(q=QUESTION, filter=filter)
        kept = facts(at)
        at = tune(at)
        base = swept(at).questions.base
        assert base["filters"]["field"] == "year"
        assert len(kept) == swept(at).rows[0][1].facts or len(kept) > 0

    def test_is_what_ask_opens_again(self, opened: Open) -> None:
        at = tune(opened())
        assert (link(at)["beam"], link(at)["auto"], link(at)["q"]) == (["2"], ["false"], [QUESTION])

    def test_follows_ask_where_it_was_asked_otherwise(self, opened: Open) -> None:
        at = tune(opened())
        at = at.switch_page(str(ROOT / "pages" / "ask.py")).run()
        at.text_input(key="q").set_value("Who supplies Helios?")
        at.number_input(key="k").set_value(7)
        at = tune(at.run())
        assert at.text_input(key="tuned").value == "Who supplies Helios?"
        assert swept(at).settings[0]["top_k"] == 7

    def test_without_a_question_it_teaches(self, opened: Open) -> None:
        at = tune(opened())
        at.text_input(key="tuned").set_value("")
        assert at.run().subheader[0].value == "Ask a question, or give questions with gold"


class TestAGoldSet:
    def test_is_asked_when_told_to(self, opened: Open) -> None:
        at = over(tune(opened()), "demo")
        assert not at.dataframe and "0 of 53 questions asked, 8 settings each" in said(at)
        at = press(at, "tune_go")
        assert swept(at).whole and at.selectbox(key="figure").value == "fact_recall@20"
        assert "over 52 questions" in said(at)
        assert "| fact recall@20 |" not in said(at)
        at.session_state["tune_figures"] = True  # as a click opens it
        at = at.run()
        assert "| fact recall@20 |" in said(at) and "| 2 hops |" in said(at)

    def test_differences_come_first(self, opened: Open) -> None:
        at = press(over(tune(opened()), "demo"), "tune_go")
        labels = question(at).options
        gains = [abs(float(label.split()[0])) for label in labels]
        assert gains == sorted(gains, reverse=True) and len(labels) == 53
        assert labels[0].endswith(link(at)["q"][0])
        question(at).set_value(3)
        at.selectbox(key="figure").set_value("facts")
        at = at.run()
        assert link(at)["q"][0] in question(at).options[0] and at.run()

    def test_an_error_keeps_what_was_given_and_it_goes_on_from_there(
        self, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole, asked = KnowledgeGraphRetriever.sweep, []

        def breaks(self: KnowledgeGraphRetriever, question: str, *given: Any, **more: Any) -> Iterator[Retrieval]:
            asked.append(question)
            if len(asked) == 4:
                raise StoreError("The server is away.", remedy="Start it.")
            return whole(self, question, *given, **more)

        at = over(tune(opened()), "demo")
        monkeypatch.setattr(KnowledgeGraphRetriever, "sweep", breaks)
        at = press(at, "tune_go")
        assert "The server is away\\. Start it\\." in said(at)
        assert "3 of 53 questions asked" in said(at) and at.dataframe
        assert at.button(key="tune_go").label == "Go on"
        asked.clear()
        monkeypatch.setattr(KnowledgeGraphRetriever, "sweep", whole)
        at = press(at, "tune_go")
        assert swept(at).whole and not at.error

    def test_is_read_from_a_file(self, opened: Open) -> None:
        at = over(tune(opened()), "file")
        assert not at.dataframe
        at = upload(at, {"question": QUESTION, "entities": ["helios", "`:red[x]`"], "type": "a|b`"})
        assert at.selectbox(key="figure").value == "entity_recall@20"
        assert cells(at) == [[0.0, 0.5, 0.5, 0.5]] * 2

    @pytest.mark.parametrize(
        ("lines", "error"),
        [
            (("{",), "gold\\.jsonl\\, line 1"),
            (({"question": "Who?"},), "holds no question with anything to find"),
            (("nothing",), "no layout of questions"),
            (({"question": "x" * 2_001, "answer": "a"},), "question \\'1\\'\\: The question has 2\\,001 characters"),
            (
                ({"question": "Who?", "answer": "a", "seeds": list(map(str, range(60)))},),
                "seeds is not a list",
            ),
            (('[{"hops": ' + "9" * 5_000 + "}]",), "not JSON"),
        ],
    )
    def test_a_file_that_cannot_be_used_is_said(self, opened: Open, lines: tuple[Any, ...], error: str) -> None:
        at = upload(over(tune(opened()), "file"), *lines)
        assert error in said(at) and len(at.error) == 1

    def test_half_a_character_and_markup_of_a_file_are_text(self, opened: Open) -> None:
        at = over(tune(opened()), "file")
        kind = "a\\|![x](http://h/i.png)"
        one = {"id": "\ud800", "question": f"{QUESTION} \ud800", "entities": ["helios"], "type": kind}
        at = press(upload(at, one, {**one, "id": "b"}, name="王" * 200 + ".jsonl"), "tune_go")
        at.session_state["tune_figures"] = True
        assert "`a\\¦![x](http://h/i.png)`" in said(at.run())

    def test_one_that_starts_from_names_is_opened_with_their_seeds(self, opened: Open) -> None:
        at = over(tune(opened()), "file")
        at = upload(at, {"question": "Who supplies it?", "entities": ["helios"], "seeds": ["Helios"]})
        assert link(at)["seeds"] == ["helios"]


class TestAccess:
    def test_another_asker_finds_nothing_of_before(self, opened: Open) -> None:
        at = tune(opened())
        before = swept(at)
        before.job = Job(lambda job: None)
        going = before.job
        at.selectbox(key="view_as").set_value("public")
        at = at.run()
        assert going.stopped
        assert [one for one in at.session_state["runs"].tuned.values() if one is before] == []


class TestInput:
    @pytest.mark.parametrize("text", ["", "none", "0", "2, 1001", "-3", "2.5", "٣"])
    def test_widths_that_are_none_are_said(self, opened: Open, text: str) -> None:
        at = tune(opened())
        at.text_input(key="beams").set_value(text)
        at = at.run()
        assert "Write 2\\, 4\\, 6" in said(at) and not at.dataframe

    def test_numbers_are_read_in_any_order(self) -> None:
        assert numbers(" 6,2; 4 2", "Beam widths") == (2, 4, 6)

    def test_an_axis_without_a_value_is_said(self) -> None:
        with pytest.raises(ConfigError, match="No value of hops is chosen"):
            settings_of({**AXES, "max_hops": ()}, 1)

    def test_too_much_is_said_before_it_is_asked(self) -> None:
        assert len(settings_of(AXES, 5_000)) == 4
        with pytest.raises(ConfigError, match="4 settings over 5,001 questions are too many"):
            settings_of(AXES, 5_001)


def test_a_link_to_ask_asks_for_the_same(opened: Open) -> None:
    at = opened(q=QUESTION, hops="3", k="7", rerank="true", aliases="false", relations=["USES", "WORKS_AT"])
    asked: Request = at.session_state["runs"].shown.request
    from ui.state import link_of

    again = opened(**link_of(asked))
    assert again.session_state["runs"].shown.request == asked
    assert tuning.base_of(asked)["relations"] == ("USES", "WORKS_AT")


def test_one_question_of_a_set_has_its_gold() -> None:
    gold = Gold(id="a", question="Who?", answers=("Ann",))
    assert tuning.one_question(None, "Who?", [gold]).golds == (gold,)
    assert tuning.one_question(None, "What?", [gold]).golds[0].answers == ()
