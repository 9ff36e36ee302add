"""Labels, and the sentence of a passage that says a fact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgcore.viz import labels
from kgcore.viz.labels import cut, node_labels, plain
from kgcore.viz.sentences import said_at


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Helios is blue. Acme is old. Acme runs Helios well.", "Acme runs Helios well."),
        ("Acme 由 Helios 支持。其他。", "Acme 由 Helios 支持。"),
        ("First line\nAcme uses Helios\nLast", "Acme uses Helios"),
        ("Version 2.5 of Helios runs at Acme. More.", "Version 2.5 of Helios runs at Acme."),
        ("It uses something. Nothing else.", "It uses something."),
    ],
)
def test_the_sentence_that_holds_both_names_else_the_best(content: str, expected: str) -> None:
    span = said_at(content, "Acme", "Helios", "Acme uses Helios")
    assert span is not None
    assert content[span[0] : span[1]] == expected


def test_no_sentence_is_marked_when_none_says_it() -> None:
    assert said_at("Quite another matter.", "Acme", "Helios", "Acme uses Helios") is None
    assert said_at("", "Acme", "Helios", "Acme uses Helios") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Acme Capital", "Acme Capital"),
        ("exactly eighteen c", "exactly eighteen c"),
        ("nineteen characters", "nineteen characte…"),
        ("漢字漢字漢字漢字漢字", "漢字漢字漢字漢字…"),
        ("", ""),
    ],
)
def test_a_label_is_cut_at_eighteen_columns(text: str, expected: str) -> None:
    assert cut(text) == expected


def test_stacked_marks_do_not_make_a_label_long() -> None:
    assert len(cut("a" + "\u0301" * 5_000)) < 100


def test_a_long_row_of_marks_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    columns = labels._columns
    monkeypatch.setattr(labels, "_columns", lambda character: asked.append(character) or columns(character))
    assert cut("a" * 1_000 + "\u0301" * 3_100, 1_000) == "a" * 999 + "…"
    assert len(asked) < 3 * 4_100


@given(st.text(st.sampled_from("aé王\u0301\u0488 ｗ"), max_size=40), st.integers(1, 6))
def test_a_label_is_the_longest_beginning_that_fits(text: str, width: int) -> None:
    short = cut(text, width)
    assert short == text or short.endswith("…")
    if short != text:
        used = [sum(map(labels._columns, text[:end])) for end in range(len(text) + 1)]
        beginnings = [text[:end] for end in range(min(len(text), 4 * width) + 1) if used[end] <= width - 1]
        assert short[:-1] in {one.rstrip() for one in beginnings} and len(text) > len(short[:-1])


def test_a_name_is_one_line_of_what_can_be_seen() -> None:
    assert plain("a\n\u202eb\u200b\tc\x00 \ud800") == "a b c \ufffd"
    assert plain("x" * 2_000).endswith("…")
    assert len(plain("x" * 2_000)) == 300


def test_only_homonyms_carry_their_type() -> None:
    labels = node_labels({"1": "Alex Kim", "2": "alex kim", "3": "Jane"}, {"1": "Person", "2": "Team", "3": "Person"})
    assert labels == {"1": "Alex Kim · Person", "2": "alex kim · Team", "3": "Jane"}
