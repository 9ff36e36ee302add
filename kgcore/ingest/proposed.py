"""Ontologies to begin with: what a graph holds already, and what a model finds in a few texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import regex
from pydantic import BaseModel, ValidationError

from kgcore.errors import ConfigError, ModelError
from kgcore.filters import AccessFilter
from kgcore.ingest.ontology import (
    MAX_DESCRIPTION,
    MAX_TRIPLES,
    MAX_TYPES,
    name_fault,
    ontology_fault,
    ranked,
    scanned,
)
from kgcore.ingest.prompt import sample_prompt
from kgcore.models.protocol import ChatModel
from kgcore.names import fold
from kgcore.store.protocol import GraphBrowser
from kgcore.text import whole_characters
from kgcore.types import EntityType, Ontology, RelationType, Triple

SAMPLED = 12_000
"""Characters of all texts together that a model is shown."""
MAX_SAMPLES = 20
MAX_PROPOSED = 60
"""Entity types, and as many relations, that are taken from one answer."""


def ontology_of(store: GraphBrowser, filter: AccessFilter) -> Ontology | None:
    """What a graph holds as the filter shows it: its types, relations and what they join, the most common first.

    Names that no ontology can have are left out, and so is what comes after the MAX_TYPES most common. With more than
    MAX_TRIPLES kinds of triples none are named: then any are allowed. None for a graph without a type that can be
    named. Reads the whole graph. Raises StoreError.
    """
    type_of: dict[str, str] = {}
    triples: Counter[Triple] = Counter()
    for types, triple, _ in scanned(store, filter):
        type_of.update(types)
        triples[triple] += 1
    relations: Counter[str] = Counter()
    for triple, count in triples.items():
        relations[triple.relation] += count
    named, related = _nameable(Counter(type_of.values())), _nameable(relations)
    if not named:
        return None
    joined = [
        triple
        for triple, _ in sorted(triples.items(), key=lambda t: (-t[1], t[0].source, t[0].relation, t[0].target))
        if triple.source in named and triple.target in named and triple.relation in related
    ]
    return Ontology(
        entity_types=tuple(EntityType(name=name) for name in named),
        relation_types=tuple(RelationType(name=name) for name in related),
        triples=tuple(joined) if len(joined) <= MAX_TRIPLES else (),
    )


def propose_ontology(model: ChatModel, texts: Sequence[str]) -> Ontology:
    """What a model would look for in documents like these; at most MAX_SAMPLES of them are shown to it, cut short.

    Raises ConfigError without a text, ModelError for an answer that names no type.
    """
    samples = [text.strip() for text in texts if text.strip()][:MAX_SAMPLES]
    if not samples:
        raise ConfigError("There is no text to propose an ontology from.", remedy="Give a document.", field="texts")
    room = SAMPLED // len(samples)
    prompt = sample_prompt([whole_characters(text)[:room] for text in samples])
    answer = model.complete_json(prompt.system, prompt.user, prompt.schema)
    try:
        said = _Proposal.model_validate(answer)
    except ValidationError:
        said = _Proposal(entity_types=[], relation_types=[])
    types = _distinct([kind.model_copy(update={"name": " ".join(kind.name.split())}) for kind in said.entity_types])
    names = {fold(kind.name): kind.name for kind in types}
    related = _distinct([kind.model_copy(update={"name": _capitals(kind.name)}) for kind in said.relation_types])
    ontology = Ontology(
        entity_types=tuple(EntityType(name=kind.name, description=_short(kind.description)) for kind in types),
        relation_types=tuple(
            RelationType(
                name=kind.name,
                description=_short(kind.description),
                source=_known(kind.source, names),
                target=_known(kind.target, names),
            )
            for kind in related
        ),
    )
    if ontology_fault(ontology):
        raise ModelError(
            f"The model {model.name} proposed no types that an ontology could have.",
            remedy="Try again with other texts or a larger model, or write the types yourself.",
        )
    return ontology


class _Kind(BaseModel):
    name: str
    description: str | None = None


class _Related(_Kind):
    source: list[str] | None = None
    target: list[str] | None = None


class _Proposal(BaseModel):
    entity_types: list[_Kind]
    relation_types: list[_Related]


_AKind = TypeVar("_AKind", bound=_Kind)


def _distinct(kinds: Sequence[_AKind]) -> list[_AKind]:
    """Those with a name that an ontology can have, each name once."""
    found: dict[str, _AKind] = {}
    for kind in kinds:
        if not name_fault(kind.name):
            found.setdefault(fold(kind.name), kind)
    return [*found.values()][:MAX_PROPOSED]


def _known(listed: Sequence[str] | None, names: dict[str, str]) -> tuple[str, ...]:
    """The ends that are among the types; one that is not leaves the relation open to any."""
    return tuple(dict.fromkeys(names[fold(name)] for name in listed or () if fold(name) in names))


def _capitals(name: str) -> str:
    return str(regex.sub(r"[^\p{L}\p{M}\p{N}]+", "_", name)).strip("_").upper()


def _short(description: str | None) -> str:
    return " ".join(whole_characters(description or "").split())[:MAX_DESCRIPTION]


def _nameable(counts: Counter[str]) -> list[str]:
    """The most common names that an ontology can have, each once."""
    seen: dict[str, str] = {}
    for name, _ in ranked(counts):
        if not name_fault(name):
            seen.setdefault(fold(name), name)
    return [*seen.values()][:MAX_TYPES]
