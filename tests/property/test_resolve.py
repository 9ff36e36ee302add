"""Resolution: nothing alike is missed, nothing else merges, and the order of what is given changes nothing."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from kgcore.ingest.resolve import Names, numbers_of, resolved
from kgcore.ingest.trigrams import THRESHOLD, alike, jaccard, similarity, trigrams
from kgcore.names import fold
from kgcore.types import Entity

SOME = settings(max_examples=100, deadline=None)

WORDS = "Acme acme Acmes Acmé Corp Corporation Corporations Bank Banks of 1 2 II III A. B. b 銀行 東京銀行 東京 + 🦊"
words = st.sampled_from(WORDS.split())
names = st.lists(words, min_size=1, max_size=5).map(" ".join) | st.text(max_size=6)
types = st.sampled_from(["Company", "City"])
mentions = st.dictionaries(st.tuples(types, names), st.integers(1, 4), max_size=14)
existing = st.lists(
    st.builds(
        lambda id_, type_, name: Entity(id=f"{type_}{id_}", type=type_, name=name), st.integers(0, 4), types, names
    ),
    max_size=8,
)
sets = st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), max_size=9), max_size=25)

Mentions = dict[tuple[str, str], int]


@SOME
@given(sets, st.integers(0, 25))
def test_the_join_finds_what_brute_force_finds(given_sets: list[frozenset[str]], known: int) -> None:
    every = {
        (i, j): jaccard(given_sets[i], given_sets[j])
        for i, j in combinations(range(len(given_sets)), 2)
        if j >= known and jaccard(given_sets[i], given_sets[j]) >= THRESHOLD
    }
    found = list(alike(given_sets, known))
    assert {(i, j): score for i, j, score in found} == every
    assert [(j, i) for i, j, _ in found] == sorted((j, i) for i, j in every)


@SOME
@given(st.lists(names, max_size=30))
def test_no_alike_pair_of_names_is_missed(texts: list[str]) -> None:
    every = {(i, j) for i, j in combinations(range(len(texts)), 2) if similarity(texts[i], texts[j]) >= THRESHOLD}
    assert {(i, j) for i, j, _ in alike([trigrams(fold(text)) for text in texts])} == every


def test_no_pair_is_missed_among_many() -> None:
    draw = random.Random(3)
    parts = ["ba", "ko", "mi", "ter", "lan", "dro", "sy", "vek"]
    texts = [" ".join("".join(draw.choices(parts, k=draw.randint(1, 4))) for _ in range(2)) for _ in range(1_500)]
    each = [trigrams(text) for text in texts]
    every = {(i, j) for i, j in combinations(range(len(each)), 2) if jaccard(each[i], each[j]) >= THRESHOLD}
    assert len(every) > 100
    assert {(i, j) for i, j, _ in alike(each)} == every


@SOME
@given(mentions, existing, st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_changes_nothing(
    mentioned: Mentions, graph: list[Entity], draw: random.Random
) -> None:
    found = resolved(mentioned, graph)
    items = list(mentioned.items())
    draw.shuffle(items)
    draw.shuffle(graph)
    again = resolved(dict(items), graph)
    assert again == found
    assert list(again.ids) == list(found.ids)


@SOME
@given(mentions, existing)
def test_what_merges_is_alike_and_of_one_type(mentioned: Mentions, graph: list[Entity]) -> None:
    found = resolved(mentioned, graph)
    assert found.ids.keys() == {(type_, fold(name)) for type_, name in mentioned}
    held = {(entity.type, entity.id): set() for entity in graph} if graph else {}
    for entity in graph:
        held[entity.type, entity.id].add(entity.name)
    together = defaultdict(list)
    for merge in found.merges:
        id_, name = found.ids[merge.type, fold(merge.merged)]
        assert name == merge.kept and merge.existing == ((merge.type, id_) in held)
        of_entity = held.get((merge.type, id_), {merge.kept})
        assert merge.score == max(similarity(merge.merged, other) for other in of_entity) >= THRESHOLD
        assert any(numbers_of(fold(merge.merged)) == numbers_of(fold(other)) for other in of_entity)
        assert sum(letter.isalnum() for letter in fold(merge.merged)) > 3
        together[merge.type, id_, merge.existing].append(merge.merged)
    for (_, _, is_existing), merged in together.items():
        if not is_existing:
            assert all(similarity(a, b) >= THRESHOLD for a, b in combinations(merged, 2))
    one_name = defaultdict(set)
    for (type_, _), (id_, name) in found.ids.items():
        one_name[type_, id_].add(name)
    assert all(len(called) == 1 for called in one_name.values())
    assert len({type_ for type_, _ in one_name}) == len({type_ for type_, _ in mentioned})


@SOME
@given(mentions, existing, st.data())
def test_refused_merges_do_not_happen_and_the_graph_keeps_its_own(
    mentioned: Mentions, graph: list[Entity], data: st.DataObject
) -> None:
    compared = Names(mentioned, graph)
    offered = [merge.id for merge in compared.resolved().merges]
    refused = set(data.draw(st.lists(st.sampled_from(offered)))) if offered else set()
    found = compared.resolved(refused)
    assert not refused & {merge.id for merge in found.merges}
    assert found == resolved(mentioned, graph, refused)
    for entity in graph:
        sharing = {other.id for other in graph if other.type == entity.type and fold(other.name) == fold(entity.name)}
        if len(sharing) == 1 and (entity.type, entity.name) in mentioned:
            assert found.ids[entity.type, fold(entity.name)][0] == entity.id


@SOME
@given(mentions, existing)
def test_once_written_the_same_mentions_mean_the_same(mentioned: Mentions, graph: list[Entity]) -> None:
    found = resolved(mentioned, graph)
    written = [
        Entity(id=id_, type=type_, name=name)
        for (type_, name) in mentioned
        for id_, _ in [found.ids[type_, fold(name)]]
    ]
    again = resolved(mentioned, [*graph, *written])
    assert {key: id_ for key, (id_, _) in again.ids.items()} == {key: id_ for key, (id_, _) in found.ids.items()}
    assert again.merges == ()
