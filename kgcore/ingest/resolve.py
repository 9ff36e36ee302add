"""Which names mean one entity: ids for what was extracted, and the merges that similar names propose."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid5

import regex

from kgcore.ingest.trigrams import alike, trigrams
from kgcore.names import NAMESPACE, entity_id, fold
from kgcore.types import End, Entity

SHORT = 3
"""Names of so few letters and digits merge only when they are equal."""

Key = tuple[str, str]
"""A type and a folded name."""

_LETTER = r"[\p{L}\p{M}\p{N}]"
_WORD = regex.compile(rf"{_LETTER}+(?:['’]{_LETTER}+)*")
_LETTERS = regex.compile(r"[\p{L}\p{N}]")
_NUMBER = regex.compile(r"\p{Nd}+|[\p{N}\p{Numeric_Type=Numeric}]")
_ROMAN = regex.compile(r"(?!l?$)(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_SIGN = regex.compile(r"[[\p{Sm}\p{Sc}\p{So}#%]--[®©℗|~]]", flags=regex.V1)


@dataclass(frozen=True, kw_only=True)
class Merge:
    """A name that would mean the entity of another name. `existing`: that entity is in the graph already.

    `id` is the same for the same type and the same two folded names; `score` is the pg_trgm similarity.
    """

    id: str
    type: str
    kept: str
    merged: str
    score: float
    existing: bool


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """`ids`: the entity's id and name for each (type, folded name) that was mentioned; `merges` that made it so."""

    ids: Mapping[Key, tuple[str, str]]
    merges: tuple[Merge, ...]


def propose(
    mentions: Mapping[tuple[str, str], int], existing: Iterable[Entity | End] = (), refused: Collection[str] = ()
) -> tuple[Merge, ...]:
    """The merges of `resolved`, the surest first."""
    return resolved(mentions, existing, refused).merges


def resolved(
    mentions: Mapping[tuple[str, str], int], existing: Iterable[Entity | End] = (), refused: Collection[str] = ()
) -> Resolution:
    """Ids and names for mentions, (type, name) and how often, beside the entities of a graph (several names an id).

    To refuse more merges of the same mentions, keep `Names(mentions, existing)` and ask it again. Raises
    IngestError when too many names of one type are alike.
    """
    return Names(mentions, existing).resolved(refused)


@dataclass(frozen=True, kw_only=True)
class _Name:
    """One folded name of a type: how it is written, and the entity that it, or what merges into it, means."""

    key: Key
    text: str
    count: int
    id: str
    name: str
    existing: bool


class Names:
    """Mentions and the entities of a graph, compared once; `resolved` is then quick for any refusals.

    Names that are equal once folded are one. Others are alike, within one type, from a trigram similarity of 0.6
    on, unless they are SHORT or what tells names apart differs (`numbers_of`, `initials_of`).
    """

    def __init__(self, mentions: Mapping[tuple[str, str], int], existing: Iterable[Entity | End] = ()) -> None:
        """Raises IngestError when too many names of one type are alike."""
        found = _names(mentions, existing)
        self._mentioned = {(type_, fold(name)) for type_, name in mentions}
        # Kept before merged: what the graph has, then the most frequent, the longest, and by text.
        self._names = sorted(found, key=lambda n: (n.key[0], not n.existing, -n.count, -len(n.text), n.text, n.key))
        self._alike = _alike(self._names)

    def resolved(self, refused: Collection[str] = ()) -> Resolution:
        """Ids, names and merges without those whose `Merge.id` is refused: such a name may join another then.

        A name joins the most similar of the names kept so far if it is alike to all that joined it: no chain.
        """
        refused = frozenset(refused)
        ids: dict[Key, tuple[str, str]] = {}
        merges: list[Merge] = []
        joined: dict[int, list[int]] = {}
        for at, name in enumerate(self._names):
            scores = self._alike.get(at, {})
            best: tuple[float, int] | None = None
            for other, score in scores.items():
                if other not in joined or not all(member in scores for member in joined[other]):
                    continue
                if (best is None or score > best[0]) and _merge_id(self._names[other], name) not in refused:
                    best = score, other
            if best is None:
                joined[at] = []
                ids[name.key] = name.id, name.name
                continue
            score, other = best
            kept = self._names[other]
            joined[other].append(at)
            ids[name.key] = kept.id, kept.name
            merges.append(
                Merge(
                    id=_merge_id(kept, name),
                    type=name.key[0],
                    kept=kept.name,
                    merged=name.text,
                    score=score,
                    existing=kept.existing,
                )
            )
        return Resolution(
            ids={key: ids[key] for key in sorted(self._mentioned)},
            merges=tuple(sorted(merges, key=lambda m: (-m.score, m.type, m.kept, m.merged))),
        )


