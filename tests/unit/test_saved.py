"""What a saved run is refused for, each fault by its place; and that what is saved is what was found."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from kgcore import ConfigError, IngestError, Retrieval, answered, facts_csv, read_run, run_json
from kgcore.models.offline import MaxSimReranker
from kgcore.retrieve import export, saved
from kgcore.retrieve.export import CSV_COLUMNS
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Chunk, Document
from kgcore.viz import html, html_of
from tests.contract.graphs import PUBLIC, edge, hidden, only
from tests.data import parish
from tests.data.build import JANE, candidates, offline, retriever

Build = Callable[..., GraphStore]
ALL = only("allowed_principals", "contains_any", ["all"])
EDGES = (
    edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", doc="d1"),
    edge("e2", "acme", "USES", "helios", src="Acme", dst="Helios", doc="d2", description="since 2019"),
    edge("e3", "acme", "USES", "helios", src="ACME", dst="Helios", doc="d1"),
    edge("e4", "helios", HAS_ATTRIBUTE, "v", key="status", src="Helios", dst="Active"),
    edge("e5", "acme", "OWNS", "jane", src="Acme", dst="Jane Doe"),
    *(edge(f"t{i}", "acme", "OWNS", f"twin{i}", src="Acme", dst="Twin") for i in range(6)),
    *(edge(f"u{i}", "helios", "RUNS_ON", f"box{i}", src="Helios", dst=f"Box {i}") for i in range(4)),
    edge("c", "acme", "USES", "store", src="Acme", dst="System store", doc="d2"),
    *(edge(f"c{i}", "store", "KEEPS", f"part{i}", src="System store", dst=f"Part {i}") for i in range(15)),
    hidden("h1", "acme", "USES", "spy", src="Acme", dst="Spyglass"),
)
CHUNKS = (
    Chunk(id="d1", document_id="d", content="Jane works at Acme.", metadata={**PUBLIC, "title": "Staff, 2024"}),
    Chunk(id="d2", document_id="d", content="Acme uses Helios.", metadata={**PUBLIC, "year": 2024}),
)


@pytest.fixture
def run(build: Build) -> Retrieval:
    """Three hops with hubs, duplicates, near misses, a cut by top k, passages and an answer."""
    store = build(*EDGES, chunks=CHUNKS, embedder=offline())
    search = retriever(store, filters=ALL, document_retriever=store.chunks, vector_top_k=0)
    result = search.retrieve(JANE, entity_ids=["jane", "acme"], max_hops=3, beam_width=4, top_k=7, hub_limit=12)
    assert {c.fate for c in candidates(result)} == {"kept", "beam_cut", "hub", "duplicate", "top_k_cut"}
    assert len(result.trace.hops) == 3 and len(result.source_documents) == 2
    return answered(result, "It is Helios.")


def test_a_run_of_every_fate_comes_back(run: Retrieval) -> None:
    assert read_run(run_json(run)) == run


def at(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Puts a value in a place, such as `trace.hops.0.kept`; one that can be called gets what is there."""

    def change(plain: dict[str, Any]) -> None:
        *keys, last = [int(key) if key.lstrip("-").isdigit() else key for key in path.split(".")]
        holder = reduce(lambda part, key: part[key], keys, plain)
        holder[last] = (
            value(holder.get(last) if isinstance(holder, dict) else holder[last]) if callable(value) else value
        )

    return change


