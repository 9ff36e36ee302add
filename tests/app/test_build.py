"""The Build page by its controls: making a graph, importing, looking after documents, and who may do none of it."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kgcore import Chunk, Edge, Entity, StoreError, open_store, write_graph
from kgcore.ingest.reading import Reading
from tests.app.conftest import ROOT
from tests.app.test_ask_runs import press
from tests.app.test_identity import AUTH, LOCK, person
from ui import build, build_documents, working

CSV = "source,relation,target,note\nAda,KNOWS,Bob,at work\nBob,KNOWS,Cy,\n"
EVERYBODY, THESE = "Everybody (group:public)", "These principals alone"
HOSTILE = ":red[x] **b** [a](http://h) <b>c</b>"


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty graph, which the app opens."""
    address = f"duckdb:///{tmp_path / 'mine.duckdb'}"
    open_store(address, create=True).close()
    monkeypatch.setenv("HOPSCOPE_STORE", address)
    return address


@pytest.fixture
def documents(graph: str) -> str:
    """The same with three documents: of one edge, of two and of a passage alone."""
    store = open_store(graph)
    entities = [Entity(id=name.lower(), type="T", name=name) for name in ("Ada", "Bob", "Cy")]
    edges = [edge("Ada", "Bob", "d1", "Minutes"), edge("Bob", "Cy", "d2", "Plan"), edge("Ada", "Cy", "d2", "Plan")]
    chunk = Chunk(id="d3#1", document_id="d3", content="Nobody.", metadata={"title": "Empty", **SEEN})
    write_graph(store, entities, edges, [chunk])
    store.close()
    return graph


SEEN = {"allowed_principals": ("group:staff",)}


