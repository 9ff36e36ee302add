"""Who sees how much: the places of claims, the principals that can fill them, and what each sees alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kgcore import ConfigError
from kgcore.audit import Principal, Seen, claim_values, is_many, open_template, principals, seen
from kgcore.filters import Place, Template
from kgcore.store import GraphStore, open_store
from tests.contract.graphs import NOBODY, SECRET, edge, only, write, write_world

Build = Callable[..., GraphStore]
GROUPS = Template.parse(only("allowed_principals", "contains_any", ["all", {"claim": "groups", "prefix": "group:"}]))


def open_(**options: Any) -> GraphStore:
    return open_store("duckdb:///:memory:", create=True, **options)


def named(store: GraphStore, template: Template, **limit: int) -> list[tuple[object, int, Any]]:
    return [(one.value, one.named, one.claims) for one in principals(store, template, **limit)]


def held(*principals: object) -> dict[str, Any]:
    return {"properties": {"allowed_principals": principals}}


class TestPlaces:
    @pytest.mark.parametrize(
        ("operator", "value", "many"),
        [
            ("contains_any", {"claim": "c"}, True), ("in", {"claim": "c"}, True), ("not in", [{"claim": "c"}], True),
            ("==", {"claim": "c"}, False), ("<=", {"claim": "c"}, False),
        ],
    )  # fmt: skip
    def test_one_that_takes_a_list_may_be_many(self, operator: str, value: Any, many: bool) -> None:
        template = Template.parse(only("f", operator, value))
        assert template.places == (Place(claim="c", field="f", prefix="", many=many),)
        assert is_many("c", template) is many
        given = ["a", "b"] if many else "a"
        assert template.fill({"c": given}) is not None and (many or template.fill({"c": ["a", "b"]}) is None)

    def test_stand_in_the_filters_order_wherever_they_are(self) -> None:
        level = only("level", "<=", {"claim": "level"})
        own = only("owner", "==", {"claim": "sub", "prefix": "user:"})
        tree = {
            "operator": "OR",
            "conditions": [GROUPS.fill({"groups": ["x"]}), {"operator": "AND", "conditions": [level, own]}],
        }
        assert [place.claim for place in Template.parse(tree).places] == ["level", "sub"]
        assert GROUPS.places == (Place(claim="groups", field="allowed_principals", prefix="group:", many=True),)
        assert Template.parse(only("year", ">", 2020)).places == ()

    def test_a_claim_that_is_one_in_one_place_is_one_in_all(self) -> None:
        parts = [only("a", "in", {"claim": "c"}), only("b", "==", {"claim": "c"})]
        assert not is_many("c", Template.parse({"operator": "OR", "conditions": parts}))


class TestPrincipals:
    def test_come_with_the_claims_that_give_them(self) -> None:
        store = open_()
        write(store, edge("1", "a", "R", "b", **held("group:x", "all")), edge("2", "a", "R", "c", **held("group:x")),
              edge("3", "a", "R", "d", **held("user:ann", "group:")))  # fmt: skip
        assert named(store, GROUPS) == [
            ("group:x", 2, {"groups": ["x"]}), ("all", 1, None), ("group:", 1, None), ("user:ann", 1, None),
        ]  # fmt: skip
        assert named(store, GROUPS, limit=1) == [("group:x", 2, {"groups": ["x"]})]
        known = principals(store, GROUPS)
        assert claim_values("groups", GROUPS, known) == ("x",) and claim_values("other", GROUPS, known) == ()

    def test_where_several_claims_are_needed_none_gives_one_alone(self) -> None:
        store = open_()
        write(store, edge("1", "a", "R", "b", **held("user:ann", "group:x")))
        value = [{"claim": "sub", "prefix": "user:"}, {"claim": "groups", "prefix": "group:"}]
        template = Template.parse(only("allowed_principals", "contains_any", value))
        assert named(store, template) == [("group:x", 1, None), ("user:ann", 1, None)]
        known = principals(store, template)
        assert (claim_values("sub", template, known), claim_values("groups", template, known)) == (("ann",), ("x",))

    def test_kinds_never_mix(self) -> None:
        store = open_(access_fields={"level"})
        write(store, *(edge(f"{i}", "a", "R", f"b{i}", properties={"level": level})
                       for i, level in enumerate((1, 1.0, True, "1"))))  # fmt: skip
        template = Template.parse(only("level", "==", {"claim": "level"}))
        known = principals(store, template)
        values = claim_values("level", template, known)
        assert [(type(value), value) for value in values] == [(int, 1), (bool, True), (str, "1")]
        assert [seen(store, template.fill(one.claims or {})).edges for one in known] == [2, 1, 1]

    def test_each_sees_what_a_person_would_who_is_it_alone(self) -> None:
        store = open_()
        write_world(store)
        template = open_template(store)
        assert template.places[0].field == "allowed_principals"
        for one in principals(store, template):
            assert one.claims is not None
            filled = template.fill(one.claims)
            assert seen(store, filled).edges == one.named
        assert seen(store, template.fill({})) == Seen(edges=0, entities=0)
        described = store.describe(NOBODY)
        assert seen(store, template.fill({"principals": ["none"]})) == Seen(edges=described.edges, entities=0)


class TestAnOpenGraph:
    def test_is_read_by_the_access_field_that_its_edges_have(self) -> None:
        store = open_(access_fields={"allowed_principals", "acl"})
        write(store, edge("1", "a", "R", "b", properties={"acl": ("x",)}))
        assert open_template(store).places[0].field == "acl"
        assert principals(store, open_template(store)) == (
            Principal(field="acl", value="x", named=1, claims={"principals": ["x"]}),
        )
        write(store, edge("2", "a", "R", "c", properties=SECRET))
        assert open_template(store).places[0].field == "allowed_principals"

    def test_without_principals_has_none(self) -> None:
        store = open_()
        write(store, edge("1", "a", "R", "b", properties={}))
        assert principals(store, open_template(store)) == ()

    def test_without_access_fields_cannot_be_asked(self) -> None:
        with pytest.raises(ConfigError, match="No property"):
            open_template(open_(access_fields=frozenset()))
