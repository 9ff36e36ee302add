"""The one escape helper, and the filter's chips. How an escaped label is drawn is tested in the browser."""

from __future__ import annotations

import json

import pytest

from ui.filtering import conditions, read_filter
from ui.text import escaped


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Acme Capital", "Acme Capital"),
        (":red[x]", "\\:\u2060red\\[x\\]"),
        ("$x$", r"\$x\$"),
        ("[a](b)", r"\[a\]\(b\)"),
        ("**b** `c` <i> # 1. -", "\\*\\*b\\*\\* \\`c\\` \\<i\\> \\# 1\\. \\-"),
        (":tada:", "\\:\u2060tada\\:"),
        ("https://a.b", "https\\:\u2060\\/\\/a\\.b"),
        ("127.0.0.1", r"127\.0\.0\.1"),
        ("www.x", "www\u2060\\.x"),
        ("a@b.c", "a\\@\u2060b\\.c"),
        ("two\nlines", "two lines"),
        ("漢字 Ünïcode", "漢字 Ünïcode"),
    ],
)
def test_markdown_is_escaped(text: str, label: str) -> None:
    assert escaped(text) == label


YEAR = {"field": "year", "operator": ">=", "value": 2024}
KIND = {"field": "kind", "operator": "in", "value": ["memo", "note"]}
EITHER = {"operator": "OR", "conditions": [YEAR, KIND]}


@pytest.mark.parametrize(
    ("caller", "labels", "without"),
    [
        (None, [], []),
        (YEAR, ["year >= 2024"], [None]),
        (EITHER, ["any of 2 conditions"], [None]),
        ({"operator": "AND", "conditions": [YEAR, KIND]}, ["year >= 2024", "kind in memo, note"], [KIND, YEAR]),
        ({"operator": "AND", "conditions": [EITHER]}, ["any of 2 conditions"], [None]),
        (
            {"operator": "AND", "conditions": [YEAR, KIND, EITHER]},
            ["year >= 2024", "kind in memo, note", "any of 2 conditions"],
            [{"operator": "AND", "conditions": rest} for rest in ([KIND, EITHER], [YEAR, EITHER], [YEAR, KIND])],
        ),
    ],
)
def test_each_condition_is_a_chip_that_can_be_taken_away(
    caller: dict[str, object] | None, labels: list[str], without: list[object]
) -> None:
    assert read_filter(json.dumps(caller) if caller else "  ") == caller
    chips = conditions(caller)
    assert [label for label, _ in chips] == labels
    assert [read_filter(text) for _, text in chips] == without
