"""Passages about who works where, the ontology for them, and a model that reads them right."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from kgcore.types import Chunk, EntityType, Ontology, RelationType
from tests.chat_server import Reply, Request, said

ONTOLOGY = Ontology(
    entity_types=(
        EntityType(name="Person", description="A named human being."),
        EntityType(name="Company"),
        EntityType(name="City"),
    ),
    relation_types=(
        RelationType(name="WORKS_AT", description="Is employed by.", source=("Person",), target=("Company",)),
        RelationType(name="BASED_IN", source=("Company",), target=("City",)),
        RelationType(name="KNOWS", source=("Person",)),
    ),
)
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def passage(number: int) -> Chunk:
    """The passage of a number: one person, one company."""
    return Chunk(id=f"d#{number}", document_id="d", content=f"Person{number} works at Firm{number} since 2015.")


def passages(count: int) -> tuple[Chunk, ...]:
    return tuple(passage(number) for number in range(1, count + 1))


def entity(name: str, type: str = "Person", description: str = "") -> dict[str, Any]:
    return {"type": type, "name": name, "description": description}


def relation(source: str, relation: str, target: str, evidence: str, description: str = "") -> dict[str, Any]:
    names = {"source": source, "relation": relation, "target": target}
    return {**names, "description": description, "evidence": evidence}


def attribute(name: str, key: str, value: str, evidence: str) -> dict[str, Any]:
    return {"entity": name, "key": key, "value": value, "evidence": evidence}


def answer(
    entities: Sequence[Any] = (), relations: Sequence[Any] = (), attributes: Sequence[Any] = ()
) -> dict[str, Any]:
    return {"entities": [*entities], "relations": [*relations], "attributes": [*attributes]}


def asked(request: Request) -> str:
    """The passage that a model is asked about."""
    found = re.search(r"<passage-(\w+)>\n(.*)\n</passage-\1>", request.body["messages"][1]["content"], re.DOTALL)
    assert found
    return found[2]


def right(text: str) -> dict[str, Any]:
    """What is to be answered for one of `passages`."""
    person, firm = text.split()[0], text.split()[3]
    quote = f"{person} works at {firm}"
    return answer([entity(person), entity(firm, "Company")], [relation(person, "WORKS_AT", firm, quote)])


def reads(request: Request) -> Reply:
    """The right answer."""
    return said(json.dumps(right(asked(request))), usage=USAGE)
