"""A run as a Python program that asks the same again."""

from __future__ import annotations

from dataclasses import replace

from kgcore.types import Retrieval

_ALWAYS = ("max_hops", "beam_width", "top_k", "scoring")
_UNLESS = {
    "seed_mode": "auto",
    "hub_limit": 500,
    "vector_top_k": 5,
    "aliases": True,
    "entities": (),
    "entity_ids": (),
    "entity_types": (),
    "relations": (),
    "filters": None,
}
"""Settings that are left out where they are as usual."""


def run_script(result: Retrieval, *, demo: bool = False) -> str:
    """A program that asks the result's question under its settings and prints the facts.

    It opens the graph that its reader's own settings name, or the demo: no address, key or locked filter is in it.
    Everything of the question and the filter stands in it as a literal. Seeds that a chat model named are given by
    their ids, and an answer is not asked for.
    """
    settings = result.trace.settings
    named = any(seed.found_by == "name" for seed in result.trace.seeds)
    if not settings.entity_ids and (settings.seed_mode == "llm" or (named and not settings.entities)):
        seeds = tuple(seed.entity_id for seed in result.trace.seeds)
        settings = replace(settings, seed_mode="auto", entity_types=(), entity_ids=seeds)
    given = {name: getattr(settings, name) for name in _ALWAYS}
    if settings.beam_auto:
        given["beam_width"] = None
    given |= {name: getattr(settings, name) for name, usual in _UNLESS.items() if getattr(settings, name) != usual}
    vector_top_k = given.pop("vector_top_k", None)
    options = ["    store,", "    embedder=embedder,", "    document_retriever=store.chunks,"]
    options += ["    document_reranker=MaxSimReranker(embedder),"] if settings.reranker else []
    options += [f"    vector_top_k={vector_top_k},"] if vector_top_k is not None else []
    if demo:
        imports = ["from kgcore.ingest.demo import ensure_demo"]
        opened = ["store = open_store(ensure_demo())"]
    else:
        imports = ["from kgcore.config import load_config, store_options"]
        opened = [
            "config = load_config()  # its store is HOPSCOPE_STORE",
            "store = open_store(config.store, **store_options(config, config.store))",
        ]
    models = "MaxSimReranker, OfflineEmbedder" if settings.reranker else "OfflineEmbedder"
    literals = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    lines = [
        "from kgcore import KnowledgeGraphRetriever, open_store",
        *imports,
        f"from kgcore.models.offline import {models}",
        "",
        *opened,
        "embedder = OfflineEmbedder()",
        "retriever = KnowledgeGraphRetriever(",
        *options,
        ")",
        "result = retriever.retrieve(",
        f"    {result.trace.question!r},",
        *(f"    {name}={value!r}," for name, value in literals.items()),
        ")",
        "for fact in result.facts:",
        '    print(f"{fact.score:.3f}  {fact.text}")',
        "store.close()",
    ]
    return "\n".join(lines) + "\n"
