"""Folding, words, and the ids derived from names."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgcore.names import edge_id, entity_id, fact_id, fold, spelling_distance, token_spans, tokens, words_of
from kgcore.types import HAS_ATTRIBUTE

FOLDED = [
    ("Jane Doe", "jane doe"),
    ("  Jane \t\n Doe ", "jane doe"),
    ("WORKS_AT", "works at"),
    ("__a__b__", "a b"),
    ("Straße", "strasse"),
    ("ﬁne", "fine"),
    ("E\u0301clair", "éclair"),
    ("ＡＢＣ１２", "abc12"),
    ("Ⅳ", "iv"),
    ("İstanbul", "i̇stanbul"),
    ("Σίσυφος", "σίσυφοσ"),
    ("МОСКВА", "москва"),
    ("a\u00a0b", "a b"),
    ("a\u3000b", "a b"),
    ("soft\u00adhyphen", "softhyphen"),
    ("zero\u200bwidth\ufeff", "zerowidth"),
    ("left\u202eright", "leftright"),
    ("nul\0byte", "nulbyte"),
    ("カ\u3099", "ガ"),
    ("ｶﾞ", "ガ"),
    ("", ""),
    (" \t", ""),
    ("_", ""),
    ("\u200b", ""),
    ("AC/DC", "ac/dc"),
    ("🚀", "🚀"),
]


class TestFold:
    @pytest.mark.parametrize(("text", "folded"), FOLDED, ids=[ascii(text) for text, _ in FOLDED])
    def test_case(self, text: str, folded: str) -> None:
        assert fold(text) == folded

    @given(st.text())
    def test_what_is_folded_stays(self, text: str) -> None:
        assert fold(fold(text)) == fold(text)

    @given(st.text(), st.text(max_size=3))
    def test_case_and_outer_space_do_not_matter(self, text: str, more: str) -> None:
        assert fold(f" {text}_ ") == fold(text)
        assert fold(text + " " + more).split() == fold(text).split() + fold(more).split()


WORDS = [
    ("Jane Doe", ["jane", "doe"]),
    ("AND/OR -NOT", ["and", "or", "not"]),
    ("O'Hara", ["o", "hara"]),
    ("C++ (2nd ed.)", ["c", "2nd", "ed"]),
    ("snake_case", ["snake", "case"]),
    ("3.14", ["3", "14"]),
    ("李小龙", ["李", "小", "龙"]),
    ("iPhone手机", ["iphone", "手", "机"]),
    ("ひらがな", ["ひ", "ら", "が", "な"]),
    ("서울 타워", ["서울", "타워"]),
    ("नेहा शर्मा", ["नेहा", "शर्मा"]),
    ("محمد علي", ["محمد", "علي"]),
    ("E\u0301clair", ["éclair"]),
    ("\"'?*\\/~^[]{}():!&|+-", []),
    ("🚀", []),
    ("", []),
]


class TestTokens:
    @pytest.mark.parametrize(("text", "words"), WORDS, ids=[ascii(text) for text, _ in WORDS])
    def test_case(self, text: str, words: list[str]) -> None:
        assert tokens(text) == words
        assert [token for token, _, _ in token_spans(text)] == words

    @given(st.text())
    def test_they_are_folded_words(self, text: str) -> None:
        found = tokens(text)
        assert found == tokens(fold(text))
        assert all(token and " " not in token and token in fold(text) for token in found)

    @pytest.mark.parametrize("text", [text for text, words in WORDS if words], ids=ascii)
    def test_joined_they_say_the_same(self, text: str) -> None:
        assert words_of(text) == " ".join(tokens(text))
        assert tokens(words_of(text)) == tokens(text)

    @pytest.mark.parametrize(("text", "folded"), [("??", "??"), ("🚀", "🚀"), (" -- ", "--"), ("", ""), ("\u200b", "")])
    def test_signs_alone_are_their_own_words(self, text: str, folded: str) -> None:
        assert words_of(text) == folded


class TestTokenSpans:
    def test_offsets_are_of_the_text_as_given(self) -> None:
        assert token_spans("  What's Straße, ok?") == [
            ("what", 2, 6), ("s", 7, 8), ("strasse", 9, 15), ("ok", 17, 19),
        ]  # fmt: skip

    @given(st.text())
    def test_a_span_folds_to_its_word(self, text: str) -> None:
        end = 0
        for token, start, stop in token_spans(text):
            assert end <= start < stop <= len(text)
            assert token and fold(text[start:stop]) == token
            end = stop

    @pytest.mark.parametrize(
        "text", ["soft\u00adhyphen wins", "می\u200cخواهم", "zero\u200bwidth", "क\u094d\u200dष"], ids=ascii
    )
    def test_an_invisible_mark_parts_no_word(self, text: str) -> None:
        assert [token for token, _, _ in token_spans(text)] == tokens(text)


def test_short_words_have_no_slack() -> None:
    assert [spelling_distance("a" * n) for n in (0, 1, 3, 4, 7, 8, 30)] == [0, 0, 0, 1, 1, 2, 2]


text = st.text(max_size=6)


class TestIds:
    def test_they_never_change(self) -> None:
        """A graph written by an earlier version must be found again."""
        assert entity_id("Person", "Jane Doe") == "911b1db7-88f8-5d77-acef-089a1823c425"
        assert edge_id("a", "WORKS_AT", None, "b", "d1") == "5931175e-fea2-5483-9538-afb1a94dfdee"
        assert fact_id("a", "WORKS_AT", None, "b", "B") == "09b73135-df1d-5680-b056-440a1c931fb8"
        assert fact_id("a", HAS_ATTRIBUTE, "status", "v1", "Active") == "68ab3cdb-4090-5cd4-b80b-f4ae04bde121"

    def test_an_entity_is_its_type_and_folded_name(self) -> None:
        jane = entity_id("Person", "Jane Doe")
        assert entity_id("Person", " JANE_doe ") == jane
        assert entity_id("Person", "Jane Doe", "") == jane
        others = [
            entity_id("person", "Jane Doe"), entity_id("Person", "Jane Do"), entity_id("Person", "Jane Doe", "2"),
            entity_id("Person", "Jane Doe", "1"),
        ]  # fmt: skip
        assert len({jane, *others}) == 5

    def test_an_edge_is_one_documents(self) -> None:
        ids = {
            edge_id(s, r, k, t, d)
            for s in ("a", "b") for r in ("R", "S") for k in (None, "k") for t in ("x", "y") for d in (None, "d1", "d2")
        }  # fmt: skip
        assert len(ids) == 48

    def test_a_fact_is_no_documents_and_has_no_text(self) -> None:
        fact = fact_id("a", "R", None, "b", "Bob")
        assert fact_id("a", "R", "key", "b", "Robert") == fact
        assert len({fact, fact_id("b", "R", None, "a", "Bob"), fact_id("a", "S", None, "b", "Bob"),
                    fact_id("a", "R", None, "c", "Bob")}) == 4  # fmt: skip

    def test_an_attribute_fact_is_its_key_and_folded_value(self) -> None:
        active = fact_id("a", HAS_ATTRIBUTE, "status", "v1", "Active")
        assert fact_id("a", HAS_ATTRIBUTE, "status", "v2", " ACTIVE_") == active
        assert len({active, fact_id("a", HAS_ATTRIBUTE, "state", "v1", "Active"),
                    fact_id("b", HAS_ATTRIBUTE, "status", "v1", "Active"),
                    fact_id("a", HAS_ATTRIBUTE, "status", "v1", "Inactive")}) == 4  # fmt: skip

    @given(text, text, text, text, text)
    @example("a", "b", "c", "d", "e")
    def test_parts_never_run_together(self, a: str, b: str, c: str, d: str, e: str) -> None:
        assert edge_id(a + b, c, d, e, "x") != edge_id(a, b + c, d, e, "x") or not b
        assert str(uuid.UUID(edge_id(a, b, c, d, e))) == edge_id(a, b, c, d, e)
