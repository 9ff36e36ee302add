"""What the self-check looks at in any graph, and in a DuckDB file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

import duckdb

from kgcore.config import Config
from kgcore.errors import ConfigError, KgError, StoreError
from kgcore.filters import AccessFilter
from kgcore.models.offline import DIMENSION, NAME, OfflineEmbedder
from kgcore.retrieve.pipeline import KnowledgeGraphRetriever
from kgcore.store import GraphStore, open_store

State = Literal["pass", "fail", "warn", "skip"]
Steps = Sequence[tuple[str, Callable[[str], "Check"]]]
_EXAMPLE = "What is known of it?"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One line of the self-check: what was looked at, how it stands, and what to do next if it does not pass.

    `fail` keeps the graph from being used; with `warn` it works, but less well; `skip` was not looked at.
    """

    name: str
    state: State
    said: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What a filter shows of a graph: how many entities and edges, and some facts as text."""

    entities: int
    edges: int
    facts: tuple[str, ...]


def sample(
    store: GraphStore, locked: Mapping[str, Any] | None, *, facts: int, embedder: OfflineEmbedder | None = None
) -> Sample:
    """Counts what a locked filter shows, and asks about the best connected entity for so many facts. Raises KgError."""
    retriever = KnowledgeGraphRetriever(store, embedder=embedder or OfflineEmbedder(), filters=locked)
    visible = store.describe(retriever.filter)
    hubs = store.hubs(retriever.filter, 1) if visible.edges else ()
    found: tuple[str, ...] = ()
    if hubs:
        result = retriever.retrieve(_EXAMPLE, entity_ids=[hubs[0].id], max_hops=2, beam_width=facts, top_k=facts)
        found = tuple(fact.text for fact in result.facts)
    return Sample(entities=visible.entities, edges=visible.edges, facts=found)


def passed(name: str, said: str) -> Check:
    """A check that passes."""
    return Check(name=name, state="pass", said=said)


def failed_by(name: str, error: KgError) -> Check:
    """A check that fails, with the error's own remedy."""
    return Check(name=name, state="fail", said=str(error), remedy=error.remedy)


@dataclass(frozen=True, kw_only=True)
class Locked:
    """What the sample question is asked under; `personal` for one that is filled for each person, and was not."""

    filter: Mapping[str, Any] | None
    personal: bool = False
    closed: bool = True

    @classmethod
    def of(cls, config: Config, given: Mapping[str, Any] | None) -> Locked:
        template = config.locked_filter
        if given is not None or template is None:
            return cls(filter=given)
        filled = template.fill({})
        return cls(filter=filled, personal=bool(template.claims), closed=filled is None)


class GraphChecks:
    """The checks that every store has. `open` is what the first ones leave behind."""

    def __init__(self, url: str, options: Mapping[str, Any], locked: Locked, embedder: OfflineEmbedder | None) -> None:
        self.url, self.options, self.locked, self.embedder = url, options, locked, embedder
        self.open: GraphStore | None = None

    @property
    def store(self) -> GraphStore:
        if self.open is None:
            self.open = open_store(self.url, **self.options)
        return self.open

    def close(self) -> None:
        if self.open is not None:
            self.open.close()

    def steps(self) -> Steps:
        return (("Embedder", self.vectors), ("Sample question", self.question))

    def vectors(self, name: str) -> Check:
        made = self.store.describe(AccessFilter.of(access_fields=self.store.access_fields))
        if made.embedder is None:
            return passed(name, "The graph has no vectors: facts are scored by the words of the question.")
        if made.bare:
            return Check(
                name=name,
                state="warn",
                said=f"{made.bare:,} of {made.edges:,} edges have no vector.",
                remedy="Compute them with `python -m kgcore vectors`.",
            )
        if (made.embedder, made.dimension) == (NAME, DIMENSION):
            return passed(
                name, f"The graph's vectors were made by {NAME}, of {DIMENSION} numbers, as the question's are."
            )
        return Check(
            name=name,
            state="warn",
            said=f"The graph's vectors were made by {made.embedder}, of {made.dimension} numbers, the question's by "
            f"{NAME}, of {DIMENSION}: they are not used.",
            remedy="Import the graph again, or name the embedder in the mapping if it is the same.",
        )

    def question(self, name: str) -> Check:
        if self.locked.personal:
            if not self.locked.closed:
                raise ConfigError("The locked filter lets people in without claims.", remedy="Report this fault.")
            return passed(name, "The locked filter is filled for each person: who has none of its claims sees nothing.")
        found = sample(self.store, self.locked.filter, facts=5, embedder=self.embedder)
        under = " under the locked filter" if self.locked.filter else ""
        if not found.edges:
            return Check(
                name=name,
                state="warn",
                said=f"Nothing can be seen{under}.",
                remedy="Import a graph, or correct the mapping or the locked filter.",
            )
        if not found.facts:
            raise StoreError(
                "A question about the best connected entity finds no fact.", remedy="Correct the mapping, or report it."
            )
        return passed(
            name,
            f"{found.entities:,} entities and {found.edges:,} edges can be seen{under}, and a question is answered.",
        )


class FileChecks(GraphChecks):
    """A DuckDB file."""

    fault: KgError | None = None

    def steps(self) -> Steps:
        return (("File", self.there), ("Opens", self.opens), ("Schema", self.schema), *super().steps())

    def there(self, name: str) -> Check:
        try:
            self.open = open_store(self.url, **self.options)
        except KgError as error:
            self.fault = error
            if isinstance(error, ConfigError) or not Path(unquote(self.url.partition("://")[2][1:])).is_file():
                raise
        return passed(name, "It is there.")

    def opens(self, name: str) -> Check:
        if self.fault and isinstance(self.fault.__cause__, duckdb.Error | UnicodeDecodeError):
            raise self.fault
        return passed(name, "It opens as a DuckDB file.")

    def schema(self, name: str) -> Check:
        if self.fault:
            raise self.fault
        return passed(name, "It holds a graph of this version.")
