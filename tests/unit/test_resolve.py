"""Which names mean one entity: what merges, what never does, and what a refusal changes."""

from __future__ import annotations

import random
import time

import pytest

from kgcore.errors import IngestError
from kgcore.ingest import trigrams as joined
from kgcore.ingest.resolve import Merge, Names, propose, resolved
from kgcore.ingest.trigrams import alike, similarity, trigrams
from kgcore.names import entity_id, fold
from kgcore.types import End, Entity

T = "Thing"


def merges(*names: str, existing: tuple[Entity, ...] = ()) -> list[tuple[str, str]]:
    """(merged, kept) of names that are each mentioned once."""
    return [(merge.merged, merge.kept) for merge in propose({(T, name): 1 for name in names}, existing)]


def there(id_: str, *names: str, type_: str = T) -> tuple[Entity, ...]:
    return tuple(Entity(id=id_, type=type_, name=name) for name in names)


def test_trigrams_are_those_of_pg_trgm() -> None:
    assert trigrams("cat") == {"  c", " ca", "cat", "at "}
    assert trigrams("foo|bar") == {"  f", " fo", "foo", "oo ", "  b", " ba", "bar", "ar "}
    assert similarity("word", "two words") == pytest.approx(0.363636, abs=1e-6)  # the value in PostgreSQL's manual
    assert similarity("Straße", "STRASSE") == 1
    assert similarity("!!!", "!!!") == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Acme Corporation", "Acme Corporations"),
        ("Katherine Johnson", "Katherine Johnston"),
        ("Al-Qaeda", "al Qaeda"),
        ("John F. Kennedy", "John Kennedy"),
        ("John V. Lindsay", "John Lindsay"),
        ("J. R. R. Tolkien", "J. R. Tolkien"),
        ("Nestlé S.A.", "Nestlé"),
        ("McDonald's", "McDonalds"),
        ("Acme® Widgets", "Acme Widgets"),
        ("Xi Jinping", "Jinping"),  # no numeral at the beginning
        ("Apollo 11 mission", "Apollo 11 missions"),
        ("Владимир Путин", "Владимир Путина"),
        ("東京国立博物館", "東京国立博物館館"),
        ("三菱東京銀行", "三菱東京銀行株"),
        ("กรุงเทพมหานคร", "กรุงเทพมหานครฯ"),
        ("محمود درويش", "محمود الدرويش"),
    ],
)
def test_similar_names_propose_a_merge(one: str, other: str) -> None:
    (merge,) = merges(one, other)
    assert {*merge} == {one, other}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Apollo 11", "Apollo 12"),
        ("Apollo 11", "Apollo"),
        ("Q1 2024 report", "Q2 2024 report"),
        ("2024-01-02", "2024-02-01"),
        ("Version 1.2 release", "Version 12 release"),
        ("Henry VII", "Henry VIII"),
        ("World War I", "World War II"),
        ("World War I Memorial", "World War II Memorial"),
        ("Super Bowl XLVIII", "Super Bowl XLIX"),
        ("Ludwig Ⅳ of Bavaria", "Ludwig Ⅴ of Bavaria"),
        ("Apollo ١١", "Apollo ١٢"),
        ("東京第一高等学校附属中学校", "東京第二高等学校附属中学校"),
        ("Hepatitis A", "Hepatitis B"),
        ("Vitamin C", "Vitamin"),
        ("John C. Smith", "John D. Smith"),
        ("Visual Studio C++", "Visual Studio C#"),
        ("Visual++ Studio", "Visual Studio"),
        ("Team 🦊", "Team 🐻"),
        ("IBM", "I.B.M."),
        ("AT&T", "AT T"),
        ("Bob", "Bobs"),
        ("北京市", "北市京"),
        ("東京大学", "京都大学"),
        ("東京都知事", "京都東知事"),  # the same characters in another order
        ("???", "!!!"),
        ("hypertension", "hypotension"),
    ],
)
def test_names_that_differ_in_what_tells_them_apart_never_merge(one: str, other: str) -> None:
    assert merges(one, other) == []


def test_names_equal_once_folded_are_one_without_a_proposal() -> None:
    found = resolved({(T, "Jane  DOE"): 1, (T, "jane_doe"): 3, (T, "Ｊａｎｅ Doe"): 1, (T, "UN"): 1, (T, "un"): 1})
    assert found.merges == ()
    assert found.ids == {
        (T, "jane doe"): (entity_id(T, "Jane Doe"), "jane_doe"),
        (T, "un"): (entity_id(T, "UN"), "UN"),
    }


