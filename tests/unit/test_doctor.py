"""The self-check: what it says of files, servers and models, and that it gives no secret away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import neo4j
import numpy as np
import pytest
from typer.testing import CliRunner

from kgcore import Edge, Entity, open_store, write_graph
from kgcore.__main__ import app
from kgcore.config import Config
from kgcore.doctor import Check, examine
from kgcore.filters import Template
from kgcore.models.offline import NAME
from kgcore.store.mapping import Mapping, save_mapping
from kgcore.store.neo4j_server import Address
from tests.chat_server import ChatServer
from tests.data.build import offline
from tests.neo4j.addresses import addresses, emptied

SERVERS = [pytest.param(address, id=f"neo4j-{number}") for number, address in enumerate(addresses(), 1)]
LOCK = {"field": "allowed_principals", "operator": "contains_any", "value": ["group:quiet"]}
ENTITIES = [Entity(id="a", type="T", name="Adelaide"), Entity(id="b", type="T", name="Bob")]
EDGE = Edge(
    id="e",
    source_id="a",
    target_id="b",
    relation="KNOWS",
    src_name="Adelaide",
    dst_name="Bob",
    properties={"allowed_principals": ["group:quiet"]},
)


def looked(url: str, config: Config | None = None, **options: Any) -> dict[str, Check]:
    """The checks by name; each that does not pass says why, and what to do if it can be mended."""
    checks = list(examine(config or Config(), url, embedder=offline(), **options))
    assert all(check.said and (check.remedy or check.state in ("pass", "skip")) for check in checks)
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: check for check in checks}


def states(checks: dict[str, Check], *names: str) -> list[str]:
    return [checks[name].state for name in names]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("STORE", "LOCKED_FILTER", "CHAT_URL", "CHAT_MODEL", "CHAT_KEY", "STORE_PASSWORD"):
        monkeypatch.delenv(f"HOPSCOPE_{name}", raising=False)
    monkeypatch.setenv("HOPSCOPE_MAPPINGS", str(tmp_path / "mappings"))
    monkeypatch.setenv("HOPSCOPE_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path: Path) -> str:
    """The address of a graph of one edge, with the app's vectors."""
    return written(f"duckdb:///{tmp_path / 'graph.duckdb'}", embedder=offline())


def written(address: str, **options: Any) -> str:
    store = open_store(address, create=True)
    write_graph(store, ENTITIES, [EDGE], **options)
    store.close()
    return address


class TestFile:
    def test_everything_passes(self, file: str) -> None:
        checks = looked(file)
        assert list(checks) == ["File", "Opens", "Schema", "Embedder", "Sample question", "Chat model"]
        assert states(checks, "File", "Opens", "Schema", "Embedder", "Sample question") == ["pass"] * 5
        assert checks["Sample question"].said.startswith("2 entities and 1 edges can be seen, and")
        assert checks["Chat model"].state == "skip"
        assert looked(file) == checks

    def test_it_is_left_as_it_was_found(self, file: str) -> None:
        held = open_store(file)
        assert looked(file)["Sample question"].state == "pass"
        assert held.hubs(filter_of(held), 1)
        held.close()

    @pytest.mark.parametrize(
        ("content", "failed"), [(None, "File"), (b"not a database" * 99, "Opens"), ("CREATE TABLE t (a INT)", "Schema")]
    )
    def test_a_fault_stops_what_needs_it(self, tmp_path: Path, content: bytes | str | None, failed: str) -> None:
        path = tmp_path / "graph.duckdb"
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content:
            duckdb.connect(str(path)).execute(content).close()
        checks = looked(f"duckdb:///{path}")
        names = list(checks)
        at = names.index(failed)
        assert states(checks, *names[:-1]) == ["pass"] * at + ["fail"] + ["skip"] * (len(names) - at - 2)
        assert checks["Sample question"].said == f"Not looked at: {failed} comes first."

    def test_an_address_of_no_store(self) -> None:
        checks = looked("mysql://user:hunter2@host")
        assert checks["File"].state == "fail"
        assert "hunter2" not in repr(checks)

    def test_no_vectors_are_no_fault(self, tmp_path: Path) -> None:
        checks = looked(written(f"duckdb:///{tmp_path / 'plain.duckdb'}"))
        assert states(checks, "Embedder", "Sample question") == ["pass", "pass"]
        assert "no vectors" in checks["Embedder"].said

    def test_vectors_of_another_model_are_a_warning(self, tmp_path: Path) -> None:
        class Other:
            name, dimension = "other", 3

            def embed(self, texts: list[str]) -> Any:
                return np.ones((len(texts), 3), np.float32) / np.sqrt(3).astype(np.float32)

        checks = looked(written(f"duckdb:///{tmp_path / 'other.duckdb'}", embedder=Other()))
        assert states(checks, "Embedder", "Sample question") == ["warn", "pass"]
        assert "other, of 3 numbers" in checks["Embedder"].said

    def test_an_empty_graph_is_a_warning(self, tmp_path: Path) -> None:
        address = f"duckdb:///{tmp_path / 'empty.duckdb'}"
        open_store(address, create=True).close()
        assert looked(address)["Sample question"].state == "warn"


