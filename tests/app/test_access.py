"""The Access page: two principals and one question, who sees how much, and for whom there is no such page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from streamlit.testing.v1 import AppTest

from kgcore import Edge, Entity, KnowledgeGraphRetriever, StoreError, open_store, write_graph
from tests.app.conftest import ROOT, Open
from tests.app.test_ask import QUESTION, drawn
from tests.app.test_ask_runs import press
from tests.app.test_identity import AUTH, FIXED, LOCK, person
from tests.contract.graphs import only
from ui import access, access_row
from ui.state import link_of, request_in

MINUTES = "In which city is the target of the project that Ingrid Solheim leads based?"
DIFFERS = {"asked_q": MINUTES, "asked_hops": "3", "asked_beam": "5", "asked_auto": "false"}
PAGE = str(ROOT / "pages" / "access.py")
ADMIN = {"sub": "root", "roles": ["hopscope-admin"]}


@pytest.fixture(autouse=True)
def lock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the locked filter, with people of the claim `roles=hopscope-admin` as administrators."""
    monkeypatch.delenv("HOPSCOPE_LOCKED_FILTER", raising=False)
    monkeypatch.setenv("HOPSCOPE_ADMIN_CLAIM", "roles=hopscope-admin")
    return lambda filter: monkeypatch.setenv("HOPSCOPE_LOCKED_FILTER", json.dumps(filter))


def go(at: AppTest, **link: str) -> AppTest:
    at = at.switch_page(PAGE)
    for name, value in link.items():
        at.query_params[name] = value
    at = at.run()
    assert not at.exception
    return at


def signed_in(**claims: Any) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.secrets, at.user = {"auth": AUTH}, person(**claims)
    return at.run()


def said(at: AppTest) -> str:
    assert not at.exception
    kinds = (at.subheader, at.markdown, at.text, at.caption, at.error)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def listed(at: AppTest, title: str) -> list[str]:
    """The rows of one of the lists, each a fact and what is below it."""
    (found,) = [one.value for one in at.markdown if one.value.startswith(f"**{title}** ")]
    rows = [row.replace("\\", "").removeprefix("- ") for row in found.split("\n- ")[1:]]
    assert int(found.partition("\n")[0].split()[-1]) == len(rows)
    return rows


def side(at: AppTest, name: str) -> Any:
    (found,) = [one for one in (*at.multiselect, *at.selectbox) if one.label == name]
    return found


def choose(at: AppTest, name: str, *principals: Any) -> AppTest:
    side(at, name).set_value(list(principals))
    return at.run()


def audited(at: AppTest) -> list[tuple[Any, ...]]:
    (table,) = at.dataframe
    columns = ["Principal", "Named by", "Sees edges", "Sees entities"]
    frame = table.value[columns].astype(object)
    return [tuple(None if value != value else value for value in row) for row in frame.to_numpy().tolist()]


