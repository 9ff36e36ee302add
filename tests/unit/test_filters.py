"""The filter grammar, the access filter, and the SQL compiler against a few lines of Python."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kgcore.filters
from kgcore.errors import FilterError
from kgcore.filters import AccessFilter, And, Comparison, Node, Nothing, Or, comparisons, filter_dict, parse_filter
from kgcore.filters.sql import compile_chunk_filter, compile_edge_filter
from kgcore.store.duckdb_write import json_text

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "filters.json").read_text(encoding="utf-8"))
OPERATORS = ("==", "!=", ">", ">=", "<", "<=", "in", "not in", "contains_any")
LISTS = ("in", "not in", "contains_any")


def only(field: str, operator: str, value: object) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


def group(operator: str, *conditions: object) -> dict[str, Any]:
    return {"operator": operator, "conditions": list(conditions)}


# -- the grammar


class TestInvalid:
    @pytest.mark.parametrize("case", VECTORS["invalid"], ids=lambda case: json.dumps(case["filter"])[:90])
    def test_it_says_where_and_what_to_do(self, case: dict[str, Any]) -> None:
        attempts: list[Callable[[Any], object]] = [
            parse_filter,
            lambda f: AccessFilter.of(locked=f),
            lambda f: AccessFilter.of(caller=f),
            AccessFilter.of().narrowed,
        ]
        for attempt in attempts:
            with pytest.raises(FilterError) as caught:
                attempt(case["filter"])
            assert caught.value.path == case["at"]
            assert caught.value.path in str(caught.value)
            assert caught.value.remedy.endswith(".")

    @pytest.mark.parametrize(
        ("filter", "path"),
        [
            (group("AND", only("a", "==", 1), group("OR", only("b", "==", 1), only("c", "in", [1, None]))),
             "conditions[1].conditions[1].value"),
            (group("AND", group("OR")), "conditions[0].conditions"),
            (group("AND", group("XOR", only("a", "==", 1))), "conditions[0].operator"),
            (group("AND", {**only("a", "==", 1), "note": ""}), "conditions[0].note"),
            ({**group("AND", only("a", "==", 1)), "value": 1}, "value"),
            ({"value": 1}, "field"),
            ({}, "operator"),
            (None, ""),
            (only("a", "==", float("nan")), "value"),
            (only("a", "<", float("inf")), "value"),
            (only("a", "==", -(2**63) - 1), "value"),
            (only("a", "in", [1, 2**63]), "value"),
            (only("a", "==", "zero\0byte"), "value"),
            (only("a", "==", "half \ud83d"), "value"),
            (only("a", "==", b"bytes"), "value"),
            (only("a", "in", {"x": 1}), "value"),
            (only("a", "in", {1, 2}), "value"),
            (only("a\0", "==", 1), "field"),
            (only("a" * 3 + '"', "==", 1), "field"),
            (only("a", ["=="], 1), "operator"),
            (only("a", "==", 10**5000), "value"),
            (only({(1, 2): 3}, "==", 1), "field"),  # type: ignore[arg-type]
            (group({(1, 2): 3}, only("a", "==", 1)), "operator"),  # type: ignore[arg-type]
        ],
    )  # fmt: skip
    def test_more_of_them(self, filter: object, path: str) -> None:
        with pytest.raises(FilterError) as caught:
            parse_filter(filter)
        assert caught.value.path == path
        assert len(str(caught.value)) < 300

    def test_nothing_is_changed_by_it(self) -> None:
        given_ = group("AND", only("a", "==", 1), only("b", "~", 1))
        before = json.dumps(given_)
        with pytest.raises(FilterError):
            parse_filter(given_)
        assert json.dumps(given_) == before


def nested(depth: int) -> dict[str, Any]:
    """A comparison at this depth, the whole counting as one."""
    tree = only("a", "==", 1)
    for _ in range(depth - 1):
        tree = group("AND", tree)
    return tree


class TestBounds:
    def test_depth(self) -> None:
        assert list(comparisons(parse_filter(nested(16)))) == [Comparison(field="a", operator="==", value=1)]
        with pytest.raises(FilterError, match="16") as caught:
            parse_filter(nested(17))
        assert caught.value.path == ".".join(["conditions[0]"] * 16)
        with pytest.raises(FilterError):
            parse_filter(nested(5_000))

    @pytest.mark.parametrize("operator", ["AND", "OR"])
    def test_conditions(self, operator: str) -> None:
        many = [only("a", "==", i) for i in range(257)]
        assert len(list(comparisons(parse_filter(group(operator, *many[:256]))))) == 256
        with pytest.raises(FilterError, match="256") as caught:
            parse_filter(group(operator, *many))
        assert caught.value.path == "conditions[256]"

    def test_conditions_count_over_all_groups(self) -> None:
        half = group("OR", *(only("a", "==", i) for i in range(128)))
        with pytest.raises(FilterError, match="256") as caught:
            parse_filter(group("AND", half, half, only("b", "==", 1)))
        assert caught.value.path.startswith("conditions[")

    @pytest.mark.parametrize("operator", LISTS)
    def test_items(self, operator: str) -> None:
        parsed = parse_filter(only("a", operator, list(range(10_000))))
        assert isinstance(parsed, Comparison) and isinstance(parsed.value, tuple) and len(parsed.value) == 10_000
        with pytest.raises(FilterError, match="10,000") as caught:
            parse_filter(only("a", operator, list(range(10_001))))
        assert caught.value.path == "value"

    def test_integers_end_at_64_bits(self) -> None:
        for value in (2**63 - 1, -(2**63)):
            assert parse_filter(only("a", "==", value)) == Comparison(field="a", operator="==", value=value)


# -- random filters

NUMBERS = [
    0, 1, -1, 2, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**63 - 1, 2**63 - 2, 2**63 - 512, 2**63 - 1024,
    -(2**63), -(2**63) + 1, 2**62 + 1,
    0.0, -0.0, 1.0, 0.5, -0.5, 1.5, 0.1, 0.1 + 0.2, float(2**53), float(2**53 + 2), float(2**63), float(2**63 - 1024),
    -float(2**63), -float(2**63) - 2048.0, 1e300, -1e300, 5e-324, 1.7976931348623157e308, 9007199254740993.0,
]  # fmt: skip
TEXTS = [
    "", "1", "true", "null", "a", "A", "ab", "e\u0301", "é", "日本", "🚀", "'", '"', "\\", "\\\"", "$f0", "a\nb\t",
    "%", "{}", "[1]", "1.0", "\u2028", "\x7f", "\x01", "\uffff", "ÿ",
]  # fmt: skip
scalars = (
    st.sampled_from(NUMBERS)
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.sampled_from(TEXTS)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
)
names = st.sampled_from(["a", "b", "order", "_x"])
own = st.sampled_from(["key", "source_doc_id", "src_name"])
values = scalars | st.lists(scalars, max_size=4).map(tuple)


@st.composite
def comparison(draw: st.DrawFn, fields: st.SearchStrategy[str] = names | own) -> dict[str, Any]:
    operator = draw(st.sampled_from(OPERATORS))
    value = draw(st.lists(scalars, max_size=4) if operator in LISTS else scalars)
    return only(draw(fields), operator, value)


filters = st.recursive(
    comparison(),
    lambda inner: st.builds(group, st.sampled_from(["AND", "OR"]), inner, inner) | inner.map(lambda f: group("AND", f)),
    max_leaves=6,
)
records = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(["a", "b", "order", "_x"], values),
        **dict.fromkeys(["key", "source_doc_id", "src_name"], st.sampled_from(TEXTS)),
    },
)


def exact(value: Any) -> Any:
    """Plain values whose equality tells 1 from 1.0 and True."""
    if isinstance(value, dict):
        return {name: exact(item) for name, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else repr(value)


class TestRoundTrip:
    @given(filters)
    def test_a_filter_is_what_its_tree_says(self, filter: dict[str, Any]) -> None:
        tree = parse_filter(filter)
        assert exact(filter_dict(tree)) == exact(filter)
        assert exact(filter_dict(parse_filter(filter_dict(tree)))) == exact(filter)

    @pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: json.dumps(case["filter"])[:90])
    def test_a_case_too(self, case: dict[str, Any]) -> None:
        assert exact(filter_dict(parse_filter(case["filter"]))) == exact(case["filter"])

    def test_tuples_will_do_for_lists(self) -> None:
        filter = {"operator": "OR", "conditions": (only("a", "in", (1, 2)),)}
        assert filter_dict(parse_filter(filter)) == group("OR", only("a", "in", [1, 2]))

    def test_comparisons_come_left_to_right(self) -> None:
        tree = parse_filter(group("OR", only("a", "==", 1), group("AND", only("b", "==", 2)), only("c", "==", 3)))
        assert [c.field for c in comparisons(tree)] == ["a", "b", "c"]


# -- the compiler, against the rules in a few lines


def kind(value: object) -> str:
    return "boolean" if isinstance(value, bool) else "number" if isinstance(value, int | float) else "string"


def same(one: object, other: object) -> bool:
    return kind(one) == kind(other) and one == other


def holds(filter: dict[str, Any], record: dict[str, Any]) -> bool:
    """The rules of the grammar. Unknown is false: without a NOT that is the same."""
    operator = filter["operator"]
    if operator in ("AND", "OR"):
        return (all if operator == "AND" else any)(holds(c, record) for c in filter["conditions"])
    stored, value = record.get(filter["field"]), filter["value"]
    if stored is None:
        return False
    if isinstance(stored, tuple):
        return operator == "contains_any" and any(same(s, v) for s in stored for v in value)
    match operator:
        case "==":
            return same(stored, value)
        case "!=":
            return not same(stored, value)
        case "in":
            return any(same(stored, v) for v in value)
        case "not in":
            return not any(same(stored, v) for v in value)
        case "contains_any":
            return False
    if kind(stored) != kind(value):
        return False
    return bool({"<": stored < value, "<=": stored <= value, ">": stored > value, ">=": stored >= value}[operator])


OWN = ("key", "source_doc_id", "src_name")


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables that compiled filters read."""
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE property_set (ord INTEGER, properties JSON)")
        connection.execute(
            "CREATE TABLE edge (ord INTEGER, key VARCHAR, description VARCHAR, source_doc_id VARCHAR, "
            "src_name VARCHAR, dst_name VARCHAR)"
        )
        connection.execute("CREATE TABLE chunk (id VARCHAR, ord INTEGER, metadata JSON)")
        yield connection


