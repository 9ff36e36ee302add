"""Ontologies: their files, what they allow, and what of a graph they would drop."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kgcore.errors import IngestError
from kgcore.filters import AccessFilter
from kgcore.ingest.source import VALUE_TYPE
from kgcore.names import fold, is_unicode
from kgcore.store.protocol import GraphBrowser
from kgcore.types import HAS_ATTRIBUTE, EntityType, Ontology, RelationType, Triple

MAX_BYTES = 4_000_000
MAX_NAME = 100
MAX_DESCRIPTION = 2_000
MAX_TYPES = 500
"""Entity types, and as many relations, that an ontology names at most."""
MAX_TRIPLES = 10_000

_ADAPTER = TypeAdapter(Ontology)
_KINDS: Mapping[str, type] = {"entity_types": EntityType, "relation_types": RelationType, "triples": Triple}


def read_ontology(path: str | Path) -> Ontology:
    """An ontology from a JSON file, as `parse_ontology` reads it. Raises IngestError."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise IngestError(f"{path} cannot be read.", remedy="Check the path.") from error
    return parse_ontology(data, Path(path).name)


def parse_ontology(data: bytes | str, name: str = "the ontology", *, checked: bool = True) -> Ontology:
    """An ontology from JSON; `name` is what errors call it. Raises IngestError that says where the fault is.

    With `checked` false what `ontology_fault` finds is left to the caller.

    {"entity_types": [{"name", "description"?}],
     "relation_types"?: [{"name", "description"?, "source"?: [types], "target"?: [types]}],
     "triples"?: [{"source": type, "relation", "target": type}]}
    """
    if len(data) > MAX_BYTES:
        raise IngestError(f"{name} is too large for an ontology.", remedy="Name another file.")
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        found = _ADAPTER.validate_json(text.encode())
        raw = json.loads(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise IngestError(f"{name}: {where}: {first['msg']}.", remedy="Correct the ontology.") from error
    except (ValueError, RecursionError) as error:
        raise IngestError(f"{name} is not JSON in UTF-8.", remedy="Save it as JSON in UTF-8.") from error
    fault = _unknown_key(raw) or (ontology_fault(found) if checked else "")
    if fault:
        raise IngestError(f"{name}: {fault}.", remedy="Correct the ontology.")
    return found


def write_ontology(ontology: Ontology) -> str:
    """The JSON text that `parse_ontology` reads as this ontology; what is empty is left out."""
    return json.dumps(_without_empty(asdict(ontology)), ensure_ascii=False, indent=1) + "\n"


def ontology_fault(ontology: Ontology) -> str:
    """Where an ontology is wrong and how, without a full stop; "" if it can be used."""
    if not ontology.entity_types:
        return "entity_types: it needs at least one"
    if max(len(ontology.entity_types), len(ontology.relation_types)) > MAX_TYPES:
        return f"it names more than {MAX_TYPES} types"
    if len(ontology.triples) > MAX_TRIPLES:
        return f"triples: there are more than {MAX_TRIPLES}"
    types = {kind.name for kind in ontology.entity_types}
    relations = {kind.name for kind in ontology.relation_types}
    fault = _names_fault("entity_types", ontology.entity_types) or _names_fault(
        "relation_types", ontology.relation_types
    )
    if fault:
        return fault
    for i, relation in enumerate(ontology.relation_types):
        for end in ("source", "target"):
            for name in getattr(relation, end):
                if name not in types:
                    return f"relation_types.{i}.{end}: there is no entity type {_short(name)}"
    for i, triple in enumerate(ontology.triples):
        for end in ("source", "target"):
            if getattr(triple, end) not in types:
                return f"triples.{i}.{end}: there is no entity type {_short(getattr(triple, end))}"
        if relations and triple.relation not in relations:
            return f"triples.{i}.relation: there is no relation {_short(triple.relation)}"
    return ""


class Rules:
    """What an ontology allows, asked by name."""

    def __init__(self, ontology: Ontology) -> None:
        self.types: Mapping[str, EntityType] = {kind.name: kind for kind in ontology.entity_types}
        self.relations: Mapping[str, RelationType] = {kind.name: kind for kind in ontology.relation_types}
        self._triples = {*ontology.triples}

    def knows(self, relation: str) -> bool:
        """Whether a relation may be; attributes always, and any where the ontology names none."""
        return relation == HAS_ATTRIBUTE or not self.relations or relation in self.relations

    def allows(self, triple: Triple) -> bool:
        """Whether a relation may join entities of two types."""
        if triple.relation == HAS_ATTRIBUTE:
            return triple.source in self.types
        if not (self.knows(triple.relation) and triple.source in self.types and triple.target in self.types):
            return False
        if self._triples and triple not in self._triples:
            return False
        kind = self.relations.get(triple.relation)
        return kind is None or (
            (not kind.source or triple.source in kind.source) and (not kind.target or triple.target in kind.target)
        )


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """What of a graph an ontology would drop, counted: the most common first, then by name.

    `entities` by type: those of types that it does not name. `stranded` are entities of its types, and values, all
    of whose edges would go. `relations` are edges of relations that it does not name, `triples` the other edges
    that would go; each edge counts once.
    """

    entities: Mapping[str, int]
    stranded: int
    relations: Mapping[str, int]
    triples: Mapping[Triple, int]

    @property
    def edges(self) -> int:
        """All edges that would go."""
        return sum(self.relations.values()) + sum(self.triples.values())


def dropped_by(ontology: Ontology, store: GraphBrowser, filter: AccessFilter) -> Dropped:
    """What an ontology would drop of a graph as the filter shows it, by reading all of it. Raises StoreError."""
    rules = Rules(ontology)
    type_of: dict[str, str] = {}
    kept: set[str] = set()
    relations: Counter[str] = Counter()
    triples: Counter[Triple] = Counter()
    for page_types, triple, ends in scanned(store, filter):
        type_of.update(page_types)
        if not rules.knows(triple.relation):
            relations[triple.relation] += 1
        elif not rules.allows(triple):
            triples[triple] += 1
        else:
            kept.update(ends)
    unknown = Counter(kind for kind in type_of.values() if kind not in rules.types and kind != VALUE_TYPE)
    known = (id_ for id_, kind in type_of.items() if kind in rules.types or kind == VALUE_TYPE)
    return Dropped(
        entities=dict(ranked(unknown)),
        stranded=sum(id_ not in kept for id_ in known),
        relations=dict(ranked(relations)),
        triples=dict(sorted(triples.items(), key=lambda item: (-item[1], _parts(item[0])))),
    )


def scanned(store: GraphBrowser, filter: AccessFilter) -> Iterator[tuple[Mapping[str, str], Triple, tuple[str, str]]]:
    """Each visible edge: the types of its ends by id, what it joins, and the ids of its ends."""
    after: str | None = None
    while True:
        page = store.scan(filter, after, vectors=False)
        type_of = {entity.id: entity.type for entity in page.entities}
        for edge in page.edges:
            ends = (edge.source_id, edge.target_id)
            source, target = (type_of[end] for end in ends)
            yield {ends[0]: source, ends[1]: target}, Triple(source=source, relation=edge.relation, target=target), ends
        after = page.after
        if after is None:
            return


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most common first, then by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def name_fault(name: str) -> str:
    """What is wrong with the name of a type or a relation; "" if nothing is."""
    if not fold(name):
        return "is blank"
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if name != " ".join(name.split()) or not name.isprintable() or not is_unicode(name):
        return "holds characters that a name has not, or spaces around it"
    if name in (HAS_ATTRIBUTE, VALUE_TYPE):
        return "is kept for attributes, which need no type"
    return ""


def _names_fault(part: str, kinds: Sequence[EntityType | RelationType]) -> str:
    seen: dict[str, str] = {}
    for i, kind in enumerate(kinds):
        if fault := name_fault(kind.name):
            return f"{part}.{i}.name: {_short(kind.name)} {fault}"
        if len(kind.description) > MAX_DESCRIPTION or not is_unicode(kind.description):
            return f"{part}.{i}.description: it is longer than {MAX_DESCRIPTION} characters, or broken"
        first = seen.setdefault(fold(kind.name), kind.name)
        if len(seen) <= i:
            return f"{part}.{i}.name: {_short(kind.name)} is there already, as {_short(first)}"
    return ""


def _unknown_key(raw: Mapping[str, Any]) -> str:
    """A key of the file that means nothing, so that a misspelled one is not passed over."""
    for key, listed in raw.items():
        if key not in _KINDS:
            return f"{_short(key)} is no part of an ontology, which has {', '.join(_KINDS)}"
        allowed = [field.name for field in fields(_KINDS[key])]
        for i, item in enumerate(listed):
            for name in item:
                if name not in allowed:
                    return f"{key}.{i}: {_short(name)} is not one of {', '.join(allowed)}"
    return ""


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_empty(item) for key, item in value.items() if item not in ("", ())}
    return [_without_empty(item) for item in value] if isinstance(value, tuple) else value


def _parts(triple: Triple) -> tuple[str, str, str]:
    return triple.source, triple.relation, triple.target


def _short(name: str) -> str:
    return repr(name if len(name) <= MAX_NAME else name[:MAX_NAME] + "…")
