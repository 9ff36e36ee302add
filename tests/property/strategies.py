"""Small random graphs with a little of everything that a walk can meet, some of it hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge, Entity
from tests.contract.graphs import only

LOCK = only("allowed_principals", "contains_any", ["all"])
NODES = tuple(f"n{i}" for i in range(6))
NAMES = ("Ann Lee", "Ann Lee", "Acme", "Helios", "River Bank", "王晓梅")
"""What visible edges call the nodes, in their order: two have one name."""
OTHERS = ("Ann Leigh", "Acme", "Codename Bluebird", "Anna", "王晓明")
"""What an edge may call any node instead."""
RELATIONS = ("USES", "WORKS_AT", "knows")
DESCRIPTIONS = (None, None, "the employer uses a system", "since 2019")
VALUES = ("red", "Red", "7")
PASSAGES = ("d1", "d2", "d3", "d4", "d5")
"""The first two are what edges name as their source."""
SENTENCES = (
    "Ann Lee's employer is Acme.",
    "The system that Acme uses is Helios.",
    "The River Bank of Acme lies south.",
    "Codename Bluebird is a system.",
    "王晓梅 knows Helios.",
    "Nothing of note.",
)
QUESTIONS = (
    "What system does Ann Lee's employer use?",
    "Where is the River Bank of Acme?",
    "Who is Codename Bluebird?",
    "王晓梅 knows which system?",
    "Who knows Ann Leigh?",
    "???",
)
SEEN = (("all",), ("board", "all"))
UNSEEN: tuple[Any, ...] = (("board",), (), "all", None)
"""A list without "all", an empty list, a text that is no list, and nothing: none lets a reader in."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """What is written, and what a reader sees of it by the rules, not by a store."""

    edges: tuple[Edge, ...]
    chunks: tuple[Chunk, ...] = ()

    @property
    def visible(self) -> tuple[Edge, ...]:
        return tuple(e for e in self.edges if is_visible(e))

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Each (id, name) that an edge gives."""
        return tuple(
            dict.fromkeys(pair for e in self.edges for pair in ((e.source_id, e.src_name), (e.target_id, e.dst_name)))
        )

    @property
    def entities(self) -> tuple[Entity, ...]:
        return tuple(Entity(id=id_, type=type_of(id_), name=name) for id_, name in self.names)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Visible nodes that are no attribute's value."""
        return tuple(sorted({i for e in self.visible for i in (e.source_id, e.target_id) if i in NODES}))

    @property
    def without_hidden(self) -> tuple[tuple[Entity, ...], tuple[Edge, ...]]:
        """The graph without its hidden edges, and with other names where only hidden edges gave one."""
        given = set(Graph(edges=self.visible).names)
        scrambled = tuple(
            Entity(id=id_, type=type_of(id_), name=name if (id_, name) in given else f"Scrambled {number}")
            for number, (id_, name) in enumerate(self.names)
        )
        return scrambled, self.visible

    @property
    def visible_chunks(self) -> tuple[Chunk, ...]:
        """The passages that pass by themselves or stand behind a visible edge."""
        said = {e.source_doc_id for e in self.visible}
        return tuple(c for c in self.chunks if c.id in said or _lets_in(c.metadata))


def is_visible(edge: Edge) -> bool:
    """Whether the lock lets an edge through."""
    return _lets_in(edge.properties)


def _lets_in(properties: Mapping[str, Any]) -> bool:
    principals = properties.get("allowed_principals")
    return isinstance(principals, tuple) and "all" in principals


def type_of(id_: str) -> str:
    return {"n0": "Person", "n1": "Person", "n2": "Company"}.get(id_, "Thing")


@st.composite
def _edge(draw: st.DrawFn, seen: st.SearchStrategy[Any]) -> dict[str, Any]:
    source = draw(st.sampled_from(NODES))
    document = draw(st.sampled_from(["d1", "d2", None]))
    principals = draw(seen)
    properties: dict[str, Any] = {} if principals is None else {"allowed_principals": principals}
    properties |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "year": st.sampled_from([2023, 2024, 2024.0, "2024", True]),
                "tags": st.sampled_from([("a", "b"), ("b",), (1,)]),
            },
        )
    )
    made = {
        "source_id": source,
        "src_name": draw(st.just(NAMES[NODES.index(source)]) | st.sampled_from(OTHERS)),
        "description": draw(st.sampled_from(DESCRIPTIONS)),
        "source_doc_id": document,
        "properties": properties,
    }
    if draw(st.integers(0, 4)) == 0:
        key, value = draw(st.sampled_from(["status", "size"])), draw(st.sampled_from(VALUES))
        return {
            **made, "relation": HAS_ATTRIBUTE, "key": key, "dst_name": value,
            "target_id": f"{source}/{key}/{value}/{document}",
        }  # fmt: skip
    target = draw(st.sampled_from(NODES))
    return {
        **made,
        "relation": draw(st.sampled_from(RELATIONS)),
        "target_id": target,
        "dst_name": draw(st.just(NAMES[NODES.index(target)]) | st.sampled_from(OTHERS)),
    }


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Visible edges, and hidden ones among them."""
    seen = draw(st.lists(_edge(st.sampled_from(SEEN)), min_size=5, max_size=14))
    unseen = draw(st.lists(_edge(st.sampled_from(UNSEEN)), min_size=2, max_size=8))
    numbers = draw(st.permutations(range(len(seen) + len(unseen))))
    parts = sorted(zip(numbers, [*seen, *unseen], strict=True), key=lambda pair: pair[0])
    edges = tuple(Edge(id=f"e{number:02}", **part) for number, part in parts)
    return Graph(
        edges=edges, chunks=tuple(draw(_chunk(id_)) for id_ in sorted(draw(st.sets(st.sampled_from(PASSAGES)))))
    )


@st.composite
def _chunk(draw: st.DrawFn, id_: str) -> Chunk:
    principals = draw(st.sampled_from((*SEEN, *UNSEEN)))
    metadata: dict[str, Any] = {} if principals is None else {"allowed_principals": principals}
    content = " ".join(draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3)))
    return Chunk(id=id_, document_id=f"doc-{id_}", content=content, metadata=metadata)


_COMPARISONS = st.sampled_from(
    [
        only("year", "==", 2024), only("year", "!=", 2024), only("year", ">", 2023), only("year", "<=", "2024"),
        only("year", "in", [2023, True]), only("year", "not in", ["2024", 1]), only("tags", "contains_any", ["b", 1]),
        only("tags", "==", "b"), only("source_doc_id", "==", "d1"), only("source_doc_id", "!=", "d1"),
        only("key", "==", "status"), only("src_name", "in", ["Ann Lee", "Acme"]), only("description", "!=", "x"),
        only("unheard_of", "!=", 1), only("allowed_principals", "contains_any", ["board", "all"]),
    ]
)  # fmt: skip
filters: st.SearchStrategy[dict[str, Any]] = st.recursive(
    _COMPARISONS,
    lambda inner: st.fixed_dictionaries(
        {"operator": st.sampled_from(["AND", "OR"]), "conditions": st.lists(inner, min_size=1, max_size=3)}
    ),
    max_leaves=4,
)
"""What a caller may narrow by, an access field among it."""
