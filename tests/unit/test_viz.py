"""The payloads of the two components, from retrievals made by hand."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kgcore.types import (
    Candidate,
    Document,
    Explained,
    Fact,
    Fate,
    Hop,
    Retrieval,
    Seed,
    Settings,
    Trace,
    Word,
)
from kgcore.viz import evidence_payload, graph_payload, network
from kgcore.viz.layout import COLUMN_GAP

ROOT = Path(__file__).parents[2]
QUESTION = "What system does Jane Doe's employer use?"


def fact(source: str, relation: str, target: str, hop: int, score: float, documents: Sequence[str] = ()) -> Fact:
    source_name, target_name = (name.replace("-", " ").title() for name in (source, target))
    return Fact(
        id=f"{source}|{relation}|{target}",
        source_id=source,
        target_id=target,
        source=source_name,
        target=target_name,
        relation=relation,
        text=f"{source_name} -[{relation}]-> {target_name}",
        hop=hop,
        score=score,
        edge_ids=(f"e-{source}-{target}",),
        source_doc_ids=tuple(documents),
        source_type="Person" if source.startswith("jane") else "Organization",
        target_type="Organization",
    )


def candidate(
    said: Fact, parent: str, chain: Sequence[Fact], rank: int, fate: Fate = "kept", words: Sequence[int] = ()
) -> Candidate:
    far = said.target_id if parent == said.source_id else said.source_id
    return Candidate(
        hop=said.hop,
        fact=said,
        parent_id=parent,
        parent_name=parent.replace("-", " ").title(),
        entity_id=far,
        entity_name=said.target if far == said.target_id else said.source,
        chain=tuple(one.id for one in (*chain, said)),
        score=said.score,
        rank=rank,
        fate=fate,
        gain=0.1 if words else 0.0,
        explains=tuple(Explained(word=word, gain=0.1) for word in words),
        degree=12,
    )


def retrieval(*, second_hop: bool = True, question: str = QUESTION) -> Retrieval:
    """Jane Doe, her two employers, what they use, and one near miss; one kept fact is cut from the result."""
    works = fact("jane-doe", "WORKS_AT", "acme-capital", 1, 0.438, ["hr", "register"])
    member = fact("jane-doe", "MEMBER_OF", "risk-team", 1, 0.401)
    knows = fact("jane-doe", "KNOWS", "bob", 1, 0.300)
    uses = fact("acme-capital", "USES", "helios", 2, 0.515, ["register"])
    runs = fact("risk-team", "RUNS", "atlas", 2, 0.410)
    hops = [
        Hop(
            number=1,
            considered=37,
            left_out=0,
            kept=2,
            cutoff=0.401,
            explains=(Explained(word=4, gain=0.2),),
            candidates=(
                candidate(works, "jane-doe", [], 1, words=[4]),
                candidate(member, "jane-doe", [], 2),
                candidate(knows, "jane-doe", [], 3, "beam_cut"),
            ),
        )
    ]
    result = [works.id, member.id]
    if second_hop:
        hops.append(
            Hop(
                number=2,
                considered=122,
                left_out=5,
                kept=2,
                cutoff=0.410,
                explains=(Explained(word=0, gain=0.2), Explained(word=5, gain=0.1)),
                candidates=(
                    candidate(uses, "acme-capital", [works], 1, words=[5, 0]),
                    candidate(runs, "risk-team", [member], 2, "top_k_cut"),
                ),
            )
        )
        result = [uses.id, works.id, member.id]
    words = [
        ("system", 5, 2),
        ("Jane", 17, 0),
        ("Doe", 22, 0),
        ("s", 26, None),
        ("employer", 28, 1),
        ("use", 37, 2),
    ]
    return Retrieval(
        content="",
        facts=(works, uses, member) if second_hop else (works, member),
        documents=(),
        source_documents=(
            Document(
                id="register",
                content="Acme Capital is old. 🔭 Acme Capital runs Helios for risk. It is large.",
                metadata={"title": "IT register", "year": 2025},
            ),
        ),
        context="",
        trace=Trace(
            question=question,
            settings=Settings(
                max_hops=2,
                beam_width=2,
                top_k=3,
                scoring="coverage",
                seed_mode="auto",
                hub_limit=500,
                vector_top_k=5,
                summarize=False,
            ),
            words=tuple(
                Word(
                    text=text,
                    start=start,
                    end=start + len(text),
                    weight=0.0 if text == "s" else 0.2,
                    hop=hop if second_hop else None,
                )
                for text, start, hop in words
            ),
            seeds=(
                Seed(
                    entity_id="jane-doe",
                    name="Jane Doe",
                    type="Person",
                    found_by="mention",
                    score=1.0,
                    degree=7,
                ),
            ),
            hops=tuple(hops),
            result=tuple(result),
        ),
        timings={"expand": 1.234},
    )


def test_nodes_stand_in_the_column_of_the_hop_that_reached_them() -> None:
    payload, layout = graph_payload(retrieval())
    hops = {node["id"]: node["hop"] for node in payload["nodes"]}
    assert hops == {"jane-doe": 0, "acme-capital": 1, "risk-team": 1, "bob": 1, "helios": 2, "atlas": 2}
    assert {node["id"]: node["x"] for node in payload["nodes"]} == {id: hop * COLUMN_GAP for id, hop in hops.items()}
    assert {node["id"]: (node["x"], node["y"]) for node in payload["nodes"]} == layout.places


def test_an_edge_is_a_fact_with_what_became_of_it() -> None:
    edges = {edge["id"]: edge for edge in graph_payload(retrieval())[0]["edges"]}
    assert {id for id, edge in edges.items() if edge["near"]} == {"jane-doe|KNOWS|bob"}
    assert {id for id, edge in edges.items() if not edge["inResult"]} == {
        "jane-doe|KNOWS|bob",
        "risk-team|RUNS|atlas",
    }
    uses = edges["acme-capital|USES|helios"]
    assert uses["chain"] == ["jane-doe|WORKS_AT|acme-capital", "acme-capital|USES|helios"]
    assert (uses["from"], uses["to"], uses["hop"]) == ("acme-capital", "helios", 2)


def test_a_surviving_node_does_not_move_when_the_walk_changes() -> None:
    _, one_hop = graph_payload(retrieval(second_hop=False))
    _, two_hops = graph_payload(retrieval(), one_hop)
    assert {id: two_hops.places[id] for id in one_hop.places} == one_hop.places
    assert len(set(two_hops.places.values())) == len(two_hops.places) == 6
    _, back = graph_payload(retrieval(second_hop=False), two_hops)
    assert back == two_hops


def test_parallel_edges_and_their_reverses_are_told_apart() -> None:
    base = retrieval()
    there = fact("jane-doe", "WORKS_AT", "acme-capital", 1, 0.4)
    also = fact("jane-doe", "OWNS", "acme-capital", 1, 0.3)
    back = fact("acme-capital", "EMPLOYS", "jane-doe", 1, 0.2)
    walked = tuple(candidate(one, "jane-doe", [], rank) for rank, one in enumerate((there, also, back), start=1))
    hop = dataclasses.replace(base.trace.hops[0], candidates=walked)
    trace = dataclasses.replace(base.trace, hops=(hop,), result=tuple(one.fact.id for one in walked))
    edges = graph_payload(dataclasses.replace(base, trace=trace))[0]["edges"]
    # From the same side: a curve's sign is against the direction in which its edge is drawn.
    bends = [edge["curve"] * (1 if edge["from"] < edge["to"] else -1) for edge in edges]
    assert len(set(bends)) == 3


def test_the_echo_spells_the_question_with_the_hop_of_each_word() -> None:
    pieces = graph_payload(retrieval())[0]["echo"]
    assert "".join(piece["text"] for piece in pieces) == QUESTION
    assert {piece["text"]: piece["hop"] for piece in pieces if "hop" in piece} == {
        "system": 2,
        "Jane Doe": 0,
        "employer": 1,
        "use": 2,
    }
    assert all(
        piece["hop"] is None for piece in graph_payload(retrieval(second_hop=False))[0]["echo"] if "hop" in piece
    )


def test_steps_say_what_each_hop_kept_and_explained() -> None:
    steps = graph_payload(retrieval())[0]["steps"]
    assert [step["label"] for step in steps] == ["Seeds 1", "Hop 1 2/37", "Hop 2 2/122", "Result 3"]
    assert steps[2]["caption"] == "Hop 2 kept 2 of 122 facts · 5 beyond the shortlist · explains: system, use"
    assert steps[3]["caption"] == "3 facts of 4 kept by the beams · 1 cut by top k 3"


def test_facts_are_in_the_order_of_the_result_and_say_what_is_new() -> None:
    payload = evidence_payload(retrieval())
    assert [(one["rank"], one["source"], one["target"]) for one in payload["facts"]] == [
        (1, "Acme Capital", "Helios"),
        (2, "Jane Doe", "Acme Capital"),
        (3, "Jane Doe", "Risk Team"),
        (None, "Risk Team", "Atlas"),
    ]
    assert payload["facts"][0]["words"] == ["system", "use"]
    assert payload["facts"][2]["words"] == []
    assert payload["best"] == 0.515


def test_a_near_miss_says_which_beam_it_enters_at() -> None:
    (near,) = evidence_payload(retrieval())["near"]
    assert (near["beam"], near["considered"], near["score"], near["cutoff"]) == (3, 37, 0.300, 0.401)


def test_the_three_best_cut_facts_a_hop_are_near_misses() -> None:
    base = retrieval()
    cut_facts = [
        candidate(fact("jane-doe", "R", f"x{rank}", 1, 0.2), "jane-doe", [], rank, "beam_cut") for rank in (7, 4, 6, 5)
    ]
    hop = dataclasses.replace(base.trace.hops[0], candidates=(*base.trace.hops[0].candidates[:2], *cut_facts))
    trace = dataclasses.replace(base.trace, hops=(hop, base.trace.hops[1]))
    near = evidence_payload(dataclasses.replace(base, trace=trace))["near"]
    assert [one["beam"] for one in near] == [4, 5, 6]


def test_a_fact_kept_at_a_later_hop_is_no_near_miss() -> None:
    base = retrieval()
    uses = base.trace.hops[1].candidates[0]
    earlier = dataclasses.replace(uses, hop=1, fate="beam_cut", rank=9)
    hop = dataclasses.replace(base.trace.hops[0], candidates=(*base.trace.hops[0].candidates, earlier))
    trace = dataclasses.replace(base.trace, hops=(hop, base.trace.hops[1]))
    edges = graph_payload(dataclasses.replace(base, trace=trace))[0]["edges"]
    assert [edge["near"] for edge in edges if edge["id"] == uses.fact.id] == [False]


def test_the_sentence_is_marked_in_the_units_of_the_browser() -> None:
    uses = evidence_payload(retrieval())["facts"][0]
    content = retrieval().source_documents[0].content
    start, end = uses["said"]["register"]
    encoded = content.encode("utf-16-le")
    assert encoded[2 * start : 2 * end].decode("utf-16-le") == "🔭 Acme Capital runs Helios for risk."


def test_an_empty_name_does_not_show_an_id() -> None:
    base = retrieval()
    seed = dataclasses.replace(base.trace.seeds[0], name="\u200b")
    payload, _ = graph_payload(dataclasses.replace(base, trace=dataclasses.replace(base.trace, seeds=(seed,))))
    assert payload["nodes"][0]["label"] == payload["nodes"][0]["name"] == "(unnamed)"


def test_an_empty_walk_draws_its_seeds() -> None:
    base = retrieval()
    trace = dataclasses.replace(base.trace, hops=(), result=())
    empty = dataclasses.replace(base, trace=trace, facts=(), source_documents=())
    payload, _ = graph_payload(empty)
    assert [node["id"] for node in payload["nodes"]] == ["jane-doe"]
    assert [step["label"] for step in payload["steps"]] == ["Seeds 1", "Result 0"]
    assert evidence_payload(empty)["facts"] == []


def test_the_network_is_directed_and_keeps_every_edge() -> None:
    net = network(retrieval())
    assert net.directed
    assert len(net.edges) == 5


def test_the_payload_is_json_and_the_same_in_every_process() -> None:
    paths = [str(ROOT), str(ROOT / "tests" / "unit")]
    script = (
        f"import json, sys; sys.path[:0] = {paths!r}\n"
        "from test_viz import retrieval\nfrom kgcore.viz import evidence_payload, graph_payload\n"
        "graphs = [graph_payload(retrieval(), layout=kind)[0] for kind in ('columns', 'force')]\n"
        "print(json.dumps([*graphs, evidence_payload(retrieval())]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())[0]["nodes"]