def numbers_of(folded: str) -> tuple[str, ...]:
    """What numbers a folded name, in its order; names where this differs never merge.

    Its digits, numerals such as 三, Roman numerals up to 89 after its first word (but for an initial such as V.),
    a letter alone at its end (Vitamin C), and last its signs such as + # % and emoji.
    """
    words = list(_WORD.finditer(folded))
    numbers: list[str] = []
    for at, found in enumerate(words):
        word = found.group()
        numbers += [_digits(number) for number in _NUMBER.findall(word)]
        if at == 0:
            continue
        is_last = at == len(words) - 1
        if _is_alone(word):
            is_numeral = is_last and not _is_alone(words[at - 1].group())
            is_numeral |= bool(_ROMAN.fullmatch(word)) and not folded.startswith(".", found.end())
        else:
            is_numeral = bool(_ROMAN.fullmatch(word))
        if is_numeral:
            numbers.append(word)
    return (*numbers, *_SIGN.findall(folded))


def initials_of(folded: str) -> frozenset[str]:
    """The letters that stand alone in a folded name; names merge only where one has all that the other has."""
    return frozenset(word for word in _WORD.findall(folded) if _is_alone(word))


def _is_alone(word: str) -> bool:
    return len(_LETTERS.findall(word)) == 1 and not _NUMBER.fullmatch(word)


def _digits(number: str) -> str:
    return "".join(str(unicodedata.decimal(digit, digit)) for digit in number)


def _names(mentions: Mapping[tuple[str, str], int], existing: Iterable[Entity | End]) -> list[_Name]:
    """Every name of the graph that means one entity, and every other that is mentioned."""
    spelled: dict[Key, Counter[str]] = defaultdict(Counter)
    for (type_, text), count in mentions.items():
        spelled[type_, fold(text)][text] += count
    given: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for entity in existing:
        given[entity.type, entity.id][entity.name] += 1
    called = {(type_, id_): _own_name(type_, id_, texts) for (type_, id_), texts in given.items()}
    owners: dict[Key, set[str]] = defaultdict(set)
    for (type_, id_), texts in given.items():
        for text in texts:
            owners[type_, fold(text)].add(id_)
    found = []
    for key in owners.keys() | spelled.keys():
        type_, folded = key
        ids = owners.get(key, set())
        # A name that several entities have tells none of them: it means its own.
        id_ = next(iter(ids)) if len(ids) == 1 else entity_id(type_, folded)
        is_known = (type_, id_) in called
        texts = spelled.get(key) or Counter(t for t in given.get((type_, id_), ()) if fold(t) == folded)
        text = _best(texts) if texts else folded
        if is_known or key in spelled:
            name = called.get((type_, id_), text)
            found.append(_Name(key=key, text=text, count=texts.total(), id=id_, name=name, existing=is_known))
    return found


def _own_name(type_: str, id_: str, texts: Counter[str]) -> str:
    """The name that an entity's id is derived from, else the one given most often, the longest, by text."""
    derived = Counter({text: count for text, count in texts.items() if entity_id(type_, text) == id_})
    return _best(derived or texts)


def _best(texts: Counter[str]) -> str:
    return min(texts, key=lambda text: (-texts[text], -len(text), text))


def _alike(names: Sequence[_Name]) -> dict[int, dict[int, float]]:
    """For each new name the earlier ones that it is alike to, with their scores."""
    blocks: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for at, name in enumerate(names):
        if len(_LETTERS.findall(name.key[1])) > SHORT:
            blocks[name.key[0], numbers_of(name.key[1])].append(at)
    found: dict[int, dict[int, float]] = defaultdict(dict)
    for block in blocks.values():
        known = sum(names[at].existing for at in block)
        if len(block) == 1 or known == len(block):
            continue
        sets = [trigrams(names[at].key[1]) for at in block]
        initials = [initials_of(names[at].key[1]) for at in block]
        for i, j, score in alike(sets, known):
            if initials[i] <= initials[j] or initials[i] >= initials[j]:
                found[block[j]][block[i]] = score
    return found


def _merge_id(kept: _Name, merged: _Name) -> str:
    return str(uuid5(NAMESPACE, json.dumps(["merge", kept.key[0], fold(kept.name), merged.key[1]])))
