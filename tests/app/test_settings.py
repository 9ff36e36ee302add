"""The Settings page: for administrators, of the demo, of foreign graphs, and with what cannot be opened."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import neo4j
import pytest
from streamlit.testing.v1 import AppTest

from kgcore.config import Config, cache_dir, mapping_file
from kgcore.store.mapping import OWN, Mapping, read_mapping
from kgcore.store.neo4j_server import Address
from tests.app.conftest import ROOT, Open
from tests.app.test_ask import facts
from tests.app.test_ask_runs import press
from tests.app.test_identity import AUTH, person
from tests.neo4j.addresses import addresses, emptied
from ui.mapping import ENTRIES
from ui.resources import digest

SERVERS = [pytest.param(address, id=f"neo4j-{number}") for number, address in enumerate(addresses(), 1)]
NAMED = (
    "CREATE (j:Person {name: 'Jane', nick: 'The Fox'})-[:WORKS_AT {description: 'as a broker', doc_id: 'd'}]->"
    "(:Company {name: 'Acme', nick: 'The Anvil'}), (j)-[:`KNOWS *well*` {doc_id: 'd'}]->(:Person {name: ':red[Bob]'})"
)
NAMELESS = "CREATE (:Thing {code: 'alpha', kind: 'K'})-[:LEADS {doc_id: 'd'}]->(:Thing {code: 'beta', kind: 'K'})"


@pytest.fixture(autouse=True)
def _own_mappings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("HOPSCOPE_MAPPINGS", str(tmp_path / "mappings"))
    monkeypatch.delenv("HOPSCOPE_ADMIN_CLAIM", raising=False)
    yield
    (cache_dir() / "graphs.json").unlink(missing_ok=True)


def settings(at: AppTest) -> AppTest:
    return at.switch_page(str(ROOT / "pages" / "settings.py")).run()


def headings(at: AppTest) -> list[str]:
    assert not at.exception
    return [heading.value for heading in at.subheader]


def said(at: AppTest) -> str:
    """All the text of the page, its escapes taken out."""
    assert not at.exception
    texts = [element.value for element in [*at.markdown, *at.caption, *at.error, *at.success]]
    return "\n".join(texts).replace("\\", "").replace("\u2060", "")


def raw(at: AppTest) -> str:
    """Everything that was sent to the browser, as text."""
    return "\n".join(str(element.proto) for element in at.main)


class TestTheDemo:
    def test_shows_the_graph_and_the_models(self, opened: Open) -> None:
        at = settings(opened())
        assert headings(at) == ["Graph", "Models", "Self-check"]
        assert "the demo." in said(at) and "116 documents" in said(at)
        assert "Chat model: none." in said(at)
        assert not at.error and not at.multiselect

    def test_runs_the_self_check(self, opened: Open) -> None:
        at = press(settings(opened()), "settings_run")
        assert said(at).count("✓ pass") == 5 and said(at).count("– skipped") == 1
        assert "**Sample question** 244 entities and 519 edges can be seen under the locked filter" in said(at)
        assert "group:" not in said(at)

    def test_says_that_a_key_is_set_and_not_which(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOPSCOPE_CHAT_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("HOPSCOPE_CHAT_MODEL", "tiny")
        monkeypatch.setenv("HOPSCOPE_CHAT_KEY", "sk-hunter2")
        at = press(settings(opened()), "settings_run")
        assert "Chat model: tiny, at http://127.0.0.1:9/v1, a key is set." in said(at)
        assert "✗ fail" in said(at) and "→ Start the server, or correct HOPSCOPE_CHAT_URL." in said(at)
        assert "hunter2" not in raw(at)

    def test_and_back_keeps_the_question(self, opened: Open) -> None:
        at = opened()
        before = facts(at)
        at = settings(at).switch_page(str(ROOT / "pages" / "ask.py")).run()
        assert facts(at) == before


class TestWhoIsNoAdministrator:
    def signed_in(self, *, roles: str) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        at.secrets, at.user = {"auth": AUTH}, person(roles=roles, exp=time.time() + 600)
        return at.run()

    def test_gets_a_sentence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOPSCOPE_ADMIN_CLAIM", "roles=chief")
        at = settings(self.signed_in(roles="clerk"))
        assert said(at) == "Settings are for administrators."
        assert not at.button and not at.selectbox and not at.text_input
        assert headings(settings(self.signed_in(roles="chief")))[0] == "Graph"

    def test_nor_is_anybody_who_is_not_signed_in(self) -> None:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        at.secrets = {"auth": AUTH}
        assert headings(at.run()) == ["Sign in to see this graph"]
        assert headings(settings(at)) == ["Sign in to see this graph"]


def test_a_file_that_is_gone_can_be_looked_into(opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPSCOPE_STORE", f"duckdb:///{tmp_path / 'gone.duckdb'}")
    at = settings(opened())
    assert len(at.error) == 1
    assert "✗ fail" in said(press(at, "settings_run"))
    at.selectbox(key="graph").set_value("demo")
    assert "the demo." in said(at.run())


@pytest.mark.parametrize("secret", ["bolt://stranger:hunter2@127.0.0.1:9", "http://stranger:hunter2@127.0.0.1:9"])
def test_a_login_in_an_address_that_is_refused_is_not_kept(opened: Open, secret: str) -> None:
    at = opened()
    at.text_input(key="graph_address").set_value(secret)
    at.run()
    assert len(at.error) == 1
    assert at.text_input(key="graph_address").value == secret.replace("stranger:hunter2@", "")
    assert "hunter2" not in raw(at) and "stranger" not in raw(at)
    assert not (cache_dir() / "graphs.json").exists()


@pytest.mark.parametrize("address", SERVERS)
class TestForeign:
    @pytest.fixture
    def graph(self, address: str, request: pytest.FixtureRequest) -> Iterator[str]:
        """The address of a graph that others built, with its login; NAMED, or what the test is parametrized with."""
        emptied(address)
        parsed = Address.parse(address)
        with neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver:
            driver.execute_query(getattr(request, "param", NAMED))
            yield address
            rows, _, _ = driver.execute_query("MATCH (n:Hopscope|EntityName) RETURN count(n)")
            assert rows[0][0] == 0
        emptied(address)

    @pytest.fixture
    def configured(self, graph: str, monkeypatch: pytest.MonkeyPatch) -> str:
        """It is the app's own graph."""
        monkeypatch.setenv("HOPSCOPE_STORE", graph)
        return graph

    def entry(self, at: AppTest, name: str) -> Any:
        return next(w for w in [*at.multiselect, *at.selectbox] if (w.key or "").endswith(f"_{name}"))

    def test_shows_the_proposal_and_what_it_reads(self, opened: Open, configured: str) -> None:
        at = settings(opened())
        assert headings(at)[-1] == "Mapping"
        assert self.entry(at, "labels").value == ["Company", "Person"]
        assert self.entry(at, "names").value == ["name"]
        assert self.entry(at, "document").value == "doc_id"
        assert self.entry(at, "relation").value is None
        assert "It reads 3 entities and 2 edges." in said(at)

        assert "- Jane -[WORKS_AT]-> Acme: as a broker" in said(at)
        assert "- Jane -[KNOWS *well*]-> :red[Bob]" in said(at)
        assert Address.parse(configured).password not in raw(at)

    def test_a_saved_mapping_is_read_by_at_once(self, opened: Open, configured: str) -> None:
        at = opened(q="Where does Jane work?")
        assert ("Jane", "WORKS_AT", "Acme") in facts(at)
        at = settings(at)
        self.entry(at, "names").set_value(["nick", "name"])
        at = press(at, "mapping_try")
        assert "The Fox -[WORKS_AT]-> The Anvil: as a broker" in said(at)
        file = mapping_file(Config(), configured)
        assert not file.exists()
        at = press(at, "mapping_save")
        assert "Saved." in said(at)
        saved = read_mapping(file)
        assert saved is not None and saved.names == ("nick", "name")
        at = at.switch_page(str(ROOT / "pages" / "ask.py")).run()
        at.text_input(key="q").set_value("Where does The Fox work?")
        assert ("The Fox", "WORKS_AT", "The Anvil") in facts(at.run())
        at = press(settings(at), "mapping_propose")
        assert self.entry(at, "names").value == ["name"]
        assert read_mapping(file) == saved

    def test_a_mapping_that_cannot_be_used_is_told_and_nothing_is_lost(self, opened: Open, configured: str) -> None:
        at = settings(opened())
        self.entry(at, "names").set_value([])
        self.entry(at, "description").set_value("doc_id")
        at = press(at, "mapping_save")
        assert [error.value for error in at.error] == [
            "The mapping names no property with a name\\. Choose or enter one under Name\\."
        ]
        assert self.entry(at, "description").value == "doc_id"
        assert not mapping_file(Config(), configured).exists()
        self.entry(at, "names").set_value(["name"])
        assert "Saved." in said(press(at, "mapping_save"))

    def test_our_own_layout_is_refused(self, opened: Open, configured: str) -> None:
        at, key = opened(), f"mapping_{digest(Address.parse(configured).uri)}"
        at.session_state[f"{key}_begun"] = True
        for name, value in asdict(OWN).items():
            at.session_state[f"{key}_{name}"] = list(value) if isinstance(value, tuple) else value or None
        at = settings(at)
        at = press(at, "mapping_save")
        assert "layout that Hopscope writes" in said(at)
        assert not mapping_file(Config(), configured).exists()

    @pytest.mark.parametrize("content", ["{", json.dumps({"labels": 3}), json.dumps({"colour": ""})])
    def test_a_broken_file_is_told_and_mended_here(self, opened: Open, configured: str, content: str) -> None:
        file = mapping_file(Config(), configured)
        file.parent.mkdir(parents=True)
        file.write_text(content)
        at = opened()
        assert len(at.error) == 1 and not at.get("bidi_component")
        at = settings(at)
        assert len(at.error) == 1
        assert "It reads 3 entities and 2 edges." in said(at)
        at = press(at, "mapping_save")
        assert not at.error and read_mapping(file) is not None

    @pytest.mark.parametrize("graph", [NAMELESS], indirect=True)
    def test_a_graph_without_names_is_given_some(self, opened: Open, configured: str) -> None:
        at = settings(opened())
        assert "has no node with a name" in said(at)
        assert at.button(key="mapping_propose").disabled
        assert "names no property with a name" in said(at)
        self.entry(at, "names").set_value(["code"])
        self.entry(at, "type").set_value("kind")
        at = press(at, "mapping_save")
        assert not at.error
        assert "2 entities, 1 edge, 0 documents." in said(at) and "alpha -[LEADS]-> beta" in said(at)
        at = at.switch_page(str(ROOT / "pages" / "ask.py")).run()
        at.text_input(key="q").set_value("What does alpha lead?")
        assert facts(at.run()) == [("alpha", "LEADS", "beta")]

    def test_a_login_is_asked_for_and_not_kept(self, opened: Open, graph: str) -> None:
        parsed = Address.parse(graph)
        at = opened()
        at.text_input(key="graph_address").set_value(parsed.uri)
        at.run()
        assert at.text_input(key="graph_address").value == parsed.uri and not at.error
        for password, refused in (("hunter2", True), (parsed.password, False)):
            at.text_input(key="graph_password").set_value(password)
            next(button for button in at.button if button.label == "Log in").click()
            at.run()
            assert bool(at.error) is refused
            assert password not in raw(at)
        assert at.selectbox(key="graph").options[-1] == parsed.uri.partition("://")[2]
        assert json.loads((cache_dir() / "graphs.json").read_text()) == [parsed.uri]
        link = at.query_params["graph"]
        assert parsed.password not in json.dumps(dict(at.query_params))
        another = opened(graph=link)  # another session has not logged in
        assert "wants a login" in said(another) and not another.get("bidi_component")
        another.text_input(key="graph_password").set_value(parsed.password)
        next(button for button in another.button if button.label == "Log in").click()
        another.run()
        another.text_input(key="q").set_value("Where does Jane work?")
        assert ("Jane", "WORKS_AT", "Acme") in facts(another.run())

    def test_a_login_in_the_address_will_do(self, opened: Open, graph: str) -> None:
        parsed = Address.parse(graph)
        at = opened()
        at.text_input(key="graph_address").set_value(graph)
        at.run()
        assert not at.error and "wants a login" not in said(at)
        assert at.text_input(key="graph_address").value == ""
        assert json.loads((cache_dir() / "graphs.json").read_text()) == [parsed.uri]
        assert parsed.password not in raw(at)

    def test_the_configured_one_needs_no_login_when_it_is_opened_again(self, opened: Open, configured: str) -> None:
        at = opened()
        at.selectbox(key="graph").set_value("demo")
        at.run()
        at.text_input(key="graph_address").set_value(Address.parse(configured).uri)
        at.run()
        assert not at.error and "graph" not in at.query_params
        assert len(at.selectbox(key="graph").options) == 2

    def test_the_self_check_says_what_it_is(self, opened: Open, configured: str) -> None:
        at = press(settings(opened()), "settings_run")
        assert said(at).count("✓ pass") == 10
        assert "the proposed mapping: labels Company, Person; names in name." in said(at)
        assert Address.parse(configured).password not in raw(at)


def test_every_entry_of_a_mapping_is_a_field() -> None:
    assert sorted(entry.name for entry in ENTRIES) == sorted(Mapping.__dataclass_fields__)
    assert {entry.name for entry in ENTRIES if entry.many} == {
        name for name, value in Mapping.__dataclass_fields__.items() if str(value.type).startswith("tuple")
    }