def candidate_of(fate: str, path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """The same in the first candidate of a fate."""

    def change(plain: dict[str, Any]) -> None:
        found = next(c for hop in plain["trace"]["hops"] for c in hop["candidates"] if c["fate"] == fate)
        at(path, value)(found)

    return change


FIRST = "trace.hops.0.candidates.0"
TWICE = [{"word": 1, "gain": 0.1}] * 2
FAULTS = [
    ("trace.hops.0.number", at("trace.hops.0.number", 2)),
    ("trace.hops.1.number", at("trace.hops.1.number", 1)),
    ("trace.hops", at("trace.hops", lambda hops: hops * 2)),
    ("trace.hops", at("trace.settings.max_hops", 2)),
    ("trace.hops.0.number", at("trace.hops", lambda hops: hops[1:])),
    ("trace.hops.0.kept", at("trace.hops.0.kept", lambda kept: kept + 1)),
    ("trace.hops.0.kept", at("trace.settings.beam_width", 1)),
    ("trace.hops.0.considered", at("trace.hops.0.considered", -1)),
    ("trace.hops.0.left_out", at("trace.hops.0.left_out", 2**60)),
    ("trace.hops.0.cutoff", at("trace.hops.0.cutoff", float("nan"))),
    ("trace.hops.0.cutoff", at("trace.hops.0.cutoff", -1e308)),
    ("trace.hops.0.cutoff", at("trace.hops.0.cutoff", lambda cutoff: cutoff + 0.001)),
    ("trace.hops.0.considered", at("trace.hops.0.considered", lambda considered: considered - 1)),
    ("trace.hops.0.considered", at("trace.hops.0.left_out", 1)),
    ("trace.hops.0.explains", at("trace.hops.0.explains", [{"word": 99, "gain": 0.1}])),
    ("trace.hops.0.explains", at("trace.hops.0.explains", TWICE)),
    ("trace.hops.0.candidates", at("trace.hops.0.candidates", lambda them: them + [them[-1]] * 400)),
    (f"{FIRST}.hop", at(f"{FIRST}.hop", 2)),
    (f"{FIRST}.hop", at(f"{FIRST}.hop", 0)),
    (f"{FIRST}.fact", at(f"{FIRST}.fact.hop", 3)),
    (f"{FIRST}.fact", at(f"{FIRST}.score", 0.123)),
    (f"{FIRST}.score", at(f"{FIRST}.score", float("inf"))),
    (f"{FIRST}.rank", at(f"{FIRST}.rank", 0)),
    (f"{FIRST}.rank", at(f"{FIRST}.rank", -1)),
    (f"{FIRST}.degree", at(f"{FIRST}.degree", -1)),
    (f"{FIRST}.chain", at(f"{FIRST}.chain", [])),
    (f"{FIRST}.chain", at(f"{FIRST}.chain", ["nothing"])),
    (f"{FIRST}.chain", at(f"{FIRST}.chain", lambda chain: ["nothing", *chain])),
    (f"{FIRST}.parent_id", at(f"{FIRST}.parent_id", "nobody")),
    (f"{FIRST}.entity_id", at(f"{FIRST}.entity_id", "nobody")),
    (f"{FIRST}.entity_id", at(f"{FIRST}.fact.source_id", "nobody")),
    (f"{FIRST}.entity_id", at(f"{FIRST}.fact.target_id", "nobody")),
    (f"{FIRST}.explains", at(f"{FIRST}.explains", [{"word": -1, "gain": 0.1}])),
    (f"{FIRST}.explains", at(f"{FIRST}.explains", TWICE)),
    (f"{FIRST}.fact.source_doc_ids", at(f"{FIRST}.fact.source_doc_ids", ["d1", "d1"])),
    ("trace.hops.1.candidates.0.chain", at("trace.hops.1.candidates.0.chain.0", "nothing")),
    ("rank", candidate_of("duplicate", "rank", 3)),
    ("chain", candidate_of("hub", "chain", lambda chain: [*chain, *chain])),
    ("kept", candidate_of("beam_cut", "fate", "kept")),
    ("trace.result", candidate_of("top_k_cut", "fate", "kept")),
    ("trace.result", at("trace.result", lambda ids: ids[1:])),
    ("trace.result", at("trace.result", lambda ids: [*ids, "nothing"])),
    ("trace.result", at("trace.result", lambda ids: [*ids, ids[0]])),
    ("trace.result", at("trace.settings.top_k", 4)),
    ("facts", at("trace.result", lambda ids: ids[::-1])),
    ("facts", at("facts", lambda facts: facts[1:])),
    ("facts", at("facts.0.source", "Somebody")),
    ("facts", at("facts.0.score", 0.5)),
    ("documents", at("documents", lambda documents: documents[:1])),
    ("documents", at("documents.0.content", "Something else")),
    ("source_documents", at("source_documents", lambda documents: documents * 2)),
    ("source_documents", at("source_documents.0.id", "elsewhere")),
    ("trace.passages", at("trace.passages", lambda passages: [*passages, passages[0]])),
    ("trace.passages.0.rank", at("trace.passages.0.rank", 2)),
    ("trace.passages.0.rank", at("trace.passages", lambda passages: passages[::-1])),
    ("trace.passages.0.score", at("trace.passages.0.score", lambda score: score + 0.1)),
    ("trace.passages.0.by_path", at("trace.passages.0.by_path", float("nan"))),
    ("trace.passages.0.explains", at("trace.passages.0.explains", TWICE)),
    ("trace.words.0", at("trace.words.0.start", -1)),
    ("trace.words.0", at("trace.words.0.end", 4_000)),
    ("trace.words.0", at("trace.words.0.text", "Whom")),
    ("trace.words.1", at("trace.words.1", {"text": "What", "start": 0, "end": 4, "weight": 0.1, "hop": None})),
    ("trace.words.0", at("trace.words.0", {"text": "", "start": 0, "end": 0, "weight": 0.1, "hop": None})),
    ("trace.words.0", at("trace.words.0.hop", 4)),
    ("trace.words.0", at("trace.words.0.weight", -0.5)),
    ("trace.question", at("trace.question", "")),
    ("trace.question", at("trace.question", lambda question: f" {question}")),
    ("trace.question", at("trace.question", lambda question: question + "?" * 2_000)),
    ("trace.seeds", at("trace.seeds", lambda seeds: seeds * 2)),
    ("trace.seeds.0.degree", at("trace.seeds.0.degree", -1)),
    ("trace.seeds.0.score", at("trace.seeds.0.score", float("inf"))),
    ("trace.seeds.0.score", at("trace.seeds.0.score", -99.0)),
    ("trace.seeds.0.score", at("trace.seeds.0.score", 1.1)),
    ("trace.passages.0.near", at("trace.passages.0.near", 1e308)),
    ("trace.passages.0.near", at("trace.passages.0.page_rank", -5.0)),
    ("trace.seeds.0.found_by", at("trace.seeds.0.found_by", "magic")),
    ("trace.hops.0.candidates.0.parent_id", at("trace.seeds", [])),
    ("trace.warnings", at("trace.warnings", ["Look out."] * 1_001)),
    ("trace.settings.max_hops", at("trace.settings.max_hops", 5)),
    ("trace.settings.beam_width", at("trace.settings.beam_width", 1_001)),
    ("trace.settings.beam_width", at("trace.settings.beam_auto", True)),
    ("trace.settings.top_k", at("trace.settings.top_k", 0)),
    ("trace.settings.hub_limit", at("trace.settings.hub_limit", 0)),
    ("trace.settings.vector_top_k", at("trace.settings.vector_top_k", 101)),
    ("trace.settings.entities", at("trace.settings.entities", [" "])),
    ("trace.settings.entity_types", at("trace.settings.entity_types", ["a"] * 51)),
    ("trace.settings.relations", at("trace.settings.relations", [""])),
    ("trace.settings.filters.operator", at("trace.settings.filters", {})),
    ("trace.settings.filters.operator", at("trace.settings.filters", {"field": "year", "operator": "~", "value": 1})),
    ("trace.settings.filters.value", at("trace.settings.filters", only("year", "==", float("nan")))),
    ("context", at("trace.settings.summarize", False)),
    ("context", at("context", "Something else was read.")),
    ("context", at("content", "")),
    ("content", at("context", "")),
    ("timings", at("timings", {"seed": 1.0})),
    # Types are exact, and nothing is added.
    ("trace.settings.top_k", at("trace.settings.top_k", "7")),
    ("trace.settings.top_k", at("trace.settings.top_k", 7.0)),
    ("trace.settings.top_k", at("trace.settings.top_k", True)),
    ("trace.settings.summarize", at("trace.settings.summarize", 1)),
    ("facts.0.metadata.year.str", at("facts.0.metadata.year", {"a": 1})),
    ("content", at("content", None)),
    ("extra", at("extra", 1)),
    ("trace.settings.locked", at("trace.settings.locked", {})),
    (f"{FIRST}.fact.embedding", at(f"{FIRST}.fact.embedding", [1.0])),
]  # fmt: skip


@pytest.mark.parametrize(("place", "change"), FAULTS, ids=[f"{i}-{place}" for i, (place, _) in enumerate(FAULTS)])
def test_a_fault_is_refused_by_its_place(run: Retrieval, place: str, change: Callable[[Any], None]) -> None:
    plain = json.loads(run_json(run))
    change(plain)
    with pytest.raises(IngestError) as raised:
        read_run(json.dumps(plain))
    said = str(raised.value)
    assert (
        said.startswith("Not a run of Hopscope, or changed since it was saved: ")
        and said.endswith(".")
        and not said.endswith("..")
    )
    assert said.split(": ")[1].endswith(place)
    assert raised.value.remedy


def test_a_fact_without_its_chain_is_no_result(run: Retrieval) -> None:
    plain = json.loads(run_json(run))
    middle = plain["trace"]["hops"][1]["candidates"][0]["chain"][0]
    found = next(c for c in plain["trace"]["hops"][0]["candidates"] if c["fact"]["id"] == middle)
    found["fate"] = "top_k_cut"
    plain["trace"]["result"].remove(middle)
    with pytest.raises(IngestError, match=r"trace\.result: .* chain"):
        read_run(json.dumps(plain))


def test_a_fact_is_kept_once(run: Retrieval) -> None:
    plain = json.loads(run_json(run))
    hop = plain["trace"]["hops"][0]
    hop["candidates"].append(hop["candidates"][0])
    hop["kept"] += 1
    plain["trace"]["settings"]["beam_width"] = 9
    with pytest.raises(IngestError, match=r"trace\.hops\.0\.candidates: a fact is kept twice"):
        read_run(json.dumps(plain))


def test_a_walk_through_an_alias_comes_back_and_is_one_that_was_reached(build: Build) -> None:
    run = retriever(build(*parish.EDGES)).retrieve(parish.QUESTION, entity_ids=["napoleon"], max_hops=3)
    assert [alias.entity_id for alias in run.trace.hops[1].aliases] == ["island"]
    assert read_run(run_json(run)) == run
    for change in (at("trace.hops.1.aliases", []), at("trace.hops.1.aliases.0.of_id", "nobody")):
        plain = json.loads(run_json(run))
        change(plain)
        with pytest.raises(IngestError, match=r"trace\.hops\.1\."):
            read_run(json.dumps(plain))


def test_the_text_is_what_was_retrieved(build: Build) -> None:
    run = retriever(build(*EDGES)).retrieve(JANE)
    plain = json.loads(run_json(run))
    plain["content"] += " And more."
    with pytest.raises(IngestError, match="content: it is not what was retrieved"):
        read_run(json.dumps(plain))


@pytest.mark.parametrize(
    "change",
    [
        at("trace.hops.1.aliases.0.degree", -7),
        at("trace.hops.1.aliases.0.degree", 501),
        at("trace.hops.1.aliases.0.share", 0.4),
        at("trace.hops.1.aliases.0.share", 1.5),
        at("trace.hops.1.aliases", lambda aliases: aliases * 3),
        at("trace.hops.1.aliases.0.entity_id", "napoleon"),
    ],
)
def test_an_alias_that_cannot_be(build: Build, change: Callable[[Any], None]) -> None:
    run = retriever(build(*parish.EDGES)).retrieve(parish.QUESTION, entity_ids=["napoleon"], max_hops=3)
    plain = json.loads(run_json(run))
    change(plain)
    with pytest.raises(IngestError, match=r"trace\.hops\.1\.aliases"):
        read_run(json.dumps(plain))


def test_names_in_a_fault_are_short_and_in_one_line(run: Retrieval) -> None:
    plain = json.loads(run_json(run))
    plain["trace"]["<b>\n" * 500] = 1
    with pytest.raises(IngestError) as raised:
        read_run(json.dumps(plain))
    assert len(str(raised.value)) < 300 and "\n" not in str(raised.value)


class TestSize:
    def test_more_seeds_than_a_walk_can_have(self, run: Retrieval) -> None:
        seed = run.trace.seeds[0]
        seeds = (*run.trace.seeds, *(replace(seed, entity_id=f"s{i}") for i in range(saved.MAX_SEEDS)))
        with pytest.raises(IngestError, match="seeds"):
            read_run(run_json(replace(run, trace=replace(run.trace, seeds=seeds))))

    def test_sources_that_would_take_minutes_to_search(self, run: Retrieval, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(saved, "MAX_READ", 3_000)
        assert read_run(run_json(run)) == run
        long = replace(run.source_documents[0], content="Jane works at Acme. " * 50)
        with pytest.raises(IngestError, match="source_documents: they are too long"):
            read_run(run_json(replace(run, source_documents=(long, *run.source_documents[1:]))))

    def test_what_could_not_be_opened_again_is_not_saved(self, run: Retrieval, monkeypatch: pytest.MonkeyPatch) -> None:
        size, read = len(run_json(run).encode()), saved.to_read(run)
        monkeypatch.setattr(export, "MAX_BYTES", size)
        assert read_run(run_json(run)) == run
        with pytest.raises(ConfigError, match=r"The run takes .* MB") as raised:
            run_json(replace(run, content=run.content + "!"))
        assert raised.value.remedy
        monkeypatch.setattr(export, "MAX_READ", read - 1)
        with pytest.raises(ConfigError, match="too long to be searched"):
            run_json(run)

    def test_of_a_page_is_what_stands_in_it(self, run: Retrieval, monkeypatch: pytest.MonkeyPatch) -> None:
        """Signs that are escaped in a page take more of it than of the JSON."""
        marked = answered(run, "<" * 1_000)
        size = len(run_json(marked).encode())
        monkeypatch.setattr(export, "MAX_BYTES", size + 4_999)
        assert read_run(run_json(marked)) == marked
        with pytest.raises(ConfigError, match=r"The run takes .* MB"):
            html_of(marked)
        monkeypatch.setattr(export, "MAX_BYTES", size + 6_000)
        page = html_of(marked)
        assert read_run(page) == marked
        monkeypatch.setattr(html, "MAX_PAGE", len(page.encode()) - 1)
        with pytest.raises(ConfigError, match=r"The run takes .* MB"):
            html_of(marked)

    def test_a_filter_as_deep_as_json_may_be(self, run: Retrieval) -> None:
        for depth in (17, 100, 190, 1_000):
            group = '{"operator": "AND", "conditions": ['
            nested = f"{group * depth}{json.dumps(only('year', '==', 1))}{']}' * depth}"
            with pytest.raises(IngestError):
                read_run(run_json(run).replace('"filters": null', f'"filters": {nested}'))


class TestRoundTrip:
    @pytest.mark.parametrize(
        "options",
        [
            {"scoring": "edge"},
            {"document_reranker": MaxSimReranker(offline()), "top_k": 2},
            {
                "filters": {
                    "operator": "OR",
                    "conditions": (only("year", "in", (1, 2.5, "a", True)), only("t", "!=", "")),
                }
            },
            {"filters": only("source_doc_id", "==", "d1"), "max_hops": 1},
            {"entities": ["\ud800 Jane Doe", "\u202eevil\0", "<b>"], "relations": ["USES", "\udfff"]},
            {"entity_types": ["Thing", "\ud800"], "beam_width": 1, "max_hops": 4, "hub_limit": 1},
        ],
        ids=" ".join,
    )
    @pytest.mark.parametrize(
        "question", [JANE, "\ud83d Jane\ud800Doe \u202e王晓梅?", "İstanbul ﬁrm Ⅷ x\u0301y 👩‍👩‍👧 ?"]
    )
    def test_is_the_identity(self, build: Build, question: str, options: dict[str, Any]) -> None:
        store = build(*EDGES, chunks=CHUNKS, embedder=offline())
        search = retriever(store, filters=ALL, document_retriever=store.chunks)
        result = search.retrieve(question, **{"max_hops": 3, **options})
        text = run_json(result)
        assert read_run(text) == result == read_run(text.encode())
        assert run_json(read_run(text)) == text

    def test_of_a_callers_filter_is_what_it_was_when_asked(self, build: Build) -> None:
        given = only("year", "in", [2024])
        result = retriever(build(*EDGES)).retrieve(JANE, filters=given)
        given["value"].append(2025)
        assert result.trace.settings.filters == only("year", "in", [2024])

    def test_of_half_a_character_from_elsewhere_loses_only_that(self, run: Retrieval) -> None:
        broken = replace(run.source_documents[0], content="Half \ud83d of it 王.")
        half = replace(run, source_documents=(broken, *run.source_documents[1:]))
        text = run_json(answered(half, run.content))
        assert read_run(text).source_documents[0].content == "Half ? of it 王."

    def test_of_a_run_from_before_a_setting_was_there(self, run: Retrieval) -> None:
        plain = json.loads(run_json(run))
        del plain["trace"]["settings"]["entity_types"]
        assert read_run(json.dumps(plain)) == run


def rows(result: Retrieval) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(facts_csv(result), newline="")))


