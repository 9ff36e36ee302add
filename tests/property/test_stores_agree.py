"""DuckDB and a real Neo4j say the same of random graphs: to every question, and by every verb.

Vectors have few directions, so that two cosines are equal or far apart: no order may differ. The number of graphs is
`--differential-cases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kgcore import KgError, KnowledgeGraphRetriever, open_store
from kgcore.filters import AccessFilter
from kgcore.filters.grammar import filter_dict
from kgcore.store import GraphStore
from kgcore.store.neo4j import NeoStore
from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge, Entity, Vector
from tests.contract.graphs import EMBEDDER, OPEN, PUBLIC, SECRET, Probe, everything, exact, only, vec
from tests.neo4j.addresses import addresses, emptied
from tests.property.strategies import DESCRIPTIONS, LOCK, QUESTIONS, SEEN, UNSEEN, VALUES, is_visible, type_of

NODES = ("n0", "n1", "n2", "n3", "n4", "n5", "ｎ6", "😀7")
"""The last two stand in another order by code points than by UTF-16."""
NAMES = (
    "Ann Lee", "Ann Leigh", "Acme", "acme", "Acme Capital", "Helios", "River Bank", "王晓梅",
    "王晓明", "Codename Bluebird", "AND", "Rock AND Roll", 'The "Quoted" One', "C++", "a*b?",
    "back\\slash", "ns:Label~2", "東京タワー", "Müller GmbH", "Hauptstraße", "HAUPTSTRASSE",
    "محمد علي", "O'Hara", "???", "🚀 Rocket", "Мария Иванова", "snake_case_name", "กรุงเทพ",
    "E\u0301clair", "İzmir", "ſpeed", "𝒜lgebra", "-minus [x] {y} (z)", "two\nlines",
    "long " * 60,
)  # fmt: skip
RELATIONS = ("USES", "WORKS_AT", "knows", "is `odd`", "работает в")
DIRECTIONS = (vec(1, 0, 0, 0), vec(0, 1, 0, 0), vec(1, 1, 0, 0), vec(1, 1, 1, 1), vec(-1, 0, 2, 0), vec(0, 0, 3, 4))
MANY = 1_500
FILLERS = 60
"""Entities that are hidden but for a few: enough for a vector index to be asked, and to be asked again."""


def _all(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"operator": "AND", "conditions": list(conditions)}


def _any(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"operator": "OR", "conditions": list(conditions)}


# Few forms: a server plans every new one.
FILTERS: st.SearchStrategy[dict[str, Any] | None] = st.one_of(
    st.none(),
    st.none(),
    st.builds(only, st.just("year"), st.sampled_from(["==", "<="]), st.sampled_from([2023, 2024, "2024", True])),
    st.builds(only, st.just("year"), st.just("!="), st.sampled_from([2023, "2024", True])),
    st.builds(only, st.just("tags"), st.just("contains_any"), st.sampled_from([["b"], ["b", 1], [1.0]])),
    st.builds(only, st.sampled_from(["source_doc_id", "src_name"]), st.just("in"), st.just(["d1", "Ann Lee", "Acme"])),
    st.just(_any(only("key", "==", "status"), only("year", "not in", [2023]))),
    st.just(_all(only("unheard_of", "!=", 1), only("allowed_principals", "contains_any", ["board", "all"]))),
    st.just(_all(only("source_doc_id", "!=", "d1"), _any(only("year", ">", 2023.5), only("description", "!=", "x")))),
)
LOCKS = (LOCK, None, only("allowed_principals", "contains_any", ["board", "all"]))


class Toy:
    """Texts to few directions, so that many are equally near."""

    name, dimension = EMBEDDER, 4

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        found = [DIRECTIONS[crc32(text.encode("utf-8", "replace")) % len(DIRECTIONS)] for text in texts]
        return np.array(found, np.float32).reshape(len(texts), 4)


@dataclass(frozen=True, kw_only=True, repr=False)
class Case:
    """A graph, what is asked of it, and whether indexes find the candidates of so small a graph."""

    entities: tuple[Entity, ...]
    edges: tuple[Edge, ...]
    chunks: tuple[Chunk, ...]
    calls: tuple[tuple[dict[str, Any] | None, dict[str, Any]], ...]
    filter: AccessFilter
    indexed: bool

    def __repr__(self) -> str:
        """Short: what differs is told with the edges that it stands on."""
        return f"Case(edges={len(self.edges)}, indexed={self.indexed})"

    @property
    def probe(self) -> Probe:
        names = tuple(dict.fromkeys([*(entity.name for entity in self.entities[:8]), "Ann Lea", "Lee", "Acme Capitol"]))
        return Probe(
            ids=(*NODES[:4], *NODES[-2:], "n0/status/red/d1", "nobody"),
            edge_ids=tuple(edge.id for edge in self.edges),
            names=names,
            vectors=(*DIRECTIONS[:2], vec(2, -1, 0, 1)),
            prefixes=("ann", "acme", "ca", "王", "", *(name[:3] for name in names[:3])),
            words=("ann", "acme", "system", "uses", "straße"),
        )


def _properties(draw: st.DrawFn, *, seen: bool) -> dict[str, Any]:
    principals = draw(st.sampled_from(SEEN if seen else UNSEEN))
    optional = {
        "year": st.sampled_from([2023, 2024, 2024.0, "2024", True]),
        "tags": st.sampled_from([("a", "b"), ("b",), (1,), ("b", 1)]),
        "title": st.sampled_from(["Report", "Étude"]),
    }
    held = {} if principals is None else {"allowed_principals": principals}
    return held | draw(st.fixed_dictionaries({}, optional=optional))


def _edge(draw: st.DrawFn, number: int, names: dict[str, list[str]], vectors: st.SearchStrategy[Vector | None]) -> Edge:
    source, target = draw(st.sampled_from(NODES)), draw(st.sampled_from(NODES))
    document = draw(st.sampled_from(["d1", "d2", None]))
    key, relation, name = None, draw(st.sampled_from(RELATIONS)), draw(st.sampled_from(names[target]))
    if draw(st.integers(0, 4)) == 0:
        key, name, relation = draw(st.sampled_from(["status", "größe"])), draw(st.sampled_from(VALUES)), HAS_ATTRIBUTE
        target = f"{source}/{key}/{name}/{document}"
    return Edge(
        id=f"{draw(st.sampled_from(['e', 'e', 'ｅ', '😀']))}{number:02}",
        source_id=source,
        target_id=target,
        relation=relation,
        src_name=draw(st.sampled_from(names[source])),
        dst_name=name,
        key=key,
        description=draw(st.sampled_from([*DESCRIPTIONS, "Die Straße nach İzmir"])),
        source_doc_id=document,
        properties=_properties(draw, seen=draw(st.integers(0, 2)) > 0),
        embedding=draw(vectors),
    )


def _fillers() -> list[Edge]:
    return [
        Edge(
            id=f"f{i:02}", source_id=f"filler-{i:02}", target_id="n0", relation="USES", src_name=f"Filler {i}",
            dst_name="Ann Lee", source_doc_id="d1", properties=PUBLIC if i % 11 == 0 else SECRET,
            embedding=DIRECTIONS[i % 5],
        ) for i in range(FILLERS)
    ]  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Homonyms, parallel edges, self-loops, both directions, missing properties, hidden edges, some vectors or none."""
    any_name = st.sampled_from(NAMES) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
    names = {node: draw(st.lists(any_name, min_size=1, max_size=2)) for node in NODES}
    names["n1"] = [*names["n1"], names["n0"][0]]
    one = st.sampled_from(DIRECTIONS)
    vectors = draw(st.sampled_from([one, one | st.none(), st.none()]))
    indexed = draw(st.integers(0, 3)) == 0
    edges = [_edge(draw, i, names, vectors) for i in range(draw(st.integers(4, 16)))]
    edges += _fillers() if indexed else []
    pairs = dict.fromkeys(p for e in edges for p in ((e.source_id, e.src_name), (e.target_id, e.dst_name)))
    fixed = DIRECTIONS if indexed else None
    entities = tuple(
        Entity(id=i, type=type_of(i), name=n, embedding=fixed[crc32(i.encode()) % 6] if fixed else draw(vectors))
        for i, n in pairs
    )
    chunks = tuple(
        Chunk(id=i, content=f"Text of {i}.", document_id="d", metadata=held, embedding=draw(vectors))
        for i, held in (("d1", PUBLIC), ("d2", {**PUBLIC, "year": 2024}), ("d3", SECRET))
    )
    calls = tuple((draw(st.sampled_from(LOCKS)), draw(_calls(edges))) for _ in range(3))
    filter = draw(st.just(OPEN) | FILTERS.map(AccessFilter.of(locked=LOCK).narrowed))
    return Case(entities=entities, edges=tuple(edges), chunks=chunks, calls=calls, filter=filter, indexed=indexed)