def fill(connection: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]) -> None:
    for table in ("property_set", "edge", "chunk"):
        connection.execute(f"DELETE FROM {table}")
    texts = [json_text({n: v for n, v in row.items() if n not in OWN}) for row in rows]
    connection.executemany("INSERT INTO property_set VALUES (?, ?)", [[i, t] for i, t in enumerate(texts)])
    connection.executemany(
        "INSERT INTO edge VALUES (?, ?, NULL, ?, ?, NULL)",
        [[i, *(row.get(name) for name in OWN)] for i, row in enumerate(rows)],
    )
    connection.executemany(
        "INSERT INTO chunk VALUES (?, ?, ?)",
        [[row.get("source_doc_id"), i, t] for i, (row, t) in enumerate(zip(rows, texts, strict=True))],
    )


def passing(connection: duckdb.DuckDBPyConnection, filter: dict[str, Any]) -> list[int]:
    compiled = compile_edge_filter(parse_filter(filter))
    condition = " AND ".join(part for part in (compiled.properties, compiled.edge) if part)
    found = connection.execute(
        f"SELECT e.ord FROM edge e JOIN property_set p ON p.ord = e.ord WHERE {condition} ORDER BY 1",
        dict(compiled.params),
    )
    return [row[0] for row in found.fetchall()]