def test_types_are_kept_apart() -> None:
    found = resolved({("City", "Washington"): 1, ("Person", "Washington"): 1, ("Person", "Washingtons"): 1})
    assert [(merge.type, merge.merged) for merge in found.merges] == [("Person", "Washington")]
    assert found.ids["City", "washington"] == (entity_id("City", "Washington"), "Washington")


def test_the_most_frequent_name_is_kept_then_the_longest_then_by_text() -> None:
    assert propose({(T, "Acme Corporation"): 5, (T, "Acme Corporations"): 4})[0].kept == "Acme Corporation"
    assert propose({(T, "Acme Corporation"): 4, (T, "Acme Corporations"): 4})[0].kept == "Acme Corporations"
    assert propose({(T, "Catherine Johnson"): 1, (T, "Katherine Johnson"): 1})[0].kept == "Catherine Johnson"


def test_no_chain_reaches_a_name_that_is_not_alike() -> None:
    a, b, c = "Alpha Beta Gamma", "Alpha Beta Gamma Delta", "Beta Gamma Delta"
    assert similarity(a, b) >= 0.6 and similarity(b, c) >= 0.6 and similarity(a, c) < 0.6
    for kept in (a, b, c):
        found = resolved({(T, name): 1 + (name == kept) for name in (a, b, c)})
        assert len(found.merges) == 1
        assert found.ids[T, fold(a)] != found.ids[T, fold(c)]


def test_two_people_do_not_meet_through_the_name_without_an_initial() -> None:
    found = resolved({(T, "John Smith"): 9, (T, "John C. Smith"): 2, (T, "John D. Smith"): 1})
    assert [(merge.merged, merge.kept) for merge in found.merges] == [("John C. Smith", "John Smith")]


def test_an_entity_of_the_graph_is_kept() -> None:
    found = resolved({(T, "Acme Corporations"): 99}, there("acme", "Acme Corporation"))
    assert found.ids == {(T, "acme corporations"): ("acme", "Acme Corporation")}
    (merge,) = found.merges
    assert (merge.existing, merge.kept, merge.merged) == (True, "Acme Corporation", "Acme Corporations")
    assert merge.score == similarity("Acme Corporation", "Acme Corporations")


def test_a_name_of_the_graph_means_its_entity_without_a_proposal() -> None:
    graph = there("ibm", "IBM", "International Business Machines")
    found = resolved({(T, "ibm"): 1, (T, "INTERNATIONAL business machines"): 1, ("City", "IBM"): 1}, graph)
    assert found.merges == ()
    assert {id_ for (type_, _), (id_, _) in found.ids.items() if type_ == T} == {"ibm"}
    assert found.ids["City", "ibm"][0] == entity_id("City", "IBM")


def test_any_name_of_an_entity_draws_similar_ones_and_the_entity_has_one_name() -> None:
    graph = there("ibm", "IBM Corporation", "International Business Machines")
    found = resolved({(T, "IBM Corporations"): 1, (T, "International Business Machine"): 1}, graph)
    assert set(found.ids.values()) == {("ibm", "International Business Machines")}
    assert [merge.kept for merge in found.merges] == ["International Business Machines"] * 2


def test_an_entity_is_called_by_the_name_that_its_id_is_derived_from() -> None:
    id_ = entity_id(T, "Acme Corp")
    found = resolved({(T, "Acme Corp Limited"): 1}, there(id_, "Acme Corp", "Acme Corp Limited"))
    assert found.ids == {(T, "acme corp limited"): (id_, "Acme Corp")}


def test_an_entity_whose_own_name_is_gone_from_the_graph_is_still_found_by_it() -> None:
    id_ = entity_id(T, "Acme Corp")
    found = resolved({(T, "ACME CORP"): 1}, there(id_, "Acme Corp Limited"))
    assert found.merges == ()
    assert found.ids == {(T, "acme corp"): (id_, "Acme Corp Limited")}