def filter_of(store: Any) -> Any:
    from kgcore.filters import AccessFilter

    return AccessFilter.of(access_fields=store.access_fields)


class TestLocked:
    def test_the_question_is_asked_under_the_settings_filter(self, file: str) -> None:
        checks = looked(file, Config(locked_filter=LOCK))
        assert checks["Sample question"].said.startswith("2 entities and 1 edges can be seen under the locked filter")
        checks = looked(file, Config(locked_filter={**LOCK, "value": ["group:loud"]}))
        assert checks["Sample question"].state == "warn"
        assert "group" not in repr(checks)

    def test_a_given_filter_comes_before_it(self, file: str) -> None:
        config = Config(locked_filter={**LOCK, "value": [{"claim": "groups"}]})
        assert looked(file, config, locked=LOCK)["Sample question"].said.startswith("2 entities")
        assert looked(file, config, locked={**LOCK, "value": ["x"]})["Sample question"].state == "warn"

    def test_one_that_is_filled_for_each_person_shows_nothing_without_claims(self, file: str) -> None:
        check = looked(file, Config(locked_filter={**LOCK, "value": [{"claim": "groups"}]}))
        assert check["Sample question"].state == "pass"
        assert "who has none of its claims sees nothing" in check["Sample question"].said

    def test_one_that_lets_in_without_claims_fails(self, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Template, "fill", lambda self, claims: LOCK)
        check = looked(file, Config(locked_filter={**LOCK, "value": [{"claim": "groups"}]}))
        assert check["Sample question"].state == "fail"


class TestModels:
    def test_a_chat_model_is_asked(self, file: str) -> None:
        with ChatServer() as server:
            server.say("yes")
            checks = looked(file, Config(chat_url=server.url, chat_model="tiny", chat_key="sk-hunter2"))
        assert states(checks, "Chat model", "Chat key") == ["pass", "pass"]
        assert checks["Chat key"].said == "A key is set."
        assert "hunter2" not in repr(checks)

    def test_one_that_is_away_fails_also_where_the_graph_does(self, tmp_path: Path) -> None:
        config = Config(chat_url="http://127.0.0.1:9/v1", chat_model="tiny")
        checks = looked(f"duckdb:///{tmp_path / 'missing.duckdb'}", config)
        assert states(checks, "File", "Chat model", "Chat key") == ["fail", "fail", "pass"]
        assert checks["Chat key"].said.startswith("No key is set")

    @pytest.mark.parametrize(
        ("setting", "missing"),
        [({"chat_url": "http://h/v1"}, "HOPSCOPE_CHAT_MODEL"), ({"chat_model": "m"}, "HOPSCOPE_CHAT_URL")],
    )
    def test_half_a_chat_model_is_a_warning(self, file: str, setting: dict[str, str], missing: str) -> None:
        check = looked(file, Config(**setting))["Chat model"]
        assert check.state == "warn" and missing in check.said

    def test_an_address_with_a_secret_is_not_repeated(self, file: str) -> None:
        checks = looked(file, Config(chat_url="http://user:hunter2@h/v1", chat_model="m"))
        assert checks["Chat model"].state == "fail"
        assert "hunter2" not in repr(checks)


