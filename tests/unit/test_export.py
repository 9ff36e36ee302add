"""A run as JSON and back, and the same bytes whoever makes it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgcore import IngestError, read_run, run_json
from kgcore.retrieve.export import MAX_BYTES
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Chunk
from tests.contract.graphs import PUBLIC, edge, hidden, only
from tests.data.build import JANE, ROOT, graph, offline, retriever

ALL = only("allowed_principals", "contains_any", ["all"])


def small() -> GraphStore:
    """Homonyms, ties, attributes, lists, hidden edges, several scripts."""
    properties = {**PUBLIC, "tags": ("b", "a"), "year": 2024, "ratio": 0.1}
    return graph(
        edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", properties=properties),
        edge("e2", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="ACME", doc="d2", properties={**PUBLIC, "year": 1}),
        edge("e3", "acme", "USES", "helios", src="Acme", dst="Helios 王 \u2028 </script>"),
        edge("e4", "helios", HAS_ATTRIBUTE, "v", key="status", src="Helios", dst="Активен"),
        *(edge(f"t{i}", "acme", "OWNS", f"twin{i}", src="Acme", dst="Twin") for i in range(9)),
        *(hidden(f"h{i}", "acme", "USES", f"spy{i}", dst="Spyglass") for i in range(3)),
        chunks=[Chunk(id="d1", document_id="d", content="Text.", metadata={**PUBLIC, "title": "One"})],
        embedder=offline(),
    )


def runs(address: str) -> list[str]:
    """Runs on the small graph, and on the demo's file if there is one."""
    store = small()
    search = retriever(store, filters=ALL, max_hops=3, document_retriever=store.chunks)
    made = [run_json(search.retrieve(JANE, beam_width=4, scoring=scoring)) for scoring in ("coverage", "edge")]
    made.append(run_json(search.retrieve("Who?", entity_ids=["acme", "jane"])))
    store.close()
    if address:
        from kgcore import open_store

        demo = open_store(address)
        search = retriever(demo, max_hops=3, filters=only("allowed_principals", "contains_any", ["group:public"]))
        made += [
            run_json(search.retrieve(question)) for question in (JANE, "王晓梅工作的公司使用什么系统?", "Alex Kim")
        ]
        demo.close()
    return made


@pytest.fixture(scope="module")
def saved() -> list[str]:
    return runs("")


class TestRoundTrip:
    def test_gives_the_same_bytes(self, saved: list[str]) -> None:
        for text in saved:
            opened = read_run(text)
            assert run_json(opened) == text
            assert read_run(text.encode()) == opened
            assert opened.timings == {}

    def test_gives_an_equal_result(self) -> None:
        store = small()
        result = retriever(store, filters=ALL, max_hops=2).retrieve(JANE, filters=only("year", "in", [2024, 1]))
        store.close()
        assert result.facts and read_run(run_json(result)) == result

    def test_keeps_what_the_library_speaks(self, saved: list[str]) -> None:
        opened = read_run(saved[0])
        assert isinstance(opened.facts[0].edge_ids, tuple)
        assert opened.trace.result == tuple(f.id for f in opened.facts)
        assert opened.trace.hops[0].candidates[0].fact.id in {f.id for f in opened.facts}
        assert len(opened.trace.hops) == 3 and opened.trace.words[0].text == "What"

    def test_holds_neither_timings_nor_vectors_nor_locks(self, saved: list[str]) -> None:
        for text in saved:
            for secret in ("timings", "embedding", "allowed_principals", "Spyglass", "contains_any", '"h0"'):
                assert secret not in text

    def test_is_readable_json(self, saved: list[str]) -> None:
        plain = json.loads(saved[0])
        assert set(plain) == {"content", "facts", "documents", "source_documents", "context", "trace"}
        assert plain["facts"][0]["metadata"]["edge_ids"]


def tampered(change: Callable[[dict[str, Any]], Any]) -> Callable[[str], str]:
    def apply(text: str) -> str:
        plain = json.loads(text)
        change(plain)
        return json.dumps(plain)

    return apply


class TestTampered:
    @pytest.mark.parametrize(
        ("tamper", "where"),
        [
            (lambda text: "", "file"),
            (lambda text: "not JSON", "file"),
            (lambda text: text[: len(text) // 2], "file"),
            (lambda text: "[]", "file"),
            (lambda text: "null", "file"),
            (lambda text: "[" * 100_000, "file"),
            (tampered(lambda run: run.pop("trace")), "trace"),
            (tampered(lambda run: run["facts"][0].update(score="high")), "facts.0.score"),
            (tampered(lambda run: run["facts"][0].update(edge_ids="e1")), "facts.0.edge_ids"),
            (tampered(lambda run: run["trace"]["hops"][0].update(candidates=None)), "trace.hops.0.candidates"),
            (tampered(lambda run: run["trace"]["hops"][0]["candidates"][0].update(fate="won")), "fate"),
            (tampered(lambda run: run["trace"]["settings"].update(scoring="magic")), "scoring"),
            (tampered(lambda run: run["trace"]["seeds"][0].pop("entity_id")), "entity_id"),
        ],
    )
    def test_is_an_error_that_says_where(self, saved: list[str], tamper: Callable[[str], str], where: str) -> None:
        with pytest.raises(IngestError) as raised:
            read_run(tamper(saved[0]))
        assert where in str(raised.value) and raised.value.remedy
        assert len(str(raised.value)) < 300

    @pytest.mark.parametrize("text", [b"\xff\xfe", b"\x80abc", "\ud800"])
    def test_bytes_that_are_no_text(self, text: Any) -> None:
        with pytest.raises(IngestError):
            read_run(text)

    def test_a_file_larger_than_a_run_can_be(self) -> None:
        with pytest.raises(IngestError, match="larger"):
            read_run(b" " * (MAX_BYTES + 1))


def test_two_processes_give_the_same_bytes(demo_address: str, tmp_path: Path) -> None:
    copy = tmp_path / "demo.duckdb"
    shutil.copy(demo_address.removeprefix("duckdb:///"), copy)
    script = (
        "import sys; from tests.unit.test_export import runs;"
        "sys.stdout.buffer.write('\\0'.join(runs(sys.argv[1])).encode())"
    )
    made = []
    for seed in ("0", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", script, f"duckdb:///{copy}"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        made.append(done.stdout.decode())
    assert len(made[0].split("\0")) == 6
    assert made[0] == made[1]
    assert made[0].split("\0")[:3] == runs("")