def test_a_name_that_several_entities_have_tells_none_of_them() -> None:
    graph = (*there("p1", "Alex Kim"), *there("p2", "Alex Kim"))
    found = resolved({(T, "Alex Kim"): 1, (T, "Alex Kims"): 1}, graph)
    assert {id_ for id_, _ in found.ids.values()} & {"p1", "p2"} == set()
    own = entity_id(T, "Alex Kim")
    assert resolved({(T, "Alex Kim"): 1}, (*graph, *there(own, "Alex Kim"))).ids[T, "alex kim"] == (own, "Alex Kim")


def test_two_entities_of_the_graph_never_merge() -> None:
    graph = (*there("a", "Acme Corporation"), *there("b", "Acme Corporations"))
    found = resolved({(T, "Acme Corporation"): 1, (T, "Acme Corporations"): 1}, graph)
    assert found.merges == ()
    assert {id_ for id_, _ in found.ids.values()} == {"a", "b"}


def test_ends_of_a_store_will_do() -> None:
    end = End(id="acme", type=T, name="Acme Corporation", degree=3)
    assert propose({(T, "Acme Corporations"): 1}, [end])[0].existing


def test_a_refused_merge_leaves_the_name_its_own_and_the_others_as_they_were() -> None:
    mentions = {(T, "Acme Corporation"): 9, (T, "Acme Corporations"): 1, (T, "Acme Incorporation"): 1}
    names = Names(mentions)
    merge = next(merge for merge in names.resolved().merges if merge.merged == "Acme Corporations")
    found = names.resolved({merge.id})
    assert merge.id not in {left.id for left in found.merges}
    assert found.ids[T, "acme corporations"] == (entity_id(T, "Acme Corporations"), "Acme Corporations")
    assert found == resolved(mentions, refused={merge.id})
    assert names.resolved({"unknown"}) == names.resolved()


def test_a_refused_name_may_join_another() -> None:
    mentions = {(T, "Jonathan Smith"): 9, (T, "Johnathan Smith"): 2, (T, "Johnathan Smithe"): 1}
    names = Names(mentions)
    first = names.resolved()
    assert {merge.kept for merge in first.merges} == {"Jonathan Smith"}
    found = names.resolved({merge.id for merge in first.merges})
    assert [(merge.merged, merge.kept) for merge in found.merges] == [("Johnathan Smithe", "Johnathan Smith")]


def test_a_merge_keeps_its_id_whatever_is_mentioned_beside_it() -> None:
    (merge,) = propose({(T, "Acme Corporation"): 2, (T, "acme corporations"): 1})
    again = propose({(T, "ACME Corporation"): 7, (T, "Acme Corporations"): 2, (T, "Zebra"): 1})
    assert [merge.id for merge in again] == [merge.id]
    assert isinstance(merge, Merge) and len(merge.id) == 36
    (other,) = propose({("Company", "Acme Corporation"): 2, ("Company", "acme corporations"): 1})
    assert other.id != merge.id


def test_nothing_gives_nothing() -> None:
    assert resolved({}).ids == {} and propose({}) == ()
    assert resolved({}, there("a", "Acme")).ids == {}
    assert list(alike([])) == []
    assert resolved({(T, "?"): 1}).ids == {(T, "?"): (entity_id(T, "?"), "?")}


def test_merges_come_surest_first() -> None:
    scores = [
        merge.score
        for merge in propose(
            {(T, f"Acme {word} Corporation{s}"): 1 for word in "Red Sea Oil".split() for s in ("", "s")}
        )
    ]
    assert len(scores) > 2 and scores == sorted(scores, reverse=True)


def test_too_many_alike_names_are_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "MAX_PAIRS", 100)
    with pytest.raises(IngestError, match="More than 100 pairs") as error:
        propose({(T, f"National Museum of Modern Art {letter}{letter}x"): 1 for letter in "abcdefghijklmnopqrs"})
    assert error.value.remedy


def test_twenty_thousand_names_take_seconds() -> None:
    draw = random.Random(5)
    parts = [c + v for c in "bcdfghklmnprstvz" for v in ("a", "e", "i", "o", "u", "an", "er")]
    words = ["".join(draw.choices(parts, k=draw.randint(2, 4))) for _ in range(6_000)]
    mentions = {(T, " ".join(draw.choices(words, k=2))): 1 for _ in range(20_000)}
    start = time.process_time()
    names = Names(mentions)
    compared = time.process_time()
    assert names.resolved().merges
    assert compared - start < 20  # some 2 seconds
    assert time.process_time() - compared < 4
