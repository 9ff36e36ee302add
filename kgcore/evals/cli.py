"""What `python -m kgcore eval` does, without its options: a gold file against a store's address."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

from kgcore.config import cache_dir, load_config, store_options
from kgcore.errors import ConfigError
from kgcore.evals.gold import Gold, read_gold
from kgcore.evals.report import Evaluation
from kgcore.evals.run import evaluate, run_key
from kgcore.ingest.demo import ensure_demo
from kgcore.ingest.write import Progress
from kgcore.models.offline import OfflineEmbedder
from kgcore.retrieve import KnowledgeGraphRetriever
from kgcore.retrieve.settings import no_chat_model
from kgcore.store import GraphStore, open_store
from kgcore.types import SeedMode

OPTIONS = {
    "hops": "max_hops",
    "beam": "beam_width",
    "top-k": "top_k",
    "scoring": "scoring",
    "seed-mode": "seed_mode",
    "hub-limit": "hub_limit",
    "aliases": "aliases",
    "llm-filter": "llm_filter",
}
"""What may be set on the command line, and the argument of `retrieve` that it is."""
_TRUTH = {"yes": True, "true": True, "no": False, "false": False}


def read_settings(text: str) -> dict[str, Any]:
    """Settings as `beam=15,top-k=45,aliases=no`. Raises ConfigError for a name that there is not."""
    found: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        option, _, value = (piece.strip() for piece in part.partition("="))
        name = OPTIONS.get(option.replace("_", "-"))
        if name is None or not value:
            raise ConfigError(
                f"{part!r} sets nothing.", remedy=f"Write beam=15,top-k=45. There are {', '.join(OPTIONS)}."
            )
        found[name] = int(value) if value.isdecimal() else _TRUTH.get(value, value)
    return found


def evaluate_file(
    gold: Path, store: str, runs: list[dict[str, Any]], *, every: int = 1, progress: Progress | None = None
) -> list[Evaluation]:
    """A run of a gold file for each of these settings; one that is stopped goes on when it is called again.

    Every Nth question is asked. `store` is an address, or `demo`. Raises IngestError, ConfigError, StoreError.
    """
    golds = read_gold(gold)[::every]
    if not store:
        raise ConfigError("No store is named.", remedy=_remedy(gold))
    address = ensure_demo() if store == "demo" else store
    with closing(open_store(address, **store_options(load_config(), address))) as opened:
        retrievers = [_retriever(opened, settings) for settings in runs]
        graph = _graph(opened, retrievers[0])
        if not graph["edges"]:
            raise ConfigError("The store holds no graph.", remedy=_remedy(gold))
        files = [_file(retriever, golds, settings) for retriever, settings in zip(retrievers, runs, strict=True)]
        found = [
            Evaluation(
                gold=gold.absolute().name,
                graph=graph,
                settings=settings,
                outcomes=tuple(evaluate(retriever, golds, settings, file=file, progress=progress)),
            )
            for retriever, settings, file in zip(retrievers, runs, files, strict=True)
        ]
    for file in files:
        file.unlink(missing_ok=True)
    return found


def _retriever(store: GraphStore, settings: Mapping[str, Any]) -> KnowledgeGraphRetriever:
    """A retriever that has checked these settings. A chat model reads the questions only if it is asked for."""
    mode, llm = settings.get("seed_mode", "auto"), None
    if mode not in get_args(SeedMode):
        raise ConfigError(
            f"seed_mode is {mode!r}.", remedy=f"Use one of {', '.join(get_args(SeedMode))}.", field="seed_mode"
        )
    if mode == "llm" or settings.get("llm_filter"):
        from kgcore.models.chat import OpenAIChat

        llm = OpenAIChat.from_config(load_config())
        if llm is None:
            name = "seed_mode" if mode == "llm" else "llm_filter"
            raise no_chat_model(f"{name}={settings[name]!r}", name)
    own = {name: value for name, value in settings.items() if name != "seed_mode"}
    return KnowledgeGraphRetriever(store, embedder=OfflineEmbedder(), llm=llm, document_retriever=store.chunks, **own)


def _graph(store: GraphStore, retriever: KnowledgeGraphRetriever) -> dict[str, Any]:
    seen = store.describe(retriever.filter)
    return {"entities": seen.entities, "edges": seen.edges, "documents": seen.documents, "embedder": seen.embedder}


def _file(retriever: KnowledgeGraphRetriever, golds: tuple[Gold, ...], settings: Mapping[str, Any]) -> Path:
    return cache_dir() / "evals" / f"{run_key(retriever, golds, settings)}.jsonl"


def _remedy(gold: Path) -> str:
    """How to import the graph that this gold is about, if it stands beside it."""
    folder = gold if gold.is_dir() else gold.parent
    beside = next((name for name in ("triples.jsonl", "kb.txt") if (folder / name).is_file()), None)
    graph = "FOLDER" if beside is None else shlex.quote(str(folder / beside if beside == "kb.txt" else folder))
    bare = " --no-vectors" if beside == "kb.txt" else ""
    store = "--store duckdb:///graph.duckdb"
    return f"Import its graph: python -m kgcore import {graph} {store}{bare}. Then give the same --store here."
