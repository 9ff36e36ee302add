"""Questions with what is right for them, in our own layout and in those that question sets are published in.

ours          JSONL {"question", "id"?, "answer"?, "aliases"?, "facts"?, "entities"?, "documents"?, "hops"?, "type"?,
              "seeds"?}; a fact is [source, relation, target] or {"source", "relation", "target"}, an attribute
              {"source", "relation": "HAS_ATTRIBUTE", "key", "value"}; "gold" may stand for "facts" or "documents"
MuSiQue       JSONL {"id", "question", "answer", "answer_aliases", "paragraphs": [{"title", "is_supporting"}]}; the hops
              and the type stand in the id (3hop1__...); questions that are not answerable are left out
HotpotQA      one JSON list of {"_id", "question", "answer", "type", "supporting_facts": [[title, sentence]]}
2WikiMultiHop the same with "evidences": [[source, relation, target]]
MetaQA        text, a line each: question with [topic], a tab, answer|answer; or JSONL {"question", "topic", "qtype",
              "answers", "gold_facts"}; the topic is what the walk starts from, and the type tells the hops

A document is named by the id of a passage, of its document, or by the title: MuSiQue, HotpotQA and 2WikiMultiHop name
titles, and any passage of that title is then the one meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgcore.errors import ConfigError, IngestError
from kgcore.ingest.lines import Line, read_lines
from kgcore.retrieve.settings import check_names, check_question
from kgcore.text import whole_characters
from kgcore.types import HAS_ATTRIBUTE

Triple = tuple[str, str, str]
_HEAD = 4_096
_MUSIQUE_ID = re.compile(r"(([2-4])hop\d?)__")
_TOPIC = re.compile(r"\[(.+)\]")
_NO_NAMES = ("yes", "no")


@dataclass(frozen=True, kw_only=True)
class Gold:
    """A question and what a good result holds; what is empty is not known, and not measured.

    `facts` and `entities` go by id or by name, `documents` by id or title. One of `answers` is enough. `hops` is how
    many the question needs, `kind` its type, `seeds` the names to start from.
    """

    id: str
    question: str
    facts: tuple[Triple, ...] = ()
    entities: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    hops: int | None = None
    kind: str = ""
    seeds: tuple[str, ...] = ()


def read_gold(path: str | Path) -> tuple[Gold, ...]:
    """The questions of a file, or of the questions.jsonl in a folder, in its order; the layout is told by the content.

    Raises IngestError that names the file and the line or entry at fault.
    """
    file = Path(path)
    file = file / "questions.jsonl" if file.is_dir() else file
    try:
        golds = tuple(_read(file))
    except UnicodeDecodeError as error:
        raise IngestError(f"{file.name} is not UTF-8 text.", remedy="Save it as UTF-8.") from error
    seen: set[str] = set()
    for gold in golds:
        if gold.id in seen:
            raise IngestError(f"{file.name}: two questions have the id {gold.id!r}.", remedy="Give each its own id.")
        seen.add(gold.id)
        try:
            check_question(gold.question)
            check_names(gold.seeds, "seeds")
        except ConfigError as error:
            raise IngestError(f"{file.name}, question {gold.id!r}: {error}", remedy=error.remedy) from error
    if not any(gold.facts or gold.entities or gold.documents or gold.answers for gold in golds):
        raise IngestError(
            f"{file.name} holds no question with anything to find.",
            remedy="Give questions facts, entities, documents or an answer.",
        )
    return golds


def _read(file: Path) -> Iterator[Gold]:
    head = _head(file)
    if re.match(r"\[\s*(\{|\]|$)", head):
        yield from _golds(_entries(file))
    elif head.startswith("{"):
        yield from _golds(read_lines(file))
    elif "\t" in head.partition("\n")[0]:
        yield from _metaqa_text(file)
    else:
        raise IngestError(
            f"{file.name}: this is no layout of questions.",
            remedy="Give JSONL, a JSON list, or MetaQA's lines of question, tab, answers.",
        )


def _head(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            return opened.read(_HEAD).lstrip()
    except OSError as error:
        raise IngestError(f"{file} cannot be read.", remedy="Name a file of questions.") from error


def _entries(file: Path) -> Iterator[Line]:
    """The objects of a JSON list."""
    try:
        listed = json.loads(file.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise IngestError(f"{file.name}, line {error.lineno}: not JSON.", remedy="Give one JSON list.") from error
    except (ValueError, RecursionError) as error:
        raise IngestError(f"{file.name}: not JSON.", remedy="Give one JSON list.") from error
    for number, value in enumerate(listed, 1):
        where = f"{file.name}, entry {number}"
        if not isinstance(value, dict):
            raise IngestError(f"{where}: not a JSON object.", remedy="Give a list of JSON objects.")
        yield Line(where=where, value=value)


def _golds(lines: Iterable[Line]) -> Iterator[Gold]:
    for number, line in enumerate(lines, 1):
        if line.value.get("answerable") is not False:
            read = next((read for mark, read in _LAYOUTS if mark in line.value), _ours)
            id_ = line.optional("id") or line.optional("_id") or str(number)
            yield read(line, Gold(id=id_, question=line.text("question")))


def _ours(line: Line, gold: Gold) -> Gold:
    listed = _list(line, "gold")
    documents = [item for item in listed if isinstance(item, str)]
    facts = [item for item in listed if not isinstance(item, str)]
    hops, kind = _by_id(gold.id)
    return replace(
        gold,
        facts=_triples(line, "facts", [*_list(line, "facts"), *facts]),
        entities=_texts(line, "entities"),
        documents=_texts(line, "documents") or tuple(documents),
        answers=_texts(line, "answer") + _texts(line, "aliases"),
        hops=_hops(line) or hops,
        kind=line.optional("type") or kind,
        seeds=_texts(line, "seeds"),
    )


def _musique(line: Line, gold: Gold) -> Gold:
    titles = []
    for paragraph in _list(line, "paragraphs"):
        if not isinstance(paragraph, dict) or not isinstance(paragraph.get("title"), str):
            raise line.error("a paragraph has no title", "Give each paragraph a 'title' and 'is_supporting'")
        titles += [paragraph["title"]] * bool(paragraph.get("is_supporting"))
    hops, kind = _by_id(gold.id)
    answers = _texts(line, "answer") + _texts(line, "answer_aliases")
    return replace(gold, documents=tuple(dict.fromkeys(titles)), answers=answers, hops=hops, kind=kind)


def _hotpot(line: Line, gold: Gold) -> Gold:
    """HotpotQA and 2WikiMultiHop. An answer of yes or no is no name, and not looked for."""
    titles = []
    for pair in _list(line, "supporting_facts"):
        if not isinstance(pair, list) or not pair or not isinstance(pair[0], str):
            raise line.error("a supporting fact has no title", "Give each as [title, sentence]")
        titles.append(pair[0])
    return replace(
        gold,
        facts=_triples(line, "evidences", _list(line, "evidences")),
        documents=tuple(dict.fromkeys(titles)),
        answers=tuple(answer for answer in _texts(line, "answer") if answer.lower() not in _NO_NAMES),
        kind=line.optional("type") or "",
    )


def _metaqa(line: Line, gold: Gold) -> Gold:
    kind = line.text("qtype")
    return replace(
        _asked(gold),
        facts=_triples(line, "gold_facts", _list(line, "gold_facts")),
        answers=_texts(line, "answers"),
        hops=kind.count("_to_") or None,
        kind=kind,
        seeds=_texts(line, "topic"),
    )


_LAYOUTS = (("paragraphs", _musique), ("supporting_facts", _hotpot), ("qtype", _metaqa))
"""A name that only this layout has, and what reads it."""


def _metaqa_text(file: Path) -> Iterator[Gold]:
    """MetaQA's own files; their types stand, a line each, in a file beside their folder, if it is there."""
    beside = file.parent.parent / f"{file.stem}_qtype.txt"
    kinds = beside.read_text(encoding="utf-8").splitlines() if beside.is_file() else []
    with file.open(encoding="utf-8-sig") as opened:
        for number, text in enumerate(opened, 1):
            question, tab, answers = text.strip().partition("\t")
            topic = _TOPIC.search(question)
            if not question:
                continue
            if not tab or topic is None:
                raise IngestError(
                    f"{file.name}, line {number}: not a question of MetaQA.",
                    remedy="Give each line as question with [topic], a tab, answer|answer.",
                )
            kind = kinds[number - 1].strip() if number <= len(kinds) else ""
            yield replace(
                _asked(Gold(id=str(number), question=question)),
                answers=tuple(dict.fromkeys(answer for answer in answers.split("|") if answer)),
                hops=kind.count("_to_") or None,
                kind=kind,
                seeds=(topic[1],),
            )


