"""Extract by its controls, with a chat model that a scripted server plays: what it says, the look over, the writing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import ROOT
from tests.app.test_ask_runs import press
from tests.app.test_build import (
    EVERYBODY,
    HOSTILE,
    THESE,
    choose,
    finish,
    go,
    place,
    planned,
    said,
    seen_by,
    send,
    tab,
    table,
    titles,
    upload,
    write,
)
from tests.app.test_build import _ended as _ended
from tests.app.test_build import documents as documents
from tests.app.test_build import graph as graph
from tests.chat_server import ChatServer, Reply, Request
from tests.chat_server import said as reply
from ui import working
from ui.build_ontology import SHAPE, TEXT, WRITTEN

NOTES = "Ida Lark owns Lark Shipping. Lark Shippings is based in Port Ellis. The harbour is cold in winter."
MORE = "Tom Reed works at Lark Shipping."
ONTOLOGY = {
    "entity_types": [{"name": "Person"}, {"name": "Company"}],
    "relation_types": [{"name": "OWNS"}, {"name": "WORKS_AT"}],
}


def named(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "name": name, "description": ""}


def related(source: str, relation: str, target: str, evidence: str) -> dict[str, str]:
    return {"source": source, "relation": relation, "target": target, "description": "", "evidence": evidence}


OF_NOTES = {
    "entities": [named("Person", "Ida Lark"), named("Company", "Lark Shipping"), named("Company", "Lark Shippings")],
    "relations": [
        related("Ida Lark", "OWNS", "Lark Shipping", "Ida Lark owns Lark Shipping."),
        related("Ida Lark", "OWNS", "Moon", "Ida Lark owns the Moon."),
    ],
    "attributes": [
        {
            "entity": "Lark Shippings",
            "key": "seat",
            "value": "Port Ellis",
            "evidence": "Lark Shippings is based in Port Ellis.",
        }
    ],
}
OF_MORE = {
    "entities": [named("Person", "Tom Reed"), named("Company", "Lark Shipping")],
    "relations": [related("Tom Reed", "WORKS_AT", "Lark Shipping", MORE)],
    "attributes": [],
}


def answers(request: Request) -> Reply:
    return reply(json.dumps(OF_NOTES if "Ida Lark" in json.dumps(request.body) else OF_MORE))


@pytest.fixture
def server(graph: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    with ChatServer() as running:
        running.answer(answers)
        monkeypatch.setenv("HOPSCOPE_CHAT_URL", running.url)
        monkeypatch.setenv("HOPSCOPE_CHAT_MODEL", str(tmp_path))  # whose answers no other test has in the cache
        yield running


def extracting(*files: tuple[str, str], ontology: Any = ONTOLOGY, who: str = EVERYBODY) -> AppTest:
    """The page with documents, an ontology and who may see them, before the model is asked."""
    at = upload(tab(go(), "Extract"), *(files or (("notes.txt", NOTES), ("more.md", MORE))), kind="extract")
    return seen_by(ontologised(at, ontology), who, "group:staff" if who == THESE else "", kind="extract")


def ontologised(at: AppTest, ontology: Any) -> AppTest:
    if not at.text_area:
        at.segmented_control(key=SHAPE).set_value("JSON")
        at = at.run()
    at.text_area(key=TEXT).set_value(ontology if isinstance(ontology, str) else json.dumps(ontology))
    return at.run()


def read(at: AppTest, key: str = "extract_read") -> AppTest:
    press(at, key)
    finish()
    return at.run()


def keys(at: AppTest) -> set[str | None]:
    return {one.key for one in at.button}


def merges(at: AppTest) -> list[tuple[bool, str, str]]:
    frame = table(at, "Merge").value
    return [tuple(row) for row in frame[["Merge", "Name", "Is"]].to_numpy().tolist()]


def refuse(at: AppTest, row: int, *, merge: bool = False) -> AppTest:
    return send(at, "Merge", {"edited_rows": {str(row): {"Merge": merge}}, "added_rows": [], "deleted_rows": []})


class TestReading:
    def test_a_model_that_is_missing_is_said(self, graph: str) -> None:
        at = extracting()
        assert "Needs a chat model: set HOPSCOPE_CHAT_URL and HOPSCOPE_CHAT_MODEL." in said(at)
        assert "2 documents, 2 passages" in said(at) and "extract_read" not in keys(at)
        assert at.button(key="ontology_model").disabled

    def test_who_may_see_it_and_an_ontology_are_needed_first(self, server: ChatServer) -> None:
        at = upload(tab(go(), "Extract"), ("notes.txt", NOTES), kind="extract")
        assert "Write one, or have one proposed" in said(at) and "extract_read" not in keys(at)
        at = ontologised(at, ONTOLOGY)
        assert "Say who may see it" in said(at) and "extract_read" not in keys(at)
        at = seen_by(at, THESE, kind="extract")
        assert "Say who may see it" in said(at) and "extract_read" not in keys(at)
        assert "extract_read" in keys(seen_by(at, EVERYBODY, kind="extract")) and not server.requests

    def test_is_looked_over_then_written_then_there_is_nothing(self, server: ChatServer) -> None:
        at = read(extracting(who=THESE))
        assert "2 passages read. Look over below what is written." in said(at)
        assert "3 facts supported, 1 set aside, 0 passages failed" in said(at)
        aside = table(at, "Why").value
        assert "Moon" in aside["What"][0] and aside["Why"][0] and aside["Passage"][0] == "notes.txt#1"
        assert merges(at) == [(True, "Lark Shippings", "Lark Shipping")]
        assert planned(at)["Edges"] == [3, 0, 0, 0] and planned(at)["Documents"] == [2, 0, 0, 0]
        assert planned(at)["Entities"] == [4, 0, 0, 0]  # a value is one too
        assert len(server.requests) == 2
        at = write(at, "extract")
        assert "Written. Edges: 3 new" in said(at) and "there is nothing to write" in said(at)
        assert planned(at)["Edges"] == [0, 0, 0, 3] and "extract_write" not in keys(at)
        at = choose(tab(at, "Documents"), 0)
        assert titles(at) == ["more", "notes"] and "May be seen by: group:staff (1 edge)" in said(at)
        again = read(extracting(who=THESE))
        assert planned(again)["Edges"] == [0, 0, 0, 3] and len(server.requests) == 2

    def test_a_merge_that_is_refused_leaves_two(self, server: ChatServer) -> None:
        at = refuse(read(extracting()), 0)
        assert merges(at) == [(False, "Lark Shippings", "Lark Shipping")]
        assert planned(at)["Entities"] == [5, 0, 0, 0]
        at = refuse(at, 0, merge=True)
        assert planned(at)["Entities"] == [4, 0, 0, 0]
        at = write(refuse(at, 0), "extract")
        assert "there is nothing to write" in said(at) and merges(at)[0][0] is False
        at = at.switch_page(str(ROOT / "pages" / "ask.py")).run()
        at.text_input(key="q").set_value("Lark Shippings")
        shown = at.run().get("bidi_component")
        assert "Lark Shippings" in "".join(one.proto.json for one in shown)

    def test_a_passage_that_failed_is_said_and_read_again(self, server: ChatServer) -> None:
        def breaks(request: Request) -> Reply:
            return reply(f"**No.** {HOSTILE}") if "Tom Reed" in json.dumps(request.body) else answers(request)

        server.answer(breaks)
        at = read(extracting())
        assert "2 facts supported, 1 set aside, 1 passage failed" in said(at) and "more.md#1: " in said(at)
        assert planned(at)["Edges"] == [2, 0, 0, 0]
        asked = len(server.requests)
        server.answer(answers)
        at = read(at, "extract_again")
        assert "3 facts supported, 1 set aside, 0 passages failed" in said(at)
        assert planned(at)["Edges"] == [3, 0, 0, 0] and len(server.requests) == asked + 1

    def test_another_ontology_is_another_reading(self, server: ChatServer) -> None:
        at = read(extracting())
        at = ontologised(at, {**ONTOLOGY, "relation_types": [{"name": "OWNS"}]})
        assert "facts supported" not in said(at) and "extract_read" in keys(at)
        assert planned(read(at))["Edges"] == [2, 0, 0, 0]

    def test_another_principal_is_no_other_reading(self, server: ChatServer) -> None:
        at = write(read(extracting()), "extract")
        at = seen_by(at, THESE, "group:board", kind="extract")
        assert planned(at)["Edges"] == [0, 3, 0, 0] and len(server.requests) == 2

    def test_of_documents_that_say_who_may_see_them(self, server: ChatServer) -> None:
        row = {"id": "n", "text": NOTES, "allowed_principals": ["group:staff"]}
        at = read(extracting(("notes.jsonl", json.dumps(row)), ("more.md", MORE), who="As the files say"))
        assert "Edges that name nobody, which no locked filter lets through: 1" in said(at)
        assert "no locked filter" in said(at.run())
        assert "group:staff" not in json.dumps([request.body for request in server.requests])

    def test_of_documents_that_name_others_now(self, server: ChatServer, tmp_path: Path) -> None:
        file = tmp_path / "notes.jsonl"
        at = tab(go(), "Extract")
        for name, counted in (("group:staff", [2, 0, 0, 0]), ("group:board", [0, 2, 0, 0])):
            file.write_text(json.dumps({"id": "n", "text": NOTES, "allowed_principals": [name]}))
            at = ontologised(place(at, file, kind="extract"), ONTOLOGY)
            at = read(seen_by(at, "As the files say", kind="extract"))
            assert planned(at)["Edges"] == counted
            at = write(at, "extract")
        assert len(server.requests) == 1
        assert "May be seen by: group:board (2 edges)" in said(choose(tab(at, "Documents"), 0))

    def test_a_stop_pays_for_nothing_twice(self, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
        def stops(request: Request) -> Reply:
            for work in working._works().values():
                work.job.stop()
            return answers(request)

        server.answer(stops)
        at = read(extracting())
        assert "of 2 passages; reading again goes on from there." in said(at) and "facts supported" not in said(at)
        server.answer(answers)
        at = read(at)
        assert planned(at)["Edges"] == [3, 0, 0, 0] and len(server.requests) <= 3

    def test_a_model_that_fails_at_everything_is_said(
        self, server: ChatServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from kgcore.ingest import extract

        monkeypatch.setattr(extract, "FAILED_IN_A_ROW", 1)
        server.answer(lambda _: Reply(status=401, body=b'{"error": {"message": "no key"}}'))
        at = read(extracting())
        assert len(at.error) == 1 and "passages in a row could not be read" in said(at) and "extract_read" in keys(at)

    def test_what_it_costs_is_told(self, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOPSCOPE_CHAT_PRICES", "1000000,2000000")
        usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
        server.answer(lambda _: reply(json.dumps(OF_NOTES), usage=usage))
        at = extracting(("notes.txt", NOTES))
        press(at, "extract_read")
        finish()
        (work,) = working._works().values()
        assert "2 facts" in work.note and "150 tokens" in work.note and "cost 200.00" in work.note

    @pytest.mark.parametrize(
        ("name", "text"), [("a.pdf", "no pdf"), ("a.docx", "no docx"), ("a.txt", ""), ("a.jsonl", "{")]
    )
    def test_a_bad_document_is_said(self, server: ChatServer, name: str, text: str) -> None:
        at = upload(tab(go(), "Extract"), (name, text), kind="extract")
        assert len(at.error) == 1 and name in said(at) and "extract_read" not in keys(at)

    def test_a_document_that_was_mended_is_read_again(self, server: ChatServer, tmp_path: Path) -> None:
        folder = tmp_path / "docs"
        folder.mkdir()
        (folder / "a.txt").write_text(" ")
        at = place(tab(go(), "Extract"), folder, kind="extract")
        assert len(at.error) == 1
        (folder / "a.txt").write_text(NOTES)
        at = ontologised(press(at, "try_again"), ONTOLOGY)
        assert not at.error and "1 document, 1 passage" in said(at)
        (folder / "b.txt").write_text(MORE)
        assert "2 documents, 2 passages" in said(at.run())

    def test_what_a_model_says_is_text(self, server: ChatServer) -> None:
        text = f"Ida owns {HOSTILE}. Ida owns {HOSTILE}s."
        found = {
            "entities": [named("Person", "Ida"), named("Company", HOSTILE), named("Company", f"{HOSTILE}s")],
            "relations": [
                related("Ida", "OWNS", HOSTILE, f"Ida owns {HOSTILE}."),
                related("Ida", "OWNS", f"{HOSTILE}s", f"Ida owns {HOSTILE}s."),
                related("Ida", "OWNS", "[a](http://moon)", "x"),
            ],
            "attributes": [],
        }
        server.answer(lambda _: reply(json.dumps(found)))
        at = read(extracting((f"{HOSTILE[:12]}.txt", text)))
        assert not at.error and "[a](http://moon)" in table(at, "Why").value["What"][0]
        markup = [one.value for kind in (at.markdown, at.caption, at.error, at.success) for one in kind]
        assert not [one for one in markup if "[x]" in one or "<b>" in one or "**b**" in one or "http://" in one]


class TestTheOntology:
    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("{", "JSON"),
            ('{"entity_types": []}', "entity_types"),
            ('{"entity_types": [{"name": "A"}, {"name": "a"}]}', "is there already"),
            ('{"entity_types": [{"name": "A", "colour": "red"}]}', "'colour' is not one of"),
            ('{"entity_types": [{"name": "A"}], "relation_types": [{"name": "R", "source": ["B"]}]}', "B"),
            ("[" * 5_000, ""),
        ],
    )
    def test_that_cannot_be_used_is_said(self, server: ChatServer, text: str, error: str) -> None:
        at = ontologised(extracting(), text)
        assert len(at.error) == 1 and error in said(at) and "extract_read" not in keys(at)
        assert not ontologised(at, ONTOLOGY).error

    def test_is_proposed_from_the_graph(self, documents: str) -> None:
        at = press(tab(go(), "Extract"), "ontology_graph")
        proposed = json.loads(at.session_state[WRITTEN])
        assert [kind["name"] for kind in proposed["entity_types"]] == ["T"]
        assert [kind["name"] for kind in proposed["relation_types"]] == ["KNOWS"]
        assert "All of this graph keeps to it." in said(at)

    def test_says_what_of_the_graph_it_would_drop(self, documents: str) -> None:
        at = ontologised(tab(go(), "Extract"), ONTOLOGY)
        assert "Of this graph it would drop 3 edges: entity types T (3); relations KNOWS (3)." in said(at)
        known = {"entity_types": [{"name": "T"}, {"name": "U"}], "relation_types": [{"name": "KNOWS", "source": ["U"]}]}
        at = ontologised(at, known)
        assert "drop 3 edges: triples T KNOWS T (3). 3 entities would be left alone." in said(at)

    def test_of_an_empty_graph_there_is_none(self, graph: str) -> None:
        assert tab(go(), "Extract").button(key="ontology_graph").disabled

    def test_is_proposed_by_the_model_from_the_documents(self, server: ChatServer) -> None:
        server.answer(lambda _: reply(json.dumps(ONTOLOGY)))
        at = upload(tab(go(), "Extract"), ("notes.txt", NOTES), kind="extract")
        at = press(at, "ontology_model")
        assert [kind["name"] for kind in json.loads(at.session_state[WRITTEN])["entity_types"]] == [
            "Person", "Company",
        ]  # fmt: skip
        assert not at.error and NOTES[:20] in json.dumps(server.requests[0].body)

    def test_that_the_model_cannot_propose_is_said(self, server: ChatServer) -> None:
        server.answer(lambda _: reply("I would rather not."))
        at = ontologised(upload(tab(go(), "Extract"), ("notes.txt", NOTES), kind="extract"), ONTOLOGY)
        at = press(at, "ontology_model")
        assert len(at.error) == 1 and json.loads(at.session_state[WRITTEN]) == ONTOLOGY
        assert "Say who may see it" in said(at)

    def test_is_opened_from_a_file(self, graph: str) -> None:
        at = tab(go(), "Extract")
        at = opened(at, json.dumps(ONTOLOGY))
        assert json.loads(at.session_state[WRITTEN])["entity_types"] == ONTOLOGY["entity_types"]
        at = opened(ontologised(at, "{}"), "{")
        assert "o.json" in said(at) and at.text_area(key=TEXT).value == "{}"

    def test_is_kept_when_the_tab_is_left(self, graph: str) -> None:
        at = ontologised(tab(go(), "Extract"), ONTOLOGY)
        at = tab(tab(at, "Documents"), "Extract")
        assert json.loads(at.session_state[WRITTEN]) == ONTOLOGY

    def test_is_edited_as_tables(self, documents: str) -> None:
        at = press(tab(go(), "Extract"), "ontology_graph")
        at = send(at, "Entity type", {"edited_rows": {}, "added_rows": [{"Entity type": "Person"}], "deleted_rows": []})
        at = send(
            at, "Relation",
            {"edited_rows": {"0": {"From": ["Person"], "To": ["T"]}}, "added_rows": [{"Relation": "OWNS"}],
             "deleted_rows": []},
        )  # fmt: skip
        now = json.loads(at.session_state[WRITTEN])
        assert [kind["name"] for kind in now["entity_types"]] == ["T", "Person"]
        assert now["relation_types"] == [{"name": "KNOWS", "source": ["Person"], "target": ["T"]}, {"name": "OWNS"}]
        assert "drop 3 edges: triples T KNOWS T (3)" in said(at)
        at.segmented_control(key=SHAPE).set_value("JSON")
        assert json.loads(at.run().text_area(key=TEXT).value) == now
        at = ontologised(at, {**now, "entity_types": [{"name": "T"}, {"name": "Person"}, {"name": "Firm"}]})
        at.segmented_control(key=SHAPE).set_value("Tables")
        assert table(at.run(), "Entity type").value["Entity type"].tolist() == ["T", "Person", "Firm"]

    def test_of_a_type_that_is_taken_away_the_relations_are_said(self, documents: str) -> None:
        at = press(tab(go(), "Extract"), "ontology_graph")
        at = send(at, "Relation", {"edited_rows": {"0": {"From": ["T"]}}, "added_rows": [], "deleted_rows": []})
        assert not at.error
        at = send(
            at, "Entity type", {"edited_rows": {"0": {"Entity type": "Thing"}}, "added_rows": [], "deleted_rows": []}
        )
        assert "The ontology cannot be used: relation_types.0.source: there is no entity type" in said(at)
        at = send(at, "Entity type", {"edited_rows": {}, "added_rows": [], "deleted_rows": [0]})
        assert not at.exception and json.loads(at.session_state[WRITTEN] or "{}").get("entity_types", []) == []


def opened(at: AppTest, text: str) -> AppTest:
    at.file_uploader(key="ontology_file").set_value(("o.json", text.encode(), "application/json"))
    return at.run()
