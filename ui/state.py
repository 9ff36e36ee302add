"""What a person asks for: held by the widgets and the link, read as one value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import streamlit as st

from kgcore.types import Scoring, SeedMode, Settings, Trace
from ui.filtering import read_filter

MAX_HOPS, TOP_K, HUB_LIMIT = 2, 20, 500
MOST_HUB_LIMIT, VECTOR_TOP_K = 10_000_000, 5
Layout = Literal["columns", "force"]
SCORINGS: tuple[Scoring, ...] = ("coverage", "edge")
LAYOUTS: tuple[Layout, ...] = ("columns", "force")
OF_THE_VIEW = frozenset({"step", "fact", "node", "near", "tab"})
"""What the browser alone keeps in the link: a change of it costs no rerun."""
_SEEDS = "seeds"
_PUT = "seeds_put"
_USUAL: dict[str, Any] = {
    "q": "",
    "hops": MAX_HOPS,
    "beam": None,
    "auto": True,
    "k": TOP_K,
    "scoring": SCORINGS[0],
    "filter": "",
    "seed_mode": "auto",
    "types": [],
    "relations": [],
    "hub_limit": HUB_LIMIT,
    "aliases": True,
    "llm_filter": False,
    "rerank": False,
    "summarize": False,
}
"""The controls that the link holds where they are set otherwise."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A question and its settings. `beam_width` None is Auto, `entity_ids` None seeds by the question."""

    question: str
    max_hops: int
    beam_width: int | None
    top_k: int
    scoring: Scoring
    seed_mode: SeedMode
    entity_types: tuple[str, ...]
    relations: tuple[str, ...]
    hub_limit: int
    aliases: bool
    llm_filter: bool
    reranked: bool
    summarize: bool
    entity_ids: tuple[str, ...] | None
    filters: Mapping[str, Any] | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and repr(self) == repr(other)  # a filter for 1 is not one for true


def open_with(example: Mapping[str, Any] | None, left: Request | None) -> None:
    """When Ask is come to: what the link asks for; else, from another page, what was asked when it was left; else, on
    the first run of a session, this example, answered."""
    linked = st.query_params.keys() & {*_USUAL, _SEEDS}
    if "q" in st.session_state:
        _follow_link(linked=bool(linked))
        return
    first = "opened" not in st.session_state
    st.session_state["opened"] = True
    if first:
        set_layout(st.query_params.get("layout", ""))
    if first or linked:
        st.session_state[_SEEDS] = tuple(st.query_params.get_all(_SEEDS)) or None
    if "beam" in st.query_params and "auto" not in st.query_params:
        st.session_state["auto"] = False
    if not first and not linked and left:
        restore(left)
        _open_link()
    elif first and example and not st.query_params.keys() - OF_THE_VIEW:
        use_example(example)
        _open_link()


def _follow_link(*, linked: bool) -> None:
    """Controls follow a link by themselves; the seeds, which none holds, where the link has others than were put."""
    seeds = st.query_params.get_all(_SEEDS)
    if linked and seeds != st.session_state.get(_PUT, seeds):
        set_seeds(tuple(seeds))


def _open_link() -> None:
    """What is set before a widget is first drawn does not reach the link by itself."""
    st.query_params.update(_in_link(st.session_state))


def link_of(request: Request) -> dict[str, str | list[str]]:
    """What a link to Ask holds so that it asks for this."""
    seeds = {_SEEDS: list(request.entity_ids)} if request.entity_ids else {}
    return {**_in_link(_controls(request)), **seeds}


def request_in(link: Mapping[str, list[str]]) -> Request:
    """What a link with these values asks for, the reverse of `link_of`. What cannot be asked for is as usual.

    Raises FilterError.
    """

    def number(name: str, most: int) -> Any:
        text = link.get(name, [""])[0]
        return int(text) if re.fullmatch(r"[0-9]{1,8}", text) and 1 <= int(text) <= most else _USUAL[name]

    def text(name: str, known: Iterable[str] = ()) -> Any:
        given = link.get(name, [""])[0]
        return given if not known or given in known else _USUAL[name]

    def flag(name: str) -> bool:
        return bool(_USUAL[name]) if name not in link else text(name) == "true"

    return Request(
        question=text("q"),
        max_hops=number("hops", 4),
        beam_width=number("beam", 1_000) if "beam" in link and text("auto") != "true" else None,
        top_k=number("k", 1_000),
        scoring=text("scoring", SCORINGS),
        seed_mode=text("seed_mode", get_args(SeedMode)),
        entity_types=tuple(link.get("types", ())),
        relations=tuple(link.get("relations", ())),
        hub_limit=number("hub_limit", MOST_HUB_LIMIT),
        aliases=flag("aliases"),
        llm_filter=flag("llm_filter"),
        reranked=flag("rerank"),
        summarize=flag("summarize"),
        entity_ids=tuple(link.get(_SEEDS, ())) or None,
        filters=read_filter(text("filter")),
    )


def request_for(example: Mapping[str, Any]) -> Request:
    """What an example asks for, with nothing else set."""
    settings = {"max_hops": MAX_HOPS, "top_k": TOP_K, "scoring": SCORINGS[0], **example.get("settings", {})}
    return replace(request_in({"q": [example["question"]]}), **settings)


