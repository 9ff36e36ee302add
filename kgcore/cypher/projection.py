"""The visible edges of a store, in a process of their own that queries are run in."""

from __future__ import annotations

import json
import os
import select
import struct
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from kgcore.cypher.answer import CypherAnswer, Node, Relationship, Value, Way
from kgcore.cypher.limits import MAX_BYTES
from kgcore.errors import QueryError
from kgcore.filters import AccessFilter
from kgcore.store.neo4j_values import stored_name
from kgcore.store.protocol import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Edge, End

GRACE = 2.0
"""Seconds past its time after which a process that does not answer is ended."""
_LOAD_TIME = 120.0
_PART = 20_000
_LESS = "Match less: name labels and ids, bound path lengths, and add a LIMIT."
_OURS = ("id", "src_name", "dst_name", "key", "description", "source_doc_id")
_Kind = tuple[str, str, str]
_CHILD = Path(__file__).with_name("child.py")


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Relationships of one type between nodes of two, and how many."""

    source: str
    relation: str
    target: str
    count: int


@dataclass(frozen=True, kw_only=True)
class CypherSchema:
    """What can be asked about: labels and their nodes, relationship types with their properties, and patterns.

    Counts are of what is visible; each is ordered by (count descending, name). `chain` are the two patterns that most
    often follow each other, without attributes.
    """

    labels: Mapping[str, int]
    relations: Mapping[str, int]
    properties: Mapping[str, tuple[str, ...]]
    patterns: tuple[Pattern, ...]
    chain: tuple[Pattern, ...] = ()


class Projection:
    """The edges that a filter lets through, as the engine holds them. One query at a time; closed, it is ended.

    Raises QueryError when there are more than `most` edges.
    """

    def __init__(self, store: GraphStore, filter: AccessFilter, most: int) -> None:
        edges = _edges(store, filter, most)
        ends = _ends(store, filter, edges)
        self.schema = _schema(edges, ends)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
        )
        try:
            self._load(edges, ends)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def query(self, query: str, parameters: Mapping[str, Any], *, rows: int, timeout: float) -> CypherAnswer:
        """The answer. Raises QueryError; a process that had to be ended is no longer `alive`."""
        asked = {"query": query, "parameters": parameters, "rows": rows, "timeout": timeout, "limit": MAX_BYTES}
        with self._lock:
            self._send(asked)
            got = self._reply(timeout + GRACE)
        if "error" in got:
            raise _refused(got["error"], timeout)
        return CypherAnswer(
            query=query,
            columns=tuple(got["columns"]),
            rows=tuple(tuple(decoded(value) for value in row) for row in got["rows"]),
            truncated=got["truncated"],
            milliseconds=round(got["milliseconds"], 1),
        )

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _load(self, edges: Sequence[Edge], ends: Mapping[str, End]) -> None:
        kinds = defaultdict(list)
        for end in ends.values():
            kinds[end.type].append({"id": end.id, "name": end.name})
        self._send({"nodes": kinds})
        groups = defaultdict(list)
        for edge in edges:
            of = ends[edge.source_id].type, ends[edge.target_id].type, edge.relation
            groups[of].append({"a": edge.source_id, "b": edge.target_id, "p": _properties(edge)})
        for of, records in groups.items():
            for part in _parts(records):
                self._send({"edges": [[*of, part]]})
        self._send({"seal": len(edges)})
        got = self._reply(_LOAD_TIME)
        if "error" in got:
            raise QueryError(
                "The graph could not be made ready for queries.", remedy="Narrow it with a filter, or ask in Ask."
            )

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(struct.pack(">I", len(body)) + body)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise self._ended() from None

    def _reply(self, seconds: float) -> dict[str, Any]:
        until = time.monotonic() + seconds
        size = struct.unpack(">I", self._read(4, until))[0]
        found: dict[str, Any] = json.loads(self._read(size, until))
        return found

    def _read(self, size: int, until: float) -> bytes:
        assert self._process.stdout is not None
        pipe, found = self._process.stdout.fileno(), bytearray()
        while len(found) < size:
            ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
            part = os.read(pipe, size - len(found)) if ready else b""
            if not part:
                raise self._ended()
            found += part
        return bytes(found)

    def _ended(self) -> QueryError:
        self.close()
        return QueryError(
            "The query was ended: it took too long, too much memory, or was nested too deeply.",
            remedy=_LESS,
        )


def _edges(store: GraphStore, filter: AccessFilter, most: int) -> list[Edge]:
    found: list[Edge] = []
    after: str | None = None
    while True:
        page = store.scan(filter, after, _PART, vectors=False)
        found += page.edges
        after = page.after
        if len(found) > most:
            raise QueryError(
                f"More than {most:,} edges can be seen: too many to query at once.", remedy="Narrow them with a filter."
            )
        if after is None:
            return found


def _ends(store: GraphStore, filter: AccessFilter, edges: Sequence[Edge]) -> dict[str, End]:
    ids = sorted({id_ for edge in edges for id_ in (edge.source_id, edge.target_id)})
    return {end.id: end for part in _parts(ids) for end in store.entities(part, filter)}


def _parts(records: Sequence[Any]) -> Iterator[list[Any]]:
    left = iter(records)
    while part := list(islice(left, _PART)):
        yield part


def _properties(edge: Edge) -> dict[str, Any]:
    """As Neo4j holds them in our layout, without vectors; a property of a reserved name has its prefix."""
    ours = {name: getattr(edge, name) for name in _OURS}
    free = {stored_name(name): value for name, value in edge.properties.items()}
    return {name: value for name, value in {**ours, **free}.items() if value is not None}


def _schema(edges: Sequence[Edge], ends: Mapping[str, End]) -> CypherSchema:
    properties: dict[str, set[str]] = defaultdict(set)
    relations: Counter[str] = Counter()
    counts: Counter[_Kind] = Counter()
    into: dict[str, set[_Kind]] = defaultdict(set)
    for edge in edges:
        kind = ends[edge.source_id].type, edge.relation, ends[edge.target_id].type
        properties[edge.relation].update(edge.properties)
        relations[edge.relation] += 1
        counts[kind] += 1
        into[edge.target_id].add(kind)
    patterns = {
        kind: Pattern(source=kind[0], relation=kind[1], target=kind[2], count=count)
        for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    }
    return CypherSchema(
        labels=_by_count(Counter(end.type for end in ends.values())),
        relations=_by_count(relations),
        properties={
            relation: (*_OURS, *map(stored_name, sorted(properties[relation]))) for relation in sorted(properties)
        },
        patterns=tuple(patterns.values()),
        chain=tuple(patterns[kind] for kind in _chain(edges, ends, into)),
    )


def _chain(edges: Sequence[Edge], ends: Mapping[str, End], into: Mapping[str, set[_Kind]]) -> tuple[_Kind, ...]:
    counts: Counter[tuple[_Kind, _Kind]] = Counter()
    for edge in edges:
        if edge.relation == HAS_ATTRIBUTE or edge.source_id == edge.target_id:
            continue
        kind = ends[edge.source_id].type, edge.relation, ends[edge.target_id].type
        counts.update((before, kind) for before in into.get(edge.source_id, ()))
    return min(counts, key=lambda pair: (-counts[pair], pair), default=())


def _by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def decoded(value: Any) -> Value:
    """A value as the child wrote it, in our types."""
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    match value:
        case ["list", *items]:
            return tuple(decoded(item) for item in items)
        case ["map", dict(held)]:
            return {name: decoded(item) for name, item in held.items()}
        case ["node", id_, kind, name]:
            return Node(id=id_, type=kind, name=name)
        case ["edge", relation, source, target, dict(held)]:
            own = {name: decoded(item) for name, item in held.items() if name != "id"}
            return Relationship(
                id=str(held.get("id", "")), source_id=source, target_id=target, relation=relation, properties=own
            )
        case ["path", list(nodes), list(edges)]:
            return Way(
                nodes=tuple(n for n in map(decoded, nodes) if isinstance(n, Node)),
                relationships=tuple(e for e in map(decoded, edges) if isinstance(e, Relationship)),
            )
    raise ValueError("an unknown kind of value")


def _refused(said: str, timeout: float) -> QueryError:
    if "work units" in said:
        return QueryError("The query looks at too much.", remedy=_LESS)
    if "timed out" in said.lower() or "timeout" in said.lower():
        return QueryError(
            f"The query took longer than {timeout:g} seconds.",
            remedy=_LESS,
        )
    return QueryError(said.removeprefix("Cypher ").strip()[:1_000], remedy="Correct the query and run it again.")
