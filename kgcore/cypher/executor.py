"""Read-only Cypher over what a locked filter lets through, on any store."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from kgcore.cypher.answer import CypherAnswer
from kgcore.cypher.guard import check
from kgcore.cypher.limits import MAX_EDGES, checked
from kgcore.cypher.projection import CypherSchema, Projection
from kgcore.cypher.words import described, examples_of
from kgcore.filters import AccessFilter
from kgcore.store.protocol import GraphStore

KEPT = 2
"""Projections that one executor keeps ready."""


class CypherExecutor:
    """Answers Cypher from a copy, in a locked process, of the edges that the filter lets through.

    What is hidden is not in that copy: it can be in no answer, count or error. `filters` is the locked filter; a
    query's own only narrow. The first query over a filter copies; later ones are asked of the copy until the graph
    changes. Thread-safe. Raises FilterError for a bad locked filter.
    """

    def __init__(
        self, *, store: GraphStore, filters: Mapping[str, Any] | None = None, limit_edges: int = MAX_EDGES
    ) -> None:
        self.store = store
        self.filter = AccessFilter.of(filters, access_fields=store.access_fields)
        self.limit_edges = limit_edges
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Projection] = OrderedDict()
        self._finalizer = weakref.finalize(self, _close_all, self._kept)

    def query(
        self,
        query: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        filters: Mapping[str, Any] | None = None,
        rows: int = 1_000,
        timeout: float = 3.0,
    ) -> CypherAnswer:
        """At most `rows` rows of the answer, within `timeout` seconds.

        Parameters are JSON values. Raises QueryError for a query that is refused, wrong, or takes too much,
        FilterError, ConfigError for bounds and parameters, StoreError.
        """
        check(query)
        asked = checked(parameters or {}, rows, timeout)
        filter = self.filter.narrowed(filters)
        with self._lock:
            return self._ready(filter).query(query, asked, rows=rows, timeout=timeout)

    def schema(self, *, filters: Mapping[str, Any] | None = None) -> CypherSchema:
        """The labels, relationship types, properties and patterns that can be seen. Raises as `query`."""
        with self._lock:
            return self._ready(self.filter.narrowed(filters)).schema

    def describe(self) -> str:
        """The schema in words, bounded, for a tool's description."""
        return described(self.schema())

    def examples(self, *, filters: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        """Up to five queries that give rows on this graph. Raises as `query`."""
        found = examples_of(self.schema(filters=filters))
        return tuple(query for query in found if self.query(query, filters=filters, rows=1).rows)

    def close(self) -> None:
        """Ends its processes; a later query starts another."""
        with self._lock:
            _close_all(self._kept)

    def _ready(self, filter: AccessFilter) -> Projection:
        key = (filter.key, self.store.describe(filter).data_version)
        found = self._kept.get(key)
        if found is not None and found.alive:
            self._kept.move_to_end(key)
            return found
        if found is not None:
            self._kept.pop(key).close()
        made = Projection(self.store, filter, self.limit_edges)
        self._kept[key] = made
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)[1].close()
        return made


def _close_all(kept: OrderedDict[tuple[str, str], Projection]) -> None:
    while kept:
        kept.popitem()[1].close()