def edge(source: str, target: str, document: str, title: str) -> Edge:
    return Edge(
        id=f"{source}-{target}-{document}", source_id=source.lower(), target_id=target.lower(), relation="KNOWS",
        src_name=source, dst_name=target, source_doc_id=document, properties={"title": title, "year": 2024, **SEEN},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    """Nothing is written any more when a test ends."""
    yield
    finish()
    working._works().clear()


def finish() -> None:
    for work in list(working._works().values()):
        assert work.job.wait(60)


def go(**link: Any) -> AppTest:
    """The page, come to by a link."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["q"] = ""
    return to(at.run(), **link)


def to(at: AppTest, **link: Any) -> AppTest:
    at = at.switch_page(str(ROOT / "pages" / "build.py"))
    for name, value in link.items():
        at.query_params[name] = value
    at = at.run()
    assert not at.exception
    return at


def signed_in(monkeypatch: pytest.MonkeyPatch, **claims: Any) -> AppTest:
    """The page for a person, of whom only administrators write, and who reads as one of their groups."""
    monkeypatch.setenv("HOPSCOPE_ADMIN_CLAIM", "roles=hopscope-admin")
    monkeypatch.setenv("HOPSCOPE_LOCKED_FILTER", json.dumps(LOCK))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.secrets, at.user = {"auth": AUTH}, person(**claims)
    at.query_params["q"] = ""
    return to(at.run())


def said(at: AppTest) -> str:
    """All that stands on the page but tables, without escapes."""
    assert not at.exception
    kinds = (at.subheader, at.markdown, at.text, at.caption, at.error, at.success)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "").replace("\u2060", "")


def tabs(at: AppTest) -> list[str]:
    return [one.label for one in at.tabs]


def tab(at: AppTest, name: str) -> AppTest:
    at.session_state[build.TAB] = name
    at = at.run()
    assert not at.exception
    return at


def table(at: AppTest, column: str) -> Any:
    """The table that has this column."""
    (found,) = (one for one in at.dataframe if column in one.value)
    return found


def send(at: AppTest, column: str, state: Any) -> AppTest:
    """What a table in the browser sends once its rows are chosen or edited."""
    states = at._tree.get_widget_states()
    widget = states.widgets.add()
    widget.id = table(at, column).proto.id
    widget.string_value = json.dumps(state)
    at = at._run(states)
    assert not at.exception
    return at


def choose(at: AppTest, *rows: int) -> AppTest:
    """Rows of the documents."""
    return send(at, "Id", {"selection": {"rows": list(rows), "columns": [], "cells": []}})


def planned(at: AppTest) -> dict[str, list[int]]:
    """What is new, changed, to go and as it is, by kind of record."""
    frame = table(at, "As they are").value
    return {row[0]: row[1:] for row in frame.to_numpy().tolist()}


def upload(at: AppTest, *files: tuple[str, str | bytes], kind: str = "import") -> AppTest:
    sent = [(name, text.encode() if isinstance(text, str) else text, "text/plain") for name, text in files]
    at.file_uploader(key=f"{kind}_files").set_value(sent)
    return at.run()


def place(at: AppTest, path: Path | str, kind: str = "import") -> AppTest:
    at.text_input(key=f"{kind}_place").set_value(str(path))
    return at.run()


def seen_by(at: AppTest, chosen: str, names: str = "", kind: str = "import") -> AppTest:
    at.radio(key=f"{kind}_who").set_value(chosen)
    at = at.run()
    if names:
        at.text_input(key=f"{kind}_names").set_value(names)
        at = at.run()
    assert not at.exception
    return at


def write(at: AppTest, kind: str = "import", *, vectors: bool = False) -> AppTest:
    at.checkbox(key=f"{kind}_vectors").set_value(vectors)
    press(at, f"{kind}_write")
    finish()
    return at.run()


def role(at: AppTest, label: str) -> Any:
    (found,) = (one for one in at.selectbox if one.label == label)
    return found


def titles(at: AppTest) -> list[str]:
    return list(table(at, "Id").value["Title"])


class TestWhatMayBeWrittenInto:
    def test_the_demo_is_only_read(self) -> None:
        at = go()
        assert tabs(at) == ["Import", "Extract", "Documents"]
        assert "Make a graph to build in" in said(at) and "The demo is only read." in said(at)
        assert not at.file_uploader and not at.radio
        at = tab(at, "Extract")
        assert "The demo is only read." in said(at) and not at.file_uploader
        at = choose(tab(at, "Documents"), 0)
        assert "fact" in said(at) and not at.checkbox and not at.get("form")
        assert "group:" not in said(at) and "Delete" not in [one.label for one in at.button]

    def test_a_graph_that_others_built_is_only_read(self, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(build, "is_foreign", lambda store: True)
        at = go()
        assert "A graph that others built is only read." in said(at) and not at.file_uploader
        at = choose(tab(at, "Documents"), 0)
        assert not at.checkbox and "group:staff" not in said(at)

    def test_a_new_graph_is_made_and_opened(self, tmp_path: Path) -> None:
        at = go()
        at.text_input(key="graph_made_here").set_value(str(tmp_path / "new.duckdb"))
        at = at.run()
        assert (tmp_path / "new.duckdb").exists() and at.file_uploader(key="import_files")
        assert at.get("popover")[0].proto.popover.label == r"new\.duckdb"
        assert "You see what it changes before anything is written." in said(at)
        assert "No document yet." in said(tab(at, "Documents"))

    @pytest.mark.parametrize("name", ["/nowhere/at/all.duckdb", "{here}"])
    def test_one_that_cannot_be_made_is_said(self, tmp_path: Path, name: str) -> None:
        at = go()
        at.text_input(key="graph_made_here").set_value(name.format(here=tmp_path))
        at = at.run()
        assert not at.exception and at.error and not at.file_uploader
        assert "The demo is only read." in said(at)


class TestWhoIsNoAdministrator:
    def test_sees_documents_of_their_own_view_alone(self, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
        store = open_store(documents)
        entities = [Entity(id=name, type="T", name=name) for name in ("x", "y")]
        hidden = Edge(
            id="h", source_id="x", target_id="y", relation="R", src_name="x", dst_name="y", source_doc_id="d9",
            properties={"title": "Secret", "allowed_principals": ("group:board",)},
        )  # fmt: skip
        write_graph(store, entities, [hidden])
        store.close()
        at = signed_in(monkeypatch, groups=["staff"])
        assert tabs(at) == ["Documents"] and titles(at) == ["Minutes", "Plan", "Empty"]
        at = choose(at, 1)
        assert "**Plan**" in said(at) and "2 facts" in said(at)
        assert not at.checkbox and not at.file_uploader and not at.get("form") and not at.get("popover")[1:]
        assert [one.label for one in at.button if one.label in ("Delete", "Change", "Write", "Stop")] == []
        assert "group:" not in said(at) and "Secret" not in said(at)
        at = signed_in(monkeypatch, groups=["board"])
        assert titles(at) == ["Secret"]
        assert said(signed_in(monkeypatch, groups=["nobody"])) == "No document yet."

    def test_is_told_nothing_of_what_is_written_and_stops_nothing(
        self, graph: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), THESE, "group:board")
        at = write(at)
        assert "Written. Edges: 2 new" in said(at)
        at = signed_in(monkeypatch, groups=["staff"])
        assert said(at) == "No document yet." and not at.success
        assert "work_dismiss" not in [one.key for one in at.button]
        admin = signed_in(monkeypatch, groups=["staff"], roles=["hopscope-admin"])
        assert "Written. Edges: 2 new" in said(admin) and tabs(admin) == ["Import", "Extract", "Documents"]

    def test_a_link_to_another_tab_gives_no_more(self, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
        at = signed_in(monkeypatch, groups=["staff"])
        at.query_params["build"] = "Import"
        at.session_state["import_place"] = "/etc"
        at = at.run()
        assert (
            not at.exception
            and tabs(at) == ["Documents"]
            and not at.radio
            and not at.text_input(key=build_documents.FIND).value
        )


class TestImport:
    def test_counts_first_then_writes_then_has_nothing_to_write(self, graph: str) -> None:
        at = upload(go(), ("t.csv", CSV))
        assert "t.csv: Triples" in said(at) and "Say who may see it" in said(at)
        assert not at.dataframe and "import_write" not in [one.key for one in at.button]
        at = seen_by(at, EVERYBODY)
        assert planned(at) == {
            "Documents": [1, 0, 0, 0], "Entities": [3, 0, 0, 0], "Edges": [2, 0, 0, 0], "Passages": [0, 0, 0, 0],
        }  # fmt: skip
        assert table(at, "From").value["Target"].tolist() == ["Bob", "Cy"]
        assert "No document yet." in said(go(build="Documents"))
        at = write(at)
        assert "Written. Edges: 2 new, 0 changed, 0 gone." in said(at)
        assert planned(at)["Edges"] == [0, 0, 0, 2] and "there is nothing to write" in said(at)
        assert "import_write" not in [one.key for one in at.button] and not at.error
        assert "Written" not in said(press(at, "work_dismiss"))

    def test_nobody_is_not_everybody(self, graph: str) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), THESE)
        assert "Say who may see it" in said(at) and not at.dataframe
        at.text_input(key="import_names").set_value(" , ")
        assert "Say who may see it" in said(at.run())
        at.text_input(key="import_names").set_value("group:\x07")
        at = at.run()
        assert "These are no names of principals. Give one to 100 names" in said(at)
        assert "import_write" not in [one.key for one in at.button]

    def test_says_whom_the_files_leave_out(self, graph: str) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), "As the files say")
        assert "Edges that name nobody, which no locked filter lets through: 2" in said(at)
        assert "no locked filter" in said(at.run())

    def test_another_column_is_another_plan(self, graph: str) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)
        assert (role(at, "Source").value, role(at, "Target").value) == ("source", "target")
        role(at, "Target").set_value("note")
        at = at.run()
        assert table(at, "From").value["Target"].tolist() == ["at work"]
        assert "Rows without a source or a target left out: 1" in said(at)
        role(at, "Relation").select_index(0)
        assert table(at.run(), "From").value["Relation"].tolist() == ["RELATED"]

    def test_a_source_is_needed(self, graph: str) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)
        role(at, "Source").select_index(0)
        at = at.run()
        assert "no column is the source" in said(at) and "Map 'source'" in said(at)
        role(at, "Source").set_value("source")
        assert planned(at.run())["Edges"] == [2, 0, 0, 0]

    def test_a_role_that_is_cleared_is_nobodys(self, graph: str) -> None:
        nodes = "".join(f'<node id="{n}"><data key="k">Thing</data></node>' for n in "ab")
        edge = '<edge source="a" target="b"/>'
        key = '<key id="k" for="node" attr.name="type"/>'
        at = seen_by(upload(go(), ("t.graphml", f"<graphml>{key}<graph>{nodes}{edge}</graph></graphml>")), EVERYBODY)
        assert planned(at)["Edges"][0] == 1 and role(at, "Type").value == "type"
        role(at, "Type").select_index(0)
        assert planned(at.run())["Edges"][0] == 3  # the type is a fact of each node

    def test_columns_follow_the_header_and_the_delimiter(self, graph: str) -> None:
        at = seen_by(upload(go(), ("t.csv", "who,does,whom\nAda,KNOWS,Bob;Cy\n")), EVERYBODY)
        assert role(at, "Header").value == "no" and planned(at)["Edges"] == [2, 0, 0, 0]
        role(at, "Header").set_value("yes")
        at = at.run()
        assert (role(at, "Source").value, role(at, "Relation").value) == ("who", "does")
        assert planned(at)["Edges"] == [1, 0, 0, 0]
        role(at, "Delimiter").set_value("semicolon")
        at = at.run()
        assert not at.exception and at.error and "import_write" not in [one.key for one in at.button]
        role(at, "Delimiter").set_value("comma")
        assert planned(at.run())["Edges"] == [1, 0, 0, 0]

    def test_a_folder_is_one_graph(self, graph: str, tmp_path: Path) -> None:
        passage = {"id": "p1", "text": "Ada knows Bob.", "title": "Notes", "allowed_principals": ["group:staff"]}
        triple = {"passage": "p1", "triple": ["Ada", "knows", "Bob"]}
        folder = tmp_path / "given"
        folder.mkdir()
        for name, line in (("passages.jsonl", passage), ("triples.jsonl", triple)):
            (folder / name).write_text(json.dumps(line) + "\n")
        at = seen_by(place(go(), folder), "As the files say")
        assert planned(at)["Passages"] == [1, 0, 0, 0] and not at.error
        both = [(file.name, file.read_text()) for file in sorted(folder.iterdir())]
        at = seen_by(upload(go(), *both), "As the files say")
        assert planned(at)["Edges"] == [1, 0, 0, 0]
        at = write(at)
        assert planned(at)["Edges"] == [0, 0, 0, 1]
        at = choose(tab(at, "Documents"), 0)
        assert "May be seen by: group:staff (1 edge)" in said(at)

    def test_a_file_that_was_changed_is_another(self, graph: str, tmp_path: Path) -> None:
        file = tmp_path / "t.csv"
        file.write_text(CSV)
        at = seen_by(place(go(), file), EVERYBODY)
        assert planned(at)["Edges"] == [2, 0, 0, 0]
        file.write_text(CSV + "Cy,KNOWS,Di,\n")
        assert planned(at.run())["Edges"] == [3, 0, 0, 0]
        at = write(at)
        file.write_text(CSV)
        assert planned(at.run())["Edges"] == [0, 0, 1, 2]

    @pytest.mark.parametrize(
        ("name", "content", "error"),
        [
            ("t.csv", b"", "t.csv"),
            ("t.csv", bytes(range(256)) * 40, "t.csv"),
            ("t.csv", b"source,relation,target\n", "holds no triple"),
            ("t.csv", b"\xff\xfe" + "source,target\nAda,\ud83d".encode("utf-16-le", "surrogatepass"), "t.csv"),
            ("t.jsonl", b'{"source": "Ada", "target": "Bob"}\n{"source": \n', "line 2"),
            ("t.graphml", b"<graphml><graph>", "t.graphml"),
            ("t.xyz", b"nothing", "is no graph that can be imported. Name a folder"),
        ],
    )
    def test_a_bad_file_is_said_and_nothing_is_written(self, graph: str, name: str, content: bytes, error: str) -> None:
        at = upload(go(), (name, content))
        if at.radio:
            at = seen_by(at, EVERYBODY)
        assert error in said(at) and len(at.error) == 1 and "Traceback" not in said(at)
        assert "import_write" not in [one.key for one in at.button]
        at.file_uploader(key="import_files").set_value([])
        assert "No document yet." in said(tab(at.run(), "Documents"))

    @pytest.mark.parametrize("path", ["/nowhere/at/all", "~nobody-at-all/x", "a\x00b", "x" * 5_000])
    def test_a_path_that_is_none_is_said(self, graph: str, path: str) -> None:
        at = place(go(), path)
        assert len(at.error) == 1 and "Name a file or a folder that is there." in said(at)

    def test_a_file_that_was_mended_is_read_again(self, graph: str, tmp_path: Path) -> None:
        file = tmp_path / "t.csv"
        file.write_text("source,relation,target\n")
        at = seen_by(place(go(), file), EVERYBODY)
        assert "holds no triple" in said(at)
        file.write_text(CSV)
        at = press(at, "try_again")
        assert not at.error and planned(at)["Edges"] == [2, 0, 0, 0]

    def test_what_failed_once_is_tried_again(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def away(*_: object, **__: object) -> None:
            raise StoreError("The server is away.", remedy="Start it.")

        with monkeypatch.context() as patch:
            patch.setattr(Reading, "plan", away)
            at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)
            assert "The server is away. Start it." in said(at)
        assert planned(press(at, "try_again"))["Edges"] == [2, 0, 0, 0]

    def test_two_files_of_one_name_are_said(self, graph: str) -> None:
        at = upload(go(), ("t.csv", CSV), ("t.csv", CSV))
        assert "Two files are called t.csv. Upload each file once." in said(at)

    def test_a_stop_ends_the_comparing_and_it_goes_on(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def pressed(job: Any, kind: str, what: str, *, on_stop: Any) -> None:
            if kind == "import":
                on_stop()
                import streamlit as st

                st.rerun()
            job.wait(60)

        with monkeypatch.context() as patch:
            patch.setattr(working, "wait_for", pressed)
            at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)
            assert not at.dataframe and not at.error
        assert planned(press(at, "import_again"))["Edges"] == [2, 0, 0, 0]


class TestTheWriting:
    def test_an_error_of_it_is_said_and_can_be_dismissed(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)

        def away(*_: object, **__: object) -> None:
            raise StoreError("The server is away.", remedy="Start it.")

        monkeypatch.setattr(Reading, "write", away)
        at = write(at)
        assert "The server is away. Start it." in said(at) and planned(at)["Edges"] == [2, 0, 0, 0]
        assert not press(at, "work_dismiss").error

    def test_a_fault_of_ours_is_said_too(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)

        def breaks(*_: object, **__: object) -> None:
            raise ZeroDivisionError("of *ours*")

        monkeypatch.setattr(Reading, "write", breaks)
        at = write(at)
        assert "Writing has failed: ZeroDivisionError: of *ours*." in said(at) and tabs(at)
        assert not press(at, "work_dismiss").error

    def test_keeps_its_files_when_the_session_is_gone(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)
        begun: list[Any] = []
        with monkeypatch.context() as patch:
            patch.setattr(working, "begin", lambda graph, what, work: begun.append((graph, what, work)))
            press(at, "import_write")
        del at
        gc.collect()
        working.begin(*begun.pop())
        finish()
        assert "Written. Edges: 2 new" in said(go())

    def test_goes_on_when_the_page_is_left_and_one_at_a_time(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        from threading import Event

        whole, may = Reading.write, Event()

        def slow(self: Reading, *given: Any, **more: Any) -> Any:
            assert may.wait(60)
            return whole(self, *given, **more)

        monkeypatch.setattr(Reading, "write", slow)
        at = press(seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY), "import_write")
        assert at.button(key="work_stop") and "import_write" not in [one.key for one in at.button]
        other = go()
        assert other.button(key="work_stop")
        may.set()
        finish()
        assert "Written. Edges: 2 new" in said(other.run())

    def test_stopped_it_holds_whole_documents_and_goes_on(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = working.Work.step

        def stopped(self: working.Work, *given: Any) -> None:
            self.job.stop()
            whole(self, *given)

        at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)
        with monkeypatch.context() as patch:
            patch.setattr(working.Work, "step", stopped)
            at = write(at)
        assert "Stopped: what was written stays" in said(at)
        assert planned(at)["Edges"] in ([2, 0, 0, 0], [0, 0, 0, 2])
        if planned(at)["Edges"][0]:
            at = write(at)
        assert planned(at)["Edges"] == [0, 0, 0, 2]

    def test_vectors_follow_the_writing(self, graph: str) -> None:
        at = write(seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY), vectors=True)
        assert re.search(r"Written\. Edges: 2 new.* \d+ vectors computed\.", said(at))
        assert "have no vector" not in said(at) and "build_vectors" not in [one.key for one in at.button]

    def test_stopped_before_them_what_was_written_stays(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        at = seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY)
        embed = build.embed_missing

        def stopping(*given: Any, **more: Any) -> int:
            [*working._works().values()][-1].job.stop()
            return embed(*given, **more)

        monkeypatch.setattr(build, "embed_missing", stopping)
        at = write(at, vectors=True)
        assert "Written. Edges: 2 new" in said(at) and "Stopped before all vectors were there." in said(at)
        assert "2 of 2 edges have no vector" in said(at)

    def test_vectors_are_computed_when_asked_for(self, graph: str) -> None:
        at = write(seen_by(upload(go(), ("t.csv", CSV)), EVERYBODY))
        assert "2 of 2 edges have no vector: facts are scored by the words of the question." in said(at)
        press(at, "build_vectors")
        finish()
        at = at.run()
        assert "vectors computed." in said(at) and "have no vector" not in said(at)
        assert "build_vectors" not in [one.key for one in at.button] and planned(at)["Edges"] == [0, 0, 0, 2]


class TestDocuments:
    def test_are_listed_and_found(self, documents: str) -> None:
        at = tab(go(), "Documents")
        frame = table(at, "Id").value
        assert frame[["Title", "Facts", "Edges", "Passages", "Id"]].to_numpy().tolist() == [
            ["Minutes", 1, 1, 0, "d1"], ["Plan", 2, 2, 0, "d2"], ["Empty", 0, 0, 1, "d3"],
        ]  # fmt: skip
        assert "3 documents" in said(at)
        for asked, found in (("MIN", ["Minutes"]), ("d2", ["Plan"]), (" ", ["Minutes", "Plan", "Empty"])):
            at.text_input(key=build_documents.FIND).set_value(asked)
            assert titles(at.run()) == found
        at.text_input(key=build_documents.FIND).set_value("nothing")
        assert "0 documents" in said(at.run())

    def test_the_link_holds_the_tab_and_what_is_found_and_no_principal(self, documents: str) -> None:
        at = go(build="Documents", documents_find="plan")
        assert titles(at) == ["Plan"]
        at = choose(at, 0)
        at.text_input(key=build_documents.NAMES).set_value("group:board")
        at = press_form(at)
        assert "May be seen by: group:board (2 edges)" in said(at)
        held = json.dumps(dict(at.query_params))
        assert '"Documents"' in held and '"plan"' in held
        assert "group" not in held and "board" not in held

    def test_one_is_looked_at(self, documents: str) -> None:
        at = choose(tab(go(), "Documents"), 1)
        assert "**Plan**" in said(at) and "2 facts, 0 passages" in said(at) and "year: 2024" in said(at)
        assert "May be seen by: group:staff (2 edges)" in said(at) and "allowed_principals" not in said(at)
        at = choose(at, 2)
        assert "**Empty**" in said(at) and "No edge says who may see it." in said(at)

    def test_who_may_see_them_is_changed_in_one_step(self, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
        at = choose(tab(go(), "Documents"), 0, 1)
        assert "**2 documents**, 3 facts" in said(at)
        at.text_input(key=build_documents.NAMES).set_value("group:board, group:audit, ")
        at = press_form(at)
        assert not at.error
        assert "group:board (2 edges)" in said(choose(at, 1)) and "group:staff" not in said(at)
        assert titles(signed_in(monkeypatch, groups=["staff"])) == ["Empty"]
        assert titles(signed_in(monkeypatch, groups=["audit"])) == ["Minutes", "Plan"]

    def test_nobody_is_no_principal(self, documents: str) -> None:
        at = press_form(choose(tab(go(), "Documents"), 0))
        assert "These are no names of principals. Give one to 100 names" in said(at)
        assert "group:staff (1 edge)" in said(choose(at, 0))

    def test_is_deleted_once_that_is_sure(self, documents: str) -> None:
        at = choose(tab(go(), "Documents"), 1)
        assert at.button(key="documents_delete").disabled
        assert at.checkbox[0].label == "Delete it for good"
        at.checkbox[0].check()
        at = press(at.run(), "documents_delete")
        assert titles(at) == ["Minutes", "Empty"] and not at.checkbox and "2 documents" in said(at)
        at = choose(at, 0, 1)
        at.checkbox[0].check()
        at = press(at.run(), "documents_delete")
        assert "No document yet." in said(at)

    def test_being_sure_of_one_is_not_being_sure_of_another(self, documents: str) -> None:
        at = choose(tab(go(), "Documents"), 0)
        at.checkbox[0].check()
        at = choose(at.run(), 1)
        assert "**Plan**" in said(at) and not at.checkbox[0].value and at.button(key="documents_delete").disabled

    def test_another_list_has_nothing_chosen(self, documents: str) -> None:
        at = choose(tab(go(), "Documents"), 0)
        assert "**Minutes**" in said(at)
        at.text_input(key=build_documents.FIND).set_value("plan")
        at = at.run()
        assert titles(at) == ["Plan"] and not at.checkbox and "Choose documents" in said(at)

    def test_is_left_alone_while_something_is_written(self, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(working, "is_on", lambda graph: True)
        at = choose(tab(go(), "Documents"), 0)
        assert "Something is being written" in said(at) and not at.checkbox

    def test_an_error_of_it_is_said(self, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def away(*_: object, **__: object) -> None:
            raise StoreError("The server is away.", remedy="Start it.")

        monkeypatch.setattr(build_documents, "delete_documents", away)
        at = choose(tab(go(), "Documents"), 0)
        at.checkbox[0].check()
        at = press(at.run(), "documents_delete")
        assert "The server is away. Start it." in said(at) and len(titles(at)) == 3


def press_form(at: AppTest) -> AppTest:
    (change,) = (one for one in at.button if one.label == "Change")
    change.click()
    return at.run()


class TestTextIsText:
    def test_of_a_file(self, graph: str) -> None:
        rows = f'source,relation,target,document\n"{HOSTILE}\u202e",{HOSTILE},Bob,{HOSTILE}\n'
        at = seen_by(upload(go(), (f"{HOSTILE[:20]}.csv", rows)), THESE, HOSTILE)
        assert table(at, "From").value["Source"].tolist()[0].startswith(HOSTILE)
        assert "\u202e" not in table(at, "From").value["Source"].tolist()[0]
        at = choose(tab(write(at), "Documents"), 0)
        markup = [one.value for kind in (at.markdown, at.caption, at.error, at.success) for one in kind]
        assert any("red" in one for one in markup)
        assert not [one for one in markup if "[x]" in one or "<b>" in one or "**b**" in one or "http://" in one]
        assert titles(at) == [HOSTILE]

    def test_of_a_name_of_a_graph(self, tmp_path: Path) -> None:
        at = go()
        at.text_input(key="graph_made_here").set_value(str(tmp_path / "**b** [a](x).duckdb"))
        label = at.run().get("popover")[0].proto.popover.label
        assert label == r"\*\*b\*\* \[a\]\(x\)\.duckdb"