class TestSql:
    @settings(max_examples=200)
    @given(rows=st.lists(records, min_size=1, max_size=5), filter=filters)
    @example(rows=[{"src_name": "x"}], filter=only("key", "not in", []))
    @example(rows=[{"a": 2**53 + 1}, {"a": float(2**53)}], filter=only("a", ">", float(2**53)))
    @example(rows=[{"a": float(2**63)}, {"a": 2**63 - 1}], filter=only("a", ">", 2**63 - 1))
    @example(rows=[{"a": float(2**63)}, {"a": 2**63 - 1}], filter=only("a", "<", float(2**63)))
    @example(rows=[{"a": -0.0}, {"a": 0}, {"a": (0.0, 1)}], filter=only("a", "in", [0]))
    def test_edges(self, tables: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]], filter: dict[str, Any]) -> None:
        fill(tables, rows)
        assert passing(tables, filter) == [i for i, row in enumerate(rows) if holds(filter, row)]

    @settings(max_examples=100)
    @given(rows=st.lists(records, min_size=1, max_size=4), filter=comparison(names))
    def test_chunks(
        self, tables: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]], filter: dict[str, Any]
    ) -> None:
        fill(tables, rows)
        condition, params = compile_chunk_filter(parse_filter(filter))
        found = tables.execute(f"SELECT c.ord FROM chunk c WHERE {condition} ORDER BY 1", dict(params)).fetchall()
        assert [row[0] for row in found] == [i for i, row in enumerate(rows) if holds(filter, row)]

    def test_every_two_numbers_compare_exactly(self, tables: duckdb.DuckDBPyConnection) -> None:
        rows = [{"a": number} for number in NUMBERS]
        fill(tables, rows)
        for operator in ("==", "!=", "<", "<=", ">", ">="):
            for number in NUMBERS:
                filter = only("a", operator, number)
                assert passing(tables, filter) == [i for i, row in enumerate(rows) if holds(filter, row)], filter

    def test_a_caller_on_an_access_field_matches_nothing(self, tables: duckdb.DuckDBPyConnection) -> None:
        fill(tables, [{"a": "x"}, {"b": 1}, {"a": ("x",)}])
        for operator in OPERATORS:
            value: object = ["x"] if operator in LISTS else "x"
            filter = AccessFilter.of(caller=only("a", operator, value), access_fields=frozenset({"a"}))
            compiled = compile_edge_filter(filter.node)
            found = tables.execute(f"SELECT ord FROM property_set p WHERE {compiled.properties}", dict(compiled.params))
            assert found.fetchall() == []