def _asked(gold: Gold) -> Gold:
    """The question as a person writes it, without the brackets around its topic."""
    return replace(gold, question=_TOPIC.sub(r"\1", gold.question))


def _by_id(id_: str) -> tuple[int | None, str]:
    """The hops and the type that MuSiQue's ids begin with."""
    found = _MUSIQUE_ID.match(id_)
    return (int(found[2]), found[1]) if found else (None, "")


def _hops(line: Line) -> int | None:
    hops = line.value.get("hops")
    if hops is None:
        return None
    if isinstance(hops, bool) or not isinstance(hops, int) or hops < 1:
        raise line.error("'hops' is not a number of hops", "Give 'hops' as a whole number from 1")
    return hops


def _list(line: Line, name: str) -> list[Any]:
    found = line.value.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise line.error(f"{name!r} is not a list", f"Give {name!r} as a list")
    return found


def _texts(line: Line, name: str) -> tuple[str, ...]:
    """A list of texts, one alone as a list of one; each once."""
    found = line.value.get(name)
    listed = found if isinstance(found, list) else [] if found is None else [found]
    if not all(_is_text(item) for item in listed):
        raise line.error(f"{name!r} is not a list of texts", f"Give {name!r} as texts that are not empty")
    return tuple(dict.fromkeys(whole_characters(str(item)) for item in listed))


def _triples(line: Line, name: str, listed: Iterable[Any]) -> tuple[Triple, ...]:
    found: list[Triple] = []
    for item in listed:
        given = item
        if isinstance(item, dict):
            names = ("key", "value") if item.get("relation") == HAS_ATTRIBUTE else ("relation", "target")
            given = [item.get(part) for part in ("source", *names)]
        if not isinstance(given, list) or len(given) != 3 or not all(_is_text(part) for part in given):
            raise line.error(f"one of {name!r} is no fact", "Give a fact as [source, relation, target]")
        source, relation, target = (whole_characters(str(part)) for part in given)
        found.append((source, relation, target))
    return tuple(dict.fromkeys(found))


def _is_text(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and bool(str(value).strip())
