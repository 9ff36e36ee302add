"""The row of Access: a question with Ask's settings, and the two principals. These are in no link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import regex
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore import FilterError
from kgcore.audit import Principal, claim_values, is_many
from kgcore.filters import Template
from kgcore.types import Scalar
from kgcore.viz import plain
from ui import state
from ui.errors import show_error
from ui.identity import DEMO_GROUPS, who
from ui.resources import digest
from ui.state import Request
from ui.text import escaped
from ui.visit import Visit

SIDES = ("A", "B")
QUESTION = "access_question"
_ASKED, _FOLLOWED, _PUT, _EXAMPLE = "access_asked", "access_followed", "access_put", "access_example"
_NUMBER = regex.compile(r"[-+]?(\d+(\.\d*)?(e[-+]?\d+)?|inf|nan)")
_UNSEEN = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]")
_IN_LINK = "asked_"
"""Before the names that Ask's link has: names that its controls are bound to are theirs alone."""


def asked(here: Visit, shown: Request | None, examples: Sequence[Mapping[str, Any]]) -> Request:
    """What the link asks for, else what Ask shows, else an example; and later Ask's again once that is another."""
    graph, held = st.session_state.get(_ASKED, ("", None))
    before = st.session_state.get(_FOLLOWED)
    followed = held is None or _in_link() != st.session_state.get(_PUT)  # by the browser's Back, for one
    if held is None or followed or graph != here.graph.url:
        held = (_linked() if followed else None) or shown or _first(examples)
    elif shown is not None and before is not None and shown != before:
        held = shown
    if shown is not None:
        st.session_state[_FOLLOWED] = shown
    chat = here.config.has_chat
    request: Request = replace(
        held,
        summarize=False,
        llm_filter=held.llm_filter and chat,
        seed_mode=held.seed_mode if chat or held.seed_mode != "llm" else "auto",
    )
    st.session_state[_ASKED] = here.graph.url, request
    return request


