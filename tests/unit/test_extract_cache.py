"""Answers are kept: through kills, beside other processes, within bounds."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kgcore.config import cache_dir
from kgcore.errors import ConfigError
from kgcore.ingest.cache import AnswerCache, answer_key
from kgcore.ingest.extract import extract
from kgcore.ingest.prompt import passage_prompt
from kgcore.models.chat import OpenAIChat
from tests.chat_server import ChatServer, Reply, Request
from tests.unit.extracting import ONTOLOGY, asked, passages, reads

ROOT = Path(__file__).parents[2]
WORKERS = 3
_RUN = """
import sys
from pathlib import Path
from kgcore.ingest.cache import AnswerCache
from kgcore.ingest.extract import extract
from kgcore.models.chat import OpenAIChat
from tests.unit.extracting import ONTOLOGY, passages
chat = OpenAIChat(base_url=sys.argv[1], model="tiny", timeout=10.0)
cache = AnswerCache(Path(sys.argv[2]))
for read in extract(passages(int(sys.argv[3])), ONTOLOGY, chat, cache, workers=int(sys.argv[4])):
    print(read.chunk.id, len(read.facts), read.cached, flush=True)
"""


def start(server: ChatServer, file: Path, count: int) -> subprocess.Popen[str]:
    """An extraction in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, server.url, str(file), str(count), str(WORKERS)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )


class TestKilled:
    def test_at_any_moment_no_passage_is_paid_for_twice(self, server: ChatServer, tmp_path: Path) -> None:
        """Only what was under way may be asked again; what was given never is, and the end is the undisturbed one."""
        server.answer(lambda request: replace(reads(request), delay=0.03))
        count, file, chance = 60, tmp_path / "answers.sqlite", random.Random(7)
        kills = 0
        given: list[str] = []
        while True:
            before = len(server.requests)
            run = start(server, file, count)
            assert run.stdout is not None
            room = chance.randrange(1, 20)
            given = []
            for line in run.stdout:
                given.append(line)
                new = len(server.requests) - before
                if kills < 4 and new >= room:
                    run.send_signal(signal.SIGKILL)
                    kills += 1
                    break
            run.stdout.close()
            if run.wait(30) == 0:
                break
            seen = {line.split()[0] for line in given}
            paid = {asked(request) for request in server.requests}
            known = AnswerCache(file)
            keys = {chunk.id: answer_key("tiny", passage_prompt(chunk.content, ONTOLOGY)) for chunk in passages(count)}
            kept = known.known([*keys.values()])
            known.close()
            assert {keys[id_] for id_ in seen} <= kept
            assert len(paid) - len(kept) <= WORKERS
        assert kills == 4
        assert [line.split()[:2] for line in given] == [[chunk.id, "1"] for chunk in passages(count)]
        times = Counter(asked(request) for request in server.requests)
        assert set(times) == {chunk.content for chunk in passages(count)}
        assert sum(times.values()) - count <= kills * WORKERS

    def test_two_processes_at_once(self, server: ChatServer, tmp_path: Path) -> None:
        server.answer(lambda request: replace(reads(request), delay=0.02))
        runs = [start(server, tmp_path / "answers.sqlite", 40) for _ in range(2)]
        told = [run.communicate(timeout=60)[0].splitlines() for run in runs]
        assert [run.returncode for run in runs] == [0, 0]
        assert all([line.split()[:2] for line in lines] == [[c.id, "1"] for c in passages(40)] for lines in told)
        assert len({asked(request) for request in server.requests}) == 40