class TestCommand:
    def test_says_a_line_a_check_and_passes(self, file: str) -> None:
        done = CliRunner().invoke(app, ["doctor", file])
        assert done.exit_code == 0
        assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
            "✓ File",
            "✓ Opens",
            "✓ Schema",
            "✓ Embedder",
            "✓ Sample question",
            "– Chat model",
        ]

    def test_says_the_remedy_beneath_and_fails(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("HOPSCOPE_STORE", f"duckdb:///{tmp_path / 'missing.duckdb'}")
        done = CliRunner().invoke(app, ["doctor"])
        assert done.exit_code == 1
        first, remedy, second, *_ = done.stdout.splitlines()
        assert first.startswith("✗ File: There is no graph file") and remedy.startswith("  → Make one with")
        assert second == "– Opens: Not looked at: File comes first."

    def test_a_warning_is_no_failure(self, tmp_path: Path) -> None:
        open_store(f"duckdb:///{tmp_path / 'empty.duckdb'}", create=True).close()
        done = CliRunner().invoke(app, ["doctor", f"duckdb:///{tmp_path / 'empty.duckdb'}"])
        assert done.exit_code == 0 and "! Sample question: Nothing can be seen." in done.stdout

    def test_more_than_one_address_is_refused_and_not_printed(self) -> None:
        done = CliRunner().invoke(app, ["doctor", "demo", "bolt://neo4j:hunter2@host"])
        assert done.exit_code == 1 and "hunter2" not in done.output


SERVER_CHECKS = [
    "Address",
    "Login",
    "Database",
    "Version",
    "Layout",
    "Index on names",
    "Index on names' vectors",
    "Index on passages' vectors",
    "Embedder",
    "Sample question",
    "Chat model",
]
Cypher = Callable[[str], None]


def test_a_server_that_is_away_fails_at_its_address() -> None:
    checks = looked("bolt://neo4j:hunter2@127.0.0.1:9")
    assert list(checks) == SERVER_CHECKS
    assert states(checks, "Address", *SERVER_CHECKS[1:-1]) == ["fail", *["skip"] * 9]
    assert "hunter2" not in repr(checks)


def test_an_address_that_cannot_be_one_fails_at_once() -> None:
    assert looked("bolt://")["Address"].state == "fail"


@pytest.mark.parametrize("address", SERVERS)
class TestServer:
    @pytest.fixture
    def cypher(self, address: str) -> Iterator[Cypher]:
        """Runs statements on the server, whose database is empty at first."""
        emptied(address)
        parsed = Address.parse(address)
        with neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver:

            def run(statement: str) -> None:
                with driver.session() as session:
                    session.run(statement).consume()  # type: ignore[arg-type]

            yield run

    @pytest.fixture
    def own(self, cypher: Cypher, address: str) -> str:
        return written(address, embedder=offline())

    def test_our_own_graph_passes_everything(self, address: str, own: str) -> None:
        checks = looked(own)
        assert list(checks) == SERVER_CHECKS
        assert states(checks, *SERVER_CHECKS[:-1]) == ["pass"] * 10
        assert checks["Layout"].said == "Hopscope's own."
        assert checks["Index on names"].said == "entity_name is online."
        assert checks["Index on names' vectors"].said == "entity_embedding is online."
        assert checks["Database"].said == "neo4j can be read; its access is read-write."
        assert Address.parse(address).password not in repr(checks)
        assert looked(own) == checks

    def test_a_wrong_password_fails_at_the_login(self, address: str, cypher: Cypher) -> None:
        parsed = Address.parse(address)
        checks = looked(f"{parsed.uri.replace('://', '://stranger:hunter2@')}")
        assert states(checks, *SERVER_CHECKS[:-1]) == ["pass", "fail", *["skip"] * 8]
        assert "hunter2" not in repr(checks) and "stranger" not in repr(checks)

    def test_the_settings_login_is_for_their_own_address(self, address: str, own: str) -> None:
        parsed = Address.parse(address)
        config = Config(store=parsed.uri, store_user=parsed.user, store_password=parsed.password)
        assert looked(parsed.uri, config)["Login"].state == "pass"

    def test_a_database_that_there_is_not_fails_there(self, address: str, cypher: Cypher) -> None:
        checks = looked(f"{address}/nowhere")
        assert states(checks, *SERVER_CHECKS[:-1]) == ["pass", "pass", "fail", *["skip"] * 7]
        assert "nowhere" in checks["Database"].said

    def test_an_empty_database_is_a_warning(self, address: str, cypher: Cypher) -> None:
        assert states(looked(address), "Layout", "Sample question") == ["warn", "warn"]

    def test_an_index_of_another_size_is_told_with_the_statement_that_mends_it(
        self, address: str, own: str, cypher: Cypher
    ) -> None:
        cypher("DROP INDEX entity_embedding")
        cypher("CREATE VECTOR INDEX wrong FOR (n:EntityName) ON (n.embedding) OPTIONS {indexConfig: "
               "{`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}")  # fmt: skip
        try:
            check = looked(own)["Index on names' vectors"]
            assert (check.state, check.said) == (
                "warn",
                "wrong is for 3 numbers, and the graph's vectors have 384.",
            )
            cypher("DROP INDEX wrong")
            cypher(check.remedy.partition(": ")[2])
            cypher("CALL db.awaitIndexes(60)")
            assert looked(own)["Index on names' vectors"].state == "pass"
        finally:
            for row in _unnamed(address):
                cypher(row)

    def test_a_missing_index_is_a_warning_where_names_are_many(
        self, address: str, own: str, cypher: Cypher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cypher("DROP INDEX entity_name")
        assert looked(own)["Index on names"].said == "There is none, and so small a graph needs none."
        monkeypatch.setattr("kgcore.doctor_neo4j.EXACT", 1)
        check = looked(own)["Index on names"]
        assert check.state == "warn"
        cypher(check.remedy.partition(": ")[2])
        cypher("CALL db.awaitIndexes(60)")
        assert looked(own)["Index on names"].said == "entity_name is online."

    def test_a_graph_of_others_is_told_with_its_mapping(self, address: str, cypher: Cypher) -> None:
        cypher("CREATE (:Person {name: 'Ada'})-[:KNOWS {note: 'x'}]->(:Person {name: 'Bob'})")
        checks = looked(address)
        assert states(checks, *SERVER_CHECKS[:-1]) == ["pass"] * 10
        assert checks["Layout"].said == ("Built by others, read by the proposed mapping: labels Person; names in name.")
        config = Config()
        from kgcore.config import mapping_file

        save_mapping(mapping_file(config, address), Mapping(labels=("Persn",)))
        checks = looked(address, config)
        assert states(checks, "Layout", "Sample question") == ["warn", "warn"]
        assert "a saved mapping: labels Persn" in checks["Layout"].said

    @pytest.mark.parametrize("text", ["{", json.dumps({"labels": 3})])
    def test_a_mapping_that_cannot_be_used_fails(self, address: str, cypher: Cypher, text: str) -> None:
        from kgcore.config import mapping_file

        path = mapping_file(Config(), address)
        path.parent.mkdir(parents=True)
        path.write_text(text)
        checks = looked(address)
        assert states(checks, "Version", "Layout", "Sample question") == ["pass", "fail", "skip"]

    def test_a_graph_without_names_fails_at_its_layout(self, address: str, cypher: Cypher) -> None:
        cypher("CREATE (:Thing {code: 'one'})-[:LEADS]->(:Thing {code: 'two'})")
        assert states(looked(address), "Version", "Layout", "Embedder") == ["pass", "fail", "skip"]


def _unnamed(address: str) -> list[str]:
    """Statements that drop the vector indexes on names but the one of the layout."""
    parsed = Address.parse(address)
    with neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver:
        rows, _, _ = driver.execute_query(
            "SHOW INDEXES YIELD name, type, labelsOrTypes WHERE type = 'VECTOR' AND 'EntityName' IN labelsOrTypes "
            "AND name <> 'entity_embedding' RETURN name"
        )
    return [f"DROP INDEX `{row['name']}`" for row in rows]


def test_the_models_name_is_the_embedders() -> None:
    assert offline().name == NAME
