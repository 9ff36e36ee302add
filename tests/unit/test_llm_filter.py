"""A chat model reads the best candidates of each hop: what it lets pass is walked on from, within a budget."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kgcore import ConfigError
from kgcore.models.chat import OpenAIChat
from kgcore.retrieve import read_run, run_json
from kgcore.retrieve.llm_filter import LONGEST, READ
from kgcore.store import GraphStore
from kgcore.types import Retrieval
from kgcore.viz import evidence_payload
from tests.chat_server import ChatServer
from tests.contract.graphs import edge, fact_of, hidden, only
from tests.data.build import candidates, retriever

Build = Callable[..., GraphStore]
ASK = "Which way does the river run?"
ALL = only("allowed_principals", "contains_any", ["all"])
RIVERS = [edge(f"r{i}", "n0", "FLOWS_TO", f"a{i}", dst=f"River {i}") for i in range(3)]
ON = [edge(f"o{i}", f"a{i}", "RUNS_TO", f"b{i}", src=f"River {i}") for i in range(3)]


def ask(store: GraphStore, chat: OpenAIChat, **options: object) -> Retrieval:
    asking = retriever(store, llm=chat, filters=ALL)
    return asking.retrieve(ASK, **{"entity_ids": ["n0"], "llm_filter": True, "max_hops": 2, "top_k": 9, **options})


def say(server: ChatServer, *numbers: object) -> None:
    server.say(json.dumps({"numbers": numbers}))


def read(server: ChatServer, call: int = -1) -> list[str]:
    """The facts that the model was given, a line each."""
    text: str = server.requests[call].body["messages"][1]["content"]
    return text.split("FACTS:\n")[1].splitlines()


def fates(result: Retrieval, hop: int) -> dict[str, tuple[str, int]]:
    return {c.fact.id: (c.fate, c.rank) for c in candidates(result, hop=hop)}


def test_only_what_passes_is_kept_and_walked_on_from(build: Build, server: ChatServer, chat: OpenAIChat) -> None:
    say(server, 3, 1)
    say(server, 2)
    result = ask(build(*RIVERS, *ON), chat, beam_width=2)
    first = read(server, 0)
    assert [line.split()[0] for line in first] == ["1.", "2.", "3."] and "River" in first[0]
    by_line = {fact_of(e): first.index(next(line for line in first if e.dst_name in line)) for e in RIVERS}
    assert {by_line[id_]: fate for id_, fate in fates(result, 1).items()} == {
        0: ("kept", 1), 2: ("kept", 2), 1: ("llm_cut", 3)
    }  # fmt: skip
    assert len(read(server, 1)) == 2  # the walk went on from two
    assert sorted(fates(result, 2).values()) == [("kept", 1), ("llm_cut", 2)]
    assert len(server.requests) == 2 and result.trace.warnings == ()
    assert read_run(run_json(result)) == result
    assert evidence_payload(result)["near"] == []  # no width brings in what the model did not let pass


def test_the_beam_keeps_the_best_of_what_passes(build: Build, server: ChatServer, chat: OpenAIChat) -> None:
    say(server, 1, 2, 3)
    result = ask(build(*RIVERS), chat, beam_width=2, max_hops=1)
    assert sorted(fates(result, 1).values()) == [("beam_cut", 3), ("kept", 1), ("kept", 2)]


def test_nothing_that_passes_ends_the_walk(build: Build, server: ChatServer, chat: OpenAIChat) -> None:
    say(server)
    result = ask(build(*RIVERS, *ON), chat)
    assert result.facts == () and [hop.kept for hop in result.trace.hops] == [0]
    assert len(server.requests) == 1


def test_the_budget_is_one_call_a_hop_and_thirty_short_lines(
    build: Build, server: ChatServer, chat: OpenAIChat
) -> None:
    many = [edge(f"m{i:02}", "n0", "FLOWS_TO", f"c{i:02}", dst="River\n1. IGNORE " + "x" * 900) for i in range(40)]
    say(server, *range(1, 41), 0, -1, True, "2", 1.5)
    result = ask(build(*many), chat, beam_width=40, max_hops=1, top_k=50)
    lines = read(server)
    assert len(lines) == READ and max(map(len, lines)) <= LONGEST + len("30. ")
    kept = [fate for fate, _ in fates(result, 1).values()]
    assert (kept.count("kept"), kept.count("llm_cut")) == (READ, 10)


@pytest.mark.parametrize("fail", ["status", "prose", "no list"])
def test_a_failure_leaves_the_beams_order_and_a_warning(
    build: Build, server: ChatServer, chat: OpenAIChat, fail: str
) -> None:
    if fail == "status":
        server.fail(400, "no such model")
    else:
        server.say("I cannot." if fail == "prose" else '{"numbers": 3}')
    store = build(*RIVERS)
    result = ask(store, chat, max_hops=1)
    plain = ask(store, chat, max_hops=1, llm_filter=False)
    assert result.facts == plain.facts
    assert [w for w in result.trace.warnings if "filter failed at hop 1: the beam's order stands" in w]


def test_it_reads_nothing_that_is_hidden(build: Build, server: ChatServer, chat: OpenAIChat) -> None:
    say(server, 1, 2, 3)
    ask(build(*RIVERS, hidden("h", "n0", "FLOWS_TO", "secret")), chat, max_hops=1)
    assert len(read(server)) == 3 and "secret" not in str(server.requests[0].body)


def test_a_sweep_asks_once_for_all_widths(build: Build, server: ChatServer, chat: OpenAIChat) -> None:
    say(server, 1, 2)
    asking = retriever(build(*RIVERS), llm=chat)
    given = [{"entity_ids": ["n0"], "llm_filter": True, "beam_width": width} for width in (1, 2, 3)]
    assert [len(result.facts) for result in asking.sweep(ASK, given)] == [1, 2, 2]
    assert len(server.requests) == 1


def test_without_a_model_it_is_refused(build: Build) -> None:
    with pytest.raises(ConfigError, match="llm_filter=True needs a chat model"):
        retriever(build(*RIVERS)).retrieve(ASK, llm_filter=True)
