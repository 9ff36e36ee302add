"""`copy_graph`: one store into another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgcore import ConfigError, StoreError, open_store
from kgcore.config import cache_dir
from kgcore.filters import AccessFilter
from kgcore.ingest import Copied, copy_graph
from kgcore.ingest.copy import checkpoint_of, is_same_store
from kgcore.store import GraphStore
from kgcore.store.protocol import Page
from kgcore.types import Chunk, Description, Edge, Entity, Vector
from tests.contract.graphs import (
    BOARD,
    EMBEDDER,
    NOBODY,
    OPEN,
    PUBLIC,
    READER,
    SECRET,
    WORLD_EDGES,
    WORLD_PROBE,
    Probe,
    chunk,
    edge,
    everything,
    exact,
    vec,
    write,
    write_world,
)
from tests.data.build import JANE, retriever
from tests.property.strategies import LOCK, NAMES, NODES, OTHERS, Graph, graphs

BARE = AccessFilter.of(access_fields=frozenset())
WORLD = Copied(entities=11, edges=14, chunks=5)
PAGE = 3
WRITES = 7
"""What copying the world takes in pages of three: five of edges, two of passages."""


@pytest.fixture
def empty() -> Iterator[Callable[[], GraphStore]]:
    """Makes empty stores that hide nothing."""
    made: list[GraphStore] = []

    def make() -> GraphStore:
        made.append(open_store("duckdb:///:memory:", create=True, access_fields=()))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def world(empty: Callable[[], GraphStore]) -> GraphStore:
    """The contract's world, to be copied."""
    store = empty()
    write_world(store)
    return store


@pytest.fixture
def target(empty: Callable[[], GraphStore]) -> GraphStore:
    """An empty store."""
    return empty()


def told(store: GraphStore, probe: Probe = WORLD_PROBE) -> list[Any]:
    """Every answer of every verb, to everybody."""
    return [
        (
            everything(store, filter, probe),
            exact(store.chunks.scan(filter, None)),
            exact(store.chunks.get_documents_by_id(probe.ids)),
        )
        for filter in (BARE, OPEN, READER, BOARD, NOBODY)
    ]


def held(store: GraphStore) -> list[Any]:
    """All that a store of this size holds, which is what its answers come from."""
    return [exact(store.scan(BARE, None)), exact(store.chunks.scan(BARE, None)), exact(counts(store))]


def counts(store: GraphStore) -> Description:
    """What a store says of itself but for its version."""
    return replace(store.describe(BARE), data_version="")