def question_row(here: Visit, request: Request, examples: Sequence[Mapping[str, Any]]) -> str:
    """The field of the question, with the demo's examples, and who is signed in."""
    st.session_state[QUESTION] = request.question
    with st.container(key="access_row", horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        question = st.text_input(
            "Question",
            key=QUESTION,
            type="search",
            on_change=_ask,
            placeholder="Ask a question of the graph, as two principals",
            label_visibility="collapsed",
        )
        if examples:
            st.menu_button(
                "Examples",
                range(len(examples)),
                format_func=lambda at: escaped(examples[at]["label"]),
                key=_EXAMPLE,
                on_click=_use_example,
                args=(examples,),
            )
        who(here.asker, demo=False)
    return (question or "").strip()


def sides_row(
    here: Visit, template: Template, known: tuple[Principal, ...]
) -> tuple[dict[str, Any], dict[str, Any], DeltaGenerator]:
    """The claims of A and of B, and the place beside them. Of the claims that the template needs, one that is left
    empty is not there."""
    with st.container(key="access_sides", horizontal=True, gap="small", vertical_alignment="center"):
        a, b = (_claims(side, here, template, known) for side in SIDES)
        place = st.container(horizontal=True, gap="small", vertical_alignment="center", width="content")
    return a, b, place


def put_in_link(request: Request) -> None:
    """Has the link hold the question with its settings."""
    wanted = {f"{_IN_LINK}{name}": value for name, value in state.link_of(request).items()}
    for name in [name for name in st.query_params if name.startswith(_IN_LINK) and name not in wanted]:
        state.keep_in_link(name, [])
    for name, value in wanted.items():
        state.keep_in_link(name, [value] if isinstance(value, str) else value)
    st.session_state[_PUT] = _in_link()


def settings_in_words(request: Request) -> str:
    """Ask's settings: `2 hops, beam 4, top k 20, coverage`, and what else is not as usual."""
    beam = request.beam_width or f"auto {state.auto_beam(request.max_hops, request.top_k)}"
    usual = state.request_in({})
    others = {
        "seeds chosen": request.entity_ids,
        "a filter": request.filters,
        "some relations": request.relations,
        "some types": request.entity_types,
        "reranked": request.reranked,
        "chat model's filter": request.llm_filter,
        f"seeds from {request.seed_mode}": request.seed_mode != usual.seed_mode,
        f"hub limit {request.hub_limit:,}": request.hub_limit != usual.hub_limit,
        "no aliases": not request.aliases,
    }
    hops = "1 hop" if request.max_hops == 1 else f"{request.max_hops} hops"
    parts = [hops, f"beam {beam}", f"top k {request.top_k}", request.scoring]
    return ", ".join([*parts, *(told for told, held in others.items() if held)])


def told(value: Scalar) -> str:
    """A principal as it is shown, no two alike: quotes round a text like a number, unseen letters spelled out."""
    text = str(value)
    return ascii(text) if plain(text) != text or _UNSEEN.search(text) else f'"{text}"' if _is_typed(value) else text


def _is_typed(value: Scalar) -> bool:
    """Whether a text would be read as a number, true or false."""
    return isinstance(value, str) and (value in ("True", "False") or _NUMBER.fullmatch(value) is not None)


def _claims(side: str, here: Visit, template: Template, known: tuple[Principal, ...]) -> dict[str, Any]:
    claims = sorted(template.claims)
    given: dict[str, Any] = {}
    for claim in claims:
        options = claim_values(claim, template, known)
        label = side if len(claims) == 1 else f"{side} · {escaped(claim)}"
        key = f"access_{digest([side, here.graph.url, claim])}"
        if is_many(claim, template):
            chosen: Any = st.multiselect(
                label,
                options,
                default=_usual(side, options, demo=here.graph.demo),
                format_func=told,
                key=key,
                accept_new_options=True,
                persist_state="session",
                placeholder="Nobody",
                width=320,
            )
            value: Any = [_typed(one, options) for one in chosen]
        else:
            value = st.selectbox(
                label,
                options,
                index=None,
                format_func=told,
                key=key,
                accept_new_options=True,
                persist_state="session",
                placeholder="Nobody",
                width=260,
            )
            value = None if value is None else _typed(value, options)
        if value is not None and value != []:
            given[claim] = value
    return given


def _usual(side: str, options: Sequence[Scalar], *, demo: bool) -> list[Scalar]:
    group = DEMO_GROUPS[SIDES.index(side)]
    return [one for one in options if demo and str(one).removeprefix("group:") == group]


def _typed(value: Scalar, options: Sequence[Scalar]) -> Scalar:
    """What was typed is a number where all that is known is one."""
    if value in options or not isinstance(value, str) or not options or any(isinstance(one, str) for one in options):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


def _in_link() -> dict[str, list[str]]:
    names = sorted(name for name in st.query_params if name.startswith(_IN_LINK))
    return {name.removeprefix(_IN_LINK): st.query_params.get_all(name) for name in names}


def _linked() -> Request | None:
    """What the link asks for, if for anything; a filter that cannot be used is said and left out."""
    held = _in_link()
    try:
        return state.request_in(held) if held else None
    except FilterError as error:
        show_error(error)
        st.caption("The link's filter is left out.")
        return state.request_in({**held, "filter": [""]})


def _first(examples: Sequence[Mapping[str, Any]]) -> Request:
    """Of the examples the first that not everybody sees alike."""
    told_apart = [example for example in examples if example.get("principal") != f"group:{DEMO_GROUPS[1]}"]
    example = next(iter([*told_apart, *examples]), None)
    return state.request_for(example) if example else state.request_in({})


def _ask() -> None:
    """Another question under the same settings; its seeds are found anew."""
    graph, request = st.session_state[_ASKED]
    question = (st.session_state[QUESTION] or "").strip()
    st.session_state[_ASKED] = graph, replace(request, question=question, entity_ids=None)


def _use_example(examples: Sequence[Mapping[str, Any]]) -> None:
    at = st.session_state[_EXAMPLE]
    if at is not None:
        graph, _ = st.session_state[_ASKED]
        st.session_state[_ASKED] = graph, state.request_for(examples[at])
