"""Gold sets, each in the layout that its publishers describe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgcore import IngestError
from kgcore.evals import Gold, read_gold
from kgcore.ingest.demo import DEMO
from kgcore.types import HAS_ATTRIBUTE

OURS = {
    "id": "a",
    "question": "Where does Ann live?",
    "answer": "Paris",
    "aliases": ["Paris, France"],
    "facts": [
        ["Ann", "lives in", "Paris"],
        {"source": "ann", "relation": "KNOWS", "target": "bo"},
        {"source": "ann", "relation": HAS_ATTRIBUTE, "key": "age", "value": 7},
    ],
    "entities": ["Ann"],
    "documents": ["p1", "p2"],
    "hops": 2,
    "type": "bridge",
    "seeds": "Ann",
}
MUSIQUE = {
    "id": "3hop1__1_2_3",
    "paragraphs": [
        {"idx": 0, "title": "Green", "paragraph_text": "Green is an album.", "is_supporting": True},
        {"idx": 1, "title": "Blue", "paragraph_text": "Blue is not.", "is_supporting": False},
        {"idx": 2, "title": "Steve", "paragraph_text": "Steve plays.", "is_supporting": True},
    ],
    "question": "Who is the spouse of the Green performer?",
    "question_decomposition": [
        {"id": 1, "question": "Green >> performer", "answer": "Steve", "paragraph_support_idx": 0},
        {"id": 2, "question": "#1 >> spouse", "answer": "Miquette", "paragraph_support_idx": 2},
    ],
    "answer": "Miquette",
    "answer_aliases": ["Miquette G."],
    "answerable": True,
}
HOTPOT = {
    "_id": "5a8",
    "question": "Were they of one nationality?",
    "answer": "yes",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Scott", 0], ["Ed", 0], ["Scott", 2]],
    "context": [["Scott", ["Scott is one.", "He is."]], ["Ed", ["Ed is one."]], ["Other", ["Other."]]],
}
WIKI = {
    "_id": "881",
    "type": "compositional",
    "question": "Who is the mother of the director of the film War?",
    "context": [["War (film)", ["War is a film."]]],
    "supporting_facts": [["War (film)", 1], ["Xawery", 0]],
    "evidences": [["War", "director", "Xawery"], ["Xawery", "mother", "Maria"]],
    "answer": "Maria",
}
METAQA = {
    "id": "dev2-0",
    "question": "who writes the films directed by [Joel Zwick]",
    "topic": "Joel Zwick",
    "qtype": "director_to_movie_to_writer",
    "answers": ["Nia", "Lars"],
    "gold_facts": [["Wedding", "directed_by", "Joel Zwick"], ["Wedding", "written_by", "Nia"]],
}


def jsonl(path: Path, *records: Any) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), encoding="utf-8")
    return path


def listed(path: Path, *records: Any, **options: Any) -> Path:
    path.write_text(json.dumps(records, **options), encoding="utf-8")
    return path


class TestLayouts:
    def test_ours(self, tmp_path: Path) -> None:
        assert read_gold(jsonl(tmp_path / "g.jsonl", OURS)) == (
            Gold(
                id="a",
                question="Where does Ann live?",
                facts=(("Ann", "lives in", "Paris"), ("ann", "KNOWS", "bo"), ("ann", "age", "7")),
                entities=("Ann",),
                documents=("p1", "p2"),
                answers=("Paris", "Paris, France"),
                hops=2,
                kind="bridge",
                seeds=("Ann",),
            ),
        )

    def test_ours_with_little(self, tmp_path: Path) -> None:
        first, second = read_gold(jsonl(tmp_path / "g.jsonl", "", {"question": "A?", "answer": 7}, {"question": "B?"}))
        assert first == Gold(id="1", question="A?", answers=("7",))
        assert second == Gold(id="2", question="B?")

    def test_a_folder_of_musique_names_passages_by_id(self, tmp_path: Path) -> None:
        question = {"id": "4hop2__1_2", "question": "How many?", "answer": "35", "aliases": [], "gold": ["p26", "p34"]}
        jsonl(tmp_path / "questions.jsonl", question)
        assert read_gold(tmp_path) == (
            Gold(
                id="4hop2__1_2", question="How many?", documents=("p26", "p34"), answers=("35",), hops=4, kind="4hop2"
            ),
        )

    def test_the_demos_gold_is_facts(self) -> None:
        golds = read_gold(DEMO)
        assert len(golds) == 53 and all(gold.hops for gold in golds)
        assert golds[0].facts == (("jane-doe", "WORKS_AT", "acme-capital"), ("acme-capital", "USES", "helios"))
        assert ("helios", "recovery time", "2 hours") in {fact for gold in golds for fact in gold.facts}

    def test_musique(self, tmp_path: Path) -> None:
        contrast = {**MUSIQUE, "answerable": False, "answer": ""}
        assert read_gold(jsonl(tmp_path / "g.jsonl", MUSIQUE, contrast)) == (
            Gold(
                id="3hop1__1_2_3",
                question=MUSIQUE["question"],
                documents=("Green", "Steve"),
                answers=("Miquette", "Miquette G."),
                hops=3,
                kind="3hop1",
            ),
        )

    @pytest.mark.parametrize("indent", [None, 1, "\t"])
    def test_hotpot_and_2wiki(self, tmp_path: Path, indent: Any) -> None:
        hotpot, wiki = read_gold(listed(tmp_path / "dev.json", HOTPOT, WIKI, indent=indent))
        assert hotpot == Gold(id="5a8", question=HOTPOT["question"], documents=("Scott", "Ed"), kind="comparison")
        assert wiki == Gold(
            id="881",
            question=WIKI["question"],
            facts=(("War", "director", "Xawery"), ("Xawery", "mother", "Maria")),
            documents=("War (film)", "Xawery"),
            answers=("Maria",),
            kind="compositional",
        )

    def test_metaqa_as_jsonl(self, tmp_path: Path) -> None:
        facts = (("Wedding", "directed_by", "Joel Zwick"), ("Wedding", "written_by", "Nia"))
        bare = {**METAQA, "id": "dev2-1", "gold_facts": None}
        first, second = read_gold(jsonl(tmp_path / "g.jsonl", METAQA, bare))
        assert first == Gold(
            id="dev2-0",
            question="who writes the films directed by Joel Zwick",
            facts=facts,
            answers=("Nia", "Lars"),
            hops=2,
            kind="director_to_movie_to_writer",
            seeds=("Joel Zwick",),
        )
        assert second.facts == ()

    @pytest.mark.parametrize("kinds", [True, False])
    def test_metaqa_as_text_with_the_types_beside_its_folder(self, tmp_path: Path, kinds: bool) -> None:
        (tmp_path / "vanilla").mkdir()
        path = tmp_path / "vanilla" / "qa_dev.txt"
        path.write_text("[Joe Thomas] appears in which movies\tOne|Two\nwho wrote [[Rec] 2]\tJaume\n", encoding="utf-8")
        if kinds:
            (tmp_path / "qa_dev_qtype.txt").write_text("actor_to_movie\nmovie_to_writer\n")
        hops, types = (1, ("actor_to_movie", "movie_to_writer")) if kinds else (None, ("", ""))
        assert read_gold(path) == (
            Gold(
                id="1",
                question="Joe Thomas appears in which movies",
                answers=("One", "Two"),
                hops=hops,
                kind=types[0],
                seeds=("Joe Thomas",),
            ),
            Gold(
                id="2",
                question="who wrote [Rec] 2",
                answers=("Jaume",),
                hops=hops,
                kind=types[1],
                seeds=("[Rec] 2",),
            ),
        )


FAULTS = [
    ("not JSON", '{"question": "A?", '),
    ("not a JSON object", "[1]"),
    ("'question'", {"answer": "A"}),
    ("'hops'", {"question": "A?", "hops": 0}),
    ("'hops'", {"question": "A?", "hops": "2"}),
    ("'facts'", {"question": "A?", "facts": [["a", "b"]]}),
    ("'facts'", {"question": "A?", "facts": [{"source": "a", "target": "b"}]}),
    ("'facts'", {"question": "A?", "facts": {"a": "b"}}),
    ("'facts'", {"question": "A?", "gold": [1]}),
    ("'documents'", {"question": "A?", "documents": [None]}),
    ("'answer'", {"question": "A?", "answer": True}),
    ("'aliases'", {"question": "A?", "aliases": [""]}),
    ("a paragraph has no title", {**MUSIQUE, "id": "x", "paragraphs": [{"is_supporting": True}]}),
    ("'paragraphs'", {**MUSIQUE, "id": "x", "paragraphs": "none"}),
    ("a supporting fact has no title", {**HOTPOT, "supporting_facts": [1]}),
    ("'evidences'", {**WIKI, "evidences": ["a"]}),
    ("'gold_facts'", {**METAQA, "gold_facts": [["a"]]}),
    ("'qtype'", {**METAQA, "qtype": ""}),
]


class TestFaults:
    @pytest.mark.parametrize(("fault", "record"), FAULTS, ids=[f"{f[0]}-{str(f[1])[-30:]}" for f in FAULTS])
    def test_name_the_file_and_the_line(self, tmp_path: Path, fault: str, record: Any) -> None:
        with pytest.raises(IngestError) as raised:
            read_gold(jsonl(tmp_path / "g.jsonl", OURS, record))
        assert str(raised.value).startswith("g.jsonl, line 2: ")
        assert fault in str(raised.value) and raised.value.remedy.endswith(".")

    def test_name_the_entry_of_a_list(self, tmp_path: Path) -> None:
        for record, fault in ((7, "object"), ({**HOTPOT, "question": ""}, "'question'")):
            with pytest.raises(IngestError, match=rf"^d\.json, entry 2: .*{fault}"):
                read_gold(listed(tmp_path / "d.json", HOTPOT, record))
        (tmp_path / "d.json").write_text('[{"question": "A?"},\n\n{"question": ]')
        with pytest.raises(IngestError, match=r"^d\.json, line 3: not JSON"):
            read_gold(tmp_path / "d.json")

    def test_name_the_line_of_a_text(self, tmp_path: Path) -> None:
        for text in ("who wrote it\tAnn", "who wrote [it]"):
            (tmp_path / "qa.txt").write_text(f"who wrote [this]\tAnn\n\n{text}\n")
            with pytest.raises(IngestError, match=r"^qa\.txt, line 3: "):
                read_gold(tmp_path / "qa.txt")

    @pytest.mark.parametrize("content", [b"", b"[]", b"plain text", b'{"question": "A?"}', b'{"question": "\xe9"}'])
    def test_a_file_without_gold(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "g.txt").write_bytes(content)
        with pytest.raises(IngestError, match=r"^g\.txt") as raised:
            read_gold(tmp_path / "g.txt")
        assert raised.value.remedy

    def test_two_questions_of_one_id(self, tmp_path: Path) -> None:
        with pytest.raises(IngestError, match=r"g\.jsonl.*'a'"):
            read_gold(jsonl(tmp_path / "g.jsonl", OURS, OURS))

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        for path in (tmp_path / "gone.jsonl", tmp_path):
            with pytest.raises(IngestError, match="cannot be read") as raised:
                read_gold(path)
            assert raised.value.remedy