class TestCsv:
    def test_has_a_row_a_fact(self, run: Retrieval) -> None:
        table = rows(run)
        assert tuple(table[0]) == CSV_COLUMNS
        uses = next(fact for fact in run.facts if fact.target == "Helios")
        [row] = [row for row in table if row["target"] == "Helios"]
        assert (row["rank"], row["hop"]) == (str(run.facts.index(uses) + 1), "1")
        assert (row["source"], row["relation"], row["description"]) == ("Acme", "USES", "since 2019")
        assert (row["source_id"], row["target_id"]) == ("acme", "helios")
        assert float(row["score"]) == uses.score and len(row["score"]) > 5
        assert row["documents"] == "d2; Staff, 2024"
        assert row["new_words"] == "use; system"

    def test_names_no_words_that_add_nothing_to_speak_of(self, run: Retrieval) -> None:
        hops = [
            replace(hop, candidates=tuple(replace(c, gain=0.009) for c in hop.candidates)) for hop in run.trace.hops
        ]
        weak = replace(run, trace=replace(run.trace, hops=tuple(hops)))
        assert {row["new_words"] for row in rows(weak)} == {""}

    def test_without_facts_is_a_header(self, run: Retrieval) -> None:
        assert facts_csv(replace(run, facts=())) == ",".join(CSV_COLUMNS) + "\r\n"

    @pytest.mark.parametrize(
        ("name", "cell"),
        [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'=1"),
            ("\r\n =1", "'=1"),
            ("\u200b\u202e\ufeff=1", "'=1"),
            ("\u200d\ufe0f\u034f=1", "'\u200d\ufe0f\u034f=1"),
            ("\u3000\u00a0-1", "'-1"),
            ("\u0301\ufff9\u2800=1", "'\u0301\ufff9\u2800=1"),
            ("＝1", "'＝1"),
            ("a=1", "a=1"),
            ("x;=1", "x;'=1"),
            ("x;\t =1;@a", "x; '=1;'@a"),
            (';\u200d\u0301\u2800"-1', ";\u200d\u0301\u2800\"'-1"),
            ("=a;+b", "'=a;'+b"),
            ("a; b = c; d", "a; b = c; d"),
            ("'=1", "'=1"),
            ("two\nlines\r\nand\ttabs", "two lines and tabs"),
            ('a "quoted", b', 'a "quoted", b'),
            ("ab\u202ecd\x07e\ud800", "abcd e\ufffd"),
            ("王" * 900, "王" * 900),
            ("👩‍👩‍👧 ok", "👩‍👩‍👧 ok"),
        ],
        ids=lambda text: ascii(text)[:20],
    )
    def test_texts_are_one_line_whole_and_no_formula(self, run: Retrieval, name: str, cell: str) -> None:
        fact = replace(run.facts[0], source=name, description=name, source_id=name, source_doc_ids=("d1", name))
        titled = replace(run.source_documents[0], metadata={"title": name})
        row = rows(replace(run, facts=(fact,), source_documents=(titled,)))[0]
        assert row["source"] == row["description"] == row["source_id"] == cell
        assert row["documents"].startswith(cell)

    def test_titles_of_any_kind_are_texts(self, run: Retrieval) -> None:
        odd = tuple(
            Document(id=id_, content="", metadata={"title": title}) for id_, title in (("d1", 2024), ("d2", ("a", "b")))
        )
        fact = replace(run.facts[0], source_doc_ids=("d1", "d2", "d3"))
        assert rows(replace(run, facts=(fact,), source_documents=odd))[0]["documents"] == "2024; ('a', 'b'); d3"
