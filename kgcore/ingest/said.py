"""A model's answer for one passage held against the passage: what it supports, and what is set aside and why."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import regex
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from kgcore.ingest.ontology import MAX_NAME, Rules
from kgcore.names import FUNCTION_WORDS, fold, token_spans, tokens, words_of
from kgcore.text import whole_characters
from kgcore.types import HAS_ATTRIBUTE, Triple

MAX_ITEMS = 200
"""Entities, relations and attributes, each, that one passage can give."""
MAX_TEXT = 1_000
"""Characters that a name, a value, a description or an evidence has at most."""
_SHOWN = 200

SHAPE = "not in the form that was asked for"
TOO_MANY = f"more than {MAX_ITEMS} of its kind in one passage"
TOO_LONG = "too long"
BLANK = "a part of it is blank"
UNKNOWN_TYPE = "its type is not in the ontology"
UNKNOWN_RELATION = "its relation is not in the ontology"
NOT_NAMED = "the passage does not name it"
NO_VALUE = "its value does not stand in the passage"
OFF_VALUE = "its evidence does not give its value"
NO_EVIDENCE = "its evidence does not stand in the passage"
OFF_EVIDENCE = "its evidence speaks of neither end"
BARE_EVIDENCE = "its evidence is no more than a name or a value"
NO_END = "an end of it is not among the entities that the passage names"
NOT_ALLOWED = "the ontology does not allow it between these types"
SEVERAL = "an end of it could be one of several entities of that name"
ITSELF = "it joins an entity with itself"

_QUOTES = regex.compile(r"[\p{Pi}\p{Pf}\"'`´‚„「」『』]+")
_DASHES = regex.compile(r"\p{Pd}+")
_ENDS = regex.compile(r"^[\s.…]+|[\s.…]+$")


@dataclass(frozen=True, kw_only=True)
class Mention:
    """An entity that a passage names, by the ontology's type and in the passage's own words."""

    type: str
    name: str
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Said:
    """A fact that a passage supports: a relation with its `target`, or HAS_ATTRIBUTE with `key` and `value`.

    `description` has only words of the passage, `evidence` is the model's copy of the part that says the fact.
    """

    source: Mention
    relation: str
    target: Mention | None = None
    key: str | None = None
    value: str | None = None
    description: str = ""
    evidence: str = ""


@dataclass(frozen=True, kw_only=True)
class SetAside:
    """What a model said that is not written: as a reader sees it, and why."""

    what: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Supported:
    """What of an answer its passage supports, and what it does not; each in the answer's order."""

    mentions: tuple[Mention, ...]
    facts: tuple[Said, ...]
    set_aside: tuple[SetAside, ...]


