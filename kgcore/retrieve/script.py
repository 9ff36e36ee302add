"""A run as a Python program that asks the same again."""

from __future__ import annotations

from dataclasses import replace

from kgcore.types import Retrieval, Settings, Trace

_ALWAYS = ("max_hops", "beam_width", "top_k", "scoring")
_UNLESS = {
    "seed_mode": "auto",
    "hub_limit": 500,
    "vector_top_k": 5,
    "aliases": True,
    "llm_filter": False,
    "entities": (),
    "entity_ids": (),
    "entity_types": (),
    "relations": (),
    "filters": None,
}
"""Settings that are left out where they are as usual."""


def run_script(result: Retrieval, *, demo: bool = False) -> str:
    """A program that asks the result's question under its settings and prints the facts.

    It opens the graph that its reader's own settings name, or the demo: no address, key or locked filter is in it, and
    where one is to be given stands in a comment. Everything of the question and the filter stands in it as a literal.
    No chat model is asked for seeds or an answer: seeds that one named are given by their ids.
    """
    settings = _without_model(result.trace)
    given = {name: getattr(settings, name) for name in _ALWAYS}
    if settings.beam_auto:
        given["beam_width"] = None
    given |= {name: getattr(settings, name) for name, usual in _UNLESS.items() if getattr(settings, name) != usual}
    vector_top_k = given.pop("vector_top_k", None)
    options = [
        "    store,",
        "    # Without filters={...}, the access filter of whoever runs this, it reads the whole graph.",
        "    embedder=embedder,",
        "    document_retriever=store.chunks,",
    ]
    options += ["    llm=OpenAIChat.from_config(load_config()),"] if settings.llm_filter else []
    options += ["    document_reranker=MaxSimReranker(embedder),"] if settings.reranker else []
    options += [f"    vector_top_k={vector_top_k},"] if vector_top_k is not None else []
    if demo:
        imports = ["from kgcore.config import load_config"] if settings.llm_filter else []
        imports += ["from kgcore.ingest.demo import ensure_demo"]
        opened = ["store = open_store(ensure_demo())"]
    else:
        imports = ["from kgcore.config import load_config, store_options"]
        opened = [
            "config = load_config()  # its store is HOPSCOPE_STORE",
            "store = open_store(config.store, **store_options(config, config.store))",
        ]
    imports += ["from kgcore.models.chat import OpenAIChat"] if settings.llm_filter else []
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


def _without_model(trace: Trace) -> Settings:
    """The run's settings with its seeds where a chat model named them; else with those that the question gives."""
    settings = trace.settings
    if settings.entity_ids or settings.entities or settings.seed_mode not in ("auto", "llm"):
        return settings
    # What a model names is found by its name, else by the vector of it; what the question is near to, by no text.
    if any(seed.found_by == "name" or (seed.found_by == "vector" and seed.text) for seed in trace.seeds):
        ids = tuple(seed.entity_id for seed in trace.seeds)
        return replace(settings, seed_mode="auto", entity_types=(), entity_ids=ids)
    asks = settings.llm_filter or settings.seed_mode == "llm"
    return replace(settings, seed_mode="mentions" if asks else "auto", entity_types=())
