"""What a call asks for: the bounds of each setting, and every value resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from kgcore.errors import ConfigError
from kgcore.text import whole_characters
from kgcore.types import Scoring, SeedMode, Settings

MAX_QUESTION = 2_000
MAX_NAMES = 50
MAX_SEEDS = 10_000
"""More ids than any seeds: 50 names may find 100 each by vector."""
NAME_LISTS = ("entities", "entity_ids", "entity_types", "relations")
_BOUNDS = {
    "max_hops": (1, 4),
    "beam_width": (1, 1_000),
    "top_k": (1, 1_000),
    "hub_limit": (1, 10_000_000),
    "vector_top_k": (0, 100),
}
_WORDS = {"scoring": get_args(Scoring), "seed_mode": get_args(SeedMode)}


def resolve(
    values: Mapping[str, Any], *, filters: Mapping[str, Any] | None, reranker: str | None, has_llm: bool
) -> Settings:
    """The settings of these values; a `beam_width` of None is Auto. Raises ConfigError that names the field."""
    auto = values["beam_width"] is None
    known = {**values, "beam_width": 1} if auto else values
    check_numbers(known)
    for name in ("summarize", "llm_filter", "seed_mode"):
        if values[name] in (True, "llm") and not has_llm:
            raise no_chat_model(f"{name}={values[name]!r}", name)
    beam = auto_beam(values["top_k"], values["max_hops"]) if auto else values["beam_width"]
    return Settings(**{**values, "beam_width": beam}, beam_auto=auto, filters=filters, reranker=reranker)


def no_chat_model(what: str, field: str) -> ConfigError:
    """The error where something needs a chat model and there is none."""
    return ConfigError(
        f"{what} needs a chat model.",
        remedy="Give the retriever an llm; in the app set HOPSCOPE_CHAT_URL and HOPSCOPE_CHAT_MODEL.",
        field=field,
    )


def check_numbers(values: Mapping[str, Any]) -> None:
    """Raises ConfigError for the first number out of its bounds, or word that is none of those allowed."""
    for name, (low, high) in _BOUNDS.items():
        value = values[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ConfigError(
                f"{name} is {value!r}.", remedy=f"Give a whole number from {low} to {high:,}.", field=name
            )
    for name, allowed in _WORDS.items():
        if values[name] not in allowed:
            raise ConfigError(f"{name} is {values[name]!r}.", remedy=f"Use one of {', '.join(allowed)}.", field=name)
    for name in ("summarize", "aliases", "llm_filter"):
        if not isinstance(values[name], bool):
            raise ConfigError(f"{name} is {values[name]!r}.", remedy="Give true or false.", field=name)


def auto_beam(top_k: int, max_hops: int) -> int:
    """The beam width where none is given."""
    return max(1, top_k // max_hops)


def check_question(question: object) -> str:
    """The question as it is asked. Raises ConfigError for an empty or over-long one."""
    given = question if isinstance(question, str) else ""
    text = whole_characters(given).replace("\0", " ").strip()
    if not text:
        raise ConfigError("The question is empty.", remedy="Ask a question.", field="question")
    if len(given) > MAX_QUESTION:
        raise ConfigError(
            f"The question has {len(given):,} characters.",
            remedy=f"Shorten it to {MAX_QUESTION:,}: name the entities and ask one thing.",
            field="question",
        )
    return text


def check_names(names: object, what: str) -> tuple[str, ...] | None:
    """Names, one alone as a list of one; None stays None. Raises ConfigError."""
    if names is None:
        return None
    most = MAX_SEEDS if what == "entity_ids" else MAX_NAMES
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    if len(listed) > most or not all(isinstance(name, str) and name.strip() for name in listed):
        raise ConfigError(
            f"{what} is not a list of names.", remedy=f"Give up to {most:,} texts, none empty.", field=what
        )
    return tuple(map(whole_characters, listed))
