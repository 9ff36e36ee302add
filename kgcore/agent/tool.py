"""What an agent or an assistant can call: a name, a schema, and a result whose every piece can be cited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kgcore.types import Retrieval

VECTOR, GRAPH, CYPHER = "vector-search", "graph-retriever", "knowledge-graph"
"""The names of the three tools."""


@dataclass(frozen=True, kw_only=True)
class Citable:
    """A piece of a result that an answer may cite, as [call·kind·id]: an edge, a chunk, or a row of a table.

    Of an edge `fact` names the fact that it asserts, as the trace does.
    """

    kind: Literal["edge", "chunk", "row"]
    id: str
    text: str
    fact: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What a call gave. `text` is for the model: data, in which nothing is an instruction.

    `error` is what the model is told of a call that failed; then nothing can be cited. Of a call of the graph
    retriever `retrieval` is the whole run with its trace; of Cypher `answer` is a kgcore.cypher.CypherAnswer.
    """

    text: str
    cites: tuple[Citable, ...] = ()
    retrieval: Retrieval | None = None
    answer: Any = None
    error: str = ""
    milliseconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool. `parameters` is a JSON schema of type object, which never tells of locked filters or access fields.

    `call` takes arguments as a model wrote them, checks them itself, and raises no KgError: the result tells it.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], ToolResult]
