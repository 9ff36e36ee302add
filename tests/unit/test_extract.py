"""Passages read through the real SDK against a scripted server, with its faults."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kgcore.errors import ConfigError, ModelError
from kgcore.ingest import ask, extract, said
from kgcore.ingest.cache import AnswerCache
from kgcore.ingest.extract import Read, Tally
from kgcore.models.chat import OpenAIChat
from kgcore.types import Chunk, EntityType, Ontology
from tests.chat_server import ChatServer, Reply, Request
from tests.chat_server import said as says
from tests.unit.extracting import ONTOLOGY, USAGE, answer, asked, entity, passage, passages, reads, relation, right

AT_ONCE = {"retry-after-ms": "1"}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[AnswerCache]:
    with AnswerCache(tmp_path / "answers.sqlite") as made:
        yield made


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "BACKOFF", (0.01,) * 3)


Run = Callable[..., list[Read]]


@pytest.fixture
def run(chat: OpenAIChat, cache: AnswerCache) -> Run:
    """A run of the whole, with its last tally as `run.tally`."""

    def run_(chunks: tuple[Chunk, ...], ontology: Ontology = ONTOLOGY, **options: object) -> list[Read]:
        tallies: list[Tally] = []
        found = [*extract.extract(chunks, ontology, chat, cache, progress=tallies.append, **options)]  # type: ignore[arg-type]
        run_.tally = tallies[-1]  # type: ignore[attr-defined]
        return found

    return run_


def failing(status: int, message: str = "Slow down.", **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=body, headers={"Content-Type": "application/json", **named})


def first_then(first: Reply, number: int = 2) -> Callable[[Request], Reply]:
    """The right answer to all but the first request for the passage of a number."""
    asked_before: Counter[str] = Counter()
    lock = threading.Lock()

    def by(request: Request) -> Reply:
        text = asked(request)
        with lock:
            asked_before[text] += 1
        return first if text == passage(number).content and asked_before[text] == 1 else reads(request)

    return by


class TestOneRun:
    def test_every_passage_in_order_with_its_facts(self, server: ChatServer, run: Run) -> None:
        server.answer(lambda r: replace(reads(r), delay=0.1 if "Person1 " in asked(r) else 0.0))
        found = run(passages(12))
        assert [read.chunk for read in found] == [*passages(12)]
        assert [(f.source.name, f.relation, f.target and f.target.name) for read in found for f in read.facts] == [
            (f"Person{i}", "WORKS_AT", f"Firm{i}") for i in range(1, 13)
        ]
        assert {(read.tokens, read.cached, read.error) for read in found} == {(120, False, None)}
        assert run.tally == replace(  # type: ignore[attr-defined]
            run.tally, total=12, done=12, cached=0, failed=0, facts=12, set_aside=0, to_ask=0,  # type: ignore[attr-defined]
            prompt_tokens=1200, answer_tokens=240, waiting=0.0, why="",
        )  # fmt: skip
        assert len(server.requests) == 12

    def test_what_is_sent(self, server: ChatServer, run: Run) -> None:
        server.answer(reads)
        run(passages(1))
        (request,) = server.requests
        schema = request.body["response_format"]["json_schema"]["schema"]
        assert schema["required"] == ["entities", "relations", "attributes"]
        assert passage(1).content not in request.body["messages"][0]["content"]
        assert asked(request) == passage(1).content

    def test_several_at_a_time_and_no_more(self, server: ChatServer, run: Run) -> None:
        now, most, lock = 0, 0, threading.Lock()

        def by(request: Request) -> Reply:
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.05)
            with lock:
                now -= 1
            return reads(request)

        server.answer(by)
        run(passages(12), workers=3)
        assert most == 3

    def test_again_it_costs_nothing(self, server: ChatServer, run: Run) -> None:
        server.answer(reads)
        first = run(passages(5))
        again = run(passages(5))
        assert len(server.requests) == 5
        assert again == [replace(read, tokens=0, cached=True) for read in first]
        tally = run.tally  # type: ignore[attr-defined]
        assert (tally.cached, tally.prompt_tokens, tally.rate, tally.seconds_left) == (5, 0, 0.0, 0.0)

    def test_passages_of_one_text_are_paid_once(self, server: ChatServer, run: Run) -> None:
        server.answer(lambda r: replace(reads(r), delay=0.05))
        same = tuple(replace(passage(1), id=f"d#{i}") for i in range(6))
        found = run(same)
        assert len(server.requests) == 1
        assert [read.tokens for read in found] == [120, 0, 0, 0, 0, 0]
        assert [read.cached for read in found] == [False] + [True] * 5
        assert {read.facts for read in found} == {found[0].facts} and found[0].facts

    def test_another_model_ontology_or_passage_is_asked_anew(
        self, server: ChatServer, run: Run, cache: AnswerCache
    ) -> None:
        server.answer(reads)
        run(passages(1))
        described = replace(ONTOLOGY, entity_types=(EntityType(name="Person"), *ONTOLOGY.entity_types[1:]))
        run(passages(1), described)
        run((replace(passage(1), content=passage(1).content + " So be it."),))
        larger = OpenAIChat(base_url=server.url, model="large", timeout=10.0)
        assert len([*extract.extract(passages(1), ONTOLOGY, larger, cache)]) == 1
        assert len(server.requests) == 4
        run((replace(passage(1), id="e#7", metadata={"year": 2020}),))
        assert len(server.requests) == 4

    def test_support_is_judged_anew(self, server: ChatServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        server.answer(reads)
        assert run(passages(1))[0].facts
        monkeypatch.setattr(said, "MAX_TEXT", 5)
        (read,) = run(passages(1))
        assert read.cached and not read.facts and {a.reason for a in read.set_aside} == {said.TOO_LONG}

    def test_nothing_to_read(self, server: ChatServer, cache: AnswerCache, chat: OpenAIChat) -> None:
        assert [*extract.extract((), ONTOLOGY, chat, cache)] == []

    def test_a_server_that_does_not_count(self, server: ChatServer, run: Run) -> None:
        for usage in (None, {}, "many", {"prompt_tokens": "7", "completion_tokens": True}):
            server.answer(lambda r, usage=usage: says(json.dumps(right(asked(r))), usage=usage))
            (read,) = run((replace(passage(1), content=passage(1).content + " " + repr(usage)),))
            assert (read.tokens, read.error) == (0, None) and read.facts

    @pytest.mark.parametrize("workers", [0, 65])
    def test_workers_out_of_bounds(self, chat: OpenAIChat, cache: AnswerCache, workers: int) -> None:
        with pytest.raises(ConfigError, match="workers"):
            extract.extract((), ONTOLOGY, chat, cache, workers=workers)

    def test_an_ontology_that_is_wrong(self, chat: OpenAIChat, cache: AnswerCache) -> None:
        with pytest.raises(ConfigError, match="at least one"):
            extract.extract((), Ontology(entity_types=()), chat, cache)


class TestFaultsOfAnAnswer:
    @pytest.mark.parametrize(
        ("reply", "fault"),
        [
            (says('{"entities": [{"type": "Person", "name": "Per', finish_reason="length", usage=USAGE), "cut off"),
            (says('{"entities": [{"type": "Person", "name": "Per', usage=USAGE), "no complete JSON object"),
            (says("I cannot find any entities, sorry.", usage=USAGE), "no complete JSON object"),
            (says("", usage=USAGE), "is empty"),
            (says(None, usage=USAGE), "is empty"),
            (says('{"type": "object", "properties": {"entities": []}}', usage=USAGE), "is the schema itself"),
            (says('{"entities": []}', usage=USAGE), "lacks relations, attributes"),
            (says('{"entities": "none", "relations": [], "attributes": []}', usage=USAGE), "not of type array"),
            (failing(400, "maximum context length"), "rejects the request (HTTP 400)"),
            (Reply(body=b"<html>", headers={"Content-Type": "text/html"}), "does not speak"),
        ],
    )
    def test_is_that_passages_failure_and_asked_again_next_time(
        self, server: ChatServer, run: Run, reply: Reply, fault: str
    ) -> None:
        server.answer(first_then(reply))
        found = run(passages(4))
        assert [bool(read.error) for read in found] == [False, True, False, False]
        error = found[1].error
        assert isinstance(error, ModelError) and fault in str(error) and error.remedy
        assert (found[1].facts, found[1].mentions, found[1].set_aside) == ((), (), ())
        assert found[1].tokens == (120 if b"usage" in reply.body else 0)
        assert (run.tally.failed, run.tally.facts) == (1, 3)  # type: ignore[attr-defined]
        again = run(passages(4))
        assert [read.cached for read in again] == [True, False, True, True]
        assert all(read.facts for read in again)
        assert len(server.requests) == 5

    def test_a_slow_answer_is_that_passages_failure(self, server: ChatServer, cache: AnswerCache) -> None:
        server.answer(first_then(says("{}", delay=5.0)))
        chat = OpenAIChat(base_url=server.url, model="tiny", timeout=0.5)
        found = [*extract.extract(passages(3), ONTOLOGY, chat, cache)]
        assert [bool(read.error) for read in found] == [False, True, False]
        assert "did not answer within 0.5 seconds" in str(found[1].error)
        assert len(server.requests) == 3

    @pytest.mark.parametrize(
        "around",
        ["Here it is:\n```json\n{}\n```\nGlad to help!", "<think>Hm. {{</think>{}", "Sure! {} I hope that helps."],
    )
    def test_prose_around_json_is_left_off(self, server: ChatServer, run: Run, around: str) -> None:
        server.answer(lambda r: says(around.replace("{}", json.dumps(right(asked(r))), 1)))
        assert all(read.facts and not read.error for read in run(passages(2)))

    def test_unknown_types_and_relations_are_set_aside(self, server: ChatServer, run: Run) -> None:
        text = "Ann met Bob in Rome."
        wild = answer(
            [entity("Ann"), entity("Bob", "Robot"), entity("Rome", "City")],
            [relation("Ann", "TRAVELLED_TO", "Rome", text), relation("Ann", "KNOWS", "Bob", text)],
        )
        server.answer(lambda r: says(json.dumps(wild)))
        (read,) = run((Chunk(id="d#1", document_id="d", content=text),))
        assert [a.reason for a in read.set_aside] == [said.UNKNOWN_TYPE, said.UNKNOWN_RELATION, said.NO_END]
        assert [m.name for m in read.mentions] == ["Ann", "Rome"] and not read.facts

    def test_another_language_is_set_aside(self, server: ChatServer, run: Run) -> None:
        text = "Анна работает в фирме Ромашка."
        translated = answer(
            [entity("Anna"), entity("Chamomile", "Company"), entity("Анна"), entity("Ромашка", "Company")],
            [
                relation("Anna", "WORKS_AT", "Chamomile", "Anna works at Chamomile."),
                relation("Анна", "WORKS_AT", "Ромашка", "Anna works at the firm Chamomile."),
                relation("Анна", "WORKS_AT", "Ромашка", "Анна работает в фирме Ромашка"),
            ],
        )
        server.answer(lambda r: says(json.dumps(translated)))
        (read,) = run((Chunk(id="d#1", document_id="d", content=text),))
        assert [a.reason for a in read.set_aside] == [said.NOT_NAMED, said.NOT_NAMED, said.NO_END, said.NO_EVIDENCE]
        assert [fact.evidence for fact in read.facts] == ["Анна работает в фирме Ромашка"]


class TestFaultsOfTheServer:
    @pytest.mark.parametrize(
        "reply",
        [
            failing(429, retry_after_ms="1"),
            failing(429),
            failing(500),
            failing(503, retry_after="0"),
            failing(529, retry_after="soon"),
            Reply(body=b'{"choices', headers={"Content-Length": "5000"}),
        ],
    )
    def test_it_is_asked_again(self, server: ChatServer, run: Run, reply: Reply) -> None:
        server.answer(first_then(reply))
        assert all(read.facts for read in run(passages(4)))
        assert len(server.requests) == 5

    @pytest.mark.parametrize("header", ["seconds", "date"])
    def test_a_wait_that_the_server_names_holds_for_all(self, server: ChatServer, run: Run, header: str) -> None:
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3))
        server.answer(first_then(failing(429, retry_after="1" if header == "seconds" else date), number=1))
        assert all(read.facts for read in run(passages(6), workers=1))
        gap = server.requests[1].time - server.requests[0].time
        assert 1.0 <= gap < 4.0

    def test_no_other_worker_asks_meanwhile(self, server: ChatServer, run: Run) -> None:
        by = first_then(failing(429, retry_after="1"), number=1)
        server.answer(lambda r: replace(by(r), delay=0.05))
        run(passages(30), workers=2)
        busy = next(request.time for request in server.requests if asked(request) == passage(1).content)
        assert not [r for r in server.requests if 0.4 < r.time - busy < 1.0]

    def test_waiting_is_shown(self, server: ChatServer, chat: OpenAIChat, cache: AnswerCache) -> None:
        tallies: list[Tally] = []
        server.answer(first_then(failing(429, retry_after="2"), number=1))
        assert all(read.facts for read in extract.extract(passages(1), ONTOLOGY, chat, cache, progress=tallies.append))
        busy = [tally for tally in tallies if tally.waiting]
        assert busy and busy[0].waiting <= 2 and "takes no more requests" in busy[0].why
        assert tallies[-1].waiting == 0 and tallies[-1].why == ""

    @pytest.mark.parametrize("reply", [failing(429, retry_after="7200"), failing(401), failing(429)])
    def test_it_is_not_asked_for_ever(self, server: ChatServer, run: Run, reply: Reply) -> None:
        text = passage(2).content
        server.answer(lambda r: reply if asked(r) == text else reads(r))
        found = run(passages(3))
        assert [bool(read.error) for read in found] == [False, True, False]
        tries = sum(asked(request) == text for request in server.requests)
        assert tries == (1 if reply.status == 401 or "retry-after" in reply.headers else 4)

    def test_a_quota_that_is_spent_is_not_waited_for(self, server: ChatServer, run: Run) -> None:
        body = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}
        spent = Reply(status=429, body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        server.answer(first_then(spent))
        assert [bool(read.error) for read in run(passages(2))] == [False, True]
        assert len(server.requests) == 2

    def test_many_failures_in_a_row_end_the_run(self, server: ChatServer, chat: OpenAIChat, cache: AnswerCache) -> None:
        refused = failing(401, "No such key.")
        good = {passage(i).content for i in (1, 2, 5)}
        server.answer(lambda r: reads(r) if asked(r) in good else refused)
        found: list[Read] = []
        with pytest.raises(ModelError, match=r"20 passages in a row.*refuses the key") as raised:
            found.extend(extract.extract(passages(200), ONTOLOGY, chat, cache))
        assert len(found) == 25 and "HOPSCOPE_CHAT_KEY" in raised.value.remedy
        assert len(server.requests) < 80

    def test_a_server_that_is_gone_is_soon_given_up(self, cache: AnswerCache) -> None:
        with ChatServer() as gone:
            url = gone.url
        chat = OpenAIChat(base_url=url, model="tiny", timeout=5.0)
        found: list[Read] = []
        with pytest.raises(ModelError, match="No chat server can be reached"):
            found.extend(extract.extract(passages(100), ONTOLOGY, chat, cache))
        assert len(found) == extract.FAILED_IN_A_ROW

    def test_nor_is_a_busy_server_waited_for_by_each(
        self, server: ChatServer, chat: OpenAIChat, cache: AnswerCache
    ) -> None:
        server.answer(lambda r: failing(503))
        with pytest.raises(ModelError, match="HTTP 503"):
            [*extract.extract(passages(100), ONTOLOGY, chat, cache, workers=1)]
        assert len(server.requests) < 40

    def test_few_passages_fail_each_for_itself(self, server: ChatServer, run: Run) -> None:
        server.answer(lambda r: failing(401))
        assert all(read.error for read in run(passages(extract.FAILED_IN_A_ROW)))


class TestStopping:
    def test_nothing_is_asked_any_more_and_what_is_under_way_is_kept(
        self, server: ChatServer, chat: OpenAIChat, cache: AnswerCache, run: Run
    ) -> None:
        hold = threading.Event()

        def by(request: Request) -> Reply:
            if asked(request) != passage(1).content:
                hold.wait(10)
            return reads(request)

        server.answer(by)
        stop = threading.Event()
        found = []
        for read in extract.extract(passages(50), ONTOLOGY, chat, cache, workers=2, stopped=stop.is_set):
            found.append(read)
            while len(server.requests) < 3:
                time.sleep(0.01)
            stop.set()
        assert [read.chunk.id for read in found] == ["d#1"]
        hold.set()
        ended = time.monotonic() + 10
        while len(_keys(cache)) < 3 and time.monotonic() < ended:
            time.sleep(0.02)
        time.sleep(0.2)
        assert len(server.requests) == 3
        again = run(passages(50), workers=2)
        assert sum(read.cached for read in again) == 3 and len(server.requests) == 50

    @pytest.mark.parametrize("seconds", ["60", "3"])
    def test_a_wait_is_broken_off(self, server: ChatServer, chat: OpenAIChat, cache: AnswerCache, seconds: str) -> None:
        server.answer(lambda r: failing(429, retry_after=seconds))
        began = time.monotonic()
        found = [*extract.extract(passages(5), ONTOLOGY, chat, cache, stopped=lambda: time.monotonic() - began > 0.5)]
        assert not found and time.monotonic() - began < 2
        _wait_for_threads()
        assert time.monotonic() - began < 3 and len(server.requests) <= 4

    def test_a_reader_that_goes_away(self, server: ChatServer, chat: OpenAIChat, cache: AnswerCache) -> None:
        server.answer(lambda r: replace(reads(r), delay=0.05))
        reading = extract.extract(passages(200), ONTOLOGY, chat, cache, workers=2)
        next(reading)
        reading.close()  # type: ignore[attr-defined]
        _wait_for_threads()
        assert len(server.requests) < 10
        assert len(_keys(cache)) == len(server.requests)

    def test_stopped_before_it_began(self, server: ChatServer, chat: OpenAIChat, cache: AnswerCache) -> None:
        assert [*extract.extract(passages(5), ONTOLOGY, chat, cache, stopped=lambda: True)] == []
        assert server.requests == []


def test_rate_and_time_left() -> None:
    tally = Tally(total=100, done=40, cached=10, to_ask=60, seconds=60.0)
    assert (tally.rate, tally.seconds_left) == (30.0, 120.0)
    assert (Tally(total=5, to_ask=5).rate, Tally(total=5, to_ask=5).seconds_left) == (0.0, None)


def _keys(cache: AnswerCache) -> list[str]:
    with cache._open() as file:
        return [row[0] for row in file.execute("SELECT key FROM answer")]


def _wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("extract"):
            thread.join(10)
            assert not thread.is_alive()
