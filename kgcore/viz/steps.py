"""The question's words by the hop that explained them, and the walk step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kgcore.names import FUNCTION_WORDS, fold
from kgcore.types import Explained, Hop, Trace
from kgcore.viz.labels import count, listed, plain


def echo(trace: Trace) -> list[dict[str, Any]]:
    """The question in pieces. A `hop` marks words: 0 a seed's name, None not explained.

    Neighbours of one hop are one piece; function words and words without weight stay plain.
    """
    pieces: list[dict[str, Any]] = []
    end = 0
    for word in sorted(
        (w for w in trace.words if w.weight and fold(w.text) not in FUNCTION_WORDS), key=lambda word: word.start
    ):
        between = trace.question[end : word.start]
        text = trace.question[word.start : word.end]
        if pieces and not between.strip() and word.hop is not None and pieces[-1].get("hop") == word.hop:
            pieces[-1]["text"] += between + text
        else:
            pieces += [{"text": between}] * bool(between) + [{"text": text, "hop": word.hop}]
        end = word.end
    if end < len(trace.question):
        pieces.append({"text": trace.question[end:]})
    return pieces


def steps(trace: Trace) -> list[dict[str, str]]:
    """Seeds, Hop 1..n, Result: a label for the button, and a line that says what happened."""
    hops = [{"label": _hop_label(hop), "caption": _hop_caption(hop, trace)} for hop in trace.hops]
    return [_seeds_step(trace), *hops, _result_step(trace)]


def _seeds_step(trace: Trace) -> dict[str, str]:
    names = listed(seed.name for seed in trace.seeds)
    return {
        "label": f"Seeds {len(trace.seeds)}",
        "caption": f"The walk starts from: {names}" if names else "No seeds",
    }


def _hop_label(hop: Hop) -> str:
    return f"Hop {hop.number} {hop.kept:,}/{hop.considered:,}"


def _hop_caption(hop: Hop, trace: Trace) -> str:
    parts = [f"Hop {hop.number} kept {hop.kept:,} of {count(hop.considered, 'fact')}"]
    if hop.left_out:
        parts.append(f"{hop.left_out:,} beyond the shortlist")
    parts.append(_explains(hop.explains, trace))
    return " · ".join(parts)


def _explains(explained: Iterable[Explained], trace: Trace) -> str:
    words = listed(trace.words[one.word].text for one in explained)
    return f"explains: {words}" if words else "explains no new words"


def _result_step(trace: Trace) -> dict[str, str]:
    kept = sum(hop.kept for hop in trace.hops)
    left = kept - len(trace.result)
    caption = f"{count(len(trace.result), 'fact')} of {kept:,} kept by the beams"
    if left > 0:
        caption += f" · {left:,} cut by top k {trace.settings.top_k}"
    if trace.settings.reranker:
        caption += f" after reranking by {plain(trace.settings.reranker)}"
    return {"label": f"Result {len(trace.result)}", "caption": caption}