COMPILED = [
    getattr(importlib.import_module(f"kgcore.filters.{module.name}"), name)
    for module in pkgutil.iter_modules(kgcore.filters.__path__)
    for name in dir(importlib.import_module(f"kgcore.filters.{module.name}"))
    if name.startswith("compile_")
]
SAMPLES: dict[type, list[Node]] = {
    Comparison: [
        Comparison(field=field, operator=operator, value=("x", 1) if operator in LISTS else "x")
        for field in ("year", "key", "source_doc_id") for operator in OPERATORS
    ],
    And: [And(conditions=(Comparison(field="a", operator="==", value=1), Nothing()))],
    Or: [Or(conditions=(Comparison(field="a", operator="==", value=1), Nothing()))],
    Nothing: [Nothing()],
}  # fmt: skip


class TestEveryNodeInEveryCompiler:
    def test_there_is_a_sample_of_each(self) -> None:
        assert set(SAMPLES) == set(get_args(Node))
        assert {compile_edge_filter, compile_chunk_filter} <= set(COMPILED)

    @pytest.mark.parametrize("compile_", COMPILED, ids=lambda f: f.__name__)
    @pytest.mark.parametrize("node", [n for listed in SAMPLES.values() for n in listed], ids=repr)
    def test_it_compiles(self, compile_: Callable[[Node | None], object], node: Node) -> None:
        made = compile_(node)
        assert made is not None
        assert made != compile_(None)
        assert compile_(node) == made


# -- the access filter

ROWS = [{"a": v, "acl": acl} for v in (1, 2, "x") for acl in (("all",), ("board",), ())] + [{"a": 1}]


callers = st.recursive(
    comparison(st.sampled_from(["a", "acl", "b"])),
    lambda inner: st.builds(group, st.sampled_from(["AND", "OR"]), inner, inner),
    max_leaves=4,
)


def seen_by(connection: duckdb.DuckDBPyConnection, filter: AccessFilter) -> set[int]:
    compiled = compile_edge_filter(filter.node)
    sql = f"SELECT ord FROM property_set p WHERE {compiled.properties or 'true'}"
    return {row[0] for row in connection.execute(sql, dict(compiled.params)).fetchall()}


