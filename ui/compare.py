"""Two settings side by side: the figures of a set, and one question's graphs in one layout with the facts of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kgcore import KnowledgeGraphRetriever
from kgcore.evals import report_json, report_markdown, value_of
from kgcore.types import Fact, Retrieval
from kgcore.viz import cut, plain
from ui import components, tuning
from ui.picture import arrange, picture
from ui.resources import digest
from ui.runs import Run
from ui.state import request_of
from ui.text import escaped
from ui.tuning import Sweep

VIEW = "tune"
SHOWN = 100
_NAME = 60


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Where two settings stand in a sweep."""

    a: int
    b: int


def side_by_side(swept: Sweep, pair: Pair, figure: str, retriever: KnowledgeGraphRetriever) -> Retrieval:
    """What the two come to for one question, drawn and listed; gives what A retrieved."""
    a, b = (tuning.described(swept.settings[at]) for at in (pair.a, pair.b))
    st.subheader("A and B")
    st.write(f"**A** {escaped(a)}  \n**B** {escaped(b)}")
    if len(swept.rows) > 1:
        _figures(swept, pair)
    at = _question(swept, pair, figure)
    one, other = _retrieved(swept, pair, at, retriever)
    before = Run(request=request_of(one.trace.question, one.trace.settings), retrieval=one, at="")
    st.caption("The graph of B: what A has not is marked as new, what only A has is dotted.")
    components.graph(picture(other, base=before, live=False), view=VIEW, on_action=arrange)
    _facts(one, other)
    return one


def _figures(swept: Sweep, pair: Pair) -> None:
    """The paired comparison, by hops and type too."""
    label = f"All figures of {len(swept.rows):,} questions, with 95 % intervals"
    folded = st.expander(label, key="tune_figures", on_change="rerun")
    if not folded.open:
        return
    with folded:
        made = len(swept.rows), pair
        if swept.reported is None or swept.reported[0] != made:
            a, b = swept.evaluation(pair.a), swept.evaluation(pair.b)
            swept.reported = made, report_markdown(a, None if pair.a == pair.b else b), report_json(a, b)
        _, text, whole = swept.reported
        st.markdown(text)
        with st.container(horizontal=True, gap="small"):
            for label, content, name in (
                ("Markdown", text, "hopscope-tune.md"),
                ("JSON", whole, "hopscope-tune.json"),
            ):
                st.download_button(label, content.encode(), file_name=name, on_click="ignore", key=name)


def _question(swept: Sweep, pair: Pair, figure: str) -> int:
    """Which question to look at: those that A and B differ in most come first."""
    if len(swept.rows) == 1:
        return 0

    def differs(at: int) -> float:
        values = [value_of(swept.rows[at][of], figure) or 0.0 for of in (pair.a, pair.b)]
        return values[1] - values[0]

    order = sorted(range(len(swept.rows)), key=lambda at: (-abs(differs(at)), at))
    golds = swept.questions.golds
    labels = {at: f"{differs(at):+.2f}  {plain(golds[at].question)}" for at in order}
    # Another key for other labels: a browser holds on to the label that it has.
    key = f"tune_question_{digest([figure, pair.a, pair.b, len(swept.rows)])}"
    return st.selectbox("Question, by how much B differs from A", order, format_func=labels.__getitem__, key=key)


def _retrieved(swept: Sweep, pair: Pair, at: int, retriever: KnowledgeGraphRetriever) -> tuple[Retrieval, Retrieval]:
    wanted = at, pair
    if swept.compared is None or swept.compared[0] != wanted:
        gold = swept.questions.golds[at]
        given = [tuning.arguments_at(swept, gold, of) for of in (pair.a, pair.b)]
        swept.compared = wanted, tuple(retriever.sweep(gold.question, given))
    found: tuple[Retrieval, Retrieval] = swept.compared[1]
    return found


def _facts(one: Retrieval, other: Retrieval) -> None:
    in_a, in_b = {fact.id for fact in one.facts}, {fact.id for fact in other.facts}
    columns: Mapping[str, Sequence[Fact]] = {
        "Only A": [fact for fact in one.facts if fact.id not in in_b],
        "Both": [fact for fact in other.facts if fact.id in in_a],
        "Only B": [fact for fact in other.facts if fact.id not in in_a],
    }
    places: Any = st.columns(3)
    for (title, facts), place in zip(columns.items(), places, strict=True):
        with place.container(key=f"tune_{title.lower().replace(' ', '_')}"):
            st.markdown(f"**{title}** {len(facts)}")
            lines = [f"- {said(fact)}" for fact in facts[:SHOWN]]
            lines += [f"- and {len(facts) - SHOWN:,} more"] * (len(facts) > SHOWN)
            st.markdown("\n".join(lines) or "None.")


def said(fact: Fact) -> str:
    """A fact in one line, as Markdown."""
    source, target = (escaped(cut(plain(name), _NAME)) for name in (fact.source, fact.target))
    relation = escaped(cut(plain(fact.relation), _NAME))
    return f"{source} {relation} {target} · hop {fact.hop} · {fact.score:.3f}"
