"""Other names of what the walk has reached: what is followed, what is not, and what a hop says of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgcore.filters import AccessFilter
from kgcore.retrieve.alias import find_aliases
from kgcore.store import GraphStore
from kgcore.types import Entity
from tests.contract.graphs import edge, hidden, only
from tests.data.build import candidates, graph, retriever, texts
from tests.data.parish import EDGES, PARISH, QUESTION

Build = Callable[..., GraphStore]
ALL = AccessFilter.of(only("allowed_principals", "contains_any", ["all"]))


def found(*names: str, reached: str = PARISH, type: str = "Thing", limit: int = 500) -> list[str]:
    """The aliases of one reached name among entities of these names."""
    edges = [edge(f"e{i}", f"n{i}", "IS_IN", "x", src=name, dst="Elsewhere") for i, name in enumerate(names)]
    store = graph(*edges, edge("r", "r", "IS_IN", "x", src=reached, dst="Elsewhere"))
    try:
        return [a.name for a in find_aliases(store, [("r", reached, type)], ALL, ["r"], limit)]
    finally:
        store.close()


class TestWhichNames:
    @pytest.mark.parametrize(
        ("reached", "name"),
        [
            (PARISH, "Saint Helena"),
            (PARISH, "saint  HELENA"),
            (PARISH, "Helena Parish"),
            ("the Bubye River", "Bubye River"),
            ("The Umbrellas of Cherbourg (film)", "Umbrellas of Cherbourg"),
            ("Windows 95 Edition", "Windows 95"),
            ("東京タワー 展望台", "東京タワー"),
        ],
    )
    def test_a_larger_part_in_a_row(self, reached: str, name: str) -> None:
        assert found(name, reached=reached) == [name]

    @pytest.mark.parametrize(
        ("reached", "name"),
        [
            (PARISH, "Parish"),
            (PARISH, "Saint Parish"),
            (PARISH, "Helena Saint"),
            ("Saint Helena", PARISH),
            ("Windows 95", "Windows"),
            ("Pope John Paul II", "Pope John Paul"),
            ("Henry VIII of England", "Henry of England"),
            ("of the at", "of the"),
            ("The Who of", "The"),
            (" ".join(f"word{chr(97 + i)}" for i in range(13)), " ".join(f"word{chr(97 + i)}" for i in range(12))),
        ],
    )
    def test_no_other(self, reached: str, name: str) -> None:
        assert found(name, reached=reached) == []

    def test_the_same_name_of_another_entity_is_no_part(self) -> None:
        """Homonyms stay two."""
        assert found(PARISH, "saint helena parish") == []

    def test_of_one_type(self) -> None:
        assert found("Saint Helena", type="Parish") == []

    def test_the_larger_share_first_then_by_id(self) -> None:
        assert found("Helena Parish", "Saint Helena", "saint helena") == [
            "Helena Parish",
            "Saint Helena",
            "saint helena",
        ]

    def test_a_hub_is_not_followed(self) -> None:
        assert found("Saint Helena", "Saint Helena", limit=1) == ["Saint Helena", "Saint Helena"]
        assert found("Saint Helena", limit=0) == []


class TestInTheWalk:
    def test_a_hop_goes_on_from_the_alias(self, build: Build) -> None:
        result = retriever(build(*EDGES)).retrieve(QUESTION, entity_ids=["napoleon"], max_hops=3, top_k=9)
        assert "Saint Helena -[PART_OF]-> The Crown" in texts(result)
        (alias,) = result.trace.hops[1].aliases
        assert (alias.entity_id, alias.name, alias.of_id, alias.of_name, alias.degree) == (
            "island", "Saint Helena", "parish", PARISH, 1,
        )  # fmt: skip
        assert alias.share == pytest.approx(12 / 19, abs=1e-6)
        assert result.trace.hops[0].aliases == () and result.trace.hops[2].aliases == ()

    def test_its_facts_stand_in_the_chain_that_led_to_the_other(self, build: Build) -> None:
        result = retriever(build(*EDGES)).retrieve(QUESTION, entity_ids=["napoleon"], max_hops=2)
        lived, part = candidates(result, "kept")
        assert (part.parent_id, part.parent_name, part.chain) == (
            "island",
            "Saint Helena",
            (lived.fact.id, part.fact.id),
        )
        assert part.score >= lived.score

    def test_a_seed_has_aliases_too(self, build: Build) -> None:
        result = retriever(build(*EDGES)).retrieve(QUESTION, entity_ids=["parish"])
        assert [a.entity_id for a in result.trace.hops[0].aliases] == ["island"]
        assert len(result.trace.seeds) == 1

    def test_off(self, build: Build) -> None:
        result = retriever(build(*EDGES)).retrieve(QUESTION, entity_ids=["napoleon"], max_hops=3, aliases=False)
        assert all(hop.aliases == () for hop in result.trace.hops) and len(result.facts) == 1
        assert not result.trace.settings.aliases

    def test_what_was_visited_is_no_alias(self, build: Build) -> None:
        near = edge("e4", "napoleon", "DIED_ON", "island", src="Napoleon", dst="Saint Helena")
        result = retriever(build(*EDGES, near)).retrieve(QUESTION, entity_ids=["napoleon"], max_hops=2)
        assert result.trace.hops[1].aliases == ()

    def test_hidden_names_and_edges_make_no_alias(self, build: Build) -> None:
        """The island is called so by a hidden edge alone; its degree counts visible edges."""
        secret = (
            edge("e1", "napoleon", "LIVED_IN", "parish", src="Napoleon", dst=PARISH),
            edge("e2", "island", "PART_OF", "crown", src="The Rock", dst="The Crown"),
            hidden("h1", "island", "HAS", "fort", src="Saint Helena", dst="Fort"),
        )
        lock = only("allowed_principals", "contains_any", ["all"])
        named = Entity(id="island", type="Thing", name="Saint Helena")
        result = retriever(build(*secret, entities=[named]), filters=lock).retrieve(
            QUESTION, entity_ids=["napoleon"], max_hops=3
        )
        assert all(hop.aliases == () for hop in result.trace.hops)
