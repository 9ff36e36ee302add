"""A saved run that somebody has changed is refused, or can be shown. Its facts as a table hold no formula."""

from __future__ import annotations

import copy
import csv
import dataclasses
import io
import json
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgcore import IngestError, Retrieval, answered, facts_csv, read_run, run_json
from kgcore.models.offline import MaxSimReranker
from kgcore.types import HAS_ATTRIBUTE, Chunk
from kgcore.viz import diff, evidence_payload, graph_payload
from tests.contract.graphs import PUBLIC, edge, only
from tests.data.build import JANE, graph, offline, retriever
from tests.property.conftest import stored
from tests.property.strategies import LOCK, QUESTIONS, Graph, graphs

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([2**70, -1.5, 0.0, 1e400, "", "x", "kept", "hub", "duplicate", [], {}, [[]], {"a": 1}]),
    st.text(max_size=4),
)


@lru_cache(maxsize=1)
def real_runs() -> tuple[Retrieval, ...]:
    """Runs that differ in what they hold: hubs, near misses, warnings, a reranker, an answer, odd names."""
    store = graph(
        edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", doc="d1"),
        edge("e2", "acme", "USES", "helios", src="Acme", dst='=HYPERLINK("a")', doc="d1"),
        edge("e3", "helios", HAS_ATTRIBUTE, "v", key="status", src="Helios", dst="\u200b\t+1 \u202eevil"),
        edge("e4", "helios", "SUPPLIED_BY", "q", src="Helios", dst="-2+3\nnext", description="@SUM(1)"),
        *(edge(f"t{i}", "acme", "OWNS", f"twin{i}", src="Acme", dst="Twin") for i in range(5)),
        chunks=[
            Chunk(id="d1", document_id="d", content="Jane works. Acme uses it.", metadata={**PUBLIC, "title": "=1"})
        ],
        embedder=offline(),
    )
    search = retriever(store, max_hops=3, document_retriever=store.chunks)
    narrow = search.retrieve(JANE, max_hops=3, beam_width=2, hub_limit=3)
    made = (
        narrow,
        search.retrieve(JANE, max_hops=3, top_k=4, scoring="edge"),
        search.retrieve(JANE, max_hops=2, top_k=3, document_reranker=MaxSimReranker(offline())),
        search.retrieve(JANE, filters=only("nowhere", "==", 1)),
        search.retrieve("Who?", entity_ids=["acme", "jane"], relations=["OWNS", "USES"]),
        answered(narrow, "It is Helios.\n**Yes**"),
    )
    store.close()
    return made


def show(run: Retrieval, base: Retrieval) -> None:
    """All that a page does with a run."""
    for change in (None, diff(base.trace, run.trace), diff(run.trace, run.trace)):
        payload, layout = graph_payload(run, None, diff=change)
        graph_payload(run, layout, diff=change)
        json.dumps([payload, evidence_payload(run, change)], allow_nan=False)
    graph_payload(run, None, layout="force")
    facts_csv(run)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, the whole left out."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, part in inner for place in ((*path, key), *places(part, (*path, key)))]


@pytest.mark.parametrize("at", range(6))
def test_a_run_comes_back_as_it_was(at: int) -> None:
    run = real_runs()[at]
    read = read_run(run_json(run))
    assert read == run
    assert run_json(read) == run_json(run)
    show(read, real_runs()[0])


@settings(max_examples=250)
@given(data=st.data())
def test_a_changed_run_is_refused_or_can_be_shown(data: st.DataObject) -> None:
    run = data.draw(st.sampled_from(real_runs()))
    plain = json.loads(run_json(run))
    for _ in range(data.draw(st.integers(1, 3))):
        every = places(plain)
        *path, last = data.draw(st.sampled_from(every))
        holder = plain
        for key in path:
            holder = holder[key]
        match data.draw(st.sampled_from(["set", "drop", "swap", "repeat"])):
            case "set":
                holder[last] = data.draw(ODD)
            case "drop":
                del holder[last]
            case "swap":
                other = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
                holder[last], holder[other] = holder[other], holder[last]
            case "repeat" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[last]))
    try:
        read = read_run(json.dumps(plain))
    except IngestError:
        return
    show(read, real_runs()[0])


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graphs(), st.sampled_from(QUESTIONS), st.data())
def test_whatever_a_walk_leaves_comes_back_and_can_be_shown(graph: Graph, question: str, data: st.DataObject) -> None:
    seeds = data.draw(st.just([]) | st.lists(st.sampled_from(graph.nodes or ("",)), min_size=1, max_size=3))
    options = {
        "max_hops": data.draw(st.integers(1, 4)),
        "beam_width": data.draw(st.none() | st.integers(1, 5)),
        "top_k": data.draw(st.sampled_from([50, 5, 2])),
        "hub_limit": data.draw(st.sampled_from([3, 1, 500])),
        "document_reranker": data.draw(st.sampled_from([None, MaxSimReranker(offline())])),
        "entity_ids": seeds if graph.nodes else None,
    }
    with stored(*graph.edges, entities=graph.entities) as store:
        run = retriever(store, filters=LOCK).retrieve(question, **options)
    text = run_json(run)
    read = read_run(text)
    assert read == run and run_json(read) == text
    show(read, real_runs()[0])


@settings(max_examples=60)
@given(st.binary(max_size=60))
def test_any_other_file_is_refused(content: bytes) -> None:
    with pytest.raises(IngestError):
        read_run(content)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"trace":' * 50_000, "null", "", "\x00", b"\xff\xfe\x00"])
def test_deep_empty_and_foreign_files_are_refused(content: str | bytes) -> None:
    with pytest.raises(IngestError):
        read_run(content)


def test_what_a_newer_setting_adds_may_be_missing() -> None:
    plain = json.loads(run_json(real_runs()[0]))
    del plain["trace"]["settings"]["entity_types"]
    assert read_run(json.dumps(plain)) == real_runs()[0]


CELLS = st.text(max_size=40) | st.text("a;=+-@ \t\"'", max_size=12)


@given(CELLS, CELLS)
def test_no_text_of_the_table_is_a_formula(name: str, description: str) -> None:
    run = real_runs()[0]
    fact = dataclasses.replace(run.facts[0], source=name, description=description, relation=f"={name}")
    table = facts_csv(dataclasses.replace(run, facts=(fact, *run.facts[1:])))
    header, *rows = csv.reader(io.StringIO(table, newline=""))
    assert len(rows) == len(run.facts)
    assert {len(row) for row in rows} == {len(header)}
    texts = [
        text for row in rows for column, text in zip(header, row, strict=True) if column not in ("rank", "hop", "score")
    ]
    assert not [text for text in texts if text.strip()[:1] in ("=", "+", "-", "@", "\t", "\r")]
    # Where a semicolon parts cells.
    assert not [part for text in texts for part in text.split(";")[1:] if part.strip(' "')[:1] in tuple("=+-@")]
    assert not [text for text in texts if "\n" in text or "\u202e" in text]


def test_the_table_is_the_facts_in_order() -> None:
    run = real_runs()[0]
    rows = list(csv.DictReader(io.StringIO(facts_csv(run), newline="")))
    assert [(row["source_id"], row["target_id"]) for row in rows] == [(f.source_id, f.target_id) for f in run.facts]
    assert [row["rank"] for row in rows] == [str(at) for at in range(1, len(rows) + 1)]
    assert [float(row["score"]) for row in rows] == [fact.score for fact in run.facts]
    assert facts_csv(run) == facts_csv(read_run(run_json(run)))
    assert facts_csv(run).count("\r\n") == len(rows) + 1
    assert any(row["documents"] == "'=1" for row in rows)
