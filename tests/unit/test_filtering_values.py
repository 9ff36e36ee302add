"""What the filter's builder offers: fields, operators, labels that tell values apart, and typed text as values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgcore import FilterError
from kgcore.filters.grammar import COMPARISONS, EDGE_FIELDS
from kgcore.types import Description, FieldValue, Property
from ui.filter_values import (
    OWN_FIELDS,
    SCALARS,
    distinct,
    exact,
    fields_of,
    label_of,
    operators_for,
    read_value,
    scalar_kinds,
    shown,
    takes_list,
    value_labels,
)

NUMBERS, TEXTS, ALL = ("number",), ("string",), SCALARS


def described(*properties: Property) -> Description:
    return Description(
        entities=0, edges=0, documents=0, entity_types={}, relations={}, properties=properties, embedder=None,
        dimension=None, data_version="1",
    )  # fmt: skip


class TestFields:
    def test_properties_with_kinds_and_counts_then_the_edges_own(self) -> None:
        fields = fields_of(
            described(
                Property(name="tags", kinds=("list",), count=3),
                Property(name="year", kinds=("number", "string"), count=1_200),
                Property(name="src_name", kinds=("string",), count=7),
            ),
            frozenset(),
        )
        assert list(fields) == ["tags", "year", *EDGE_FIELDS]
        assert [field.label for field in fields.values()] == [
            "tags · list · 3", "year · number/string · 1,200", "attribute · 0", "description · 0",
            "source document · 0", "source name · 7", "target name · 0",
        ]  # fmt: skip
        assert [fields[name].kinds for name in ("tags", "year", "key")] == [("list",), ("number", "string"), TEXTS]

    def test_own_fields_are_those_of_the_grammar(self) -> None:
        assert tuple(OWN_FIELDS) == EDGE_FIELDS

    def test_access_fields_are_none(self) -> None:
        given_ = described(Property(name="owner", kinds=("string",), count=1))
        assert fields_of(given_, frozenset({"owner", "key"})).keys() == set(EDGE_FIELDS) - {"key"}

    def test_a_name_that_no_filter_can_have_is_not_offered(self) -> None:
        odd = [Property(name=name, kinds=("string",), count=1) for name in ("with space", "ключ", "", "a.b", "9", "ok")]
        assert list(fields_of(described(*odd), frozenset()))[:2] == ["ok", EDGE_FIELDS[0]]

    def test_long_names_that_begin_alike_have_labels_of_their_own(self) -> None:
        long = [Property(name="a" * 500 + end, kinds=("string",), count=1) for end in "xyz"]
        labels = [field.label for field in fields_of(described(*long), frozenset()).values()]
        assert len(set(labels)) == len(labels) == 3 + len(EDGE_FIELDS)
        assert all(len(label) < 120 for label in labels)


class TestOperators:
    @pytest.mark.parametrize(
        ("kinds", "operators"),
        [
            (("list",), ("contains_any",)),
            (("boolean",), ("==", "!=", "in", "not in")),
            (("number",), COMPARISONS[:-1]),
            (("string",), COMPARISONS[:-1]),
            (("boolean", "list"), ("==", "!=", "in", "not in", "contains_any")),
            (("list", "string"), COMPARISONS),
            ((), COMPARISONS),
        ],
    )
    def test_they_fit_the_kinds(self, kinds: tuple[str, ...], operators: tuple[str, ...]) -> None:
        assert COMPARISONS[-1] == "contains_any"
        assert operators_for(kinds) == operators

    def test_which_take_a_list(self) -> None:
        assert [operator for operator in COMPARISONS if takes_list(operator)] == ["in", "not in", "contains_any"]
        assert not takes_list(None)
        assert not takes_list(["in"])


class TestScalarKinds:
    def test_of_a_list_those_of_its_items(self) -> None:
        found = [FieldValue(value="a", count=2), FieldValue(value=1, count=1)]
        assert scalar_kinds(("list",), found) == ("number", "string")
        assert scalar_kinds(("boolean", "list"), found) == ("boolean", "number", "string")

    def test_without_any_all(self) -> None:
        assert scalar_kinds(("list",), ()) == scalar_kinds((), ()) == SCALARS


class TestRead:
    @pytest.mark.parametrize(
        ("text", "kinds", "value"),
        [
            ("2025", NUMBERS, 2025),
            (" -7 ", NUMBERS, -7),
            ("+3", NUMBERS, 3),
            ("2025.0", NUMBERS, 2025.0),
            (".5", NUMBERS, 0.5),
            ("1e3", NUMBERS, 1000.0),
            ("9223372036854775807", NUMBERS, 2**63 - 1),
            ("-9223372036854775808", NUMBERS, -(2**63)),
            ("9007199254740993", NUMBERS, 2**53 + 1),
            ("2025", TEXTS, "2025"),
            ("true", TEXTS, "true"),
            (' "quoted" ', TEXTS, ' "quoted" '),
            ("true", ("boolean",), True),
            (" false", ("boolean",), False),
            ("2025", ALL, 2025),
            ("true", ALL, True),
            ('"2025"', ALL, "2025"),
            ('"true"', ALL, "true"),
            ("2025-01-01", ALL, "2025-01-01"),
            ('"', ALL, '"'),
            ('"a"b"', ALL, '"a"b"'),
            ("2025", ("number", "string"), 2025),
            ("true", ("number", "string"), "true"),
        ],
    )
    def test_by_the_kinds_of_the_field(self, text: str, kinds: tuple[str, ...], value: Any) -> None:
        assert exact(read_value(text, kinds)) == exact(value)

    @pytest.mark.parametrize(
        ("text", "kinds", "says"),
        [
            ("abc", NUMBERS, "“abc” is not a number."),
            ("", NUMBERS, "is not a number"),
            ("1_000", NUMBERS, "is not a number"),
            ("٢٠٢٥", NUMBERS, "is not a number"),
            ("0x10", NUMBERS, "is not a number"),
            ("NaN", NUMBERS, "is not a number"),
            ("9" * 5_000, NUMBERS, "is not a number"),
            ("yes", ("boolean",), "“yes” is not true or false."),
            ("yes", ("boolean", "number"), "is not true or false or a number."),
            ("9223372036854775808", NUMBERS, "larger than 64 bits"),
            ("1e999", NUMBERS, "not a number that can be compared"),
            ("a\0b", TEXTS, "cannot be stored"),
            ("\ud800", TEXTS, "cannot be stored"),
        ],
    )
    def test_what_is_of_no_kind_is_refused(self, text: str, kinds: tuple[str, ...], says: str) -> None:
        with pytest.raises(FilterError) as raised:
            read_value(text, kinds)
        assert says in str(raised.value)
        assert raised.value.remedy


HOSTILE = [
    "<img src=x onerror=1>", "**b** [a](b) $x$ :red[x]", "\u202egnirts\u202c", "\u200b", "", " ", "a\u200bb", "ab",
    "a b", "a  b", "a\nb", "long " * 400, "long " * 400 + "!", "true", "2024", '"2024"', "null", "\ud800", "2024 · 3",
    "\x1b[31m", "👩‍🔬", "a (2)", '"a"',
]  # fmt: skip


class TestLabels:
    def test_found_values_with_their_counts_then_those_held(self) -> None:
        found = [FieldValue(value=2024, count=1_200), FieldValue(value=2023, count=1)]
        labels = value_labels(found, [2023, 1999], NUMBERS)
        assert labels == {"2024 · 1,200": 2024, "2023 · 1": 2023, "1999": 1999}

    def test_kinds_are_told_apart(self) -> None:
        held = [1, 1.0, True, "1", "true", "1.0"]
        labels = value_labels([], held, ALL)
        assert list(labels) == ["1", "1.0", "true", '"1"', '"true"', '"1.0"']
        assert [exact(value) for value in labels.values()] == [exact(value) for value in held]

    def test_a_value_of_another_kind_than_the_field_says_so(self) -> None:
        assert (shown(2024, TEXTS), shown(True, NUMBERS)) == ("2024 (number)", "true (boolean)")
        assert (shown("2024", NUMBERS), shown("x", NUMBERS), shown("x", TEXTS)) == ('"2024"', '"x"', "x")

    def test_what_is_no_value_is_shown_too(self) -> None:
        assert list(value_labels([], [None, {"a": [1]}, [2]], TEXTS)) == ["null", '{"a": [1]}', "[2]"]

    @pytest.mark.parametrize("kinds", [TEXTS, ALL])
    def test_hostile_texts_are_short_plain_lines_each_of_its_own(self, kinds: tuple[str, ...]) -> None:
        labels = value_labels([FieldValue(value=text, count=3) for text in HOSTILE], HOSTILE, kinds)
        assert len(labels) == len(HOSTILE)
        assert list(labels.values()) == HOSTILE
        for text, label in zip(HOSTILE, labels, strict=True):
            assert 0 < len(label) < 110
            assert not set(label) & set("\n\0\x1b\u202e\u200b\ud800")
            assert label_of(text, labels) == label

    def test_what_none_stands_for_has_no_label(self) -> None:
        assert label_of(1, {"a": True, "b": 1.0, "c": "1"}) is None

    @given(st.lists(st.sampled_from(["a", "a (2)", "a (2) (2)", "b"]), max_size=12))
    def test_distinct_labels_are_distinct_and_those_that_were_are_as_before(self, labels: list[str]) -> None:
        told = distinct(labels)
        assert len(set(told)) == len(labels) == len(told)
        assert all(one.startswith(label) for one, label in zip(told, labels, strict=True))
        if len(set(labels)) == len(labels):
            assert told == labels


SCALAR_VALUES = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
    | st.sampled_from(["1", "true", '"1"', "1e5", "", " 1"])
)


@given(st.lists(SCALAR_VALUES, max_size=8, unique_by=json.dumps), st.sets(st.sampled_from(SCALARS), min_size=1))
def test_a_label_stands_for_its_value_and_no_other(values: list[Any], kinds: set[str]) -> None:
    labels = value_labels([], values, tuple(sorted(kinds)))
    assert [exact(value) for value in labels.values()] == [exact(value) for value in values]


@given(SCALAR_VALUES)
def test_a_shown_value_typed_again_is_the_value(value: Any) -> None:
    """Where its label holds all of it: plain text of one line."""
    text = shown(value, ALL)
    if not isinstance(value, str) or (
        value.strip() == value and text in (value, json.dumps(value, ensure_ascii=False))
    ):
        assert exact(read_value(text, ALL)) == exact(value)
