"""Finding entities by name: any script, any signs, near spellings, and autocompletion. Read only."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kgcore.names import words_of
from kgcore.store import GraphStore
from kgcore.types import Match
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import NOBODY, READER, edge, hidden, write

NAMES = {
    "ru": "Мария Иванова", "zh": "李小龙", "ar": "محمد علي", "hi": "नेहा शर्मा", "jp": "東京タワー", "ko": "서울 타워",
    "th": "กรุงเทพ", "de": "Müller GmbH", "eszett": "Hauptstraße", "nfd": "E\u0301clair", "wide": "ＡＢＣ Works",
    "and": "AND", "or": "OR", "not": "NOT", "rock": "Rock AND Roll", "acdc": "AC/DC", "quoted": 'The "Quoted" One',
    "who": "Who?", "star": "a*b", "slash": "back\\slash", "marks": "???", "cpp": "C++", "c": "C", "hara": "O'Hara",
    "percent": "100% Pure", "under": "snake_case_name", "amp": "R&D (Berlin)", "colon": "ns:Label",
    "square": "[brackets]", "curly": "{curly}", "tilde": "fuzzy~2^3", "minus": "-minus",
    "plus": "+plus", "newline": "two\nlines", "dots": "...",
    "sql": "'; DROP TABLE edge; --", "dollar": "$1 Shop", "emoji": "🚀 Rocket", "long": "word " * 60 + "end",
    "car": "Car Manufacturer", "tokyo": "Tokyo", "bob": "Bob", "bella": "Bella Blue",
    "data-1": "DataPlatform", "data-2": "DataPlatform",
}  # fmt: skip
ALIASES = {"cia-1": ("Central Intelligence Agency", "CIA"), "acme": ("Acme Capital", "Acme Holdings")}


@pytest.fixture(scope="module")
def named(factory: StoreFactory) -> GraphStore:
    """A store whose entities have the names above, the aliases by two edges each."""
    store = factory.make()
    edges = [edge(f"n-{id_}", id_, "IN", "all", src=name, dst="Everything") for id_, name in NAMES.items()]
    edges += [
        edge(f"a-{id_}-{i}", id_, "IN", "all", src=name, dst="Everything", doc=f"d{i}")
        for id_, names in ALIASES.items() for i, name in enumerate(names)
    ]  # fmt: skip
    edges += [
        hidden("h-1", "h-tokyo", "IN", "all", src="Tokyo", dst="Everything"),
        hidden("h-2", "h-bolton", "IN", "all", src="Bolton", dst="Everything"),
        hidden("h-3", "acme", "IN", "all", src="Shellcorp", dst="Everything"),
        edge("n-boltan", "boltan", "IN", "all", src="Boltan Wanderers", dst="Everything"),
    ]
    write(store, *edges)
    return store


@pytest.mark.parametrize("id_", NAMES)
def test_a_name_asked_as_it_is_written_is_found_exactly(named: GraphStore, id_: str) -> None:
    found = named.match_names([NAMES[id_]], READER, 10)
    same = [other for other in sorted(NAMES) if NAMES[other] == NAMES[id_]]
    assert [(m.entity_id, m.name, m.score, m.query) for m in found] == [(i, NAMES[i], 1, 0) for i in same]
    mentions = named.find_mentions([NAMES[id_]], READER)
    assert [m for m in mentions if m in found] == list(found)
    assert {words_of(m.name) for m in mentions} == {words_of(NAMES[id_])}


@dataclass(frozen=True, kw_only=True)
class Asked:
    id: str
    name: str
    found: list[str]
    exact: bool = False


ASKED = [
    Asked(id="another-case", name="мария ИВАНОВА", found=["ru"], exact=True),
    Asked(id="another-normal-form", name="Éclair", found=["nfd"], exact=True),
    Asked(id="sharp-s-unfolded", name="HAUPTSTRASSE", found=["eszett"], exact=True),
    Asked(id="wide-letters", name="abc works", found=["wide"], exact=True),
    Asked(id="underscores-are-spaces", name="Snake case_NAME", found=["under"], exact=True),
    Asked(id="white-space-runs", name="  two \t lines ", found=["newline"], exact=True),
    Asked(id="a-cyrillic-word", name="Иванова", found=["ru"]),
    Asked(id="a-cyrillic-slip", name="Мария Ивонова", found=["ru"]),
    Asked(id="another-cyrillic-slip", name="Марил Иванова", found=["ru"]),
    Asked(id="two-chinese-characters", name="小龙", found=["zh"]),
    Asked(id="an-arabic-word", name="علي", found=["ar"]),
    Asked(id="an-arabic-slip", name="محمد علي", found=["ar"], exact=True),
    Asked(id="a-hindi-word", name="शर्मा", found=["hi"]),
    Asked(id="a-korean-word", name="서울", found=["ko"]),
    Asked(id="a-plain-u-for-an-umlaut", name="Muller GmbH", found=["de"]),
    Asked(id="words-in-another-order", name="Roll Rock", found=["rock"]),
    Asked(id="and-is-a-word", name="and rock", found=["rock"]),
    Asked(id="or-joins-nothing", name="rock OR roll", found=[]),
    Asked(id="not-excludes-nothing", name="NOT rock", found=[]),
    Asked(id="minus-excludes-nothing", name="rock -roll", found=["rock"]),
    Asked(id="every-word-must-stand-in-the-name", name="Rock Manufacturer", found=[]),
    Asked(id="a-slash", name="AC / DC", found=["acdc"]),
    Asked(id="quotes", name='"quoted"', found=["quoted"]),
    Asked(id="an-unclosed-quote", name='quoted "one', found=["quoted"]),
    Asked(id="a-wildcard-is-no-wildcard", name="Manu*", found=[]),
    Asked(id="a-question-mark-is-no-wildcard", name="Tok?o", found=[]),
    Asked(id="signs-around-a-letter", name="(C)", found=["c", "cpp"]),
    Asked(id="a-backslash-alone", name="\\", found=[]),
    Asked(id="a-trailing-backslash", name="rock\\", found=["rock"]),
    Asked(id="only-punctuation", name="!!! -- /", found=[]),
    Asked(id="only-quotes", name='""', found=[]),
    Asked(id="nothing", name="", found=[]),
    Asked(id="white-space", name=" \t\n", found=[]),
    Asked(id="an-invisible-mark", name="Tok\u200byo", found=["tokyo"], exact=True),
    Asked(id="a-zero-byte", name="Tok\0yo", found=["tokyo"], exact=True),
    Asked(id="half-a-character", name="\ud83d", found=[]),
    Asked(id="one-letter-off", name="Car Manufacturor", found=["car"]),
    Asked(id="two-letters-off-a-long-word", name="Car Manofacturor", found=["car"]),
    Asked(id="three-letters-off", name="Car Manofactoror", found=[]),
    Asked(id="letters-swapped", name="Tokoy", found=["tokyo"]),
    Asked(id="another-first-letter", name="Pokyo", found=[]),
    Asked(id="another-first-letter-that-another-word-has", name="Bella Hlue", found=[]),
    Asked(id="words-slipped-in-another-order", name="Bluo Bela", found=["bella"]),
    Asked(id="three-letters-have-no-slack", name="Bab", found=[]),
    Asked(id="an-alias", name="cia", found=["cia-1"], exact=True),
    Asked(id="a-word-of-an-alias", name="Holdings", found=["acme"]),
    Asked(id="words-of-two-aliases", name="Capital Holdings", found=[]),
    Asked(id="two-of-one-name", name="dataplatform", found=["data-1", "data-2"], exact=True),
    Asked(id="a-homonym-unseen", name="Tokyo", found=["tokyo"], exact=True),
    Asked(id="an-exact-name-unseen-falls-to-spellings", name="Bolton", found=["boltan"]),
    Asked(id="a-name-unseen-of-an-entity-seen", name="Shellcorp", found=[]),
]


class TestMatchNames:
    @pytest.mark.parametrize("case", ASKED, ids=lambda case: case.id)
    def test_case(self, named: GraphStore, case: Asked) -> None:
        found = named.match_names([case.name], READER, 10)
        assert [m.entity_id for m in found] == case.found
        assert all((m.score == 1) == case.exact and 0 < m.score <= 1 for m in found)

    def test_each_name_has_its_own_answer(self, named: GraphStore) -> None:
        found = named.match_names(["Rock", "nothing of the kind", "DataPlatform", "Tokyo"], READER, 10)
        assert [(m.query, m.entity_id) for m in found] == [(0, "rock"), (2, "data-1"), (2, "data-2"), (3, "tokyo")]

    def test_the_limit_is_a_names_own(self, named: GraphStore) -> None:
        found = named.match_names(["DataPlatform", "c.", "Tokyo"], READER, 1)
        assert [(m.query, m.entity_id) for m in found] == [(0, "data-1"), (1, "c"), (2, "tokyo")]

    def test_the_likelier_comes_first_then_the_id(self, named: GraphStore) -> None:
        found = named.match_names(["Acme"], READER, 10)
        assert [m.entity_id for m in found] == ["acme"]
        assert found[0].name in ALIASES["acme"]
        scores = [m.score for m in named.match_names(["word"], READER, 10)]
        assert scores == sorted(scores, reverse=True)

    def test_it_shows_the_name_that_was_found(self, named: GraphStore) -> None:
        assert [m.name for m in named.match_names(["CIA", "central agency"], READER, 10)] == [
            "CIA", "Central Intelligence Agency",
        ]  # fmt: skip

    def test_nothing_asked_or_nothing_visible(self, named: GraphStore) -> None:
        assert named.match_names([], READER, 10) == ()
        assert named.match_names(["Tokyo", "Rock"], NOBODY, 10) == ()


@dataclass(frozen=True, kw_only=True)
class Mention:
    id: str
    span: str
    found: dict[str, float]
    spelled: bool = False


MENTIONS = [
    Mention(id="a-whole-name", span="tokyo", found={"tokyo": 1}),
    Mention(id="not-a-part-of-one", span="Rock", found={}),
    Mention(id="signs-do-not-count", span="rock, and roll!", found={"rock": 1}),
    Mention(id="signs-of-the-name-do-not-count", span="c", found={"c": 1, "cpp": 1}),
    Mention(id="only-signs", span="???", found={"marks": 1}),
    Mention(id="other-signs", span="?!?", found={}),
    Mention(id="chinese", span="李小龙", found={"zh": 1}),
    Mention(id="an-alias", span="CIA", found={"cia-1": 1}),
    Mention(id="two-of-one-name", span="DATAPLATFORM", found={"data-1": 1, "data-2": 1}),
    Mention(id="a-slip-unasked", span="Tokio", found={}),
    Mention(id="a-slip", span="Tokio", found={"tokyo": 0.8}, spelled=True),
    Mention(id="a-slip-in-cyrillic", span="мария ивонова", found={"ru": 12 / 13}, spelled=True),
    Mention(id="two-slips-in-a-long-text", span="car manofactorer", found={"car": 14 / 16}, spelled=True),
    Mention(id="three-slips", span="car monofactorer", found={}, spelled=True),
    Mention(id="spaces-count-as-letters", span="rockandroll", found={"rock": 9 / 11}, spelled=True),
    Mention(id="another-first-letter", span="pokyo", found={}, spelled=True),
    Mention(id="three-letters-have-no-slack", span="bab", found={}, spelled=True),
    Mention(id="no-slip-at-all", span="bob", found={"bob": 1}, spelled=True),
    Mention(id="an-unseen-entity", span="Bolton", found={}),
    Mention(id="an-unseen-name", span="shellcorb", found={}, spelled=True),
    Mention(id="nothing", span="", found={}),
    Mention(id="nothing-with-slips", span=" ", found={}, spelled=True),
    Mention(id="half-a-character", span="\ud83d", found={}, spelled=True),
]


class TestFindMentions:
    @pytest.mark.parametrize("case", MENTIONS, ids=lambda case: case.id)
    def test_case(self, named: GraphStore, case: Mention) -> None:
        found = named.find_mentions([case.span], READER, spelled=case.spelled)
        assert [m.entity_id for m in found] == list(case.found)
        assert [m.score for m in found] == pytest.approx(list(case.found.values()), abs=1e-6)

    def test_each_span_has_its_own_answer(self, named: GraphStore) -> None:
        found = named.find_mentions(["tokyo", "Rock", "DataPlatform", "", "???"], READER)
        assert [(m.query, m.entity_id) for m in found] == [
            (0, "tokyo"), (2, "data-1"), (2, "data-2"), (4, "marks"),
        ]  # fmt: skip

    def test_the_match_has_type_and_name(self, named: GraphStore) -> None:
        assert named.find_mentions(["cia"], READER) == (
            Match(query=0, entity_id="cia-1", name="CIA", type="Thing", score=1.0),
        )

    def test_nothing_asked_or_nothing_visible(self, named: GraphStore) -> None:
        assert named.find_mentions([], READER) == ()
        assert named.find_mentions(["Tokyo"], NOBODY) == ()


@dataclass(frozen=True, kw_only=True)
class Prefix:
    id: str
    text: str
    found: list[str]
    limit: int = 20


PREFIXES = [
    Prefix(id="the-beginning-of-a-name", text="Tok", found=["tokyo"]),
    Prefix(id="the-beginning-of-a-word", text="manu", found=["car"]),
    Prefix(id="whole-names-before-words", text="ro", found=["rock", "emoji"]),
    Prefix(id="a-name-and-half-a-word", text="rock and r", found=["rock"]),
    Prefix(id="words-from-the-middle", text="and ro", found=["rock"]),
    Prefix(id="cyrillic", text="ива", found=["ru"]),
    Prefix(id="one-chinese-character", text="龙", found=["zh"]),
    Prefix(id="arabic", text="عل", found=["ar"]),
    Prefix(id="a-percent-sign", text="100%", found=["percent"]),
    Prefix(id="a-percent-is-no-wildcard", text="%", found=[]),
    Prefix(id="an-underscore-is-a-space", text="snake_c", found=["under"]),
    Prefix(id="a-star-is-no-wildcard", text="to*", found=[]),
    Prefix(id="a-quote", text="'", found=["sql"]),
    Prefix(id="question-marks", text="??", found=["marks"]),
    Prefix(id="a-quoted-word", text="quoted", found=["quoted"]),
    Prefix(id="an-alias-once", text="c", found=["cia-1", "c", "car", "cpp"], limit=4),
    Prefix(id="ties-by-id", text="data", found=["data-1", "data-2"]),
    Prefix(id="the-limit", text="data", found=["data-1"], limit=1),
    Prefix(id="not-the-middle-of-a-word", text="okyo", found=[]),
    Prefix(id="nothing", text="", found=[]),
    Prefix(id="white-space", text="  ", found=[]),
    Prefix(id="half-a-character", text="\ud83d", found=[]),
    Prefix(id="a-name-unseen", text="shell", found=[]),
    Prefix(id="an-entity-unseen", text="bol", found=["boltan"]),
]


class TestSearch:
    @pytest.mark.parametrize("case", PREFIXES, ids=lambda case: case.id)
    def test_case(self, named: GraphStore, case: Prefix) -> None:
        assert [end.id for end in named.search(case.text, READER, case.limit)] == case.found

    def test_it_shows_the_visible_name_and_degree(self, named: GraphStore) -> None:
        (end,) = named.search("central", READER)
        assert (end.id, end.type, end.degree) == ("cia-1", "Thing", 2)
        assert named.search("tok", NOBODY) == ()

    def test_the_default_limit_is_twenty(self, named: GraphStore) -> None:
        assert all(len(named.search(letter, READER)) <= 20 for letter in "abcdr")
