"""The locked filter with places for claims: what it binds, what it refuses, and that it never widens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgcore.errors import ConfigError, FilterError
from kgcore.filters import AccessFilter, Template, parse_filter
from tests.unit.test_filters import LISTS, OPERATORS, group, holds, only

GROUPS = {"claim": "groups"}
PREFIXED = {"claim": "groups", "prefix": "group:"}
PUBLIC = only("allowed_principals", "contains_any", ["group:public"])


def filled(template: object, **claims: object) -> dict[str, Any] | None:
    return Template.parse(template).fill(claims)


class TestBinding:
    @pytest.mark.parametrize(
        ("operator", "value", "claim", "bound"),
        [
            ("contains_any", GROUPS, ["a", "b"], ["a", "b"]),
            ("contains_any", PREFIXED, ["a", "b"], ["group:a", "group:b"]),
            ("contains_any", GROUPS, "a", ["a"]),
            ("contains_any", [PREFIXED], "a", ["group:a"]),
            ("contains_any", ["group:public", PREFIXED, "x"], ["a", "b"], ["group:public", "group:a", "group:b", "x"]),
            ("in", [GROUPS, GROUPS], ["a"], ["a", "a"]),
            ("not in", GROUPS, ["a"], ["a"]),
            ("==", GROUPS, "a", "a"),
            ("==", PREFIXED, "a", "group:a"),
            ("==", {"claim": "groups", "prefix": ""}, "a", "a"),
            ("<=", GROUPS, 3, 3),
            ("<=", GROUPS, 2.5, 2.5),
            ("==", GROUPS, True, True),
            ("in", GROUPS, [1, "a", False], [1, "a", False]),
            ("==", GROUPS, " a ", " a "),
        ],
    )
    def test_a_claim_stands_in_its_place(self, operator: str, value: object, claim: object, bound: object) -> None:
        assert filled(only("f", operator, value), groups=claim) == only("f", operator, bound)

    @pytest.mark.parametrize(
        "claim",
        [
            '{"field": "year", "operator": "!=", "value": 0}',
            "x' OR 1=1 --",
            '"], "operator": "not in',
            "group:board",
            "*",
            '{"claim": "groups"}',
        ],
    )
    def test_a_claim_is_never_parsed(self, claim: str) -> None:
        assert filled(only("f", "in", GROUPS), groups=[claim]) == only("f", "in", [claim])

    def test_it_says_what_it_needs(self) -> None:
        template = Template.parse(
            group("AND", PUBLIC, group("OR", only("a", "==", {"claim": "sub"}), only("b", "in", [PREFIXED])))
        )
        assert template.claims == {"groups", "sub"}
        assert template.fields == {"allowed_principals", "a", "b"}

    def test_without_claims_it_is_fixed(self) -> None:
        template = Template.parse(json.dumps(PUBLIC))
        assert not template.claims
        assert template.fill({}) == template.fill({"groups": ["board"]}) == PUBLIC

    def test_what_it_gives_can_be_changed_without_changing_it(self) -> None:
        template = Template.parse(only("f", "in", ["a", GROUPS]))
        (template.fill({"groups": ["b"]}) or {})["value"].append("c")
        assert template.fill({"groups": ["b"]}) == only("f", "in", ["a", "b"])

    def test_it_prints_no_value(self) -> None:
        template = Template.parse(only("f", "in", ["group:board", {"claim": "sub", "prefix": "user-"}]))
        assert "board" not in f"{template!r} {template}" and "user-" not in f"{template!r} {template}"


UNUSABLE: list[Any] = [
    None, "", "  ", "\t\n\u2003", [], [""], ["a", " "], ["a", None], ["a", ["b"]], ["a", {"b": 1}], {}, {"a": "b"},
    float("nan"), float("inf"), ["a", float("nan")], 2**63, "zero\0byte", "half \ud83d", ["a"] * 10_001, b"bytes",
]  # fmt: skip


class TestDenial:
    @pytest.mark.parametrize("claim", UNUSABLE, ids=lambda claim: repr(claim)[:24])
    def test_a_claim_that_cannot_be_bound_denies_wherever_it_stands(self, claim: object) -> None:
        place = only("f", "in", [GROUPS])
        for template in (
            place,
            only("f", "in", GROUPS),
            only("f", "==", GROUPS),
            only("f", "not in", ["a", GROUPS]),
            group("OR", PUBLIC, place),
            group("OR", PUBLIC, group("AND", PUBLIC, place)),
        ):
            assert filled(template, groups=claim) is None

    @pytest.mark.parametrize("claim", [1, 0, True, False, 2.5, [1], ["a", True]])
    def test_a_prefix_needs_texts(self, claim: object) -> None:
        assert filled(only("f", "in", [PREFIXED]), groups=claim) is None

    def test_a_missing_claim_denies(self) -> None:
        assert filled(group("OR", PUBLIC, only("f", "in", GROUPS)), Groups=["a"]) is None
        assert filled(group("AND", only("f", "in", GROUPS), only("g", "==", {"claim": "sub"})), groups=["a"]) is None

    def test_a_list_denies_where_one_value_is_needed(self) -> None:
        assert filled(only("f", "==", GROUPS), groups=["a"]) is None

    def test_more_than_a_list_may_hold_denies(self) -> None:
        template = Template.parse(only("f", "in", [GROUPS, GROUPS]))
        assert template.fill({"groups": ["a"] * 5_000}) is not None
        assert template.fill({"groups": ["a"] * 5_001}) is None


class TestInvalid:
    @pytest.mark.parametrize(
        ("setting", "place"),
        [
            ("", ""),
            ("   ", ""),
            ("{", ""),
            ("null", ""),
            ("[]", ""),
            ('"group:board"', ""),
            ("[" * 100_000, ""),
            ('{"field": "f", "operator": "==", "value": NaN}', "value"),
            (only("f", "==", None), "value"),
            (only("f", "==", {}), "value"),
            (only("f", "==", {"claim": ""}), "value"),
            (only("f", "==", {"claim": 1}), "value"),
            (only("f", "==", {"claims": "secret-value"}), "value"),
            (only("f", "==", {"claim": "groups", "prefix": 1}), "value"),
            (only("f", "==", {"claim": "groups", "prefix": None}), "value"),
            (only("f", "==", {"claim": "groups", "secret-value": 1}), "value"),
            (only("f", "in", ["secret-value", {"prefix": "x"}]), "value[1]"),
            (only("f", "in", ["secret-value", None]), "value"),
            (only("f", "in", [[GROUPS]]), "value"),
            (only("f", "==", [GROUPS]), "value"),
            (only("f", "secret-value", GROUPS), "operator"),
            (only("secret value", "==", GROUPS), "field"),
            ({"field": GROUPS, "operator": "==", "value": 1}, "field"),
            ({"field": "f", "operator": "=="}, "value"),
            (group("AND", PUBLIC, group("OR", PUBLIC, only("f", "==", {"claim": None}))),
             "conditions[1].conditions[1].value"),
            (group("AND", PUBLIC, group("XOR", PUBLIC)), "conditions[1].operator"),
            (group("OR"), "conditions"),
            (group("OR", {**PUBLIC, "secret-value": 1}), "conditions[0]"),
            ({**PUBLIC, "secret-value": 1}, ""),
            (GROUPS, "operator"),
        ],
    )  # fmt: skip
    def test_it_names_the_setting_and_the_place_but_no_value(self, setting: object, place: str) -> None:
        for spelled in (setting, json.dumps(setting)) if isinstance(setting, dict) else (setting,):
            with pytest.raises(ConfigError) as raised:
                Template.parse(spelled)
            message, at, rest = str(raised.value).partition(" at ")
            assert message.startswith("HOPSCOPE_LOCKED_FILTER ")
            assert (rest.removesuffix("."), bool(at)) == (place, bool(place))
            assert raised.value.remedy.endswith(".")
            told = f"{raised.value} {raised.value.remedy}"
            assert not any(secret in told for secret in ("secret", "board", "public", "group:"))
            # Nor does a log of it: it comes with no other error.
            error = raised.value
            assert error.__cause__ is None and (error.__suppress_context__ or error.__context__ is None)

    def test_a_nesting_without_end_is_refused(self) -> None:
        deep: dict[str, Any] = only("f", "==", GROUPS)
        for _ in range(20):
            deep = group("AND", deep)
        with pytest.raises(ConfigError):
            Template.parse(deep)


# -- any template and any claims

NAMES = ("groups", "sub", "level")
texts = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(["a", "b", "x:a", "", " "])
scalars = texts | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False, width=16)
usable = st.sampled_from(["a", "b", "x:a", 1, 2.0, True])
references = st.fixed_dictionaries(
    {"claim": st.sampled_from(NAMES)}, optional={"prefix": st.sampled_from(["x:", "", "'"])}
)


@st.composite
def comparisons(draw: st.DrawFn) -> dict[str, Any]:
    operator = draw(st.sampled_from(OPERATORS))
    if operator in LISTS:
        value = draw(st.lists(usable | references, max_size=3) | references)
    else:
        value = draw(usable | references)
    return only(draw(st.sampled_from(["one", "many"])), operator, value)


templates: st.SearchStrategy[dict[str, Any]] = st.recursive(
    comparisons(),
    lambda inner: st.builds(
        lambda operator, conditions: group(operator, *conditions),
        st.sampled_from(["AND", "OR"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)
likely = usable | st.lists(usable, min_size=1, max_size=3)
odd = st.recursive(
    st.none() | scalars | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
people = st.fixed_dictionaries(dict.fromkeys(NAMES, likely)) | st.dictionaries(st.sampled_from(NAMES), likely | odd)
records = st.fixed_dictionaries({}, optional={"one": usable, "many": st.lists(usable, max_size=3).map(tuple)})


def leaves(filter: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "field" in filter:
        yield filter
    for condition in filter.get("conditions", ()):
        yield from leaves(condition)


def shape(filter: dict[str, Any]) -> Any:
    """A filter without its values."""
    if "field" in filter:
        return filter["field"], filter["operator"]
    return filter["operator"], [shape(condition) for condition in filter["conditions"]]


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def said(reference: dict[str, Any], claims: dict[str, Any]) -> list[Any] | None:
    """The values that a reference stands for; None where the claim is none."""
    items = listed(claims.get(reference["claim"], []))
    if "prefix" in reference:
        texts_only = all(isinstance(item, str) and item.strip() for item in items)
        return [reference["prefix"] + item for item in items] if items and texts_only else None
    good = (item.strip() if isinstance(item, str) else isinstance(item, bool | int | float) for item in items)
    return items if items and all(good) else None


@settings(max_examples=400)
@given(templates, people)
def test_filling_keeps_the_filter_and_binds_only_what_claims_say(
    template: dict[str, Any], claims: dict[str, Any]
) -> None:
    result = Template.parse(template).fill(claims)
    references = [v for leaf in leaves(template) for v in listed(leaf["value"]) if isinstance(v, dict)]
    if any(said(reference, claims) is None for reference in references):
        assert result is None
        return
    if result is None:  # a list in the place of one value, or what the grammar itself refuses
        bound = [value for reference in references for value in said(reference, claims) or ()]
        places = [leaf["value"] for leaf in leaves(template) if leaf["operator"] not in LISTS]
        lists = any(isinstance(place, dict) and isinstance(claims[place["claim"]], list) for place in places)
        assert lists or any(refused(value) for value in bound)
        return
    parse_filter(result)
    assert shape(result) == shape(template)
    for before, after in zip(leaves(template), leaves(result), strict=True):
        expected: list[Any] = []
        for value in listed(before["value"]):
            expected += (said(value, claims) or []) if isinstance(value, dict) else [value]
        assert list(map(repr, listed(after["value"]))) == list(map(repr, expected))
        assert isinstance(after["value"], list) == (after["operator"] in LISTS)


def refused(value: object) -> bool:
    try:
        parse_filter(only("f", "==", value))
    except FilterError:
        return True
    return False


@settings(max_examples=300)
@given(templates, people, records, st.sampled_from(NAMES), st.data())
def test_a_person_with_fewer_claims_sees_no_more(
    template: dict[str, Any], claims: dict[str, Any], record: dict[str, Any], name: str, data: st.DataObject
) -> None:
    """Where the template names what may be seen, not what may not."""
    for leaf in leaves(template):
        leaf["operator"] = {"!=": "==", "not in": "in"}.get(leaf["operator"], leaf["operator"])
    all_of_them = claims.get(name)
    if not isinstance(all_of_them, list):
        return
    some = data.draw(st.lists(st.sampled_from(all_of_them), unique_by=repr) if all_of_them else st.just([]))
    parsed = Template.parse(template)
    more, fewer = parsed.fill(claims), parsed.fill({**claims, name: some})
    if more is not None and fewer is not None and holds(fewer, record):
        assert holds(more, record)


def test_a_filled_template_locks_a_retriever_and_hides_its_fields() -> None:
    locked = filled(only("acl", "contains_any", [PREFIXED]), groups=["a"])
    assert "acl" in AccessFilter.of(locked=locked).access_fields