def _calls(edges: Sequence[Edge]) -> st.SearchStrategy[dict[str, Any]]:
    seen = sorted({i for e in edges if is_visible(e) for i in (e.source_id, e.target_id)}) or ["n0"]
    called = sorted({name for e in edges for name in (e.src_name, e.dst_name)})
    asked: st.SearchStrategy[dict[str, Any]] = st.one_of(
        st.just({}),
        st.fixed_dictionaries({"seed_mode": st.just("query")}),
        st.fixed_dictionaries({"entity_ids": st.lists(st.sampled_from(seen), min_size=1, max_size=3)}),
        st.fixed_dictionaries(
            {"entities": st.lists(st.sampled_from([*called, *(n[:-1] + "x" for n in called)]), min_size=1, max_size=3)}
        ),
    )
    options = st.fixed_dictionaries(
        {
            "question": st.sampled_from(QUESTIONS) | st.sampled_from(called).map(lambda name: f"What uses {name}?"),
            "max_hops": st.integers(1, 3),
            "beam_width": st.sampled_from([1, 2, 4, 50]),
            "top_k": st.sampled_from([3, 50]),
            "hub_limit": st.sampled_from([3, 500]),
            "scoring": st.sampled_from(["edge", "coverage"]),
            "filters": FILTERS,
            "relations": st.sampled_from([None, None, ("USES", "status", "работает в")]),
        }
    )
    return st.builds(lambda how, rest: {**rest, **how}, asked, options)