class TestAccessFilter:
    LOCKED = only("acl", "contains_any", ["all"])

    @settings(max_examples=60)
    @given(callers)
    def test_a_caller_can_only_narrow(self, tables: duckdb.DuckDBPyConnection, caller: dict[str, Any]) -> None:
        fill(tables, ROWS)
        locked = AccessFilter.of(locked=self.LOCKED)
        everything = seen_by(tables, locked)
        assert seen_by(tables, locked.narrowed(caller)) <= everything == {0, 3, 6}
        assert seen_by(tables, locked.narrowed(caller)) == seen_by(tables, AccessFilter.of(self.LOCKED, caller))
        assert seen_by(tables, locked.narrowed(caller).locked_only) == everything

    def test_a_locked_filters_fields_are_access_fields(self) -> None:
        filter = AccessFilter.of(locked=group("AND", only("tenant", "==", "x"), group("OR", only("level", "<", 3))))
        assert filter.access_fields == {"allowed_principals", "tenant", "level"}
        assert (
            filter.narrowed(only("year", "==", 1)).access_fields
            == filter.access_fields
            == filter.locked_only.access_fields
        )
        assert AccessFilter.of(caller=only("year", "==", 1)).access_fields == {"allowed_principals"}

    def test_a_caller_on_an_access_field_is_nothing(self) -> None:
        caller = group("OR", only("acl", "!=", "x"), only("year", "==", 1))
        filter = AccessFilter.of(locked=self.LOCKED, caller=caller)
        assert filter.node == And(conditions=(
            Comparison(field="acl", operator="contains_any", value=("all",)),
            Or(conditions=(Nothing(), Comparison(field="year", operator="==", value=1))),
        ))  # fmt: skip
        assert filter.caller_fields() == ("acl", "year")

    def test_nothing_locked_and_nothing_asked_is_no_filter(self) -> None:
        assert AccessFilter.of().node is None
        assert AccessFilter.of(locked=self.LOCKED).node == parse_filter(self.LOCKED)
        assert AccessFilter.of(caller=only("a", "==", 1)).node == parse_filter(only("a", "==", 1))

    def test_an_empty_dict_is_no_absent_filter(self) -> None:
        for attempt in (lambda: AccessFilter.of(locked={}), lambda: AccessFilter.of(caller={})):
            with pytest.raises(FilterError):
                attempt()


YEAR = only("year", ">=", 2024)
KEYS = {
    "none": AccessFilter.of(),
    "locked": AccessFilter.of(locked=YEAR),
    "caller": AccessFilter.of(caller=YEAR),
    "both": AccessFilter.of(locked=YEAR, caller=YEAR),
    "float": AccessFilter.of(caller=only("year", ">=", 2024.0)),
    "text": AccessFilter.of(caller=only("year", ">=", "2024")),
    "one": AccessFilter.of(caller=only("year", "==", 1)),
    "true": AccessFilter.of(caller=only("year", "==", True)),
    "operator": AccessFilter.of(caller=only("year", ">", 2024)),
    "field": AccessFilter.of(caller=only("Year", ">=", 2024)),
    "and": AccessFilter.of(caller=group("AND", YEAR, only("a", "==", 1))),
    "or": AccessFilter.of(caller=group("OR", YEAR, only("a", "==", 1))),
    "fields": AccessFilter.of(access_fields=frozenset({"acl"})),
    "nothing": AccessFilter.of(caller=only("allowed_principals", "==", "x")),
    "principals": AccessFilter.of(locked=only("allowed_principals", "contains_any", ["a", "b"])),
    "joined": AccessFilter.of(locked=only("allowed_principals", "contains_any", ["a,b"])),
    "composed": AccessFilter.of(caller=only("note", "==", "é")),
    "decomposed": AccessFilter.of(caller=only("note", "==", "e\u0301")),
}


class TestKey:
    def test_it_differs_where_the_filter_differs(self) -> None:
        assert len({filter.key for filter in KEYS.values()}) == len(KEYS)

    def test_it_is_equal_where_the_filter_is(self) -> None:
        caller = {"value": 2024, "operator": ">=", "field": "year"}
        assert AccessFilter.of(caller=caller).key == KEYS["caller"].key
        assert AccessFilter.of(locked=YEAR).narrowed(YEAR).key == KEYS["both"].key
        assert KEYS["both"].locked_only.key == KEYS["locked"].key
        hidden = [AccessFilter.of(caller=only("allowed_principals", o, "x")).key for o in ("==", "!=")]
        assert hidden == [KEYS["nothing"].key] * 2

    def test_it_is_the_same_in_every_run(self) -> None:
        assert KEYS["none"].key == AccessFilter.of().key
        assert len(KEYS["none"].key) == 64

    def test_it_holds_no_value(self) -> None:
        assert "group" not in AccessFilter.of(locked=only("acl", "==", "group")).key