class TestCache:
    def test_keeps_what_it_is_given(self, tmp_path: Path) -> None:
        answer = {"entities": [{"name": "Ж \ud83d"}], "b": 1, "a": [None, True]}
        with AnswerCache(tmp_path / "deep" / "answers.sqlite") as cache:
            assert cache.get("k") is None and cache.known(["k"]) == set()
            cache.put("k", answer)
        assert cache.get("k") == answer and [*(cache.get("k") or ())] == ["entities", "b", "a"]
        cache.put("k", {})
        assert cache.get("k") == {} and cache.known(["x", "k", "k"]) == {"k"}
        cache.close()

    def test_many_keys(self, tmp_path: Path) -> None:
        with AnswerCache(tmp_path / "answers.sqlite") as cache:
            for i in range(0, 2_000, 2):
                cache.put(str(i), {})
            assert cache.known([str(i) for i in range(2_000)]) == {str(i) for i in range(0, 2_000, 2)}

    def test_the_oldest_go_when_it_is_full(self, tmp_path: Path) -> None:
        with AnswerCache(tmp_path / "answers.sqlite", max_bytes=200_000) as cache:
            for i in range(300):
                cache.put(f"{i:03}", {"text": "x" * 2_000})
                assert cache.known([f"{i:03}"])
                assert cache.size() < 230_000
            kept = sorted(cache.known([f"{i:03}" for i in range(300)]))
            assert 40 < len(kept) < 120 and kept == [f"{i:03}" for i in range(300 - len(kept), 300)]

    def test_clear_gives_the_room_back(self, tmp_path: Path) -> None:
        with AnswerCache(tmp_path / "answers.sqlite") as cache:
            for i in range(200):
                cache.put(str(i), {"text": "x" * 2_000})
            full = cache.size()
            cache.clear()
            assert cache.size() < full / 5 and cache.get("7") is None

    def test_is_for_its_owner_alone(self, tmp_path: Path) -> None:
        with AnswerCache(tmp_path / "answers.sqlite") as cache:
            cache.put("k", {})
            modes = {file.name: file.stat().st_mode & 0o077 for file in tmp_path.iterdir()}
        assert "answers.sqlite" in modes and set(modes.values()) == {0}

    def test_is_under_the_cache_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOPSCOPE_CACHE_DIR", str(tmp_path))
        cache_dir.cache_clear()
        try:
            assert AnswerCache().path.parent == tmp_path
        finally:
            cache_dir.cache_clear()

    def test_threads_share_it(self, tmp_path: Path) -> None:
        with AnswerCache(tmp_path / "answers.sqlite") as cache, ThreadPoolExecutor(8) as pool:
            [*pool.map(lambda i: cache.put(str(i), {"i": i}), range(400))]
            assert [*pool.map(lambda i: cache.get(str(i)), range(400))] == [{"i": i} for i in range(400)]

    def test_many_open_a_new_file_at_once(self, tmp_path: Path) -> None:
        for round_ in range(10):
            ready = threading.Barrier(8)

            def put(i: int, file: Path = tmp_path / f"{round_}.sqlite", ready: threading.Barrier = ready) -> bool:
                ready.wait()
                with AnswerCache(file) as cache:
                    cache.put(str(i), {})
                    return cache.get(str(i)) == {}

            with ThreadPoolExecutor(8) as pool:
                assert all(pool.map(put, range(8)))

    @pytest.mark.parametrize("value", ["{", "[]", "null", "[" * 100_000])
    def test_an_answer_that_cannot_be_read_is_none(self, tmp_path: Path, value: str) -> None:
        with AnswerCache(tmp_path / "answers.sqlite") as cache:
            cache.put("k", {})
            with sqlite3.connect(cache.path) as file:
                file.execute("UPDATE answer SET value = ?", [value])
            file.close()
            assert cache.get("k") is None

    def test_a_file_that_is_no_cache(self, tmp_path: Path) -> None:
        file = tmp_path / "answers.sqlite"
        file.write_text("not a database, and long enough to be taken for one " * 50)
        for cache in (AnswerCache(file), AnswerCache(tmp_path), AnswerCache(file / "below")):
            with pytest.raises(ConfigError, match="cannot be kept in") as raised:
                cache.put("k", {})
            assert raised.value.field == "cache_dir" and "HOPSCOPE_CACHE_DIR" in raised.value.remedy

    def test_an_answer_that_cannot_be_kept_ends_the_run(
        self, server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def by(request: Request) -> Reply:
            return replace(reads(request), delay=0.02)

        def full(self: AnswerCache, key: str, answer: object) -> None:
            with self._open():
                raise sqlite3.OperationalError("database or disk is full")

        server.answer(by)
        monkeypatch.setattr(AnswerCache, "put", full)
        with AnswerCache(tmp_path / "answers.sqlite") as cache:
            chat = OpenAIChat(base_url=server.url, model="tiny", timeout=5.0)
            with pytest.raises(ConfigError, match="disk is full"):
                [*extract(passages(100), ONTOLOGY, chat, cache, workers=2)]
        assert len(server.requests) <= 6