def _controls(request: Request) -> dict[str, Any]:
    """What the controls hold for this request, by their keys."""
    return {
        "q": request.question,
        "hops": request.max_hops,
        "beam": request.beam_width,
        "auto": request.beam_width is None,
        "k": request.top_k,
        "scoring": request.scoring,
        "filter": json.dumps(request.filters, ensure_ascii=False) if request.filters else "",
        "seed_mode": request.seed_mode,
        "types": list(request.entity_types),
        "relations": list(request.relations),
        "hub_limit": request.hub_limit,
        "aliases": request.aliases,
        "llm_filter": request.llm_filter,
        "rerank": request.reranked,
        "summarize": request.summarize,
    }


def _in_link(values: Any) -> dict[str, str | list[str]]:
    """Of the values of controls those that the link holds, as it writes them."""
    found = {name: values[name] for name, usual in _USUAL.items() if name in values and values[name] != usual}
    return {
        name: list(map(str, value))
        if isinstance(value, list)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
        for name, value in found.items()
    }


def use_example(example: Mapping[str, Any]) -> None:
    """Asks an example's question with its settings, and nothing else of what was set."""
    settings = example.get("settings", {})
    beam = settings.get("beam_width")
    st.session_state.update(
        q=example["question"],
        hops=settings.get("max_hops", MAX_HOPS),
        k=settings.get("top_k", TOP_K),
        scoring=settings.get("scoring", SCORINGS[0]),
        auto=beam is None,
        filter="",
    )
    if beam is not None:
        st.session_state["beam"] = beam
    set_seeds(None)


def restore(request: Request) -> None:
    """Sets every control as this request has it."""
    controls = _controls(request)
    if request.beam_width is None:
        del controls["beam"]
    st.session_state.update(controls)
    set_seeds(request.entity_ids)


def request_of(question: str, settings: Settings) -> Request:
    """The request that a run with these settings answered."""
    return Request(
        question=question,
        max_hops=settings.max_hops,
        beam_width=None if settings.beam_auto else settings.beam_width,
        top_k=settings.top_k,
        scoring=settings.scoring,
        seed_mode=settings.seed_mode,
        entity_types=settings.entity_types,
        relations=settings.relations,
        hub_limit=settings.hub_limit,
        aliases=settings.aliases,
        llm_filter=settings.llm_filter,
        reranked=settings.reranker is not None,
        summarize=settings.summarize,
        entity_ids=settings.entity_ids or None,
        filters=settings.filters,
    )


def request_again(trace: Trace) -> Request:
    """The request that asks the same here as a run elsewhere.

    Names to start from, and how many are found by vector, cannot be asked for here: the run's seeds stand for them.
    """
    request, settings = request_of(trace.question, trace.settings), trace.settings
    if not settings.entity_ids and (settings.entities or settings.vector_top_k != VECTOR_TOP_K):
        return replace(request, entity_ids=tuple(seed.entity_id for seed in trace.seeds) or None)
    return request


def link_here(request: Request | None) -> dict[str, str | list[str]]:
    """What the link that is open holds; what it asks for is this instead, where it is given."""
    held = {name: st.query_params.get_all(name) for name in st.query_params}
    if request is None:
        return {**held}
    return {**{name: held[name] for name in held if name not in {*_USUAL, _SEEDS}}, **link_of(request)}


def ask(question: str) -> None:
    """Another question under the same settings; its seeds are found anew."""
    st.session_state["q"] = question
    set_seeds(None)


def set_beam(beam: int) -> None:
    """A beam width chosen by hand."""
    st.session_state.update(beam=beam, auto=False)


def auto_beam(max_hops: int, top_k: int) -> int:
    """The width that Auto stands for."""
    return max(1, top_k // max_hops)


def set_filter(text: str) -> None:
    """The asker's filter, as the text of the JSON field."""
    st.session_state["filter"] = text


def chosen_seeds() -> tuple[str, ...] | None:
    """The entity ids that the asker chose to start from; None for those that the question gives."""
    return st.session_state.get(_SEEDS)


def set_seeds(entity_ids: tuple[str, ...] | None) -> None:
    """Chooses the seeds, or leaves them to the question."""
    st.session_state[_SEEDS] = entity_ids or None


def layout() -> Layout:
    """How the graph is laid out."""
    found: Layout = st.session_state.get("layout", LAYOUTS[0])
    return found


def set_layout(name: str) -> None:
    """Columns or force; anything else is columns."""
    st.session_state["layout"] = name if name in LAYOUTS else LAYOUTS[0]


def put_in_link() -> None:
    """What no widget holds is written into the link here: the seeds and the layout."""
    st.session_state[_PUT] = list(chosen_seeds() or ())
    keep_in_link(_SEEDS, st.session_state[_PUT])
    keep_in_link("layout", [layout()] if layout() != LAYOUTS[0] else [])


def keep_in_link(name: str, values: list[str]) -> None:
    """Has the link hold these values under a name, or nothing."""
    if st.query_params.get_all(name) == values:
        return
    if values:
        st.query_params[name] = values
    else:
        st.query_params.pop(name, None)
