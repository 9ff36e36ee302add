"""The process that a query runs in: an engine in memory, over visible edges alone, that can open nothing.

Started by its path, with an empty environment and nothing of ours. Frames on stdin and stdout are a length of four
bytes and JSON. `{"nodes": ...}` and `{"edges": ...}` load, `{"seal": edges}` locks, then each query is answered.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any

import kglite

GIB = 1 << 30
MAX_WORK = 5_000_000
_NODE, _EDGE, _PATH = (
    {"id", "labels", "properties"},
    {"id", "start", "end", "type", "properties"},
    {"nodes", "relationships"},
)


def frames() -> Iterator[dict[str, Any]]:
    """What the parent sends, until it ends."""
    while head := sys.stdin.buffer.read(4):
        yield json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))


def reply(message: dict[str, Any]) -> None:
    """Sends one frame back."""
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


def name(text: str) -> str:
    """A name as a query holds it."""
    return "`" + text.replace("`", "``") + "`"


class Engine:
    """The graph, first loaded, then sealed, then asked."""

    def __init__(self, nodes: dict[str, list[dict[str, str]]]) -> None:
        groups = [
            {"type": kind, "id_field": "id", "title_field": "name", "records": records}
            for kind, records in nodes.items()
        ]
        self.graph = kglite.from_records({"nodes": groups, "connections": []})
        for kind, records in nodes.items():
            if kind != "Entity":
                self.graph.add_label(kind, [record["id"] for record in records], "Entity")
        self.ids: dict[int, tuple[str, str]] = {}

    def load(self, source: str, target: str, relation: str, rows: list[dict[str, Any]]) -> None:
        """Adds relationships of one type between nodes of two: `a` and `b` are their ids, `p` the properties."""
        self.graph.cypher(
            f"UNWIND $rows AS row MATCH (a:{name(source)} {{id: row.a}}), (b:{name(target)} {{id: row.b}}) "
            f"CREATE (a)-[e:{name(relation)}]->(b) SET e += row.p",
            params={"rows": rows},
        )

    def seal(self, edges: int) -> None:
        """From here on nothing is written, opened or sent. Raises ValueError when an edge was lost in loading."""
        held = self.rows("MATCH ()-[r]->() RETURN count(r) AS n")[0]["n"]
        if held != edges:
            raise ValueError(f"{held} of {edges} edges")
        rows = self.rows("MATCH (n) RETURN elementId(n) AS at, n.id AS id, labels(n) AS labels")
        self.ids = {int(row["at"]): (row["id"], row["labels"][0]) for row in rows}
        self.graph.read_only(True)
        wall()

    def rows(self, query: str) -> list[dict[str, Any]]:
        """All rows of a query of our own."""
        found: Any = self.graph.cypher(query)
        return list(found.to_list())

    def query(self, query: str, parameters: dict[str, Any], rows: int, timeout: float, limit: int) -> dict[str, Any]:
        """At most `rows` rows and `limit` bytes of them, coded, within `timeout` seconds."""
        signal.setitimer(signal.ITIMER_REAL, timeout + 2.0)
        try:
            started = time.perf_counter()
            found: Any = self.graph.cypher(
                query,
                params=parameters,
                timeout_ms=int(timeout * 1000),
                max_work_units=MAX_WORK,
                row_limit=rows + 1,
                hide_structural_keys=True,
            )
            took = (time.perf_counter() - started) * 1000
            columns = list(found.columns)
            kept: list[Any] = []
            size, cut = 0, False
            for row in found.to_list():
                coded = [self.coded(row[column]) for column in columns]
                size += len(json.dumps(coded))
                if len(kept) == rows or size > limit:
                    cut = True
                    break
                kept.append(coded)
            return {"columns": columns, "rows": kept, "truncated": cut, "milliseconds": took}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def coded(self, value: Any) -> Any:
        """Scalars as they are, anything else as a list that begins with its kind."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (list, tuple)):
            return ["list", *map(self.coded, value)]
        if not isinstance(value, dict):
            return value.isoformat() if hasattr(value, "isoformat") else str(value)
        if value.keys() == _NODE and value["id"] in self.ids:
            return ["node", *self.ids[value["id"]], value["properties"].get("name", "")]
        if value.keys() == _EDGE and value["start"] in self.ids and value["end"] in self.ids:
            ends = self.ids[value["start"]][0], self.ids[value["end"]][0]
            return ["edge", value["type"], *ends, {k: self.coded(v) for k, v in value["properties"].items()}]
        if value.keys() == _PATH:
            return ["path", [self.coded(n) for n in value["nodes"]], [self.coded(r) for r in value["relationships"]]]
        return ["map", {key: self.coded(held) for key, held in value.items()}]


def wall() -> None:
    """No file, socket, core or write beyond the three streams, and one GiB more of memory."""
    with open("/proc/self/statm") as held:
        size = int(held.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for limit, most in (
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, size + GIB),
        (resource.RLIMIT_NOFILE, 3),
    ):
        resource.setrlimit(limit, (most, most))


def main() -> None:
    """Answers until the parent is gone."""
    engine = None
    for frame in frames():
        try:
            if "nodes" in frame:
                engine = Engine(frame["nodes"])
                continue
            assert engine is not None
            if "edges" in frame:
                for part in frame["edges"]:
                    engine.load(*part)
            elif "seal" in frame:
                engine.seal(frame["seal"])
                reply({})
            else:
                reply(engine.query(**frame))
        except Exception as error:
            reply({"error": str(error)[:2_000], "kind": type(error).__name__})


if __name__ == "__main__":
    main()
