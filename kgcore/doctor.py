"""The self-check: what a graph and the models need to be of use, a line each, with the remedy for what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kgcore.config import Config, store_options
from kgcore.doctor_store import Check, FileChecks, GraphChecks, Locked, Sample, failed_by, passed, sample
from kgcore.errors import KgError
from kgcore.models.offline import OfflineEmbedder
from kgcore.store import is_server

__all__ = ["Check", "Sample", "examine", "sample"]


def examine(
    config: Config,
    url: str,
    *,
    options: Mapping[str, Any] | None = None,
    locked: Mapping[str, Any] | None = None,
    embedder: OfflineEmbedder | None = None,
) -> Iterator[Check]:
    """Looks at the graph of an address and at the models, one check at a time, in an order that is always the same.

    `options` are `open_store`'s, without them the settings' own. `locked` is the filter to ask the sample question
    under, without it the settings' own. No text holds a login, a key, or a value of the filter. Raises nothing of
    ours: an error is a check that fails, and what cannot be looked at then is skipped.
    """
    options = store_options(config, url) if options is None else options
    graph = _checks_of(url)(url, options, Locked.of(config, locked), embedder)
    failed = ""
    try:
        for name, look in graph.steps():
            if failed:
                yield Check(name=name, state="skip", said=f"Not looked at: {failed} comes first.")
                continue
            try:
                yield look(name)
            except KgError as error:
                yield failed_by(name, error)
                failed = name
    finally:
        graph.close()
    yield from _chat(config)


def _checks_of(url: str) -> type[GraphChecks]:
    if not is_server(url):
        return FileChecks
    from kgcore.doctor_neo4j import ServerChecks

    return ServerChecks


def _chat(config: Config) -> Iterator[Check]:
    """Whether the chat model answers, and whether it has a key; retrieval needs neither."""
    from kgcore.models.chat import OpenAIChat

    name, url, model = "Chat model", config.chat_url.strip(), config.chat_model.strip()
    if not url and not model:
        yield Check(name=name, state="skip", said="None is set: retrieval needs none.")
        return
    if not (url and model):
        missing = "HOPSCOPE_CHAT_MODEL" if url else "HOPSCOPE_CHAT_URL"
        yield Check(name=name, state="warn", said=f"{missing} is not set.", remedy=f"Set {missing}, or neither.")
        return
    try:
        chat = OpenAIChat.from_config(config)
        if chat is not None:
            chat.complete("You are asked whether you work.", "Answer with one word: yes.")
        yield passed(name, f"{model} answers.")
    except KgError as error:
        yield failed_by(name, error)
    held = "A key is set." if config.chat_key.get_secret_value() else "No key is set, as for a server that wants none."
    yield passed("Chat key", held)