def answers(store: GraphStore, case: Case) -> Iterator[tuple[str, Any]]:
    """What a store says: to each call the run or the error, and by every verb under the filter."""
    for number, (lock, call) in enumerate(case.calls):
        search = KnowledgeGraphRetriever(
            store, embedder=Toy(), filters=lock, vector_top_k=3, document_retriever=store.chunks
        )
        try:
            yield f"call {number} {call}", exact(replace(search.retrieve(**call), timings={}))
        except KgError as error:
            yield f"call {number} {call}", [type(error).__name__, str(error), error.remedy]
    for verb, answer in everything(store, case.filter, case.probe).items():
        yield f"filter {filter_dict(case.filter.node) if case.filter.node else None} {verb}", answer


SCORES = {"'score'", "'cutoff'", "'gain'", "score", "cutoff", "gain"}


def difference(one: Any, other: Any, at: str = "") -> str | None:
    """Where two answers in the form of `exact` differ first: scores by more than 1e-4, all else at all."""
    match one, other:
        case (str(name), held), (str(known), told) if name == known and name in SCORES:
            same = held == told or ("None" not in (held, told) and abs(float(held) - float(told)) <= 1e-4)
            return None if same else f"{at}.{name}: {held} and {told}"
        case ("vector", held), ("vector", told) if len(held) == len(told):
            return None if np.allclose(held, told, atol=1e-6) else f"{at}: {held} and {told}"
        case (list() | tuple(), list() | tuple()) if len(one) == len(other) and type(one) is type(other):
            named = isinstance(one, tuple) and isinstance(one[0], str)
            for i, (held, told) in enumerate(zip(one, other, strict=True)):
                found = difference(held, told, f"{at}.{one[0]}" if named else f"{at}[{i}]")
                if found:
                    return found
            return None
    return None if one == other else f"{at}: {one} and {other}"


