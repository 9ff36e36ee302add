"""The two components of a run: the graph and the evidence. They share what is selected in the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from kgcore.viz.bundle import STATIC
from ui.picture import Picture

# The scripts are modules that import each other, so they are served as files and only called from here.
_CALL = """
const url = new URL("app/static/{name}.js", document.baseURI).href;
export default async (component) => (await import(url)).default(component);
"""

Action = Callable[[dict[str, Any]], None]


def graph(drawn: Picture, *, view: str, on_action: Action) -> None:
    """The beam frontier of a run. `on_action` gets what a person did there that needs a new run."""
    _show("graph", {"view": view, "run": drawn.run, "graph": drawn.graph}, on_action)


def evidence(drawn: Picture, *, view: str, on_action: Action) -> None:
    """Facts, sources and trace of a run."""
    _show("evidence", {"view": view, "run": drawn.run, "evidence": drawn.evidence}, on_action)


def explored(drawn: dict[str, Any], *, on_action: Action) -> None:
    """A picture that a person explores, or with `fixed` looks at. Each view has its own."""
    _show("browse", {"view": "browse", **drawn}, on_action)


def _show(name: str, data: dict[str, Any], on_action: Action) -> None:
    key = f"{data['view']}_{name}"

    def act() -> None:
        action = st.session_state[key].get("action")
        if isinstance(action, dict):
            on_action(action)

    _component(name)(key=key, data=data, height="content", on_action_change=act)


@cache
def _component(name: str) -> ComponentRenderer:
    css = (STATIC / "component.css").read_text(encoding="utf-8")
    return st.components.v2.component(f"hopscope_{name}", css=css, js=_CALL.replace("{name}", name))