class TestTheDemo:
    def test_opens_on_finance_and_public_with_what_ask_shows(self, opened: Open) -> None:
        at = go(opened())
        assert (side(at, "A").value, side(at, "B").value) == (["group:finance"], ["group:public"])
        assert at.text_input(key="access_question").value == QUESTION
        assert "2 hops, beam 4, top k 20, coverage" in said(at)
        assert listed(at, "Only A") == listed(at, "Only B") == []
        assert listed(at, "Both")[0].endswith("A also by Audit memo: monitoring of the Aurora Fund]")

    def test_says_by_which_edge(self, opened: Open) -> None:
        at = go(opened(), **DIFFERS)
        only_a = listed(at, "Only A")
        assert "Pellworm Bank BASED_IN Hamburg" in only_a[0]
        assert (
            'by Project "Blue Harbor" TARGETS Pellworm Bank, in Board minutes, September 2025: step 2 of 3' in only_a[0]
        )
        assert any("by this edge, in Project Nightjar: outline" in row for row in only_a)
        assert any("A ranks it 6 of 95 in hop 2, its beam keeps 5" in row for row in listed(at, "Only B"))
        assert "allowed_principals" not in said(at)

    def test_is_drawn_as_one_graph_of_two_sides(self, opened: Open) -> None:
        at = go(opened(), **DIFFERS)
        graph = drawn(at, "graph", view="access")["graph"]
        assert graph["sides"] == ["A", "B"]
        entered, left = ([e for e in graph["edges"] if e[kind]] for kind in ("entered", "left"))
        assert len(entered) == len(listed(at, "Only A")) and len(left) == len(listed(at, "Only B"))
        assert all("only A finds it" in edge["title"] for edge in entered)
        assert all("only B finds it" in edge["title"] for edge in left)
        assert "result" not in "".join(edge["title"] for edge in (*entered, *left))

    def test_another_principal_is_another_view(self, opened: Open) -> None:
        at = choose(go(opened(), **DIFFERS), "B", "group:audit", "group:finance")
        assert not listed(at, "Only A")
        at = choose(at, "B", "nobody of the graph")
        assert at.session_state["runs"].views[1].b is not None and len(listed(at, "Only A")) == 15
        at = choose(at, "B")
        assert "**B** Denied: sees nothing" in said(at)
        assert all("B is denied everything" in row for row in listed(at, "Only A"))
        assert choose(at, "A").session_state["runs"].views[2] is None
        assert not at.get("bidi_component") and len(listed(at, "Both")) == 0

    def test_who_sees_how_much(self, opened: Open) -> None:
        assert audited(go(opened())) == [
            ("group:finance", 519, 519, 244), ("group:public", 480, 480, 229), ("group:audit", 7, 7, 11),
            ("No principal", None, 0, 0),
        ]  # fmt: skip

    def test_the_groups_are_bounded_and_it_is_said(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(access, "AUDITED", 2)
        at = go(opened())
        assert [row[0] for row in audited(at)] == ["group:finance", "group:public", "No principal"]
        assert "The first 2 of 3 principals, those that most edges name" in said(at)

    def test_what_is_known_is_not_asked_again(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        at = go(opened(), **DIFFERS)

        def fail(*_: object, **__: object) -> None:
            raise AssertionError("asked again")

        monkeypatch.setattr(access, "compare_views", fail)
        monkeypatch.setattr(access, "_count", fail)
        before = listed(at, "Only A")
        rows = audited(at)
        at = at.run()
        assert (listed(at, "Only A"), audited(at)) == (before, rows)
        assert not at.exception

    def test_another_question_and_an_example(self, opened: Open) -> None:
        at = go(opened())
        at.text_input(key="access_question").set_value("Who manages the Merrow Fund?")
        at = at.run()
        assert at.query_params["asked_q"] == "Who manages the Merrow Fund?"
        assert "Peter van Hout MANAGES Merrow Fund" in "".join(listed(at, "Only A"))
        at.text_input(key="access_question").set_value("")
        at = at.run()
        assert "Ask a question to see what each finds" in said(at) and not at.get("bidi_component")
        assert len(audited(at)) == 4

    def test_follows_ask_where_it_was_asked_otherwise(self, opened: Open) -> None:
        at = go(opened())
        at = at.switch_page(str(ROOT / "pages" / "ask.py")).run()
        at.text_input(key="q").set_value("Who supplies Helios?")
        at.number_input(key="k").set_value(7)
        at = go(at.run())
        assert at.text_input(key="access_question").value == "Who supplies Helios?" and "top k 7" in said(at)

    def test_nothing_of_ones_own_view_is_in_it(self, opened: Open) -> None:
        at = opened()
        rows = listed(go(at, **DIFFERS), "Only A")
        other = opened()
        other.selectbox(key="view_as").set_value("public")
        assert listed(go(other.run(), **DIFFERS), "Only A") == rows

    def test_an_error_of_the_store_is_said(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        at = opened()

        def away(*_: object, **__: object) -> None:
            raise StoreError("The server is away.", remedy="Start it.")

        monkeypatch.setattr(KnowledgeGraphRetriever, "retrieve", away)
        at = go(at)
        assert "The server is away. Start it." in said(at) and at.button(key="try_again")


class TestTheLink:
    def test_holds_the_question_and_its_settings_and_no_principal(self, opened: Open) -> None:
        at = choose(go(opened(), **DIFFERS), "B", "group:audit")
        held = {name: value for name, value in at.query_params.items() if name in DIFFERS or "group" in str(value)}
        assert held == DIFFERS
        link = next(one for one in at.get("page_link") if one.proto.label == "Open in Ask").proto.query_string
        assert parse_qs(link) == {"q": [MINUTES], "hops": ["3"], "beam": ["5"], "auto": ["false"]}
        assert "group" not in unquote(link)

    def test_restores_what_it_holds(self, opened: Open) -> None:
        filter = '{"field": "year", "operator": ">=", "value": 2025}'
        at = go(opened(), asked_q=MINUTES, asked_filter=filter, asked_rerank="true", asked_k="7", asked_aliases="false")
        assert "2 hops, beam auto 3, top k 7, coverage, a filter, reranked, no aliases" in said(at)
        assert at.query_params["asked_filter"] == filter
        assert at.session_state["runs"].views[0][0].filters["value"] == 2025

    @pytest.mark.parametrize("filter", ["{", '{"field": 1}', "[" * 5_000, '{"operator": "AND"}'])
    def test_a_filter_that_cannot_be_used_is_said_and_left_out(self, opened: Open, filter: str) -> None:
        at = go(opened(), asked_q=MINUTES, asked_filter=filter)
        assert len(at.error) == 1 and "The link's filter is left out" in said(at)
        assert "asked_filter" not in at.query_params and listed(at, "Both")

    def test_of_seeds_that_nobody_sees_it_says_so(self, opened: Open) -> None:
        at = go(opened(), asked_q=MINUTES, asked_seeds="nobody")
        assert not listed(at, "Only A") and not at.error
        at = go(opened(), asked_q="Who manages it?", asked_seeds="project-nightjar")
        assert listed(at, "Only A") and not listed(at, "Both")

    @pytest.mark.parametrize(
        "link",
        [
            {"q": ["Who?"]}, {"q": ["Who?"], "hops": ["3"], "beam": ["7"], "auto": ["false"], "k": ["9"]},
            {"q": ["x"], "scoring": ["edge"], "seed_mode": ["query"], "types": ["A", "B"], "relations": ["R", "S"]},
            {"q": ["x"], "hub_limit": ["5"], "aliases": ["false"], "rerank": ["true"], "seeds": ["a", "b"]},
            {"q": ["x"], "filter": ['{"field": "year", "operator": "==", "value": 1}']},
        ],
    )  # fmt: skip
    def test_is_asks_own_and_back(self, link: dict[str, list[str]]) -> None:
        held = link_of(request_in(link))
        assert {name: [value] if isinstance(value, str) else value for name, value in held.items()} == link

    @pytest.mark.parametrize("name", ["hops", "beam", "k", "hub_limit", "scoring", "seed_mode", "aliases", "auto"])
    @pytest.mark.parametrize("value", ["", "0", "-1", "1e9", "99999999", "٣", "\x00", "nan"])
    def test_nonsense_in_it_is_as_usual(self, name: str, value: str) -> None:
        found, usual = request_in({"q": ["x"], name: [value]}), request_in({"q": ["x"]})
        assert link_of(found) in (link_of(usual), {**link_of(usual), "aliases": "false"})


class TestAnOpenGraph:
    def test_without_principals_says_so(self, opened: Open, own_graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOPSCOPE_STORE", own_graph)
        at = go(opened(q="Who does Adelaide know?"))
        assert "No edge of this graph says who may see it, in `allowed_principals`" in said(at)
        assert "No filter is locked here" in said(at) and side(at, "A").value == []
        assert not at.dataframe and listed(at, "Both") == []


def board_graph(folder: Path, **fields: Any) -> str:
    """Adelaide runs Boreas, as the staff knows, and Cinder, as the board knows; `fields` give other metadata."""
    address = f"duckdb:///{folder / 'board.duckdb'}"
    store = open_store(address, create=True)
    seen = fields or {"allowed_principals": (("group:staff", "group:board"), ("group:board", "user:ann"))}
    write_graph(
        store,
        [Entity(id=name.lower(), type="Thing", name=name) for name in ("Adelaide", "Boreas", "Cinder")],
        [
            Edge(
                id=name, source_id="adelaide", target_id=name.lower(), relation="RUNS", src_name="Adelaide",
                dst_name=name, source_doc_id=f"of {name}", properties={field: held[at] for field, held in seen.items()},
            )
            for at, name in enumerate(("Boreas", "Cinder"))
        ],
    )  # fmt: skip
    store.close()
    return address


class TestALockedFilter:
    @pytest.fixture(autouse=True)
    def _board(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: Any) -> None:
        monkeypatch.setenv("HOPSCOPE_STORE", board_graph(tmp_path))
        lock(LOCK)

    def test_is_filled_with_the_claims_of_each_side(self) -> None:
        at = go(signed_in(**ADMIN, groups=["staff"]), asked_q="What does Adelaide run?")
        assert [side(at, name).options for name in "AB"] == [["board", "staff"]] * 2
        assert "**A** Denied: sees nothing" in said(at) and "**B** Denied: sees nothing" in said(at)
        at = choose(choose(at, "A", "board"), "B", "staff")
        (row,) = listed(at, "Only A")
        assert "Adelaide RUNS Cinder" in row and "by this edge, in of Cinder" in row
        assert audited(at) == [
            ("group:board", 2, 2, 3), ("group:staff", 1, 1, 2), ("user:ann", 1, None, None),
            ("No principal", None, 0, 0),
        ]  # fmt: skip
        assert "Where nothing is said, no claim gives that principal" in said(at)

    def test_that_needs_several_claims_asks_for_each(self, lock: Any) -> None:
        value = [{"claim": "sub", "prefix": "user:"}, {"claim": "groups", "prefix": "group:"}]
        lock({**LOCK, "value": value})
        at = go(signed_in(**ADMIN, groups=["staff"]), asked_q="What does Adelaide run?")
        assert [one.label for one in at.multiselect] == ["A · groups", "A · sub", "B · groups", "B · sub"]
        at = choose(choose(at, "A · groups", "staff"), "A · sub", "ann")
        assert "**A** Denied" not in said(at) and len(listed(at, "Only A")) == 2
        assert "the locked filter needs 2 claims" in said(at)
        assert {row[2] for row in audited(at)} == {None, 0}

    def test_takes_one_value_where_it_compares_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: Any
    ) -> None:
        (tmp_path / "levels").mkdir()
        monkeypatch.setenv("HOPSCOPE_STORE", board_graph(tmp_path / "levels", level=(1, 3)))
        lock(only("level", "<=", {"claim": "clearance"}))
        at = go(signed_in(**ADMIN, clearance=1), asked_q="What does Adelaide run?")
        for name, level in (("A", 3), ("B", 1)):
            side(at, name).set_value(level)
        at = at.run()
        assert [row.partition(" · ")[0] for row in listed(at, "Only A")] == ["Adelaide RUNS Cinder"]
        assert len(listed(at, "Both")) == 1
        assert audited(at) == [("1", 1, 1, 2), ("3", 1, 2, 3), ("No principal", None, 0, 0)]

    def test_without_claims_is_one_for_all(self, lock: Any) -> None:
        lock({**FIXED, "value": ["group:staff"]})
        at = go(signed_in(**ADMIN))
        assert "Everybody reads under one filter" in said(at) and "2 entities, 1 edge and 1 document" in said(at)
        assert not at.multiselect and not at.dataframe and "group:" not in said(at)

    def test_what_one_may_see_oneself_changes_nothing(self) -> None:
        rows = []
        for groups in (["staff"], ["board"]):
            at = go(signed_in(**ADMIN, groups=groups), asked_q="What does Adelaide run?")
            rows.append((listed(choose(at, "A", "board"), "Only A"), audited(at)))
        assert rows[0] == rows[1]

    @pytest.mark.parametrize("roles", [[], ["user"], "admin", None])
    def test_for_others_there_is_no_such_page(self, roles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        at = signed_in(groups=["staff"], roles=roles)
        with pytest.raises(ValueError, match="Could not find a navigation page"):
            at.switch_page(PAGE)
        monkeypatch.setenv("HOPSCOPE_STORE", "duckdb:////nowhere/missing.duckdb")
        at = AppTest.from_file(PAGE, default_timeout=60)
        at.secrets, at.user = {"auth": AUTH}, person(groups=["staff"], roles=roles)
        at.query_params["asked_q"] = "What does Adelaide run?"
        assert said(at.run()) == "Page not found"
        assert not at.multiselect and not at.dataframe and not at.text_input and not at.get("page_link")

    def test_its_own_words_are_text(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: Any) -> None:
        (tmp_path / "odd").mkdir()
        odd = ":red[x] **b** [a](http://h)"
        seen = ((f"group:{odd}", "group:a\u200b", "group:a"), (f"group:{odd}",))
        monkeypatch.setenv("HOPSCOPE_STORE", board_graph(tmp_path / "odd", allowed_principals=seen))
        at = go(signed_in(**ADMIN, groups=["a"]), asked_q="What does Adelaide run?")
        assert side(at, "A").options == [odd, "a", "'a\\u200b'"]
        at = choose(at, "A", odd)
        assert len(listed(at, "Only A")) == 2


@pytest.mark.parametrize(
    ("value", "options", "typed"),
    [("2", (1, 3), 2), ("2.5", (1,), 2.5), ("x", (1,), "x"), ("2", ("1",), "2"), ("2", (), "2"), (3, (1, 3), 3)],
)
def test_what_is_typed_is_of_the_kind_that_is_known(value: Any, options: tuple[Any, ...], typed: object) -> None:
    found = access_row._typed(value, options)
    assert (type(found), found) == (type(typed), typed)


def test_a_stop_ends_both_and_can_be_taken_back(opened: Open) -> None:
    at = go(opened(), **DIFFERS)
    subject = at.session_state["runs"].views[0]
    at.session_state["runs"].views = None
    at.session_state["access_stopped"] = subject
    at = at.run()
    assert "**Only A**" not in said(at)
    assert listed(press(at, "access_again"), "Only A")