class Watched:
    """A store that counts the pages it is given, and does something before or after one of them."""

    def __init__(
        self, store: GraphStore, at: int = 0, *, before: Callable[[], None] | None = None,
        after: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        self.store, self.at, self.before, self.after = store, at, before, after
        self.sizes: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def upsert(self, entities: Sequence[Entity], edges: Sequence[Edge], *, embedder: str | None = None) -> None:
        with self.watching(len(edges)):
            self.store.upsert(entities, edges, embedder=embedder)

    @property
    def chunks(self) -> WatchedChunks:
        return WatchedChunks(self)

    @contextmanager
    def watching(self, size: int) -> Iterator[None]:
        self.sizes.append(size)
        if self.before and len(self.sizes) == self.at:
            self.before()
        yield
        if self.after and len(self.sizes) == self.at:
            self.after()


class WatchedChunks:
    """Its passages."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    def __getattr__(self, name: str) -> Any:
        return getattr(self.watched.store.chunks, name)

    def upsert(self, chunks: Sequence[Chunk], *, embedder: str | None = None) -> None:
        with self.watched.watching(len(chunks)):
            self.watched.store.chunks.upsert(chunks, embedder=embedder)


def stop() -> None:
    raise KeyboardInterrupt


def fail() -> None:
    raise StoreError("The server is gone.", remedy="Start it.")


class TestRoundTrip:
    @pytest.mark.parametrize("page", [1, 5, 7, 5_000])
    def test_the_world_is_the_same_to_everybody(self, world: GraphStore, target: GraphStore, page: int) -> None:
        assert copy_graph(world, target, page=page) == WORLD
        assert told(target) == told(world)
        principals = {e.id: e.properties.get("allowed_principals") for e in target.scan(BARE, None).edges}
        assert principals == {e.id: e.properties.get("allowed_principals") for e in WORLD_EDGES}
        assert target.chunks.scan(BARE, None).chunks[-1].metadata["allowed_principals"] == ("board",)

    def test_the_demo_is_the_same_to_everybody(self, demo_address: str, target: GraphStore) -> None:
        demo = open_store(demo_address, access_fields=())
        try:
            page = demo.scan(BARE, None)
            chunks = demo.chunks.scan(BARE, None).chunks
            probe = Probe(
                ids=tuple(dict.fromkeys(e.id for e in page.entities)),
                edge_ids=tuple(e.id for e in page.edges),
                names=tuple(e.name for e in page.entities[::5]),
                vectors=tuple(e.embedding for e in page.edges[::200] if e.embedding is not None),
                prefixes=("a", "jane"),
                words=("employer", "uses"),
            )
            done = copy_graph(demo, target, page=100)
            assert done == Copied(entities=len(probe.ids), edges=len(page.edges), chunks=len(chunks))
            assert min(done.entities, done.edges, done.chunks) > 100 and len(probe.vectors) == 3
            assert told(target, probe) == told(demo, probe)
            asked = [
                retriever(store, filters=LOCKED, document_retriever=store.chunks).retrieve(JANE, max_hops=2)
                for store in (demo, target)
            ]
            assert asked[0] == asked[1] and asked[0].facts
        finally:
            demo.close()

    def test_a_graph_without_vectors_or_without_anything(self, empty: Callable[[], GraphStore]) -> None:
        bare, copied, copied_again = empty(), empty(), empty()
        assert copy_graph(empty(), empty()) == Copied(entities=0, edges=0, chunks=0)
        write(bare, edge("e", "a", "R", "b"), embedder=None)
        assert copy_graph(bare, copied) == Copied(entities=2, edges=1, chunks=0)
        assert copied.describe(OPEN).embedder is None
        write_world(copied_again)
        copy_graph(bare, copied_again)
        assert copied_again.describe(OPEN).embedder == EMBEDDER

    def test_passages_without_a_graph(self, empty: Callable[[], GraphStore]) -> None:
        source, target = empty(), empty()
        source.chunks.upsert([chunk(f"c{i}", vec(1, i)) for i in range(5)], embedder=EMBEDDER)
        assert copy_graph(source, target, page=2) == Copied(entities=0, edges=0, chunks=5)
        assert exact(target.chunks.scan(BARE, None)) == exact(source.chunks.scan(BARE, None))
        assert target.describe(OPEN).embedder == EMBEDDER

    def test_no_more_than_a_page_is_read_and_written_at_a_time(self, world: GraphStore, target: GraphStore) -> None:
        watched = Watched(target)
        copy_graph(world, watched, page=PAGE)
        assert watched.sizes == [3, 3, 3, 3, 2, 3, 2]

    def test_progress_says_how_far_it_is(self, world: GraphStore, target: GraphStore) -> None:
        calls: list[tuple[int, int, str]] = []
        copy_graph(world, target, page=5, progress=lambda *call: calls.append(call))
        assert calls == [
            (0, 18, "edges"), (5, 18, "edges"), (10, 18, "edges"), (14, 18, "passages"), (19, 19, "passages"),
            (19, 19, "counting"),
        ]  # fmt: skip

    def test_progress_ends_where_all_is_done_without_passages_too(self, empty: Callable[[], GraphStore]) -> None:
        source, calls = empty(), []
        write(source, edge("e", "a", "R", "b"))
        copy_graph(source, empty(), progress=lambda *call: calls.append(call))
        assert calls == [(0, 2, "edges"), (1, 2, "passages"), (1, 1, "counting")]


LOCKED = {"field": "allowed_principals", "operator": "contains_any", "value": ["group:public"]}


class TestWhatIsThereAlready:
    def test_stays_and_the_same_ids_are_replaced(self, world: GraphStore, target: GraphStore) -> None:
        write(target, edge("mine", "a", "R", "jane", doc="mine"), edge("e01", "a", "OLD", "b"))
        target.chunks.upsert([chunk("mine"), Chunk(id="d1", content="Old.", document_id="d", metadata=PUBLIC)])
        assert copy_graph(world, target, page=4) == WORLD
        assert exact(target.edges([e.id for e in WORLD_EDGES], BARE)) == exact(
            world.edges([e.id for e in WORLD_EDGES], BARE)
        )
        assert [e.id for e in target.edges(["mine"], READER)] == ["mine"]
        assert [d.content for d in target.chunks.get_documents_by_id(["d1", "mine"])] == [
            "Text of d1.",
            "Text of mine.",
        ]

    def test_copying_again_changes_nothing(self, world: GraphStore, target: GraphStore) -> None:
        for page in (14, 3):
            assert copy_graph(world, target, page=page) == WORLD
            assert held(target) == held(world)

    def test_vectors_of_another_embedder_are_refused_by_the_store(self, world: GraphStore, target: GraphStore) -> None:
        write(target, edge("mine", "a", "R", "b", embedding=vec(1, 0)), embedder="another")
        before = exact(target.scan(BARE, None))
        with pytest.raises(StoreError, match=r"made by another \(2 numbers\), not by toy \(4\)") as caught:
            copy_graph(world, target)
        assert "Write with another" in caught.value.remedy
        assert exact(target.scan(BARE, None)) == before


class TestRefusals:
    def test_a_source_that_hides_who_may_see_what(self, target: GraphStore) -> None:
        source = open_store("duckdb:///:memory:", create=True)
        write_world(source)
        with pytest.raises(ConfigError, match="lose who may see what") as caught:
            copy_graph(source, target)
        source.close()
        assert (caught.value.field, "access_fields=()" in caught.value.remedy) == ("source", True)
        assert target.describe(OPEN).edges == 0

    def test_a_store_into_itself(self, world: GraphStore) -> None:
        with pytest.raises(ConfigError, match="into itself"):
            copy_graph(world, world)

    @pytest.mark.parametrize("page", [0, -1])
    def test_a_page_of_nothing(self, world: GraphStore, target: GraphStore, page: int) -> None:
        with pytest.raises(ConfigError, match="at least one edge"):
            copy_graph(world, target, page=page)

    def test_a_checkpoint_that_cannot_be_written(self, world: GraphStore, target: GraphStore, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        (tmp_path / "folder.json").mkdir()
        for path in (tmp_path / "file" / "x.json", tmp_path / "folder.json"):
            with pytest.raises(ConfigError, match="cannot be written") as caught:
                copy_graph(world, target, checkpoint=path)
            assert "HOPSCOPE_CACHE_DIR" in caught.value.remedy
        assert target.describe(OPEN).edges == 0


class TestGoingOn:
    @pytest.mark.parametrize(("at", "how"), [*((at, stop) for at in range(1, WRITES + 1)), (4, fail)])
    def test_after_a_stop_before_any_page(
        self, world: GraphStore, target: GraphStore, tmp_path: Path, at: int, how: Callable[[], None]
    ) -> None:
        path = tmp_path / "copies" / "x.json"
        with pytest.raises((KeyboardInterrupt, StoreError)):
            copy_graph(world, Watched(target, at, before=how), checkpoint=path, page=PAGE)
        assert [file.name for file in path.parent.iterdir()] == ["x.json"]
        watched = Watched(target)
        assert copy_graph(world, watched, checkpoint=path, page=PAGE) == WORLD
        assert len(watched.sizes) == WRITES + 1 - at
        assert held(target) == held(world)
        assert list(path.parent.iterdir()) == []

    @pytest.mark.parametrize("at", range(1, WRITES + 1))
    def test_after_a_stop_between_a_page_and_its_checkpoint(
        self, world: GraphStore, target: GraphStore, tmp_path: Path, at: int
    ) -> None:
        path = tmp_path / "x.json"
        with pytest.raises(KeyboardInterrupt):
            copy_graph(world, Watched(target, at, after=stop), checkpoint=path, page=PAGE)
        watched = Watched(target)
        assert copy_graph(world, watched, checkpoint=path, page=PAGE) == WORLD
        assert len(watched.sizes) == WRITES + 1 - at
        assert held(target) == held(world)

    def test_after_a_stop_at_every_page_in_turn(self, world: GraphStore, target: GraphStore, tmp_path: Path) -> None:
        path = tmp_path / "x.json"
        for _ in range(WRITES - 1):
            with pytest.raises(KeyboardInterrupt):
                copy_graph(world, Watched(target, 2, before=stop), checkpoint=path, page=PAGE)
        assert copy_graph(world, target, checkpoint=path, page=PAGE) == WORLD
        assert held(target) == held(world)

    @pytest.mark.parametrize("verb", ["optimize", "describe"])
    def test_after_a_stop_at_the_end(self, world: GraphStore, target: GraphStore, tmp_path: Path, verb: str) -> None:
        path = tmp_path / "x.json"
        halting = Watched(target, WRITES, after=lambda: setattr(halting, verb, lambda *_: fail()))
        with pytest.raises(StoreError, match="server is gone"):
            copy_graph(world, halting, checkpoint=path, page=PAGE)
        watched = Watched(target)
        assert copy_graph(world, watched, checkpoint=path, page=PAGE) == WORLD
        assert watched.sizes == []
        assert held(target) == held(world)

    def test_with_other_pages(self, world: GraphStore, target: GraphStore, tmp_path: Path) -> None:
        stopped(world, target, tmp_path, at=4)
        assert copy_graph(world, target, checkpoint=tmp_path / "x.json", page=2) == WORLD
        assert held(target) == held(world)

    def test_the_checkpoint_holds_nothing_of_the_graph_but_two_ids(
        self, world: GraphStore, target: GraphStore, tmp_path: Path
    ) -> None:
        path = stopped(world, target, tmp_path, at=WRITES)
        held = json.loads(path.read_text())
        assert len(held.pop("source")) == 64
        assert held == {
            "empty": True, "phase": "passages", "after": "d3", "edges": 14, "chunks": 3, "last_edge": "h02",
            "last_chunk": "d3",
        }  # fmt: skip

    def test_without_a_checkpoint_it_starts_anew(self, world: GraphStore, target: GraphStore) -> None:
        with pytest.raises(KeyboardInterrupt):
            copy_graph(world, Watched(target, 4, before=stop), page=PAGE)
        watched = Watched(target)
        assert copy_graph(world, watched, page=PAGE) == WORLD
        assert (len(watched.sizes), held(target)) == (WRITES, held(world))


def stopped(source: GraphStore, target: GraphStore, folder: Path, *, at: int) -> Path:
    """The checkpoint of a copy in pages of three that was stopped before one of them."""
    path = folder / "x.json"
    with pytest.raises(KeyboardInterrupt):
        copy_graph(source, Watched(target, at, before=stop), checkpoint=path, page=PAGE)
    return path


class TestStartingAnew:
    @pytest.mark.parametrize(
        ("change", "edges"),
        [
            (lambda source: write(source, edge("a00", "jane", "MEETS", "bob", src="Jane Doe", dst="Bob Roe")), 15),
            (lambda source: source.set_access(["d1"], SECRET), 14),
        ],
        ids=["an-edge", "access-alone"],
    )
    def test_when_the_source_has_changed(
        self, world: GraphStore, target: GraphStore, tmp_path: Path, change: Callable[[GraphStore], None], edges: int
    ) -> None:
        path = stopped(world, target, tmp_path, at=4)
        change(world)
        watched = Watched(target)
        assert copy_graph(world, watched, checkpoint=path, page=PAGE).edges == edges
        assert (len(watched.sizes), held(target)) == (WRITES, held(world))

    def test_when_another_graph_of_the_same_version_is_there(
        self, empty: Callable[[], GraphStore], tmp_path: Path
    ) -> None:
        first, second, target = empty(), empty(), empty()
        write(first, *[edge(f"e{i}", "a", "R", "b") for i in range(8)])
        write(second, *[edge(f"e{i}", "a", "S", "b") for i in range(8)])
        assert first.describe(OPEN).data_version == second.describe(OPEN).data_version
        path = stopped(first, target, tmp_path, at=2)
        copy_graph(second, target, checkpoint=path, page=PAGE)
        assert exact(target.scan(BARE, None)) == exact(second.scan(BARE, None))

    @pytest.mark.parametrize("at", [2, 5, 6, 7])
    def test_when_the_target_was_emptied(
        self, world: GraphStore, empty: Callable[[], GraphStore], tmp_path: Path, at: int
    ) -> None:
        path, watched = stopped(world, empty(), tmp_path, at=at), Watched(empty())
        assert copy_graph(world, watched, checkpoint=path, page=PAGE) == WORLD
        assert len(watched.sizes) == WRITES
        assert held(watched.store) == held(world)

    def test_when_the_target_was_replaced_by_one_that_holds_more(
        self, world: GraphStore, empty: Callable[[], GraphStore], tmp_path: Path
    ) -> None:
        others = [edge(f"x{i:02}", "a", "R", f"b{i:02}", doc=f"x{i}") for i in range(40)]
        before, after = empty(), empty()
        for store in (before, after):
            write(store, *others)
            store.chunks.upsert([chunk(f"x{i}") for i in range(40)])
        path = stopped(world, before, tmp_path, at=4)
        assert copy_graph(world, after, checkpoint=path, page=PAGE) == WORLD
        assert len(after.edges([e.id for e in WORLD_EDGES], BARE)) == 14

    def test_when_the_last_passages_are_gone(self, world: GraphStore, target: GraphStore, tmp_path: Path) -> None:
        path = stopped(world, target, tmp_path, at=WRITES)
        target.chunks.delete_documents(["d3"])
        watched = Watched(target)
        assert copy_graph(world, watched, checkpoint=path, page=PAGE) == WORLD
        assert (len(watched.sizes), held(target)) == (WRITES, held(world))

    def test_when_the_counts_say_that_the_target_has_lost_a_part(
        self, world: GraphStore, target: GraphStore, tmp_path: Path
    ) -> None:
        path = stopped(world, target, tmp_path, at=4)
        target.delete_documents(["d1"])
        assert target.edges(["e09"], BARE)  # what was written last is there
        watched = Watched(target)
        assert copy_graph(world, watched, checkpoint=path, page=PAGE) == WORLD
        assert len(watched.sizes) == WRITES - 3 + WRITES
        assert held(target) == held(world)
        assert not path.exists()

    def test_once_then_the_error_is_told(self, world: GraphStore, target: GraphStore, tmp_path: Path) -> None:
        path, watched = stopped(world, target, tmp_path, at=4), Watched(target)
        watched.describe = lambda filter: replace(target.describe(filter), edges=2)
        with pytest.raises(StoreError, match="holds 2 edges where 14 were copied"):
            copy_graph(world, watched, checkpoint=path, page=PAGE)
        assert len(watched.sizes) == WRITES - 3 + WRITES
        assert not path.exists()

    @pytest.mark.parametrize(
        "change",
        [
            lambda _: b"",
            lambda _: b"\xff\xfe{",
            lambda _: b"[]",
            lambda text: text[:-9],
            lambda text: text.replace(b'"phase": "edges"', b'"phase": "elsewhere"'),
            lambda text: text.replace(b'"after": "e09"', b'"after": 9'),
            lambda text: text.replace(b'"source"', b'"sources"'),
            lambda text: text.replace(b'"last_edge": "e09"', b'"last_edge": "e99"'),
        ],
        ids=["empty", "bytes", "list", "cut", "phase", "kind", "name", "last"],
    )
    def test_when_the_checkpoint_cannot_be_read(
        self, world: GraphStore, target: GraphStore, tmp_path: Path, change: Callable[[bytes], bytes]
    ) -> None:
        path = stopped(world, target, tmp_path, at=4)
        wrong = change(path.read_bytes())
        assert wrong != path.read_bytes()
        path.write_bytes(wrong)
        watched = Watched(target)
        assert copy_graph(world, watched, checkpoint=path, page=PAGE) == WORLD
        assert (len(watched.sizes), held(target), path.exists()) == (WRITES, held(world), False)

    def test_when_the_checkpoint_counts_wrongly(self, world: GraphStore, target: GraphStore, tmp_path: Path) -> None:
        path = stopped(world, target, tmp_path, at=4)
        path.write_text(path.read_text().replace('"after": "e09"', '"after": "h01"'))
        assert copy_graph(world, target, checkpoint=path, page=PAGE) == WORLD
        assert held(target) == held(world)


def describing(store: GraphStore, what: str, more: int, since: int) -> Watched:
    """The store, but that it counts more or less once it has been given some pages."""

    def describe(filter: AccessFilter) -> Any:
        now = store.describe(filter)
        return replace(now, **{what: getattr(now, what) + more}) if len(watched.sizes) >= since else now

    watched = Watched(store)
    watched.describe = describe
    return watched


class TestCounts:
    @pytest.mark.parametrize(("what", "count"), [("edges", 14), ("entities", 11), ("documents", 4)])
    @pytest.mark.parametrize("more", [-1, 1])
    def test_must_agree(self, world: GraphStore, target: GraphStore, what: str, count: int, more: int) -> None:
        with pytest.raises(StoreError, match=f"holds {count + more} {what} where {count} were copied") as caught:
            copy_graph(world, describing(target, what, more, WRITES), page=PAGE)
        assert "empty store" in caught.value.remedy

    @pytest.mark.parametrize("what", ["edges", "entities", "documents"])
    def test_may_be_more_where_there_was_something_before(
        self, world: GraphStore, target: GraphStore, what: str
    ) -> None:
        write(target, edge("e01", "jane", "R", "acme", doc="d1"))
        assert copy_graph(world, describing(target, what, 1, WRITES), page=PAGE) == WORLD
        with pytest.raises(StoreError, match=what):
            copy_graph(world, describing(target, what, -1, WRITES), page=PAGE)

    def test_a_passage_there_before_makes_a_target_not_empty(self, world: GraphStore, target: GraphStore) -> None:
        target.chunks.upsert([chunk("mine")])
        assert copy_graph(world, target) == WORLD

    @pytest.mark.parametrize(("change", "there"), [(lambda s: s.chunks.delete_documents(["d1"]), 4),
                                                   (lambda s: s.chunks.upsert([chunk("new")]), 6)])  # fmt: skip
    def test_passages_must_agree(
        self, world: GraphStore, target: GraphStore, change: Callable[[GraphStore], None], there: int
    ) -> None:
        watched = Watched(target, WRITES, after=lambda: change(target))
        with pytest.raises(StoreError, match=f"holds {there} passages where 5 were copied"):
            copy_graph(world, watched, page=PAGE)

    def test_a_source_that_changes_meanwhile_is_an_error(self, world: GraphStore, target: GraphStore) -> None:
        watched = Watched(target, 3, after=lambda: write(world, edge("a00", "jane", "R", "bob")))
        with pytest.raises(StoreError, match="changed while it was copied") as caught:
            copy_graph(world, watched, page=PAGE)
        assert "while nothing writes" in caught.value.remedy

    def test_a_source_that_changes_while_a_copy_goes_on_is_copied_anew(
        self, world: GraphStore, target: GraphStore, tmp_path: Path
    ) -> None:
        path = stopped(world, target, tmp_path, at=4)
        watched = Watched(target, 1, after=lambda: write(world, edge("a00", "jane", "R", "bob")))
        assert copy_graph(world, watched, checkpoint=path, page=PAGE).edges == 15
        assert held(target) == held(world)

    def test_an_edge_seen_twice_counts_once(self, world: GraphStore, target: GraphStore, tmp_path: Path) -> None:
        listed = world.scan(BARE, None)
        e = listed.edges
        parts = [(e[0], e[1], e[1]), (e[1], e[2]), (e[2], e[2]), (e[2], *e[3:])]

        class Repeating(Watched):
            def scan(self, filter: AccessFilter, after: str | None, limit: int, *, vectors: bool = True) -> Page:
                number = int(after or 0)
                more = str(number + 1) if number + 1 < len(parts) else None
                return Page(edges=parts[number], entities=listed.entities, after=more)

        path = tmp_path / "x.json"
        with pytest.raises(KeyboardInterrupt):
            copy_graph(Repeating(world), Watched(target, 4, before=stop), checkpoint=path)
        assert copy_graph(Repeating(world), target, checkpoint=path) == WORLD
        assert held(target) == held(world)


class TestAddresses:
    def test_credentials_are_no_part_of_a_checkpoints_name(self) -> None:
        to = "duckdb:///x.duckdb"
        path = checkpoint_of("neo4j://me:pa/ss@word@host:7687/db", to)
        assert path.parent == cache_dir() / "copies" and path.suffix == ".json"
        assert path == checkpoint_of("neo4j://you:secret@HOST:7687/db", to) == checkpoint_of("neo4j://host:7687/db", to)

    def test_each_pair_has_its_own(self, tmp_path: Path) -> None:
        a, b, c = (f"duckdb:///{tmp_path}/{name}.duckdb" for name in "abc")
        servers = ["neo4j://host/db", "neo4j://host/other", "neo4j://other/db", "neo4j://host"]
        pairs = [(a, b), (b, a), (a, c), *((a, server) for server in servers), (servers[0], a)]
        assert len({checkpoint_of(*pair) for pair in pairs}) == len(pairs)

    def test_one_store_has_many_addresses(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "link").symlink_to(tmp_path / "x.duckdb")
        file = f"duckdb:///{tmp_path}/x.duckdb"
        for other in ("duckdb:///x.duckdb", "duckdb:///./x%2Educkdb", "duckdb:///link", f"duckdb:///{tmp_path}/./link"):
            assert is_same_store(file, other)
        for other in ("duckdb:///X.duckdb", "duckdb:///a@x.duckdb", "neo4j://x.duckdb", "duckdb:///%00", "x", ""):
            assert not is_same_store(file, other)
        assert is_same_store("neo4j://me:secret@host/db", "bolt://host/db")
        assert not is_same_store("neo4j://me:secret@host/db", "neo4j://me:secret@host/other")


UNITS = st.sampled_from([None, vec(1, 0, 0, 0), vec(0, 1, 0, 0), vec(1, 1, 1, 1), vec(1, 2, 3, 4)])
PROBE = Probe(
    ids=NODES, edge_ids=tuple(f"e{i:02}" for i in range(30)), names=(*NAMES, *OTHERS), prefixes=("a", "王"),
    words=("employer",),
)  # fmt: skip


@settings(max_examples=20)
@given(graphs(), st.data())
def test_any_small_graph_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, graph: Graph, data: st.DataObject
) -> None:
    def vectors(count: int) -> list[Vector | None]:
        return data.draw(st.lists(UNITS, min_size=count, max_size=count))

    edges = [replace(e, embedding=v) for e, v in zip(graph.edges, vectors(len(graph.edges)), strict=True)]
    entities = [replace(e, embedding=v) for e, v in zip(graph.entities, vectors(len(graph.entities)), strict=True)]
    chunks = [
        Chunk(id=id_, content=f"Text of {id_}.", document_id="d", metadata=metadata, embedding=v)
        for id_, metadata, v in zip(("d1", "d2", "d3"), (PUBLIC, SECRET, {}), vectors(3), strict=True)
    ]
    page, at = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 8))
    path = tmp_path_factory.mktemp("copy") / "x.json"
    source, target = (open_store("duckdb:///:memory:", create=True, access_fields=()) for _ in range(2))
    try:
        source.upsert(entities, edges, embedder=EMBEDDER)
        source.chunks.upsert(chunks, embedder=EMBEDDER)
        try:
            copy_graph(source, Watched(target, at, before=stop), page=page, checkpoint=path)
        except KeyboardInterrupt:
            copy_graph(source, target, page=page, checkpoint=path)
        assert held(target) == held(source)
        locked = AccessFilter.of(locked=LOCK)
        assert everything(target, locked, PROBE) == everything(source, locked, PROBE)
    finally:
        source.close()
        target.close()