class _Item(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    @field_validator("*", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        if value is None:
            return ""
        return " ".join(whole_characters(value).split()) if isinstance(value, str) else value


class _Entity(_Item):
    type: str
    name: str
    description: str = ""


class _Relation(_Item):
    source: str
    relation: str
    target: str
    description: str = ""
    evidence: str = ""


class _Attribute(_Item):
    entity: str
    key: str
    value: str
    evidence: str = ""


_AnItem = TypeVar("_AnItem", bound=_Item)


def supported(content: str, answer: Mapping[str, Any], rules: Rules) -> Supported:
    """The part of an answer that its passage and the ontology bear out; it raises nothing, whatever the answer is."""
    reading = _Reading(content, rules)
    for entity in reading.items(answer, "entities", _Entity):
        reading.add_entity(entity)
    for relation in reading.items(answer, "relations", _Relation):
        reading.add_relation(relation)
    for attribute in reading.items(answer, "attributes", _Attribute):
        reading.add_attribute(attribute)
    mentions = tuple(mention for named in reading.named.values() for mention in named.values())
    return Supported(mentions=mentions, facts=tuple(reading.facts.values()), set_aside=tuple(reading.set_aside))


class _Reading:
    """One passage: the entities that it names, by words and type, the facts that it supports, and the rest."""

    def __init__(self, content: str, rules: Rules) -> None:
        self.rules = rules
        self.named: dict[str, dict[str, Mention]] = {}
        self.facts: dict[tuple[str, ...], Said] = {}
        self.set_aside: list[SetAside] = []
        self._content = content
        self._folded = fold(content)
        self._words = f" {words_of(content)} "
        self._known = {*self._words.split()}
        self._text = _plain(content)
        self._types = {fold(name): name for name in rules.types}
        self._relations = {fold(name): name for name in rules.relations}

    def items(self, answer: Mapping[str, Any], name: str, kind: type[_AnItem]) -> list[_AnItem]:
        """The items of one list that have the form that was asked for."""
        listed = answer.get(name)
        found = []
        for item in listed[:MAX_ITEMS] if isinstance(listed, list) else []:
            try:
                found.append(kind.model_validate(item))
            except ValidationError:
                self._leave(whole_characters(reprlib.repr(item)), SHAPE)
        if isinstance(listed, list) and len(listed) > MAX_ITEMS:
            self._leave(f"{len(listed) - MAX_ITEMS} {name}", TOO_MANY)
        return found

    def add_entity(self, entity: _Entity) -> None:
        type_ = self._types.get(fold(entity.type))
        name = self._as_written(entity.name)
        reason = _form_fault(entity.name) or (UNKNOWN_TYPE if type_ is None else "") or (NOT_NAMED if not name else "")
        if reason or type_ is None:
            self._leave(f"{entity.name} ({entity.type})", reason)
            return
        mention = Mention(type=type_, name=name, description=self._own_words(entity.description))
        self.named.setdefault(words_of(name), {}).setdefault(type_, mention)

    def add_relation(self, said: _Relation) -> None:
        relation = self._relation(said.relation)
        sources, targets = (self.named.get(words_of(name), {}).values() for name in (said.source, said.target))
        pairs = [(source, target) for source in sources for target in targets]
        allowed = [
            (source, target)
            for source, target in pairs
            if self.rules.allows(Triple(source=source.type, relation=relation, target=target.type))
        ]
        reason = (
            _form_fault(said.source, said.relation, said.target, said.evidence)
            or (UNKNOWN_RELATION if relation == HAS_ATTRIBUTE or not self.rules.knows(relation) else "")
            or (TOO_LONG if len(relation) > MAX_NAME else "")
            or (NO_END if not pairs else "")
            or (NOT_ALLOWED if not allowed else SEVERAL if len(allowed) > 1 else "")
            or (ITSELF if allowed[0][0] == allowed[0][1] else "")
            or self._evidence_fault(said.evidence, said.source, said.target)
        )
        if reason:
            self._leave(f"{said.source} -[{said.relation}]-> {said.target}", reason)
            return
        source, target = allowed[0]
        fact = Said(
            source=source,
            relation=relation,
            target=target,
            description=self._own_words(said.description) or said.evidence,
            evidence=said.evidence,
        )
        self.facts.setdefault((relation, source.type, source.name, target.type, target.name), fact)

    def add_attribute(self, said: _Attribute) -> None:
        sources = [*self.named.get(words_of(said.entity), {}).values()]
        key, value = fold(said.key), self._as_written(said.value)
        reason = (
            _form_fault(said.entity, said.key, said.value, said.evidence)
            or (TOO_LONG if len(key) > MAX_NAME else "")
            or (NO_END if not sources else SEVERAL if len(sources) > 1 else "")
            or (NO_VALUE if not value else "")
            or self._evidence_fault(said.evidence, said.entity, value)
            or (OFF_VALUE if f" {words_of(value)} " not in f" {words_of(said.evidence)} " else "")
        )
        if reason:
            self._leave(f"{said.entity} -[{said.key}]-> {said.value}", reason)
            return
        fact = Said(
            source=sources[0],
            relation=HAS_ATTRIBUTE,
            key=key,
            value=value,
            description=said.evidence,
            evidence=said.evidence,
        )
        self.facts.setdefault((HAS_ATTRIBUTE, sources[0].type, sources[0].name, key, fold(value)), fact)

    def _relation(self, name: str) -> str:
        """As the ontology writes it; where it names none, in capitals with underscores."""
        if self.rules.relations:
            return self._relations.get(fold(name), name)
        return "_".join(fold(name).upper().split())

    def _evidence_fault(self, evidence: str, *ends: str) -> str:
        quoted = _plain(evidence)
        if not quoted or quoted not in self._text:
            return NO_EVIDENCE
        spoken = {*tokens(evidence)}
        named = [{*tokens(end)} for end in ends]
        if any(spoken <= words for words in named):
            return BARE_EVIDENCE
        telling = {word for words in named for word in words}
        return "" if spoken & ((telling - FUNCTION_WORDS) or telling) else OFF_EVIDENCE

    def _as_written(self, name: str) -> str:
        """A name or a value as the passage writes it; "" if its words do not stand there, side by side."""
        words = words_of(name)
        if not words or len(name) > MAX_TEXT:
            return ""
        if not tokens(name):  # signs alone
            return name if words in self._folded else ""
        at = self._words.find(f" {words} ")
        if at < 0 or fold(name) in self._folded:
            return name if at >= 0 else ""
        first = self._words.count(" ", 0, at)
        spans = token_spans(self._content)[first : first + len(words.split())]
        written = " ".join(self._content[spans[0][1] : spans[-1][2]].split()) if spans else ""
        return written if words_of(written) == words else name

    def _own_words(self, description: str) -> str:
        """The description if all its words are the passage's, else nothing: it would say more than the passage."""
        fits = len(description) <= MAX_TEXT and self._known >= {*tokens(description)} - FUNCTION_WORDS
        return description if fits else ""

    def _leave(self, what: str, reason: str) -> None:
        shown = " ".join(what.split())
        self.set_aside.append(SetAside(what=shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…", reason=reason))


def _form_fault(*parts: str) -> str:
    """What is wrong with the parts of a fact as they are written, whatever the passage says."""
    if not all(fold(part) for part in parts):
        return BLANK
    return TOO_LONG if max(map(len, parts)) > MAX_TEXT else ""


def _plain(text: str) -> str:
    """Text for finding a quotation: folded, without quotation marks, dashes alike, its outer dots left off."""
    plain: str = _ENDS.sub("", " ".join(_DASHES.sub("-", _QUOTES.sub("", fold(text))).split()))
    return plain