@contextmanager
def both(address: str) -> Iterator[tuple[GraphStore, GraphStore]]:
    """An empty DuckDB and an empty Neo4j."""
    emptied(address)
    duck, neo = open_store("duckdb:///:memory:", create=True), open_store(address, create=True)
    try:
        yield duck, neo
    finally:
        duck.close()
        neo.close()


def fill(store: GraphStore, case: Case) -> None:
    with store.transaction():
        store.upsert(case.entities, case.edges, embedder=EMBEDDER)
        store.chunks.upsert(case.chunks, embedder=EMBEDDER)
    store.optimize()


def agree(address: str, case: Case) -> None:
    """Both stores hold the case's graph and give the same answers."""
    with both(address) as (duck, neo), pytest.MonkeyPatch.context() as patch:
        if case.indexed:
            patch.setattr("kgcore.store.neo4j_names.EXACT", 0)
            patch.setattr("kgcore.store.neo4j_chunks.EXACT", 0)
        fill(duck, case)
        fill(neo, case)
        if case.indexed:
            neo.optimize()
            assert isinstance(neo, NeoStore) and neo.state.vector_index("EntityName", "embedding")
        for (asked, one), (_, other) in zip(answers(duck, case), answers(neo, case), strict=True):
            found = difference(one, other)
            told = "\n".join(str(edge) for edge in case.edges if edge.id[0] not in "fm")
            assert found is None, f"DuckDB and Neo4j differ in {asked}\n{found}\n{told}"


def numbered() -> list[Any]:
    """The servers' addresses, called by numbers: there are passwords in them."""
    return [pytest.param(address, id=f"neo4j-{number}") for number, address in enumerate(addresses(), 1)]


@pytest.mark.parametrize("address", numbered())
def test_both_stores_give_the_same_answers(address: str, request: pytest.FixtureRequest) -> None:
    @settings(
        max_examples=request.config.getoption("--differential-cases"),
        phases=[Phase.generate],  # a smaller case would take minutes to find
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(cases())
    def compare(case: Case) -> None:
        agree(address, case)

    compare()


def _many() -> Case:
    """So many names that indexes are asked, most of them hidden from the asker, and those the likeliest."""
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(MANY, 4)).astype(np.float32)
    vectors = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    near = vectors @ DIRECTIONS[0] > 0.2
    edges = tuple(
        Edge(
            id=f"m{i:04}",
            source_id=f"m-{i:04}",
            target_id="n0",
            relation=RELATIONS[i % 3],
            src_name=f"{NAMES[i % len(NAMES)]} {i % 7}",
            dst_name="Ann Lee",
            source_doc_id=f"d{i % 9}",
            properties=PUBLIC if i % 31 == 0 and not near[i] else SECRET,
            embedding=vectors[i],
        )
        for i in range(MANY)
    )
    entities = [Entity(id=e.source_id, type="Thing", name=e.src_name, embedding=e.embedding) for e in edges]
    asked: list[dict[str, Any]] = [
        {"question": "Who is nearest?", "seed_mode": "query", "scoring": "edge"},
        {"question": "What uses Acme 3?", "beam_width": 4, "max_hops": 2},
        {"question": "???", "entities": ["Acme 1", "AND 2", "Annn Leigh", "王晓 4", "C 3"], "beam_width": 7},
        {"question": "Who?", "entity_ids": ["n0"], "beam_width": 20, "top_k": 50, "scoring": "edge"},
    ]
    return Case(
        entities=(*entities, Entity(id="n0", type="Person", name="Ann Lee", embedding=DIRECTIONS[1])),
        edges=edges,
        chunks=(),
        calls=tuple((lock, call) for lock in (LOCK, None) for call in asked),
        filter=AccessFilter.of(locked=LOCK, caller=only("source_doc_id", "in", ["d1", "d2"])),
        indexed=False,
    )


@pytest.mark.parametrize("address", numbered())
def test_a_large_graph_that_is_mostly_hidden(address: str) -> None:
    agree(address, _many())
