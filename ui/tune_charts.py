"""What a sweep comes to: a heat map of beam widths and hops, and the figure against the time that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd
import streamlit as st

from kgcore.evals import Point, front
from ui.tune_row import named
from ui.tuning import Setting, Sweep, described

_PALE, _FULL = (234, 242, 250), (0, 82, 130)
_OTHERS = ("top_k", "scoring", "seed_mode", "rerank")
_HEIGHT = 36  # pixels a row
CHART = 300
_LIGHT = ("#0072B2", "#C2185B", "#5B8C00", "#332288")
_DARK = ("#56B4E9", "#FE6100", "#DDCC77", "#EE99AA")
"""Of hops 1 to 4, as the graph has them."""


def heat_map(swept: Sweep, figure: str, found: Mapping[int, Point]) -> int | None:
    """The figure for each beam width and number of hops, a cell each; which of the settings is picked."""
    shown = _of_one_kind(swept.settings)
    beams = sorted({swept.settings[at]["beam_width"] for at in shown})
    hops = sorted({swept.settings[at]["max_hops"] for at in shown})
    places = {(swept.settings[at]["beam_width"], swept.settings[at]["max_hops"]): at for at in shown}
    columns = {_hops(number): number for number in hops}
    values = [[found[places[beam, number]].value for number in hops] for beam in beams]
    frame = pd.DataFrame(values, index=[f"beam {beam}" for beam in beams], columns=list(columns))
    lowest, highest = min(map(min, values)), max(map(max, values))
    styled = frame.style.format(lambda value: _written(value, figure)).map(lambda value: _shade(value, lowest, highest))
    picked = st.dataframe(
        styled,
        key="tune_cells",
        on_select="rerun",
        selection_mode="single-cell",
        height=_HEIGHT * (len(beams) + 1) + 3,
        row_height=_HEIGHT,
        width="stretch",
    )
    cells = picked["selection"]["cells"]
    if not cells:
        return None
    row, column = cells[0]
    return places.get((beams[row], columns[column])) if row < len(beams) and column in columns else None


def against_time(swept: Sweep, figure: str, found: Sequence[Point]) -> None:
    """Every setting by its milliseconds and the figure; those that nothing beats in both are named."""
    kept = {point.at for point in front(found)}
    rows = [
        {
            "ms": point.ms,
            "value": point.value,
            "hops": str(swept.settings[point.at]["max_hops"]),
            "setting": described(swept.settings[point.at]),
            "name": _short(swept.settings[point.at]) if point.at in kept else "",
        }
        for point in found
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("ms:Q", title="milliseconds a question", scale=alt.Scale(zero=False, nice=True)),
        y=alt.Y("value:Q", title=named(figure), scale=alt.Scale(zero=False, nice=True)),
        tooltip=["setting:N", alt.Tooltip("value:Q", format=".3f"), alt.Tooltip("ms:Q", format=".1f")],
    )
    best = alt.datum.name != ""
    dark = st.context.theme.type == "dark"
    colors = dict(zip("1234", _DARK if dark else _LIGHT, strict=True))
    ink = "#ffffff" if dark else "#111827"
    dots = base.mark_point(size=70, filled=True).encode(
        color=alt.Color("hops:N", title="hops", scale=alt.Scale(domain=list(colors), range=list(colors.values()))),
        shape=alt.Shape("hops:N", title="hops", scale=alt.Scale(domain=list(colors))),
    )
    line = base.transform_filter(best).mark_line(strokeDash=[4, 3], opacity=0.6, color="#888")
    names = base.transform_filter(best).mark_text(align="left", dx=7, dy=9, color=ink).encode(text="name:N")
    st.altair_chart((line + dots + names).properties(height=CHART), width="stretch")
    st.caption("Named by beam × hops: those that no other beats in both.")


def written(point: Point, figure: str) -> str:
    """A point in words."""
    over = f" over {point.questions:,} questions" if point.questions > 1 else ""
    return f"{named(figure)} {_written(point.value, figure)}{over}, {point.ms:.1f} ms a question"


def _of_one_kind(settings: Sequence[Setting]) -> list[int]:
    """Where the settings stand that are alike but for beam and hops; which, can be chosen where there are more."""
    kinds = list(dict.fromkeys(tuple(setting[name] for name in _OTHERS) for setting in settings))
    kind = kinds[0]
    if len(kinds) > 1:
        labels = [_kind(dict(zip(_OTHERS, each, strict=True))) for each in kinds]
        chosen = st.selectbox("Shown", range(len(kinds)), format_func=labels.__getitem__, key="tune_kind")
        kind = kinds[chosen if chosen < len(kinds) else 0]
    return [at for at, setting in enumerate(settings) if tuple(setting[name] for name in _OTHERS) == kind]


def _kind(setting: Setting) -> str:
    return described({"beam_width": 0, "max_hops": 0, **setting}).partition("hops 0, ")[2]


def _hops(number: int) -> str:
    return f"{number} hop{'s' * (number > 1)}"


def _short(setting: Setting) -> str:
    return f"{setting['beam_width']} × {setting['max_hops']}"


def _written(value: float, figure: str) -> str:
    return f"{value:.1f}" if figure == "facts" else f"{value:.3f}"


def _shade(value: float, lowest: float, highest: float) -> str:
    share = (value - lowest) / (highest - lowest) if highest > lowest else 0.0
    mixed = [round(pale + share * (full - pale)) for pale, full in zip(_PALE, _FULL, strict=True)]
    ink = "#ffffff" if share > 0.45 else "#111827"
    return f"background-color: #{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}; color: {ink}"
